"""One assertion in promptfoo's words, judged against what a run left behind.

Knows records and text. It opens no file, runs no code and asks no model: an assertion that needs
one of these can't score here, and says what it needs. Semantics are promptfoo's own
(``src/assertions`` and "Deterministic metrics" in its documentation) but for two points: a fault of
the assertion itself (an invalid regex or schema, no value) can't score where promptfoo says fail,
and a text that every output contains can't score where promptfoo says pass.
"""

import re
from collections.abc import Callable
from typing import Any, NamedTuple

from healbot.records.case import Assertion
from healbot.records.run import CheckResult, Outcome, Trace
from healbot.rules.expected import js_text, refuse_references, same, text_of, texts_of
from healbot.rules.patterns import JS_SPACE, Unscorable, checked, found, shortened
from healbot.rules.schema import NotJsonError, embedded, misfit, parsed, sound

Holds = tuple[bool, str]
"""Whether the assertion without its ``not-`` holds, and in words what it asks of the output."""

CANNOT_SCORE = "cannot-score"
"""Stands for what a foreign test asks and nothing here can judge; its value says why."""

_ANSI = re.compile(r"\x1b(?:[@-Z\\-_]|\[[0-?]*[ -/]*[@-~])")
_LOOKS_AHEAD = ("$", "(?!", "(?=", r"\b", r"\B")
_MS = 1000.0
_SUGGESTION_CUTOFF = 0.6

_NEEDS = {
    "a judge model": "agent-rubric answer-relevance context-faithfulness context-recall "
    "context-relevance conversation-relevance factuality g-eval llm-rubric model-graded-closedqa "
    "model-graded-factuality research-rubric search-rubric select-best trajectory:goal-success",
    "an embedding model": "bertscore similar similar:cosine similar:dot similar:euclidean",
    "a script to be run": "javascript python ruby",
    "a remote service": "classifier guardrails moderation pi webhook",
    "traced spans": "skill-used trace-error-spans trace-span-count trace-span-duration "
    "trajectory:step-count trajectory:tool-args-match trajectory:tool-sequence "
    "trajectory:tool-used",
    "a metric that is not built in": "assert-set bleu contains-html contains-sql contains-xml "
    "finish-reason gleu human is-html is-refusal is-sql is-valid-function-call is-xml levenshtein "
    "is-valid-openai-function-call is-valid-openai-tools-call max-score meteor perplexity "
    "perplexity-score rouge-n tool-call-f1 word-count",
}
_ELSEWHERE = {word: need for need, words in _NEEDS.items() for word in words.split()}


class _Kind(NamedTuple):
    """How one type is judged.

    Attributes:
        judge: Whether it holds of an output; raises Unscorable.
        sound: Raises Unscorable where the assertion itself is at fault, whatever the output.
        lasting: What it may say of a part that then stays said of the whole: True where a text that
            is there stays there, False where a limit that is passed stays passed, None otherwise.
        whole: Says nothing of an output that was cut.
    """

    judge: Callable[[Assertion, str, Trace], Holds]
    sound: Callable[[Assertion], object]
    lasting: bool | None = None
    whole: bool = False


def judge(assertion: Assertion, trace: Trace) -> CheckResult:
    """Judge one assertion; never raises.

    A run that did not end well (not started, timed out, exit code other than 0) can't score, as in
    promptfoo, but for what its output proves already: a forbidden text that is there, a limit that
    is passed. The same holds for an output that was cut.
    """
    base = assertion.type.removeprefix("not-")
    inverse = base != assertion.type
    try:
        kind = _kind(assertion)
        kind.sound(assertion)
        holds, words = kind.judge(assertion, output_of(trace), trace)
        _refuse_partial(kind, trace, holds=holds, inverse=inverse)
    except Unscorable as reason:
        return CheckResult(check=assertion.label, outcome=Outcome.NONE, reason=str(reason))
    except Exception as fault:  # noqa: BLE001 - a crashed check is the third outcome, never raised
        said = f"the assertion {base[:40]!r} could not be judged ({type(fault).__name__})"
        return CheckResult(check=assertion.label, outcome=Outcome.NONE, reason=said)
    if holds != inverse:
        return CheckResult(check=assertion.label, outcome=Outcome.PASS)
    return CheckResult(
        check=assertion.label,
        outcome=Outcome.FAIL,
        reason=f"the answer should {'not ' if inverse else ''}{words}",
        missed=assertion.metric,
    )


