"""From failures to candidates: editors propose, the guard drops what no edit may do, probes sort.

Knows editors and the guard; spends nothing on an edit that the guard refuses, and no probe where
there is only one candidate to choose from.
"""

from collections.abc import Callable, Sequence

from healbot.cycle.draws import Draws
from healbot.cycle.memory import Answer, Memory
from healbot.errors import (
    CouldNotTellError,
    GaveUpError,
    HealbotError,
    ModelRefusedError,
    ModelSilentError,
)
from healbot.ports import Editor, Journal
from healbot.records.brief import Brief
from healbot.records.case import Case
from healbot.records.edit import Edit, Proposal
from healbot.records.harness import Harness
from healbot.records.ledger import Probed, ProposalNote, Proposed
from healbot.records.record import canonical
from healbot.records.run import Outcome
from healbot.rules.guard import Guarded

Guard = Callable[[Edit], Guarded]
"""The guard over the baseline: what an edit would yield, or why it may not."""


NOTHING = Memory()
"""Remembers nothing."""
UNANSWERED = "an editor's model gave no answer"


def propose(
    editors: Sequence[Editor],
    brief: Brief,
    *,
    guard: Guard,
    journal: Journal,
    most: int,
    memory: Memory = NOTHING,
) -> Proposed:
    """Ask every editor, and keep each distinct proposal with the guard's answer to it.

    What was refused before and brings no new evidence, and whatever goes beyond ``most``, is named
    as refused, unspent. An editor that gave up is named in the note, with its reason.

    Raises:
        ModelRefusedError, ModelSilentError: An editor's model gave no answer, and no other editor
            proposed anything that may be tried.
    """
    notes: dict[str, ProposalNote] = {}
    given_up: list[str] = []
    silent: HealbotError | None = None
    for editor in editors:
        try:
            answers = editor.propose(brief)
        except GaveUpError as error:
            given_up.append(error.what.rstrip("."))
            continue
        except (ModelRefusedError, ModelSilentError) as error:
            silent = silent or error
            continue
        for answer in answers:
            note = _judged(answer, brief, guard=guard, journal=journal, memory=memory)
            live = [one.candidate for one in notes.values() if not one.refused]
            if not note.refused and note.candidate in live:
                note = note.model_copy(update={"refused": "same-result"})
            elif not note.refused and len(live) >= most:
                note = note.model_copy(update={"refused": "too-many"})
            notes.setdefault(note.edit, note)
    if silent and all(one.refused for one in notes.values()):
        raise silent
    given_up += [UNANSWERED] if silent else []
    return Proposed(
        proposals=tuple(notes.values()),
        note="; ".join(given_up) or ("" if notes else "no editor had anything to propose"),
    )


def _judged(
    answer: Proposal, brief: Brief, *, guard: Guard, journal: Journal, memory: Memory
) -> ProposalNote:
    guarded = guard(answer.edit)
    candidate = guarded.candidate.revision if guarded.candidate else ""
    known = Answer()
    if guarded.candidate:
        known = memory.ask(answer.edit, guarded.candidate, brief=brief, claims=answer.claims)
    refused = guarded.refusals[0].rule if guarded.refusals else known.refused
    whole = answer.model_copy(
        update={
            "baseline": brief.harness.revision,
            "candidate": candidate,
            "needs_person": (
                *answer.needs_person,
                *(reason.text for reason in guarded.needs_person),
            ),
            "earlier": known.earlier,
        }
    )
    note = noted(whole, journal, refused=refused)
    return note.model_copy(update={"earlier": known.numbers})


def probe(
    draws: Draws,
    proposals: Sequence[Proposal],
    *,
    failing: Sequence[tuple[Case, int]],
    guard: Guard,
    repeats: int,
    join: Callable[[Sequence[Proposal]], tuple[ProposalNote, ...]],
) -> Probed:
    """Run the proposals on the failing cases and return the gate's order of candidates.

    Args:
        draws: Makes the runs.
        proposals: Those that the guard let through.
        failing: Each failing training case with its passes under the baseline.
        guard: Yields each proposal's revision.
        repeats: Runs a case and proposal.
        join: Is the composer, over those that the probes support; see ``compose``.
    """
    if len(proposals) <= 1:
        return Probed(used=(), order=tuple(one.digest for one in proposals))
    sides = {one.digest: _candidate(one, guard) for one in proposals}
    asked = [(sides[one.digest], case, repeats) for one in proposals for case, _ in failing]
    runs = draws.run(asked)
    passes = {
        digest: sum(
            run.outcome == Outcome.PASS for run in runs if run.key.revision == side.revision
        )
        for digest, side in sides.items()
    }
    before = sum(count for _, count in failing)
    best = sorted(proposals, key=lambda one: (-passes[one.digest], _size(one), one.digest))
    supported = [one for one in best if passes[one.digest] > before]
    composed = join(supported)
    order = [note.proposal for note in composed if not note.refused] + [
        one.digest for one in supported
    ]
    return Probed(used=draws.used, composed=composed, order=tuple(order))


