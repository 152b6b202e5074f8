"""A promptfoo configuration, read live: its tests as cases.

Knows promptfoo's words (its reference of the configuration and "Test cases" in its documentation).
A test's input is the one text prompt with the test's variables in it; where there is no single text
prompt, it is the variable called ``input``, ``question``, ``prompt``, ``query`` or ``message``, or
the only one. Assertions stay verbatim; what can't be judged here stays as well and can't score.
``metadata`` may hold ``id``, ``split``, ``tags`` and ``safety``. Providers are passed over: the
agent is run as the settings say.
"""

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from healbot.errors import InputError
from healbot.records.case import Case, Split
from healbot.records.settings import AgentSettings
from healbot.rules.assertions import CANNOT_SCORE, known_types, needs
from healbot.rules.documents import Document
from healbot.rules.mistakes import explain, unknown_key
from healbot.rules.suites import Files, Suite, Test
from healbot.rules.templates import beyond, fill, names, shown

CONFIG_NAME = "promptfooconfig"
CONFIG_KEYS = frozenset({"prompts", "providers", "targets", "tests", "defaultTest", "scenarios"})
INPUT_NAMES = ("input", "question", "prompt", "query", "message")
MAX_CASES = 1_000
"""How many cases the lists among one test's variables may make."""
LONGEST_ID = 100

_PASSED_OVER = frozenset({"provider", "providers", "prompts", "weight"})
_TEST_KEYS = frozenset({"description", "vars", "assert", "options", "metadata", "threshold"})
_SCRIPTED = frozenset({"assertScoringFunction", "providerOutput", "transform", "postprocess"})
_SCRIPTED_OPTIONS = frozenset({"transform", "postprocess", "transformVars"})
_ASSERTION_KEYS = frozenset(
    {"type", "value", "threshold", "metric", "provider", "weight", "transform"}
)
_HARMLESS = frozenset({"config", "rubricPrompt"})


def is_config(document: Document) -> bool:
    """Say whether a document is a promptfoo configuration, by its name or its shape."""
    if not isinstance(document.data, dict):
        return False
    name = document.name.rpartition("/")[2]
    return name.startswith(CONFIG_NAME) or len(CONFIG_KEYS & document.data.keys()) > 1


def cases_of(document: Document, agent: AgentSettings, files: Files) -> Iterator[Case | str]:
    """Yield the cases of a configuration, and a sentence for each test that can't be read."""
    suite = Suite(document, files)
    try:
        maker = _Maker(suite, agent)
        tests = list(suite.tests())
    except InputError as error:
        yield error.what
        return
    for number, test in enumerate(tests, start=1):
        try:
            yield from maker.cases(test, number)
        except InputError as error:
            yield error.what
        except ValidationError as error:
            yield from explain(error, test.document, model=Case, base=test.place)