def known_types() -> tuple[str, ...]:
    """Return every type of promptfoo's that is known, judged here or not, without ``not-``."""
    return tuple(sorted({*_KINDS, *_ELSEWHERE}))


def needs(kind: str) -> str | None:
    """Return what a known type needs that is not built in, or None."""
    return _ELSEWHERE.get(kind.removeprefix("not-"))


def problem(assertion: Assertion) -> str | None:
    """Say why an assertion could never score, or None; one sentence, for lint."""
    try:
        _kind(assertion).sound(assertion)
    except Unscorable as reason:
        return str(reason)
    except Exception as fault:  # noqa: BLE001 - lint names every fault of an assertion
        return f"the assertion can't be read ({type(fault).__name__})"
    return None


def output_of(trace: Trace) -> str:
    """Return stdout as promptfoo's ``exec`` provider gives it: trimmed, without ANSI colours."""
    return _ANSI.sub("", trace.stdout.strip(JS_SPACE))


def unfinished(trace: Trace) -> str | None:
    """Say why a run that did not end well proves nothing by what it left out, or None."""
    if trace.ended == "timed-out":
        return "the agent ran into its timeout"
    if trace.ended != "exited":
        return f"the agent's run was {trace.ended.replace('-', ' ')}"
    if trace.exit_code:
        return f"the agent ended with exit code {trace.exit_code}"
    return None


def unstarted(trace: Trace) -> None:
    """Refuse a run that did not end by itself; an exit code is for the check to weigh.

    Raises:
        Unscorable: It did not start, was interrupted, or ran into its timeout.
    """
    if trace.ended != "exited":
        raise Unscorable(unfinished(trace) or "")


def _kind(assertion: Assertion) -> _Kind:
    base = assertion.type.removeprefix("not-")
    if base == CANNOT_SCORE:
        raise Unscorable(str(assertion.value))
    if base in _ELSEWHERE:
        raise Unscorable(f"{base} needs {_ELSEWHERE[base]}, which is not available here")
    kind = _KINDS.get(base)
    if kind is None:
        import difflib  # noqa: PLC0415 - only a typo needs it

        near = difflib.get_close_matches(base, known_types(), n=1, cutoff=_SUGGESTION_CUTOFF)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise Unscorable(f"the assertion type {base[:60]!r} is not known{hint}")
    if assertion.transform is not None:
        raise Unscorable("a transform needs a script to be run, which is not available here")
    refuse_references(assertion.value)
    if base == "regex" and any(mark in str(assertion.value) for mark in _LOOKS_AHEAD):
        return kind._replace(lasting=None, whole=True)
    return kind


def _refuse_partial(kind: _Kind, trace: Trace, *, holds: bool, inverse: bool) -> None:
    """Refuse a judgement that the missing part of a run or of its output could turn round."""
    reason = unfinished(trace)
    if reason is not None:
        proven = holds == inverse and holds is kind.lasting
        if not proven or trace.ended in ("not-started", "interrupted"):
            raise Unscorable(reason)
    if trace.truncated and (kind.whole or (kind.lasting and not holds)):
        raise Unscorable("the output was cut at its limit, and the answer may be in what is gone")


def _contains(assertion: Assertion, output: str, _: Trace) -> Holds:
    text = text_of(assertion)
    return text in output, f"contain {shortened(text)}"


def _icontains(assertion: Assertion, output: str, _: Trace) -> Holds:
    text = text_of(assertion)
    return text.lower() in output.lower(), f"contain {shortened(text)} in any case"


def _several(fold: Callable[[list[bool]], bool], word: str, lower: bool) -> Callable[..., Holds]:
    def judged(assertion: Assertion, output: str, _: Trace) -> Holds:
        texts = texts_of(assertion)
        wanted = [text.lower() for text in texts] if lower else texts
        hay = output.lower() if lower else output
        return fold(
            [text in hay for text in wanted]
        ), f"contain {word} of {shortened(', '.join(texts))}"

    return judged


def _equals(assertion: Assertion, output: str, _: Trace) -> Holds:
    value = assertion.value
    if not isinstance(value, (dict, list)):
        return js_text(value) == output, f"equal {shortened(js_text(value))}"
    try:
        return same(value, parsed(output)), "equal the given JSON"
    except NotJsonError:
        return False, "equal the given JSON"


