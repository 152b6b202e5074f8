"""``healbot cycle``: runs it, and says in a few lines what happened and what to do."""

import sys
from collections.abc import Sequence

from healbot.entry.checking import ask, check
from healbot.entry.loop import cycle
from healbot.entry.printing import as_json, spoken
from healbot.entry.voice import BarVoice, PlainVoice, voice
from healbot.entry.wiring import Shop
from healbot.errors import Exit
from healbot.records.card import Card
from healbot.records.intent import Intent
from healbot.records.record import shown
from healbot.records.settings import AgentSettings, Mode
from healbot.rules.judge import exit_code_of
from healbot.rules.progress import CycleState
from healbot.views.terminal import render

WHAT = {
    "healthy": "Nothing to fix",
    "no-proposal": "No edit was proposed",
    "refused": "Refused",
    "merged": "Merged",
    "queued": "Waits for a person",
    "observed": "Would have been proposed",
    "abandoned": "Given up",
    "declined": "Closed by a person",
    "could-not-tell": "Could not tell",
}


def cycle_report(
    shop: Shop,
    agent: AgentSettings,
    *,
    mode: Mode | None,
    dry_run: bool,
    told: PlainVoice | BarVoice,
    show: tuple[bool, bool],
) -> int:
    """Run a cycle and report; ``show`` is (as a document, verdict as the exit code)."""
    as_document, verdict_as_code = show
    intents: list[Intent] = []
    with told:  # it falls silent before the outcome is told
        state, card = cycle(
            shop, agent, mode=mode, voice=told, dry_run=intents.append if dry_run else None
        )
    facts = facts_of(agent, state, card, intents=intents if dry_run else None)
    if as_document:
        as_json(facts)
    else:
        for one in intents:
            print(f"would {one.kind}: {one.key}")
        print(render(card) if card else "", end="")
        print("Dry run: nothing was written. It would end so: " if dry_run else "", end="")
        _print(shop, state)
    return _code(state) if verdict_as_code else Exit.DONE


def check_report(shop: Shop, agents: Sequence[AgentSettings], ref: str, *, show: bool) -> int:
    """Judge a person's edit for each agent that it changes; ``show``: as one document.

    Returns the verdicts' exit code: a no outranks "could not tell".
    """
    answers: list[dict[str, object]] = []
    codes: list[int] = []
    for agent in agents:
        asked = ask(shop, agent, ref)
        if asked.before.revision == asked.after.revision:
            answers.append({"agent": agent.name, "outcome": "nothing-to-judge", "verdict": None})
            print(f"{ref} changes no text of {agent.name!r}: nothing to judge.", file=sys.stderr)
            continue
        with voice() as told:
            state, card = check(shop, agent, asked, voice=told)
        answers.append({**facts_of(agent, state, card), "ref": ref, "sha": asked.head_sha})
        codes.append(_code(state))
        if not show:
            print(render(card) if card else "", end="")
            spent = state.spent
            word = state.closed.verdict if state.closed else None
            print(f"{agent.name}: {word or 'could not tell'}. {spent.runs} runs.")
    if show:
        as_json(answers)
    return next((code for code in (Exit.NO, Exit.COULD_NOT_TELL) if code in codes), Exit.DONE)


def facts_of(
    agent: AgentSettings,
    state: CycleState,
    card: Card | None,
    *,
    intents: Sequence[Intent] | None = None,
) -> dict[str, object]:
    """Return what a finished cycle says, as plain data; with Intents it was a dry run."""
    closed = state.closed
    assert closed  # noqa: S101 - a cycle returns only when it is closed
    dry_run = intents is not None
    return {
        "agent": agent.name,
        "cycle": state.id,
        "mode": str(state.opened.mode),
        "outcome": closed.outcome,
        "verdict": closed.verdict,
        "note": closed.note,
        "pull": state.pull.number if state.pull and not dry_run else None,
        "baseline": state.opened.baseline,
        "candidate": state.gated[-1].candidate if state.gated else None,
        "merged_sha": state.applied.sha if state.applied and not dry_run else None,
        "spent": state.spent.model_dump(),
        "forecast": state.opened.forecast.model_dump(),
        "findings": [
            one.model_dump() for one in (state.diagnosed.findings if state.diagnosed else ())
        ],
        "refused_unspent": _refused(state),
        "intents": [one.model_dump(mode="json") for one in intents]
        if intents is not None
        else None,
        "card": card.model_dump(mode="json") if card else None,
    }


def _code(state: CycleState) -> int:
    """Return the exit code of a cycle's verdict."""
    closed = state.closed
    assert closed  # noqa: S101 - a cycle returns only when it is closed
    if closed.outcome in {"could-not-tell", "abandoned"}:
        return Exit.COULD_NOT_TELL
    return exit_code_of(closed.verdict) if closed.verdict else Exit.DONE


def _refused(state: CycleState) -> list[dict[str, str | None]]:
    notes = state.proposed.proposals if state.proposed else ()
    return [{"editor": one.editor, "rule": one.refused} for one in notes if one.refused]


def _print(shop: Shop, state: CycleState) -> None:
    closed = state.closed
    assert closed  # noqa: S101 - a cycle returns only when it is closed
    note = f": {closed.note}" if closed.note else ""
    spent = state.spent
    print(
        f"{WHAT[closed.outcome]}{note}. {spent.runs} runs of at most {state.opened.forecast.runs}, "
        f"{spoken(spent.seconds)}."
    )
    for one in state.diagnosed.findings if state.diagnosed else ():
        print(f"  {one.case_id} fails as {one.signature} ({one.distinct_runs} runs)")
    for refusal in _refused(state):
        print(f"  an edit of {refusal['editor']} was refused unspent: {refusal['rule']}")
    shared, seen = bool(shop.settings.forge.remote), shop.settings.lessons.promote_at
    if state.closed and state.closed.outcome == "no-proposal":
        for waiting in _unripe(shop, state):
            print(f"  {waiting}")
    print(_next(state, shared=shared, seen=seen), file=sys.stderr)


def _unripe(shop: Shop, state: CycleState) -> list[str]:
    """Name the lessons that would fit a failure and were not seen often enough."""
    findings = state.diagnosed.findings if state.diagnosed else ()
    signatures = {one.signature for one in findings}
    needed = shop.settings.lessons.promote_at
    return [
        f"the lesson {one.key} waits: seen in {one.seen_count} of {needed} runs"
        for one in shop.lessons()[0]
        if one.trigger in signatures and one.seen_count < needed
    ]


def _next(state: CycleState, *, shared: bool, seen: int) -> str:
    """Say what to do now; ``seen``: in how many runs a lesson has to be seen."""
    if state.queued:
        return f"next: healbot pulls show {state.queued.number}, then healbot pulls merge or close."
    if state.applied:
        pull = " (git pull brings it here)" if shared else ""
        return (
            f"next: revision {shown(state.applied.after)} is live{pull}; "
            "undo with healbot rollback --why …"
        )
    if state.closed and state.closed.outcome == "no-proposal":
        return (
            "next: commit a lesson whose trigger is one of the signatures above, with a seen_count "
            f"of {seen} or more (healbot's README shows one)."
        )
    if state.closed and state.closed.outcome == "observed":
        return "next: healbot cycle --mode manual proposes it."
    if state.closed and state.closed.verdict == "underpowered":
        return (
            "next: give it more to tell by: a case with split: heldout, or checks that can score."
        )
    return "next: nothing; healbot history has the record."
