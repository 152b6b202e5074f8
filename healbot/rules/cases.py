"""Case files: which paths hold cases, and text to ``Case``, or what is wrong with it, and where.

Knows the shape that users write (one case, a list, or ``{cases: [...]}``) and a listing of paths;
opens no file.
"""

from collections.abc import Iterator, Mapping, Sequence

from pydantic import ValidationError

from healbot.errors import InputError
from healbot.records.case import Case
from healbot.records.settings import SETTINGS_PATH, AgentSettings
from healbot.rules.documents import Document, Step
from healbot.rules.globs import is_glob, is_inside, matches, tidy
from healbot.rules.mistakes import did_you_mean, explain, listed, unknown_key, words
from healbot.rules.promptfoo import cases_of, is_config
from healbot.rules.reading import parse
from healbot.rules.suites import Files, referred

CASE_ENDINGS = (".yaml", ".yml", ".json", ".jsonl")
"""The file names that may hold cases."""
PASSED_OVER = frozenset({"fixtures", "hidden", "checks", "workspaces", "node_modules"})
"""Folders below a folder of cases whose files are no cases, whatever their names end in."""
NEXT_STEP = "Correct the file, then run healbot cases lint."

_NOT_WRITTEN = frozenset({"origin", "folder", "asserts", "way", "sources"})


def match_paths(paths: Sequence[str], patterns: Sequence[str]) -> tuple[str, ...]:
    """Return the case files among a listing of paths, sorted.

    A pattern is a file, a folder (its case files at any depth, without ``PASSED_OVER`` and hidden
    folders below it), or a glob, taken at its word (``PASSED_OVER`` does not apply).

    Raises:
        InputError: A pattern leaves the repository, or names no case file.
    """
    found: set[str] = set()
    for pattern in patterns:
        if not is_inside(pattern):
            raise InputError(
                f"cases: {pattern!r} leaves the repository.",
                f"Correct it in {SETTINGS_PATH}: a path from the repository's root.",
            )
        named = {path for path in paths if _named(path, pattern)}
        if not named:
            raise InputError(_no_match(pattern, paths), "Write a case there, or correct the path.")
        found |= named
    return tuple(sorted(found))


def read_cases(
    texts: Mapping[str, str | bytes], agent: AgentSettings, files: Files | None = None
) -> tuple[Case, ...]:
    """Read all cases of an agent, in the order of their files and lines.

    ``texts`` is path to content; a promptfoo configuration among them may refer to ``files`` of the
    repository (left out: to ``texts`` only), which then are no case files of their own. Each case
    knows its ``origin`` (``file:line``) and ``folder``.

    Raises:
        InputError: Up to five mistakes, one a line; an id that stands twice, with both places.
    """
    mistakes: list[str] = []
    cases: list[Case] = []
    for case in _read_files(texts, agent, files or _only(texts)):
        if isinstance(case, Case):
            cases.append(case)
        else:
            mistakes.append(case)
    mistakes += _twice(cases)
    if mistakes:
        raise InputError(listed(mistakes), NEXT_STEP)
    if not cases:
        raise InputError(
            f"The agent {agent.name!r} has no case in {', '.join(agent.cases)}.",
            "Write one: an id, an input, and an assert or a check.",
        )
    return tuple(cases)


def is_case_file(path: str) -> bool:
    """Say whether a path's ending is one of a case file's."""
    return path.lower().endswith(CASE_ENDINGS)


def _named(path: str, pattern: str) -> bool:
    if not is_case_file(path):
        return False
    wanted = tidy(pattern)
    if path == wanted:
        return True
    if is_glob(pattern):
        return matches(path, wanted)
    prefix = wanted + "/" if wanted else ""
    if not path.startswith(prefix):
        return False
    below = path[len(prefix) :].split("/")
    hidden = any(part.startswith(".") for part in below)
    return not hidden and PASSED_OVER.isdisjoint(below[:-1])


def _no_match(pattern: str, paths: Sequence[str]) -> str:
    folders = {path.rpartition("/")[0] for path in paths if is_case_file(path)}
    near = did_you_mean(tidy(pattern), sorted(folders | set(paths))) if len(paths) else ""
    return f"cases: {pattern!r} names no committed case file; {near or 'nothing is there.'}"


def _only(texts: Mapping[str, str | bytes]) -> Files:
    def read(path: str) -> bytes:
        text = texts[path]
        return text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text

    return Files(tuple(texts), read)


def _read_files(
    texts: Mapping[str, str | bytes], agent: AgentSettings, files: Files
) -> Iterator[Case | str]:
    documents: dict[str, Document | InputError] = {}
    for path, text in sorted(texts.items()):
        try:
            documents[path] = parse(text, path)
        except InputError as error:
            documents[path] = error
    configs = {
        path: one for path, one in documents.items() if isinstance(one, Document) and is_config(one)
    }
    referred_to = {path for one in configs.values() for path in referred(one, files)}
    for path, document in documents.items():
        if path in configs:
            yield from cases_of(configs[path], agent, files)
        elif path not in referred_to:
            yield from _read_file(document)


def _read_file(document: Document | InputError) -> Iterator[Case | str]:
    try:
        if isinstance(document, InputError):
            raise document
        places = _places(document)
    except InputError as error:
        yield error.what
        return
    for base, raw in places:
        yield from _read_one(document, base, raw)


def _places(document: Document) -> list[tuple[tuple[Step, ...], object]]:
    """Find the cases of a file, each with its place in the document."""
    data = document.data
    base: tuple[Step, ...] = ()
    if isinstance(data, dict) and isinstance(data.get("cases"), list):
        base = ("cases",)
        other = [key for key in data if key != "cases"]
        if other:
            line = document.line((other[0],))
            raise InputError(f"{document.name}:{line}: {unknown_key(other[0], ('cases',))}.")
        data = data["cases"]
    if isinstance(data, list):
        return [((*base, index), raw) for index, raw in enumerate(data)]
    if isinstance(data, dict):
        return [((), data)]
    if data is None:
        return []
    raise InputError(f"{document.name}:{document.root.line}: holds no case (a list of mappings).")


def _read_one(document: Document, base: tuple[Step, ...], raw: object) -> Iterator[Case | str]:
    line = document.line(base)
    if not isinstance(raw, dict):
        yield f"{document.name}:{line}: a case is a mapping (id, input, assert, checks)."
        return
    for key in sorted(_NOT_WRITTEN & raw.keys()):
        at = document.line((*base, key))
        yield f"{document.name}:{at}: {unknown_key(key, words(Case))}"
    place = {"origin": f"{document.name}:{line}", "folder": document.name.rpartition("/")[0]}
    written = {key: value for key, value in raw.items() if key not in _NOT_WRITTEN}
    try:
        yield Case.model_validate({**written, **place})
    except ValidationError as error:
        label = f" (case {raw['id']!r})" if isinstance(raw.get("id"), str) and raw["id"] else ""
        for text in explain(error, document, model=Case, base=base):
            yield text + label


def _twice(cases: Sequence[Case]) -> list[str]:
    first: dict[str, Case] = {}
    mistakes = []
    for case in cases:
        before = first.setdefault(case.id, case)
        if before is not case:
            mistakes.append(
                f"{case.origin}: the id {case.id!r} stands twice, first at {before.origin}; "
                "give each case an id of its own."
            )
    return mistakes
