"""The laws on what may reach what, each a function from a source tree to what breaks it."""

import ast
from collections.abc import Iterator

from house import PACKAGE, Function, House, Module, dotted

FLOORS = {
    "__init__": 0, "errors": 0,
    "records": 1,
    "rules": 2, "views": 2, "importers": 2, "seam": 2,
    "ports": 3,
    "chat": 4, "runners": 4, "checks": 4, "editors": 4, "forges": 4, "stores": 4, "lessons": 4,
    "cycle": 4, "recovery": 4,
    "entry": 5,
    "__main__": 6,
}  # fmt: skip
DOORS = {
    "github": ("forges/github.py",),
    "git": ("forges/git.py",),
    "httpx": ("chat/", "runners/"),
    "typer": ("entry/",),
    "click": ("entry/",),
}
"""Which files may import a library; a folder ends in ``/``."""
CLOCK, WIRING = "entry/clock.py", "entry/wiring.py"
INSTANTS = frozenset(
    [
        "time.time",
        "time.time_ns",
        "datetime.now",
        "datetime.utcnow",
        "datetime.today",
        "date.today",
        "datetime.datetime.now",
        "datetime.date.today",
        "uuid.uuid1",
        "uuid.uuid4",
        "os.urandom",
    ]
)
DURATIONS = frozenset(
    [
        "time.monotonic",
        "time.perf_counter",
        "secrets.token_hex",
        "secrets.token_bytes",
        "secrets.randbelow",
    ]
)
WAITS = ("entry/", "runners/process.py", "stores/permit.py")
"""Who may measure a wait, or make a word that nobody can guess; neither decides anything."""
_METHODS = frozenset({"items", "values", "keys", "union", "split"})
PURE = ("records/", "rules/", "views/", "importers/", "seam/")
_CALLS = frozenset(
    [
        "re.compile",
        "float",
        "int",
        "str",
        "bool",
        "partial",
        "frozenset",
        "dict",
        "set",
        "tuple",
        "list",
        "range",
        "len",
        "sorted",
        "zip",
        "dict.fromkeys",
        "str.maketrans",
        "timedelta",
        "field",
        "namedtuple",
        "max",
        "min",
        "sum",
        "ord",
        "chr",
        "typer.Typer",
        "typer.Option",
        "typer.Argument",
        "property",
    ]
)
"""What may be called while a module is imported, besides classes and methods of literals."""
_IO_CALLS = frozenset({"open", "print", "input", "exec", "eval"})
_IO_MODULES = frozenset({"subprocess", "socket", "shutil", "tempfile", "threading", "asyncio"})


def imports_go_down(house: House) -> Iterator[str]:
    for module in house.modules:
        if module.unit not in FLOORS:
            yield module.at(1, f"{module.unit} stands on no floor")
            continue
        for name, line in module.imports:
            target = name.split(".")[1] if name.startswith(f"{PACKAGE}.") else ""
            if name.startswith("."):
                yield module.at(line, "imports are absolute")
            elif target in FLOORS and target != module.unit and not _is_lower(target, module.unit):
                yield module.at(line, f"{module.unit} imports {target}, which is no lower floor")


def _is_lower(target: str, unit: str) -> bool:
    return FLOORS[target] < FLOORS[unit]


def seam_needs_only_python(house: House) -> Iterator[str]:
    for module in house.modules:
        if module.unit == "seam":
            for name, line in module.imports:
                if name.split(".")[0] in {"pydantic", "yaml"} or (
                    name.startswith(f"{PACKAGE}.") and not name.startswith(f"{PACKAGE}.seam")
                ):
                    yield module.at(line, f"the seam imports {name}")


def no_circles(house: House) -> Iterator[str]:
    graph = {module.name: house.targets(module) for module in house.modules}
    done: set[str] = set()

    def walk(name: str, path: tuple[str, ...]) -> Iterator[str]:
        if name in path:
            yield " -> ".join((*path[path.index(name) :], name))
        elif name not in done:
            for target in sorted(graph.get(name, ())):
                yield from walk(target, (*path, name))
            done.add(name)

    for name in sorted(graph):
        yield from walk(name, ())


def no_type_checking_imports(house: House) -> Iterator[str]:
    for module in house.modules:
        for node in ast.walk(module.tree):
            if isinstance(node, (ast.Name, ast.Attribute)) and dotted(node).endswith(
                "TYPE_CHECKING"
            ):
                yield module.at(node.lineno, "TYPE_CHECKING")


def nothing_happens_at_import(house: House) -> Iterator[str]:
    for module in house.modules:
        for node in module.tree.body:
            yield from _effects(module, node)


def _effects(module: Module, node: ast.stmt) -> Iterator[str]:
    if isinstance(node, (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef)):
        return
    if isinstance(node, ast.ClassDef):
        for inner in node.body:
            yield from _effects(module, inner)
    elif isinstance(node, (ast.Assign, ast.AnnAssign)):
        yield from _bad_calls(module, node)
    elif isinstance(node, ast.Expr):
        is_wiring = isinstance(node.value, ast.Call) and dotted(node.value.func).endswith(
            "add_typer"
        )
        if not isinstance(node.value, ast.Constant) and not (is_wiring and module.unit == "entry"):
            yield module.at(node.lineno, "a statement with an effect at import")
    elif not isinstance(node, ast.Pass) and not _is_program(node):
        yield module.at(node.lineno, f"{type(node).__name__} at import")


