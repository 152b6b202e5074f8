"""Dead references: what an instruction file names that its repository does not have.

Knows a text and a listing of the repository; opens nothing. Precise rather than eager: a name that
may be an example, a place to be made, another project's or a generated file raises no alarm. What
counts: Markdown links, ``@imports``, paths in code, scripts that a command starts, ``npm run``
scripts and ``make`` targets.
"""

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Literal, NamedTuple

from pydantic import Field

from healbot.records.record import Record
from healbot.rules.globs import matches
from healbot.rules.structure import blocks_of

Kind = Literal["link", "import", "path", "script", "npm", "make"]

GENERATED = frozenset(
    {
        "dist", "build", "out", "target", "node_modules", "coverage", "venv", "tmp", "temp", "logs",
        "log", "output", "outputs", "cache", "site-packages", "__pycache__", "bin", "obj",
        "DerivedData", "generated", "results", "data",
    }
)  # fmt: skip
"""Folders that hold what a run or a build makes."""
EXAMPLE = frozenset(
    {
        "foo", "bar", "baz", "example", "examples", "sample", "path", "to", "your", "my", "some",
        "xxx", "name", "file", "filename", "new", "module", "package", "project", "feature",
        "local",
    }
)  # fmt: skip
"""Parts of a path that say that it stands for others."""
ENDINGS = frozenset(
    {
        "c", "cc", "cfg", "conf", "cpp", "cs", "css", "csv", "dart", "ex", "exs", "go", "h", "hpp",
        "html", "ini", "ipynb", "java", "js", "json", "json5", "jsonl", "jsx", "kt", "kts", "lock",
        "lua", "md", "mdc", "mdx", "mjs", "php", "pl", "proto", "ps1", "py", "pyi", "r", "rb",
        "rs", "rst", "scala", "sh", "sql", "svelte", "swift", "tf", "toml", "ts", "tsx", "txt",
        "vue", "xml", "yaml", "yml", "zig",
    }
)  # fmt: skip
"""What the names of files end in that instructions speak of."""
GENERIC = frozenset({"main", "app", "test", "script", "server", "index", "hello", "demo", "run"})

BEFORE, AFTER = 50, 30
"""How many characters about a path are read for words that say it need not be there."""

_SHELLS = frozenset({"", "sh", "bash", "shell", "zsh", "console", "shell-session"})
_SPAN = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)")
_LINK = re.compile(r"(?<!\\)\[[^\]\n]*\]\(\s*<?([^)\s>]+)>?(?:\s+[\"'][^)]*)?\)")
_IMPORT = re.compile(
    r"(?:^|\s)@((?:\.{1,2}/)?[\w.-]+(?:/[\w.-]+)*\.(?:md|mdc|txt|ya?ml|json|toml))(?=[\s,;:)]|\.?$)"
)
_PLAIN = re.compile(r"(?:\./|\.\./)*[\w@.+-]+(?:/[\w@.+-]+)*/?")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//|#|mailto:")
_NPM = re.compile(r"(?:npm|pnpm|yarn|bun)\s+run(?:-script)?\s+([\w][\w:.-]*)(?=\s|$|[;&|])")
_MAKE = re.compile(r"make\s+([a-z][\w-]*)(?=\s*(?:$|[;&|#]))")
_START = re.compile(
    r"(?:(?:python3?|bash|sh|zsh|node|ruby|deno run|uv run(?: python3?)?|tsx|pytest)\s+)"
    r"((?:\./)?[\w.-]+(?:/[\w.-]+)*\.(?:py|sh|js|mjs|ts|rb))(?=\s|$|[;&|])"
    r"|(?:^|[;&|]\s*)(\./[\w.-]+(?:/[\w.-]+)*|[\w.-]+(?:/[\w.-]+)+\.(?:py|sh|js|rb))(?=\s|$|[;&|])"
)
_MADE = re.compile(
    r"\b(creat|add|writ|generat|produc|sav|outputs?\b|emit|export|download|clon|install|new\b|"
    r"propos|plan(?:ned)?\b|scaffold|e\.g\.|eg\b|for example|for instance|such as|examples?\b|"
    r"similar|like\b|if (?:it|there|they|present|any)|when present|optional|"
    r"may (?:be|contain|exist)|exists?\b|remov|delet|deprecat|legacy|renam|moved|former|"
    r"no longer|never|do(?:es)? not|don't|doesn't|not (?:commit|track)|gitignore|ignored|"
    r"untracked|local only|placeholder|"
    r"template|naming|pattern|convention|suppose|imagine|fake|dummy|hypothetical)",
    re.IGNORECASE,
)
"""Words of a line that say that what it names need not be there."""


class Dead(NamedTuple):
    """One reference that leads nowhere: the line (from 1), what it names, and why it is dead."""

    line: int
    kind: Kind
    named: str
    why: str


