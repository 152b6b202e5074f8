"""A promptfoo configuration and the files that it refers to, as tests, defaults and one prompt.

Knows where promptfoo keeps things (``tests``, ``defaultTest``, ``prompts``; inline or ``file://``
from the configuration's folder). Opens no file: it asks for texts of the same repository by path.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, NoReturn

from healbot.errors import InputError
from healbot.records.settings import AgentSettings
from healbot.rules.assertions import known_types
from healbot.rules.documents import Document, Step, decode
from healbot.rules.globs import is_glob, join, matches
from healbot.rules.reading import parse
from healbot.rules.rows import parse_rows

DATA_ENDINGS = ("yaml", "yml", "json", "jsonl")
TEXT_ENDINGS = ("", "txt", "md", "j2", "prompt")
_PATH = re.compile(r"[\w./-]+\.(?:txt|md|j2|prompt|jsonl?|ya?ml|csv|py|[mc]?[jt]s)(?::\w+)?")
_SEVERAL = re.compile(r"^---\s*$", re.MULTILINE)
_CHAT = re.compile(r"\s*[\[{]")


class Files(NamedTuple):
    """The texts of a repository: its listing, and how to read one of it."""

    paths: Sequence[str]
    read: Callable[[str], bytes]


class Test(NamedTuple):
    """One test as it is written, and where."""

    document: Document
    place: tuple[Step, ...]
    raw: dict[str, Any]


class Suite:
    """One configuration."""

    def __init__(self, document: Document, files: Files) -> None:
        self._document = document
        self._files = files
        self.folder = document.name.rpartition("/")[0]
        self.sources: dict[str, None] = {document.name: None}

    def tests(self) -> Iterator[Test]:
        """Yield the tests, in order.

        Raises:
            InputError: Tests are made by a program, lie elsewhere, or are none.
        """
        data = self._document.data
        if "scenarios" in data:
            self.refuse(("scenarios",), "scenarios are not read here; write their tests as tests")
        written = data.get("tests")
        entries = written if isinstance(written, list) else [written]
        for index, raw in enumerate(entries):
            place: tuple[Step, ...] = ("tests", index) if isinstance(written, list) else ("tests",)
            if isinstance(raw, dict) and isinstance(raw.get("path"), str):
                raw = raw["path"]  # noqa: PLW2901 - a generator with settings, refused by its name
            if isinstance(raw, str):
                for path in self._named(raw, (*DATA_ENDINGS, "csv"), place=place):
                    yield from self._outside(path)
            elif isinstance(raw, dict):
                yield Test(self._document, place, raw)
            elif raw is not None:
                self.refuse(place, "a test is a mapping (vars, assert) or a file://")

    def default(self) -> dict[str, Any]:
        """Return ``defaultTest``, read from its file where it names one."""
        value = self._document.data.get("defaultTest")
        if isinstance(value, str):
            (path, *_) = self._named(value, DATA_ENDINGS, place=("defaultTest",))
            self.sources[path] = None
            value = parse(self._files.read(path), path).data
        if value is not None and not isinstance(value, dict):
            self.refuse(("defaultTest",), "defaultTest is a mapping (vars, assert)")
        return value or {}

    def prompt(self, agent: AgentSettings) -> str | None:
        """Return the text of the only prompt; None where there is none, or it is no plain text.

        A prompt that is the agent's own instructions does not count: the agent has them.
        """
        value = self._document.data.get("prompts")
        entries = value if isinstance(value, list) else [value]
        if len(entries) != 1:
            return None
        entry = entries[0]
        if isinstance(entry, dict):
            entry = entry.get("raw") or entry.get("id")
        if not isinstance(entry, str) or entry.startswith("exec:"):
            return None
        if not entry.startswith("file://") and not _PATH.fullmatch(entry):
            return None if _CHAT.match(entry) and '"role"' in entry else entry
        return self._prompt_file(entry, agent)

    def followed(self, raw: object) -> object:
        """Return what a ``$ref: '#/key/key'`` points to in this configuration, else the value."""
        ref = raw.get("$ref") if isinstance(raw, dict) else None
        if not isinstance(ref, str) or not ref.startswith("#/"):
            return raw
        found = self._document.data
        for key in ref.removeprefix("#/").split("/"):
            found = found.get(key) if isinstance(found, dict) else None
        return raw if found is None else found

    def value(self, raw: object, place: tuple[Step, ...], at: "Test") -> object:
        """Return a variable's value, read from its file where it is ``file://``."""
        if not isinstance(raw, str) or not raw.startswith("file://"):
            return raw
        if _ending(raw) in DATA_ENDINGS:
            return self.data(raw, place, at.document)
        (path, *_) = self._named(raw, TEXT_ENDINGS, place=place, document=at.document)
        return decode(self._files.read(path), path)

    def data(self, ref: str, place: tuple[Step, ...], document: Document | None = None) -> Any:
        """Return what a YAML or JSON file of the repository holds."""
        (path, *_) = self._named(ref, DATA_ENDINGS, place=place, document=document)
        return parse(self._files.read(path), path).data

    def refuse(
        self, place: Sequence[Step], problem: str, document: Document | None = None
    ) -> NoReturn:
        """Say what can't be read, and where."""
        found = document or self._document
        raise InputError(f"{found.name}:{found.line(place)}: {problem}.")

    def _prompt_file(self, entry: str, agent: AgentSettings) -> str | None:
        if _ending(entry) not in TEXT_ENDINGS:
            return None
        (path, *more) = self._named(entry, TEXT_ENDINGS, place=("prompts",))
        if more or path == join(agent.dir, agent.instructions):
            return None
        text = decode(self._files.read(path), path)
        return None if _SEVERAL.search(text) else text.strip()

    def _outside(self, path: str) -> Iterator[Test]:
        self.sources[path] = None
        content = self._files.read(path)
        if path.endswith(".csv"):
            document = parse_rows(content, path, frozenset(known_types()))
        else:
            document = parse(content, path)
        single = isinstance(document.data, dict)
        for index, raw in enumerate([document.data] if single else document.data or []):
            place: tuple[Step, ...] = () if single else (index,)
            if not isinstance(raw, dict):
                self.refuse(place, "a test is a mapping (vars, assert)", document)
            yield Test(document, place, raw)

    def _named(
        self,
        ref: str,
        endings: Sequence[str],
        *,
        place: Sequence[Step],
        document: Document | None = None,
    ) -> list[str]:
        """Return the files of the repository that a reference names, sorted."""
        name = ref.removeprefix("file://")
        shown = repr(ref[:80])
        if "://" in name or name.startswith(("az:", "s3:", "gs:")):
            self.refuse(place, f"{shown} lies outside the repository, so it is not read", document)
        if _ending(ref) not in endings:
            known = ", ".join(f".{one}" for one in endings if one)
            self.refuse(place, f"{shown} is not read here; write its content as {known}", document)
        path = join(self.folder, name)
        if path is None:
            self.refuse(place, f"{shown} leaves the repository", document)
        found = [one for one in self._files.paths if one == path]
        if not found and is_glob(path):
            found = sorted(one for one in self._files.paths if matches(one, path))
        if not found:
            self.refuse(place, f"{shown} names no committed file", document)
        return found


def _ending(ref: str) -> str:
    """Return a reference's ending in lower case; of ``tests.py:make`` it is ``py:make``."""
    return (
        ref.rpartition("/")[2].rpartition(".")[2].lower() if "." in ref.rpartition("/")[2] else ""
    )


def referred(document: Document, files: Files) -> frozenset[str]:
    """Return the files of the repository that a configuration refers to anywhere."""
    folder = document.name.rpartition("/")[0]
    wanted = [join(folder, ref.removeprefix("file://")) for ref in _references(document.data)]
    return frozenset(
        path
        for path in files.paths
        if any(one and (path == one or (is_glob(one) and matches(path, one))) for one in wanted)
    )


def _references(value: object) -> Iterator[str]:
    if isinstance(value, str) and (value.startswith("file://") or _PATH.fullmatch(value)):
        yield value
    if isinstance(value, dict):
        for inner in value.values():
            yield from _references(inner)
    if isinstance(value, list):
        for inner in value:
            yield from _references(inner)