def _is_program(node: ast.stmt) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) == "__name__ == '__main__'"


def _bad_calls(module: Module, node: ast.stmt) -> Iterator[str]:
    """Classes, private functions, methods of literals may be called; the import test runs them."""
    for inner in ast.walk(node):
        if isinstance(inner, ast.Call):
            name = dotted(inner.func)
            last = name.rpartition(".")[2]
            of_literal = isinstance(inner.func, ast.Attribute) and not name
            builds = last[:1].isupper() or last.startswith("_") or last in _METHODS
            if not (name in _CALLS or of_literal or builds):
                yield module.at(inner.lineno, f"calls {name or 'something'} at import")


def one_library_has_one_door(house: House) -> Iterator[str]:
    for module in house.modules:
        for name, line in module.imports:
            doors = DOORS.get(name.split(".")[0])
            if doors and not _is_in(module, doors):
                yield module.at(
                    line, f"imports {name.split('.')[0]}; its door is {' or '.join(doors)}"
                )


def the_environment_is_read_at_the_door(house: House) -> Iterator[str]:
    for module in house.modules:
        if module.unit != "entry":
            for node in ast.walk(module.tree):
                name = dotted(node) if isinstance(node, ast.Attribute) else ""
                if name in {"os.environ", "os.getenv", "os.environb", "os.putenv"}:
                    yield module.at(node.lineno, name)  # type: ignore[attr-defined]
            for name, line in module.imports:
                if name in {"os.environ", "os.getenv"}:
                    yield module.at(line, name)


def clock_and_chance_have_one_door(house: House) -> Iterator[str]:
    for module in house.modules:
        if module.place == CLOCK:
            continue
        banned = INSTANTS if _is_in(module, WAITS) else INSTANTS | DURATIONS
        for node in ast.walk(module.tree):
            name = dotted(node.func) if isinstance(node, ast.Call) else ""
            seeded = name == "random.Random" and isinstance(node, ast.Call) and node.args
            if name in banned or (name.startswith("random.") and not seeded):
                yield module.at(
                    getattr(node, "lineno", 1), f"{name}; ask the Clock, or take a seed"
                )
        for name, line in module.imports:
            if name in banned:
                yield module.at(line, f"{name}; ask the Clock, or take a seed")


def lower_floors_are_pure(house: House) -> Iterator[str]:
    for module in house.modules:
        if not _is_in(module, PURE):
            continue
        for name, line in module.imports:
            if name.split(".")[0] in _IO_MODULES:
                yield module.at(line, f"imports {name.split('.')[0]}")
        for node in ast.walk(module.tree):
            if isinstance(node, ast.Call) and dotted(node.func) in _IO_CALLS:
                yield module.at(node.lineno, f"calls {dotted(node.func)}")
            if isinstance(node, ast.Attribute) and node.attr in {
                "read_text",
                "write_text",
                "read_bytes",
            }:
                yield module.at(node.lineno, f"touches a file ({node.attr})")


def only_the_executor_takes_a_forge_writer(house: House) -> Iterator[str]:
    for module in house.modules:
        if module.place in {"ports.py", "cycle/execute.py", WIRING}:
            continue
        for function, _ in module.functions:
            for one in _parameters(function):
                if one.annotation is not None and "ForgeWriter" in ast.unparse(one.annotation):
                    yield module.at(one.lineno, f"{function.name} takes a ForgeWriter")


def no_git_command_where_agents_ran(house: House) -> Iterator[str]:
    for module in house.modules:
        if not _is_in(module, ("runners/", "checks/")):
            continue
        for node in ast.walk(module.tree):
            if isinstance(node, (ast.List, ast.Tuple)) and node.elts:
                first = node.elts[0]
                if isinstance(first, ast.Constant) and str(first.value).rpartition("/")[2] == "git":
                    yield module.at(node.lineno, "a git command")
            text = node.value if isinstance(node, ast.Constant) else None
            if (
                isinstance(text, str)
                and text.startswith("git ")
                and id(node) not in module.docstrings
            ):
                yield module.at(getattr(node, "lineno", 1), "a git command")


def printing_is_for_the_door(house: House) -> Iterator[str]:
    for module in house.modules:
        if module.unit != "entry":
            for node in ast.walk(module.tree):
                if isinstance(node, ast.Call) and dotted(node.func) in {
                    "print",
                    "sys.stdout.write",
                }:
                    yield module.at(node.lineno, "prints")


def _is_in(module: Module, places: tuple[str, ...]) -> bool:
    return any(
        module.place.startswith(one) if one.endswith("/") else module.place == one for one in places
    )


def _parameters(function: Function) -> list[ast.arg]:
    return [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]


LAWS = (
    imports_go_down,
    seam_needs_only_python,
    no_circles,
    no_type_checking_imports,
    nothing_happens_at_import,
    one_library_has_one_door,
    the_environment_is_read_at_the_door,
    clock_and_chance_have_one_door,
    lower_floors_are_pure,
    only_the_executor_takes_a_forge_writer,
    no_git_command_where_agents_ran,
    printing_is_for_the_door,
)
