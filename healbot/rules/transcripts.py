"""A failed run as an editor reads it: what was asked and done, cut to what explains the failure.

Knows records only. A check's own words are left out, since they may hold the expected answer; the
name of what was missed is told where the check gives one. What is kept of a long run lies around
the earliest wrong turn; it is never simply the end.
"""

import json
import re
from collections.abc import Sequence
from itertools import zip_longest

from healbot.records.case import Case
from healbot.records.run import Outcome, Run, ToolCall

BEFORE_CALLS, AFTER_CALLS = 2, 3
"""Tool calls shown before and after the wrong turn."""
ARGUMENT_CHARACTERS = 300
ASKED_PART = 3
"""What was asked gets at most one part in so many of the room."""
END_SHARE = 0.15
"""Of a long text, how much of the room its end gets: an agent's last words are often its answer."""
BEFORE_SHARE = 0.25
"""Of the rest, how much lies before the wrong turn."""
_TROUBLE = re.compile(
    r"traceback|\b(?:error|exception|failed|failure|fatal|denied|refused|not found|no such|invalid"
    r"|cannot|timed out|unknown)\b|[A-Za-z]Error\b",
    re.IGNORECASE,
)


def told(case: Case, run: Run, *, passed: Sequence[Run] = (), limit: int) -> str:
    """Return a failed run in at most ``limit`` characters.

    Args:
        case: The training case that it failed.
        run: The failed run.
        passed: Runs of the same case that passed: where one differs is a wrong turn too.
        limit: Characters; what is left out is counted in its place.
    """
    good = passed[0] if passed else None
    head = _head(case, run, limit // ASKED_PART)
    calls = _calls(run.tool_calls, good.tool_calls if good else None)
    rest = max(limit - len(head) - len(calls), limit // 3)
    texts = [("It printed", run.stdout, good.stdout if good else None)]
    texts += [("On stderr", run.stderr, None)] if run.stderr.strip() else []
    room = rest // len(texts)
    shown = [f"{name}:\n{cut(text, room, good=other)}" for name, text, other in texts]
    return clipped("\n".join([head, *([calls] if calls else []), *shown]), limit)


def wrong_turn(calls: Sequence[ToolCall], good: Sequence[ToolCall] | None) -> int | None:
    """Return the place of the first call that failed, or else that a passing run did not make."""
    failed = next((place for place, one in enumerate(calls) if one.error), None)
    if failed is not None or good is None:
        return failed
    pairs = enumerate(zip_longest(calls, good))
    return next((place for place, (one, other) in pairs if _same(one) != _same(other)), None)


def cut(text: str, limit: int, *, good: str | None = None) -> str:
    """Return a text in about ``limit`` characters, around its earliest wrong turn.

    That is the first line that speaks of trouble, else the first that differs from ``good``, what a
    passing run printed, else its beginning.
    """
    if len(text) <= limit:
        return text
    tail = int(limit * END_SHARE)
    room = limit - tail
    turn = _turn(text, good)
    start = max(0, min(turn - int(room * BEFORE_SHARE), len(text) - limit))
    end = min(start + room, len(text) - tail)
    middle = text[start:end]
    return (
        f"{_left_out(start)}{middle}{_left_out(len(text) - tail - end)}{text[len(text) - tail :]}"
    )


def clipped(text: str, limit: int) -> str:
    """Return the beginning of a text in at most ``limit`` characters, the cut said."""
    if len(text) <= limit:
        return text
    note = f"\n[… {len(text) - limit:,} more characters]"
    return text[: max(limit - len(note), 0)] + note


def _turn(text: str, good: str | None) -> int:
    trouble = _TROUBLE.search(text)
    if trouble:
        return text.rfind("\n", 0, trouble.start()) + 1
    if good is None:
        return 0
    return next(
        (place for place, pair in enumerate(zip(text, good, strict=False)) if pair[0] != pair[1]),
        min(len(text), len(good)),
    )


def _left_out(count: int) -> str:
    return f"\n[… {count:,} characters left out …]\n" if count > 0 else ""


def _head(case: Case, run: Run, limit: int) -> str:
    asked = clipped(case.input if case.input is not None else _said(case), limit)
    missed = [one.missed for one in run.checks if one.outcome == Outcome.FAIL and one.missed]
    lines = [f"Asked: {asked}"]
    lines += [f"A check missed: {', '.join(dict.fromkeys(missed))}"] if missed else []
    lines += [] if missed else ["A check failed; it does not say what it missed."]
    if run.ended != "exited" or run.exit_code not in (0, None):
        code = "" if run.exit_code is None else f" with exit code {run.exit_code}"
        lines.append(f"It {run.ended}{code}.")
    read = {"Skills read": run.skills_read, "Rules read": run.rules_read}
    lines += [
        f"{name}: {', '.join(one) or 'none'}" for name, one in read.items() if one is not None
    ]
    return "\n".join(lines)


def _said(case: Case) -> str:
    return "\n".join(one.user or "(a simulated user goes on)" for one in case.messages)


def _calls(calls: Sequence[ToolCall] | None, good: Sequence[ToolCall] | None) -> str:
    if not calls:
        return ""
    turn = wrong_turn(calls, good)
    start = max(0, (turn or 0) - BEFORE_CALLS)
    end = (turn or 0) + AFTER_CALLS + 1
    lines = [
        f"{place + 1}. {_call(one)}{'   <- the earliest wrong turn' if place == turn else ''}"
        for place, one in enumerate(calls[:end])
        if place >= start
    ]
    before = [f"({start} calls before)"] if start else []
    after = [f"({len(calls) - end} calls after)"] if len(calls) > end else []
    return "\n".join(["Its tool calls:", *before, *lines, *after])


def _call(call: ToolCall) -> str:
    args = json.dumps(call.args, ensure_ascii=False, default=str) if call.args else ""
    failed = f" failed: {clipped(call.error, ARGUMENT_CHARACTERS)}" if call.error else ""
    return f"{call.name}({clipped(args, ARGUMENT_CHARACTERS)}){failed}"


def _same(call: ToolCall | None) -> object:
    return None if call is None else (call.name, json.dumps(call.args, sort_keys=True, default=str))