class Ground(Record):
    """What a repository has.

    Attributes:
        paths: Every file, from the root.
        scripts: The npm scripts of each ``package.json``, by its path.
        targets: The targets of each Makefile, by its path; None where they can't be told.
        ignored: Patterns of ``.gitignore``: what matches may exist without being listed.
    """

    paths: frozenset[str]
    scripts: Mapping[str, frozenset[str]] = Field(default_factory=dict)
    targets: Mapping[str, frozenset[str] | None] = Field(default_factory=dict)
    ignored: tuple[str, ...] = ()

    @cached_property
    def folders(self) -> frozenset[str]:
        """Every folder that holds a file, at any depth."""
        found: set[str] = set()
        for path in self.paths:
            while path := path.rpartition("/")[0]:
                found.add(path)
        return frozenset(found)

    @cached_property
    def names(self) -> Mapping[str, Sequence[str]]:
        """Files by their last part."""
        found: dict[str, list[str]] = {}
        for path in sorted(self.paths):
            found.setdefault(posixpath.basename(path), []).append(path)
        return found

    def has(self, path: str) -> bool:
        """Say whether a path is a file or a folder here."""
        return path in self.paths or path in self.folders or path in ("", ".")


class _Line(NamedTuple):
    number: int
    text: str
    shell: bool


def dead_references(text: str, at: str, ground: Ground, *, skill: bool = False) -> tuple[Dead, ...]:
    """Return the dead references of an instruction file, in the order of its lines.

    Args:
        text: The file's.
        at: Its path from the root.
        ground: What the repository has.
        skill: A skill speaks of others' projects too, so commands in it count for less.
    """
    folder = posixpath.dirname(at)
    prose, shell = _parts(text)
    found: list[Dead] = []
    for line in prose:
        bare = _SPAN.sub(lambda match: " " * len(match[0]), line.text)
        found += _links(line, bare, folder, ground=ground)
        found += _imports(line, bare, folder, ground=ground)
        for match in _SPAN.finditer(line.text):
            code = match[2].strip()
            if not _MADE.search(_clause(line.text, match)):
                found += _path(line, code, folder, ground=ground)
            found += _commands(_Line(line.number, code, False), folder, ground, skill=skill)
    for line in shell:
        found += _commands(line, folder, ground, skill=skill)
    seen: dict[tuple[int, str], Dead] = {}
    for one in found:
        seen.setdefault((one.line, one.named), one)
    return tuple(sorted(seen.values()))


def make_targets(text: str) -> frozenset[str] | None:
    """Return a Makefile's targets; None where some may stand elsewhere or be made up."""
    if re.search(r"^\s*-?s?include\s|^[^\t#\n]*(?:%|\$[({])[^:=\n]*:(?!=)", text, re.MULTILINE):
        return None
    found: set[str] = set()
    for match in re.finditer(r"^([\w./ -]+?)\s*::?(?!=)", text, re.MULTILINE):
        found |= set(match[1].split())
    return frozenset(found)


def _parts(text: str) -> tuple[list[_Line], list[_Line]]:
    """Return the lines of prose, and the lines of code fences that a shell would run."""
    lines = text.split("\n")
    kinds = ["blank"] * (len(lines) + 1)
    for block in blocks_of(text):
        if block.kind == "inline":
            for number in range(block.first, min(block.end, len(lines))):
                kinds[number] = "prose"
        if block.kind == "fence":
            info = lines[block.first].lstrip(" >*-0123456789.").lstrip("`~").strip()
            word = info.split()[0].strip("{}").lower() if info else ""
            for number in range(block.first + 1, min(block.end, len(lines))):
                kinds[number] = "shell" if word in _SHELLS else "code"
    prose = [_Line(n, one, False) for n, one in enumerate(lines, 1) if kinds[n - 1] == "prose"]
    shell = [_Line(n, one, True) for n, one in enumerate(lines, 1) if kinds[n - 1] == "shell"]
    return prose, shell


def _clause(text: str, match: re.Match[str]) -> str:
    """Return what stands about a piece of code in its sentence, a few words to each side."""
    before = re.split(r"[.;:!?—]\s", text[: match.start()])[-1][-BEFORE:]
    after = re.split(r"[.;:!?—](?:\s|$)", text[match.end() :])[0][:AFTER]
    return f"{before} {after}"


def _links(line: _Line, bare: str, folder: str, *, ground: Ground) -> Iterator[Dead]:
    for match in _LINK.finditer(bare):
        named = match[1].partition("#")[0].partition("?")[0]
        if not named or _SCHEME.match(match[1]) or not _PLAIN.fullmatch(named.lstrip("/")):
            continue
        tail = named.rstrip("/")
        looks = "/" in named or "." in posixpath.basename(named)
        if not looks or _stands_for_others(tail) or _found(tail.lstrip("/"), folder, ground):
            continue
        yield Dead(line.number, "link", match[1], _why(tail, ground))


def _imports(line: _Line, bare: str, folder: str, *, ground: Ground) -> Iterator[Dead]:
    for match in _IMPORT.finditer(bare):
        named = match[1]
        if not _stands_for_others(named) and not _found(named, folder, ground):
            yield Dead(line.number, "import", f"@{named}", _why(named, ground))


