"""The laws of the house, each a function from a source tree to what breaks it."""

import ast
import re
import statistics
from collections.abc import Iterator
from pathlib import PurePosixPath

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
    ["time.time", "time.time_ns", "datetime.now", "datetime.utcnow", "datetime.today", "date.today", "datetime.datetime.now", "datetime.date.today", "uuid.uuid1", "uuid.uuid4", "os.urandom"]
)
DURATIONS = frozenset(
    ["time.monotonic", "time.perf_counter", "secrets.token_hex", "secrets.token_bytes", "secrets.randbelow"]
)
WAITS = ("entry/", "runners/process.py", "stores/permit.py")
"""Who may measure a wait, or make a word that nobody can guess; neither decides anything."""
PURE = ("records/", "rules/", "views/", "importers/", "seam/")
FORBIDDEN_NAMES = frozenset({"utils", "helpers", "common", "base", "core", "manager", "misc"})
PLANNED = frozenset({"cycle/cycle.py"})
"""Names that repeat their folder's because the house's own plan has them so."""
TOP_LEVEL = frozenset(
    ["pyproject.toml", "healbot", "action.yml", ".github", "templates", "tests", "README.md", ".ci", "LICENSE", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", ".gitignore", ".gitattributes", "pylock.toml", "uv.lock"]
)
FILE_LINES, MEDIAN_LINES, FUNCTION_LINES = 400, 100, 60
PARAMETERS, POSITIONAL = 6, 3
PORT_METHODS, WRITER_METHODS = 7, 2

_CALLS = frozenset(
    ["re.compile", "float", "int", "str", "bool", "partial", "frozenset", "dict", "set", "tuple", "list", "range", "len", "sorted", "zip", "dict.fromkeys", "str.maketrans", "timedelta", "field", "namedtuple", "max", "min", "sum", "ord", "chr", "typer.Typer", "typer.Option", "typer.Argument", "property"]
)
"""What may be called while a module is imported, besides classes and methods of literals."""
_MACHINE = re.compile("/" + r"(work|root|opt|mnt|srv)/\w|/" + r"(home|Users)/[a-z]\w+/")
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
            elif target in FLOORS and target != module.unit:
                if FLOORS[target] >= FLOORS[module.unit]:
                    yield module.at(
                        line, f"{module.unit} imports {target}, which is no lower floor"
                    )


def seam_needs_only_python(house: House) -> Iterator[str]:
    for module in house.modules:
        if module.unit == "seam":
            for name, line in module.imports:
                if name.split(".")[0] in {"pydantic", "yaml"} or (
                    name.startswith(f"{PACKAGE}.") and not name.startswith(f"{PACKAGE}.seam")
                ):
                    yield module.at(line, f"the seam imports {name}")


def no_circles(house: House) -> Iterator[str]:
    graph = {module.name: _targets(house, module) for module in house.modules}
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


def _targets(house: House, module: Module) -> set[str]:
    found = (house.get(name) for name, _ in module.imports if name.startswith(f"{PACKAGE}."))
    return {one.name for one in found if one is not None and one.name != PACKAGE}


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
    for inner in ast.walk(node):
        if isinstance(inner, ast.Call):
            name = dotted(inner.func)
            last = name.rpartition(".")[2]
            of_literal = isinstance(inner.func, ast.Attribute) and not name
            if name not in _CALLS and not of_literal and not last[:1].isupper():
                if not last.startswith("_") and last not in {
                    "items",
                    "values",
                    "keys",
                    "union",
                    "split",
                }:
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


def ports_are_narrow(house: House) -> Iterator[str]:
    for module in house.modules:
        if module.place != "ports.py":
            continue
        for node in module.tree.body:
            if isinstance(node, ast.ClassDef):
                count = sum(isinstance(inner, Function) for inner in node.body)
                limit = WRITER_METHODS if node.name == "ForgeWriter" else PORT_METHODS
                if count > limit:
                    yield module.at(
                        node.lineno, f"{node.name} has {count} methods; {limit} at most"
                    )


def files_are_short(house: House) -> Iterator[str]:
    lines = {module: module.text.count("\n") for module in house.written}
    for module, count in lines.items():
        if count > FILE_LINES:
            yield module.at(count, f"{count} lines; {FILE_LINES} at most")


def half_of_the_files_are_shorter_still(house: House) -> Iterator[str]:
    """Counted without blank lines, which the formatter sets."""
    lines = [sum(bool(line.strip()) for line in one.text.splitlines()) for one in house.written]
    if lines and statistics.median(lines) > MEDIAN_LINES:
        yield f"the median file has {statistics.median(lines):.0f} lines; {MEDIAN_LINES} at most"


def functions_are_short(house: House) -> Iterator[str]:
    for module in house.modules:
        for function, _ in module.functions:
            first = function.body[0]
            has_doc = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
            doc = (first.end_lineno or 0) - first.lineno + 1 if has_doc else 0
            count = (function.end_lineno or 0) - function.lineno + 1 - doc
            if count > FUNCTION_LINES:
                yield module.at(function.lineno, f"{function.name} has {count} lines")


def signatures_are_narrow(house: House) -> Iterator[str]:
    for module in house.modules:
        for function, is_method in module.functions:
            if _is_command(function):
                continue
            arguments = function.args
            named = [one for one in (*arguments.posonlyargs, *arguments.args) if one.arg.strip("_")]
            positional = len(named) - is_method
            count = positional + len(arguments.kwonlyargs)
            if "noqa: PLR0917 - " in module.text.splitlines()[function.lineno - 1]:
                continue
            if count > PARAMETERS or positional > POSITIONAL:
                yield module.at(
                    function.lineno,
                    f"{function.name} has {count} parameters, {positional} positional",
                )


def names_say_something(house: House) -> Iterator[str]:
    for module in house.modules:
        path = PurePosixPath(module.place)
        stem, folder = path.stem, path.parent.name
        if stem in FORBIDDEN_NAMES or folder in FORBIDDEN_NAMES:
            yield module.at(1, "a name that says nothing")
        if folder and stem != "__init__":
            if folder in stem.split("_") and module.place not in PLANNED:
                yield module.at(1, "the name repeats its folder's")


def every_module_says_what_it_knows(house: House) -> Iterator[str]:
    for module in house.written:
        if not ast.get_docstring(module.tree):
            yield module.at(1, "no docstring")


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


def tests_mirror_modules(house: House) -> Iterator[str]:
    places = {module.place for module in house.modules}
    for path in sorted((house.root / "tests").rglob("test_*.py")):
        folder = path.parent.relative_to(house.root / "tests").as_posix()
        name = path.stem.removeprefix("test_")
        if folder == ".":
            if name != "house" and f"{name}.py" not in places:
                yield f"tests/{path.name}: mirrors no module"
        elif (
            not name.startswith(f"{folder}_")
            or f"{folder}/{name[len(folder) + 1 :]}.py" not in places
        ):
            yield f"tests/{folder}/{path.name}: mirrors no module of {PACKAGE}/{folder}"


def every_rule_is_tested(house: House) -> Iterator[str]:
    """A test imports it, or a rule that a test imports stands on it."""
    tests = [path.read_text(encoding="utf-8") for path in (house.root / "tests").rglob("*.py")]
    rules = {module.name: module for module in house.written if module.unit == "rules"}
    open_ = [name for name in rules if any(f"{name} import" in text for text in tests)]
    reached: set[str] = set()
    while open_:
        name = open_.pop()
        if name in rules and name not in reached:
            reached.add(name)
            open_ += _targets(house, rules[name])
    for name in sorted(rules.keys() - reached):
        yield rules[name].at(1, "no test reaches it")


def the_top_level_is_fixed(house: House) -> Iterator[str]:
    for name in sorted({path.split("/")[0] for path in house.tracked}):
        if name not in TOP_LEVEL and not name.startswith("requirements."):
            yield f"{name}: no such entry belongs at the top"


def no_path_of_a_machine(house: House) -> Iterator[str]:
    for path in house.tracked:
        file = house.root / path
        if path.startswith("tests/data/") or not file.is_file() or file.is_symlink():
            continue
        text = file.read_bytes().decode("utf-8", "replace")
        for number, line in enumerate(text.splitlines(), start=1):
            if _MACHINE.search(line):
                yield f"{path}:{number}: a path of some machine"


def _is_in(module: Module, places: tuple[str, ...]) -> bool:
    return any(
        module.place.startswith(one) if one.endswith("/") else module.place == one for one in places
    )


def _parameters(function: Function) -> list[ast.arg]:
    return [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]


def _is_command(function: Function) -> bool:
    """Typer reads a command's options off its parameters, however many there are."""
    names = (dotted(one.func) for one in function.decorator_list if isinstance(one, ast.Call))
    return any(name.endswith((".command", ".callback")) for name in names)


LAWS = (
    imports_go_down, seam_needs_only_python, no_circles, no_type_checking_imports,
    nothing_happens_at_import, one_library_has_one_door, the_environment_is_read_at_the_door,
    clock_and_chance_have_one_door, lower_floors_are_pure, only_the_executor_takes_a_forge_writer,
    ports_are_narrow, files_are_short, half_of_the_files_are_shorter_still, functions_are_short,
    signatures_are_narrow, names_say_something, every_module_says_what_it_knows,
    no_git_command_where_agents_ran, printing_is_for_the_door, tests_mirror_modules,
    every_rule_is_tested, the_top_level_is_fixed, no_path_of_a_machine,
)  # fmt: skip