class _Maker:
    """Makes cases of the tests of one suite."""

    def __init__(self, suite: Suite, agent: AgentSettings) -> None:
        self._suite = suite
        self._default = suite.default()
        self._prompt = suite.prompt(agent)
        self._used: set[str] = set()
        piece = beyond(self._prompt or "")
        if piece:
            suite.refuse(
                ("prompts",), f"the prompt holds {piece!r}; only {{{{name}}}} is filled in"
            )

    def cases(self, test: Test, number: int) -> Iterator[Case]:
        """Yield a test's cases: one, or one for each combination of its listed variables."""
        self._require_known(test)
        options = {**_map(self._default, "options"), **_map(test.raw, "options")}
        metadata = {**_map(self._default, "metadata"), **_map(test.raw, "metadata")}
        if metadata.get("split") not in (None, *Split):
            problem = "metadata.split must be train, heldout or test"
            self._suite.refuse((*test.place, "metadata", "split"), problem, test.document)
        rows = self._rows(test, expanded=not options.get("disableVarExpansion"))
        for row in rows:
            asserts = list(self._asserts(test, row, options))
            reasons = list(self._reasons(test, options, asserts))
            yield Case.model_validate(
                {
                    "id": self._id(test, metadata, number),
                    "input": self._input(test, row, options),
                    "assert": reasons or asserts,
                    "origin": f"{test.document.name}:{test.document.line(test.place)}",
                    "folder": self._suite.folder,
                    "sources": tuple(self._suite.sources),
                    **_standing(metadata),
                }
            )

    def _require_known(self, test: Test) -> None:
        known = sorted(_TEST_KEYS | _PASSED_OVER | _SCRIPTED)
        for key in test.raw:
            if key not in known and not key.startswith("config:"):
                self._suite.refuse((*test.place, key), unknown_key(key, known), test.document)

    def _rows(self, test: Test, *, expanded: bool) -> list[dict[str, Any]]:
        """Return the variables of each case; a list stands for its items, as in promptfoo."""
        written = {**self._vars(self._default, test), **self._vars(test.raw, test)}
        lists = [key for key, value in written.items() if isinstance(value, list) and expanded]
        count = 1
        for key in lists:
            count *= len(written[key])
        if count > MAX_CASES:
            at = (*test.place, "vars")
            self._suite.refuse(at, f"its lists make more than {MAX_CASES} cases", test.document)
        rows = [
            {**written, **dict(zip(lists, chosen, strict=True))}
            for chosen in itertools.product(*(written[key] for key in lists))
        ]
        return [
            {key: fill(one, row) if isinstance(one, str) else one for key, one in row.items()}
            for row in rows
        ]

    def _vars(self, raw: Mapping[str, Any], test: Test) -> dict[str, Any]:
        place = (*test.place, "vars")
        value = raw.get("vars")
        if isinstance(value, str):
            value = self._suite.data(value, place, test.document)
        if value is not None and not isinstance(value, dict):
            self._suite.refuse(place, "vars is a mapping of names to values", test.document)
        found = value or {}
        return {key: self._suite.value(one, (*place, key), test) for key, one in found.items()}

    def _input(self, test: Test, row: Mapping[str, Any], options: Mapping[str, Any]) -> str:
        place = (*test.place, "vars")
        if self._prompt is not None:
            ends = (str(options.get("prefix") or ""), str(options.get("suffix") or ""))
            text = self._prompt.join(ends)
            missing = [name for name in names(text) if name not in row]
            if missing:
                problem = f"the prompt asks for {missing[0]!r}, which vars does not give"
                self._suite.refuse(place, problem, test.document)
            return fill(text, row)
        name = next((one for one in INPUT_NAMES if one in row), None)
        if name is None and len(row) == 1:
            name = next(iter(row))
        if name is None:
            problem = (
                f"no variable is the agent's input; call one of them {' or '.join(INPUT_NAMES)}"
            )
            self._suite.refuse(place, problem, test.document)
        return shown(row[name])

    def _asserts(
        self, test: Test, row: Mapping[str, Any], options: Mapping[str, Any]
    ) -> Iterator[object]:
        own = test.raw.get("assert") or []
        default = [] if options.get("disableDefaultAsserts") else self._default.get("assert") or []
        if not isinstance(own, list) or not isinstance(default, list):
            self._suite.refuse((*test.place, "assert"), "assert is a list", test.document)
        for raw in (*own, *default):
            found = self._suite.followed(raw)
            yield _assertion(found, row) if isinstance(found, dict) else found

    def _reasons(
        self, test: Test, options: Mapping[str, Any], asserts: Sequence[object]
    ) -> Iterator[dict[str, Any]]:
        """Yield why nothing here can judge the test as a whole: no assertion alone decides it."""
        for key in sorted({*test.raw} | {*self._default}):
            if key in _SCRIPTED or key.startswith("config:"):
                yield _unscorable(f"the test's {key} is not available here")
        for key in sorted(_SCRIPTED_OPTIONS & options.keys()):
            yield _unscorable(f"the test's {key} needs a script to be run, which is not available")
        limit = test.raw.get("threshold", self._default.get("threshold"))
        weighed = [one for one in asserts if not (isinstance(one, dict) and one.get("weight") == 0)]
        if limit is not None and not _is_all(limit, len(weighed)):
            yield _unscorable(
                f"the test's threshold {str(limit)[:20]} lets some assertions fail, which is not "
                "available here; make it 1 or take it out"
            )

    def _id(self, test: Test, metadata: Mapping[str, Any], number: int) -> str:
        """Return an id: as metadata has it, or of the description, or of the test's place."""
        named = metadata.get("id") or test.raw.get("description")
        wanted = _slug(str(named)) if named else ""
        if not wanted:
            stem = self._suite.folder.rpartition("/")[2]
            wanted = _slug(f"{stem}-test-{number}" if stem else f"test-{number}")
        found = next(one for one in _numbered(wanted) if one not in self._used)
        self._used.add(found)
        return found


def _assertion(raw: Mapping[str, Any], row: Mapping[str, Any]) -> dict[str, Any]:
    """Return an assertion with variables filled in; keys of what is judged elsewhere are left."""
    if "$ref" in raw:
        return _unscorable(
            f"nothing stands at $ref {str(raw['$ref'])[:80]!r} of its own configuration"
        )
    kind = str(raw.get("type", ""))
    judged = needs(kind) is None and kind.removeprefix("not-") in known_types()
    kept = raw.keys() - _HARMLESS if judged or not kind else raw.keys() & _ASSERTION_KEYS
    return {
        key: _filled(one, row) if key in ("value", "metric") else one
        for key, one in raw.items()
        if key in kept
    }


def _filled(value: object, row: Mapping[str, Any]) -> object:
    if isinstance(value, list):
        return [fill(one, row) if isinstance(one, str) else one for one in value]
    return fill(value, row) if isinstance(value, str) else value


def _unscorable(why: str) -> dict[str, Any]:
    return {"type": CANNOT_SCORE, "value": why}


def _is_all(limit: object, count: int) -> bool:
    """Say whether a threshold asks for all assertions, as a case does."""
    try:
        share = float(str(limit))
    except ValueError:
        return False
    return share == 1 or (count == 1 and 0 < share < 1)


def _standing(metadata: Mapping[str, Any]) -> dict[str, object]:
    """Return what of the metadata a case has words for."""
    safety = str(metadata.get("safety")).lower() == "true"
    found: dict[str, object] = {"split": metadata.get("split"), "safety": safety}
    tags = metadata.get("tags") or []
    found["tags"] = tuple(str(one) for one in tags) if isinstance(tags, list) else (str(tags),)
    return found


def _map(raw: Mapping[str, Any], key: str) -> dict[str, Any]:
    value = raw.get(key)
    return value if isinstance(value, dict) else {}


def _slug(text: str) -> str:
    return re.sub(r"[^\w.-]+", "-", text.strip().lower()).strip("-.")[:LONGEST_ID]


def _numbered(word: str) -> Iterator[str]:
    yield word
    yield from (f"{word}-{count}" for count in itertools.count(2))