def _path(line: _Line, code: str, folder: str, *, ground: Ground) -> Iterator[Dead]:
    """Judge a path in code; it must be of this repository: its first folder is, or its name."""
    named = re.sub(r":\d+(?:-\d+)?$", "", code)
    ending = posixpath.basename(named).rpartition(".")[2].lower()
    if "/" not in named or not _PLAIN.fullmatch(named):
        return
    if ending not in ENDINGS and not named.endswith("/"):
        return
    tail = named.rstrip("/")
    first = _first(tail)
    known = any(ground.has(posixpath.join(base, first)) for base in _bases(folder))
    moved = len(ground.names.get(posixpath.basename(tail), ())) == 1
    if not (known or (moved and ending in ENDINGS)) or _stands_for_others(tail):
        return
    if not _found(tail, folder, ground):
        yield Dead(line.number, "path", code, _why(tail, ground))


def _commands(line: _Line, folder: str, ground: Ground, *, skill: bool) -> Iterator[Dead]:
    text = re.sub(r"^\s*[$>%]\s+", "", line.text).strip()
    if text.startswith("#"):
        return
    abroad = skill or bool(re.search(r"\bcd\s|\bgit clone\b", text))
    for match in _NPM.finditer(text):
        every = frozenset().union(*ground.scripts.values())
        if match[1] not in every and (ground.scripts or not abroad) and not skill:
            yield Dead(line.number, "npm", match[0], _no_script(ground))
    for match in _MAKE.finditer(text):
        if not abroad and not _has_target(match[1], ground) and _is_start(text, match.start()):
            yield Dead(line.number, "make", match[0], _no_target(ground))
    for match in _START.finditer(text) if line.shell or " " in text else ():
        named = (match[1] or match[2]).removeprefix("./")
        if _is_generic(named, ground, abroad) or _found(named, folder, ground):
            continue
        yield Dead(line.number, "script", match[1] or match[2], _why(named, ground))


def _is_generic(named: str, ground: Ground, abroad: bool) -> bool:
    """Say whether a script's name may be anybody's, or one that is made first."""
    if "/" not in named:
        stem = named.partition(".")[0]
        return abroad or "." not in named or stem in GENERIC or _stands_for_others(named)
    return _stands_for_others(named) or (abroad and not ground.has(_first(named)))


def _is_start(text: str, at: int) -> bool:
    """Say whether a command begins here: at the line's start or after another command."""
    return not text[:at].strip() or text[:at].rstrip().endswith((";", "&&", "||"))


def _has_target(name: str, ground: Ground) -> bool:
    if any(targets is None or name in targets for targets in ground.targets.values()):
        return True
    return ground.has(name)


def _no_script(ground: Ground) -> str:
    if not ground.scripts:
        return "there is no package.json"
    return "no package.json has a script of that name"


def _no_target(ground: Ground) -> str:
    return "no Makefile has that target" if ground.targets else "there is no Makefile"


def _bases(folder: str) -> Iterator[str]:
    """Yield the places that a path may be written from: the file's folder and all above it."""
    while True:
        yield folder
        if not folder:
            return
        folder = posixpath.dirname(folder)


def _found(named: str, folder: str, ground: Ground) -> bool:
    for base in _bases(folder):
        path = posixpath.normpath(posixpath.join(base, named))
        if path.startswith("../") or path == ".." or ground.has(path):
            return True  # what lies outside of the repository can't be told
        if any(matches(path, one) or matches(path, f"{one}/**") for one in _ignored(ground)):
            return True
    plain = named.removeprefix("./").lstrip("/")
    return any(path.endswith(f"/{plain}") for path in ground.names.get(_last(plain), ())) or any(
        path.endswith(f"/{plain}") for path in ground.folders if "/" in plain or not _last(plain)
    )


def _ignored(ground: Ground) -> Iterator[str]:
    for pattern in ground.ignored:
        plain = pattern.strip("/")
        yield plain
        if "/" not in plain:
            yield f"**/{plain}"


def _first(path: str) -> str:
    return path.removeprefix("./").partition("/")[0]


def _last(path: str) -> str:
    return posixpath.basename(path)


def _stands_for_others(path: str) -> bool:
    """Say whether a path is an example, a pattern or something that a run makes."""
    parts = [part for part in path.split("/") if part not in ("", ".", "..")]
    words = {word for part in parts for word in re.split(r"[-_.]", part.lower())}
    upper = any(re.search(r"(?<![A-Z])[XN]{2,}(?![A-Z])|YYYY|^[vV]?N$", part) for part in parts)
    made = not GENERATED.isdisjoint(parts[:1])
    return made or upper or not EXAMPLE.isdisjoint(words) or "node_modules" in parts


def _why(named: str, ground: Ground) -> str:
    twins = ground.names.get(_last(named), ())
    return f"is it {twins[0]} now?" if len(twins) == 1 else "it is not in the repository"