def _given(assertion: Assertion) -> None:
    if assertion.value is None:
        raise Unscorable(f"{assertion.type} needs a value")


def _regex(assertion: Assertion, output: str, _: Trace) -> Holds:
    return found(assertion.value, output), f"match {shortened(assertion.value)}"


def _regex_sound(assertion: Assertion) -> None:
    if not isinstance(assertion.value, str) or not assertion.value:
        raise Unscorable(f"{assertion.type} needs a regular expression as its value")
    checked(assertion.value)


def _plain_sound(assertion: Assertion) -> None:
    if not isinstance(assertion.value, str) or not assertion.value:
        raise Unscorable(f"{assertion.type} needs a text as its value")


def _starts_with(assertion: Assertion, output: str, _: Trace) -> Holds:
    return output.startswith(assertion.value), f"start with {shortened(assertion.value)}"


def _ends_with(assertion: Assertion, output: str, _: Trace) -> Holds:
    return output.endswith(assertion.value), f"end with {shortened(assertion.value)}"


def _is_json(assertion: Assertion, output: str, _: Trace) -> Holds:
    try:
        value = parsed(output)
    except NotJsonError:
        return False, "be JSON"
    return _conforms(_schema(assertion), [value], "be JSON")


def _contains_json(assertion: Assertion, output: str, _: Trace) -> Holds:
    return _conforms(_schema(assertion), embedded(output), "contain JSON")


def _conforms(schema: Any, values: Any, words: str) -> Holds:
    if schema is None:
        return any(True for _ in values), words
    misfits = [words]
    for value in values:
        wrong = misfit(schema, value)
        if wrong is None:
            return True, f"{words} of the given schema"
        misfits.append(wrong)
    return False, f"{words} of the given schema ({misfits[-1]})"


def _schema(assertion: Assertion) -> Any:
    """Return the schema in a value (an object, or YAML or JSON text of one), None without one."""
    if assertion.value in (None, ""):
        return None
    if not isinstance(assertion.value, str):
        return assertion.value
    import yaml  # noqa: PLC0415 - few assertions carry a schema as text

    try:
        return yaml.safe_load(assertion.value)
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise Unscorable("the JSON schema is text that is no YAML or JSON") from error


def _schema_sound(assertion: Assertion) -> None:
    schema = _schema(assertion)
    if assertion.value not in (None, ""):
        sound(schema)


def _latency(assertion: Assertion, _: str, trace: Trace) -> Holds:
    limit, spent = assertion.threshold or 0.0, trace.duration_seconds * _MS
    return spent <= limit, f"take at most {limit:g} ms (it took {spent:.0f} ms)"


def _cost(assertion: Assertion, _: str, trace: Trace) -> Holds:
    limit, spent = assertion.threshold or 0.0, trace.usage.usd
    if spent is None:
        raise Unscorable("the runner did not report what the run cost")
    return spent <= limit, f"cost at most {limit:g} USD (it cost {spent:.2g} USD)"


def _threshold(assertion: Assertion) -> None:
    if assertion.threshold is None:
        raise Unscorable(f"{assertion.type} needs a threshold")


_KINDS: dict[str, _Kind] = {
    "contains": _Kind(_contains, text_of, lasting=True),
    "icontains": _Kind(_icontains, text_of, lasting=True),
    "contains-all": _Kind(_several(all, "all", False), texts_of, lasting=True),
    "contains-any": _Kind(_several(any, "one", False), texts_of, lasting=True),
    "icontains-all": _Kind(_several(all, "all", True), texts_of, lasting=True),
    "icontains-any": _Kind(_several(any, "one", True), texts_of, lasting=True),
    "equals": _Kind(_equals, _given, whole=True),
    "regex": _Kind(_regex, _regex_sound, lasting=True),
    "starts-with": _Kind(_starts_with, _plain_sound),
    "ends-with": _Kind(_ends_with, _plain_sound),
    "is-json": _Kind(_is_json, _schema_sound, whole=True),
    "contains-json": _Kind(_contains_json, _schema_sound, whole=True),
    "latency": _Kind(_latency, _threshold, lasting=False),
    "cost": _Kind(_cost, _threshold, lasting=False),
}
