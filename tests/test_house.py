"""The laws of the house hold, and each law finds what breaks it."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from house import House
from laws import LAWS
from laws_of_shape import FILE_LINES, FUNCTION_LINES, LAWS_OF_SHAPE, MEDIAN_LINES

ROOT = Path(__file__).parent.parent
Law = Callable[[House], Iterator[str]]

EVERY: list[Law] = [*LAWS, *LAWS_OF_SHAPE]

BAD: dict[str, dict[str, str]] = {
    "imports_go_down": {"rules/a.py": "from healbot.views.card import x"},
    "seam_needs_only_python": {"seam/a.py": "import pydantic"},
    "no_circles": {
        "rules/a.py": "def f():\n    from healbot.rules.b import g",
        "rules/b.py": "from healbot.rules.a import f",
    },
    "no_type_checking_imports": {"rules/a.py": "if typing.TYPE_CHECKING:\n    import x"},
    "nothing_happens_at_import": {"rules/a.py": "X = connect()"},
    "one_library_has_one_door": {"cycle/a.py": "def f():\n    import httpx"},
    "the_environment_is_read_at_the_door": {"rules/a.py": "def f(): return os.environ['X']"},
    "clock_and_chance_have_one_door": {"cycle/a.py": "def f(): return datetime.now()"},
    "lower_floors_are_pure": {"rules/a.py": "def f(): return open('x')"},
    "only_the_executor_takes_a_forge_writer": {"cycle/a.py": "def f(w: 'ForgeWriter'): ..."},
    "ports_are_narrow": {
        "ports.py": "class ForgeWriter:\n" + "".join(f"    def f{n}(self): ...\n" for n in range(3))
    },
    "files_are_short": {"rules/a.py": "X = 1\n" * (FILE_LINES + 1)},
    "half_of_the_files_are_shorter_still": {"rules/a.py": "X = 1\n" * (MEDIAN_LINES + 1)},
    "functions_are_short": {"rules/a.py": "def f():\n" + "    g()\n" * (FUNCTION_LINES + 1)},
    "signatures_are_narrow": {"rules/a.py": "def f(a, b, c, d): ..."},
    "names_say_something": {"rules/utils.py": "X = 1"},
    "every_module_says_what_it_knows": {"rules/a.py": "X = 1"},
    "no_git_command_where_agents_ran": {"checks/a.py": "def f(): run(['git', 'status'])"},
    "printing_is_for_the_door": {"cycle/a.py": "def f(): print('x')"},
    "tests_mirror_modules": {"../tests/rules/test_rules_nothing.py": ""},
    "every_rule_is_tested": {"rules/a.py": "X = 1"},
    "the_top_level_is_fixed": {"../docs/a.md": "x"},
    "the_locks_hold_every_dependency": {
        "../pyproject.toml": '[project]\ndependencies = ["httpx>=1"]',
        "../requirements.lock": "httpx==1.0\n",
    },
    "no_path_of_a_machine": {"rules/a.py": "X = '/" + "home/somebody/x'"},
}
FAULTLESS = '''"""A module that breaks no law."""

import re
from typing import Annotated

from healbot.errors import X

WORD = re.compile("a")


class Thing(Record):
    """A thing."""

    size: Annotated[int, Field(ge=0)] = Field(0, ge=0)

    def grow(self, by: int, *, again: bool) -> None:
        """Grow."""
'''

HEAVY = (
    "pydantic", "typer", "rich", "httpx", "github", "git", "jsonschema", "regex", "markdown_it",
    "rapidfuzz", "yaml",
)  # fmt: skip

WATCH = """
import importlib, os, pkgutil, sys
sys.dont_write_bytecode = True
BAD = {"subprocess.Popen", "os.system", "os.exec", "os.fork", "os.posix_spawn", "socket.connect",
       "socket.bind", "socket.getaddrinfo", "os.mkdir", "os.remove", "os.rename", "os.putenv",
       "tempfile.mkstemp", "tempfile.mkdtemp"}
def watch(event, args):
    writes = event == "open" and (
        (isinstance(args[1], str) and set(args[1]) & set("wax+"))
        or (isinstance(args[2], int) and args[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)))
    if event in BAD or writes:
        raise RuntimeError(f"at import: {event} {args[:1]}")