def load_proposal(journal: Journal, digest: str) -> Proposal:
    """Read a proposal back from this machine's journal.

    Raises:
        CouldNotTellError: Another machine holds it.
    """
    raw = journal.load(digest)
    if raw is None:
        raise CouldNotTellError(
            "The edit of the cycle under way is not on this machine.",
            "Run the cycle where it began, or wait: the next one starts afresh.",
        )
    return Proposal.model_validate_json(raw)


def compose(
    supported: Sequence[Proposal],
    brief: Brief,
    *,
    guard: Guard,
    journal: Journal,
    memory: Memory = NOTHING,
) -> tuple[ProposalNote, ...]:
    """Join the proposals that the probes support, where they go together; else nothing.

    Guard and memory are asked again: a no may have been said to the whole alone.
    """
    if len(supported) <= 1:
        return ()
    joined = Edit(hunks=tuple(hunk for one in supported for hunk in one.edit.hunks))
    guarded = guard(joined)
    if guarded.candidate is None:
        return ()
    born = {one.born_of for one in supported}
    whole = Proposal(
        editor="composer",
        edit=joined,
        summary="; ".join(one.summary for one in supported)[:200],
        reason="\n".join(one.reason for one in supported if one.reason),
        baseline=supported[0].baseline,
        candidate=guarded.candidate.revision,
        claims=tuple(dict.fromkeys(claim for one in supported for claim in one.claims)),
        cites=tuple(dict.fromkeys(cite for one in supported for cite in one.cites)),
        prediction=tuple(
            {one.case: one for each in reversed(supported) for one in each.prediction}.values()
        ),
        born_of="lesson" if "lesson" in born else supported[0].born_of,
        needs_person=tuple(dict.fromkeys(why for one in supported for why in one.needs_person)),
        earlier=tuple(dict.fromkeys(no for one in supported for no in one.earlier)),
    )
    return (_remembered(whole, guarded.candidate, brief, journal=journal, memory=memory),)


def _remembered(
    whole: Proposal, candidate: Harness, brief: Brief, *, journal: Journal, memory: Memory
) -> ProposalNote:
    """Keep what was joined, refused where a no was said to the whole."""
    known = memory.ask(whole.edit, candidate, brief=brief, claims=whole.claims)
    earlier = tuple(dict.fromkeys((*whole.earlier, *known.earlier)))
    note = noted(whole.model_copy(update={"earlier": earlier}), journal, refused=known.refused)
    numbers = tuple(dict.fromkeys((*note.earlier, *known.numbers)))
    return note.model_copy(update={"earlier": numbers})


def noted(proposal: Proposal, journal: Journal, *, refused: str | None) -> ProposalNote:
    """Keep a proposal in the journal; returns it as the chain remembers it."""
    text = canonical(proposal.model_dump(mode="json", by_alias=True))
    return ProposalNote(
        proposal=journal.save(text.encode("utf-8", "surrogatepass")),
        edit=proposal.edit.digest,
        editor=proposal.editor,
        candidate=proposal.candidate,
        claims=proposal.claims,
        cites=proposal.cites,
        prediction=proposal.prediction,
        prompt=proposal.prompt,
        born_of=proposal.born_of,
        refused=refused,
        earlier=tuple(no.number for no in proposal.earlier if no.number),
    )


def _candidate(proposal: Proposal, guard: Guard) -> Harness:
    candidate = guard(proposal.edit).candidate
    assert candidate is not None  # noqa: S101 - only proposals that the guard let through come here
    return candidate


def _size(proposal: Proposal) -> int:
    return sum(len(hunk.text) + len(hunk.anchor) for hunk in proposal.edit.hunks)
