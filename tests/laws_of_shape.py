"""The laws on size, names and places, each a function from a source tree to what breaks it."""

import ast
import re
import statistics
import tomllib
from collections.abc import Iterator
from itertools import chain
from pathlib import PurePosixPath

from house import PACKAGE, Function, House

FORBIDDEN_NAMES = frozenset({"utils", "helpers", "common", "base", "core", "manager", "misc"})
PLANNED = frozenset({"cycle/cycle.py"})
"""Names that repeat their folder's because the house's own plan has them so."""
TOP_LEVEL = frozenset(
    [
        "pyproject.toml",
        "healbot",
        "action.yml",
        ".github",
        "templates",
        "tests",
        "README.md",
        ".ci",
        "LICENSE",
        "CHANGELOG.md",
        "CONTRIBUTING.md",
        "SECURITY.md",
        ".gitignore",
        ".gitattributes",
        "pylock.toml",
        "uv.lock",
    ]
)
LOCK, CI_LOCK = "requirements.lock", "requirements.ci.lock"
FILE_LINES, MEDIAN_LINES, FUNCTION_LINES = 400, 100, 60
PARAMETERS, POSITIONAL = 6, 3
PORT_METHODS, WRITER_METHODS = 7, 2
_MACHINE = re.compile("/" + r"(work|root|opt|mnt|srv)/\w|/" + r"(home|Users)/[a-z]\w+/")


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
        if folder and folder in stem.split("_") and module.place not in PLANNED:
            yield module.at(1, "the name repeats its folder's")


def every_module_says_what_it_knows(house: House) -> Iterator[str]:
    for module in house.written:
        if not ast.get_docstring(module.tree):
            yield module.at(1, "no docstring")


WHOLE = frozenset({"house", "readme"})
"""Tests of the repository itself."""
JOURNEYS = "journeys"
"""Tests that go through many modules, told as a user lives them."""


def tests_mirror_modules(house: House) -> Iterator[str]:
    places = {module.place for module in house.modules}
    for path in sorted((house.root / "tests").rglob("test_*.py")):
        folder = path.parent.relative_to(house.root / "tests").as_posix()
        name = path.stem.removeprefix("test_")
        if folder == ".":
            if name not in WHOLE and f"{name}.py" not in places:
                yield f"tests/{path.name}: mirrors no module"
        elif folder != JOURNEYS and (
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
            open_ += house.targets(rules[name])
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


def _is_command(function: Function) -> bool:
    """Typer reads a command's options off its parameters, however many there are."""
    arguments = (*function.args.args, *function.args.kwonlyargs)
    notes = [ast.unparse(one.annotation) for one in arguments if one.annotation]
    return any("typer." in note or note.endswith(("Option", "Argument")) for note in notes)


def the_locks_hold_every_dependency(house: House) -> Iterator[str]:
    """What runs, and what tests and lints it; each pinned, with hashes, from no named host."""
    file = house.root / "pyproject.toml"
    settings = tomllib.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    project = settings.get("project", {})
    runs = project.get("dependencies", [])
    extras = project.get("optional-dependencies", {}).values()
    groups = settings.get("dependency-groups", {}).values()
    for lock, wanted in {LOCK: runs, CI_LOCK: [*runs, *chain(*extras, *groups)]}.items():
        path = house.root / lock
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        pinned = set(
            re.findall(r"^([a-z0-9-]+)==[^ ]+.*\\\n    --hash=sha256:", text, re.MULTILINE)
        )
        for requirement in wanted:
            name = re.split(r"[^A-Za-z0-9_.-]", requirement)[0].lower().replace("_", "-")
            if name not in pinned:
                yield f"{lock}: {name} is not pinned; see CONTRIBUTING.md"
        if "://" in text or "--index" in text or "--find-links" in text:
            yield f"{lock}: names a host"


LAWS_OF_SHAPE = (
    ports_are_narrow,
    files_are_short,
    half_of_the_files_are_shorter_still,
    functions_are_short,
    signatures_are_narrow,
    names_say_something,
    every_module_says_what_it_knows,
    tests_mirror_modules,
    every_rule_is_tested,
    the_top_level_is_fixed,
    no_path_of_a_machine,
    the_locks_hold_every_dependency,
)