for library in sys.argv[2:]:  # what a library does when it is imported is not ours
    importlib.import_module(library)
package = importlib.import_module(sys.argv[1])
sys.addaudithook(watch)
for found in pkgutil.walk_packages(package.__path__, sys.argv[1] + "."):
    if not found.name.endswith("__main__"):
        importlib.import_module(found.name)
"""


def _house(root: Path, files: dict[str, str]) -> House:
    for path, text in files.items():
        file = root / "healbot" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.resolve().parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return House(root)


def _named(law: Law) -> str:
    return law.__name__


@pytest.fixture(scope="module")
def house() -> House:
    return House(ROOT)


@pytest.mark.parametrize("law", EVERY, ids=_named)
def test_the_house_keeps_the_law(house: House, law: Law) -> None:
    broken = list(law(house))
    assert not broken, "\n" + "\n".join(broken)


@pytest.mark.parametrize("law", EVERY, ids=_named)
def test_the_law_finds_what_breaks_it(law: Law, tmp_path: Path) -> None:
    (tmp_path / "healbot").mkdir()
    assert list(law(_house(tmp_path, BAD[law.__name__])))


@pytest.mark.parametrize("law", EVERY, ids=_named)
def test_the_law_lets_a_faultless_module_pass(law: Law, tmp_path: Path) -> None:
    test = "from healbot.rules.thing import Thing"
    files = {"rules/thing.py": FAULTLESS, "../tests/rules/test_rules_thing.py": test}
    (tmp_path / "healbot").mkdir()
    assert list(law(_house(tmp_path, files))) == []


@pytest.mark.parametrize(
    ("law", "place", "text"),
    [
        ("imports_go_down", "runners/a.py", "from healbot.checks.b import x"),
        ("imports_go_down", "cycle/a.py", "from healbot.entry.b import x"),
        ("imports_go_down", "rules/a.py", "from . import b"),
        ("imports_go_down", "plugins/a.py", ""),
        ("nothing_happens_at_import", "rules/a.py", "for one in X:\n    pass"),
        ("nothing_happens_at_import", "rules/a.py", "run()"),
        ("one_library_has_one_door", "forges/local.py", "import git"),
        ("clock_and_chance_have_one_door", "rules/a.py", "def f(): return random.random()"),
        ("clock_and_chance_have_one_door", "cycle/a.py", "def f(): return time.monotonic()"),
        ("names_say_something", "runners/http_runners.py", ""),
        ("signatures_are_narrow", "rules/a.py", "def f(*, a, b, c, d, e, g, h): ..."),
        ("no_git_command_where_agents_ran", "runners/a.py", "X = ('/usr/bin/git', 'status')"),
    ],
)
def test_the_law_finds_this_too(law: str, place: str, text: str, *, tmp_path: Path) -> None:
    by_name = {_named(one): one for one in EVERY}
    (tmp_path / "healbot").mkdir()
    assert list(by_name[law](_house(tmp_path, {place: text})))


def _import_all(package: str, path: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", WATCH, package, "git", "github", "httpx", "typer"]
    return subprocess.run(command, cwd=path, capture_output=True, text=True, check=False)


def test_importing_every_module_starts_opens_and_writes_nothing() -> None:
    done = _import_all("healbot", ROOT)
    assert done.returncode == 0, done.stderr[-2000:]


@pytest.mark.parametrize(
    "text",
    ["open('x', 'w')", "import subprocess\nsubprocess.run(['true'])", "import os\nos.mkdir('x')"],
)
def test_a_module_with_an_effect_at_import_is_found(text: str, tmp_path: Path) -> None:
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "__init__.py").write_text("")
    (tmp_path / "bad" / "effect.py").write_text(text)
    assert "at import" in _import_all("bad", tmp_path).stderr


def _loaded_by(statement: str) -> set[str]:
    code = f"import sys\nsys.argv = ['healbot', '--version']\n{statement}\nprint(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return set(done.stdout.split()) & set(HEAVY)


def test_the_version_is_told_without_loading_anything_heavy() -> None:
    assert _loaded_by("from healbot.entry.main import main\nmain()") == set()


def test_loading_something_heavy_would_be_noticed() -> None:
    assert _loaded_by("import healbot.records.settings") == {"pydantic"}
