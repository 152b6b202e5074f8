"""The gate, fixed policy: is an edit better on its training cases and no worse on held-out ones?

Knows counts of fresh runs and the numbers in the settings; no run, no clock, no case's content.
Source of the rules: the loop's specification, "The gate". It asks for runs in batches: all training
cases, then all held-out cases, then all reruns; a useless edit ends after the first batch.
"""

import math
from collections.abc import Sequence

from healbot.records.settings import GateSettings
from healbot.records.verdict import (
    CaseEvidence,
    Comparison,
    Draw,
    Need,
    Reason,
    Role,
    Verdict,
    Word,
)
from healbot.rules.tally import (
    Answer,
    Evidence,
    Ruling,
    Tally,
    both,
    either,
    evidence_of,
    majority,
    need_of,
    negated,
    no_worse,
    reasons_of,
    refusal,
    sift,
    tally,
    told,
)
from healbot.rules.tokens import judge_tokens

ROUNDING = 1e-9
"""Shares are floats: 0.1 * 30 must ask for 3 runs, not for 4."""


def gain_needed(numbers: GateSettings) -> int:
    """Return how many more of its repeats a training case must pass (2 of 3 by default)."""
    return max(1, math.ceil(numbers.gain * numbers.repeats - ROUNDING))


def drop_refused(numbers: GateSettings) -> int:
    """Return which pooled drop of a held-out case rejects (2 of 6 by default)."""
    return max(1, math.ceil(numbers.drop * 2 * numbers.repeats - ROUNDING))


def of_role(evidence: Comparison, role: Role) -> tuple[CaseEvidence, ...]:
    """Return the cases of one role."""
    return tuple(case for case in evidence.cases if case.role == role)


def gain_of(case: CaseEvidence, numbers: GateSettings) -> Answer:
    """Say whether a training case gained enough: a gain needs a score on both sides."""
    baseline, candidate = _first(case, numbers)
    needed = gain_needed(numbers)
    if evidence_of(baseline, candidate) is Evidence.NOTHING:
        return Answer.NO
    answer = told(
        worst=candidate.least >= baseline.most + needed,
        best=candidate.most >= baseline.least + needed,
    )
    one_sided = evidence_of(baseline, candidate) is Evidence.ONE
    return Answer.OPEN if one_sided and answer is Answer.YES else answer


def passed_before(case: CaseEvidence, numbers: GateSettings) -> Answer:
    """Say whether the majority of a case's baseline runs at the gate passed."""
    return majority(_first(case, numbers)[0])


def gave_evidence(case: CaseEvidence, numbers: GateSettings) -> bool:
    """Say whether any run of a case at the gate could be scored, on either side."""
    return evidence_of(*_first(case, numbers)) is not Evidence.NOTHING


def left_out(case: CaseEvidence, rule: str) -> Ruling | Reason:
    """Deal with a case that could be scored on neither side: no evidence, so a note.

    A safety case may not be left out: an error must not be how it stops protecting.
    """
    text = f"{case.id}: no run could be scored on either side"
    if case.safety:
        return Ruling(rule, Answer.OPEN, f"{text}, and a safety case is never left out", case.id)
    return Reason(rule="left-out", text=f"{text}; left out, check the check", case=case.id)


def shown(case: CaseEvidence, baseline: Tally, candidate: Tally) -> str:
    """Write a case's counts for people."""
    return f"{case.id}: baseline {baseline.shown}, candidate {candidate.shown}"


def judge_gate(evidence: Comparison, numbers: GateSettings) -> Verdict | Need:
    """Judge an edit on the runs drawn so far, or ask for the next batch.

    Args:
        evidence: Fresh runs that no other decision used, outcomes in the order drawn. Cases of
            role ``corpus`` are the canary's and are not looked at.
        numbers: The policy's numbers.

    Returns:
        ``admitted`` only where a training case certainly gained, no training case certainly or
        possibly got worse, and no held-out case certainly or possibly dropped. A training case is
        worse when it passes fewer runs than its baseline: literally, without a rerun.
    """
    train, heldout = of_role(evidence, "train"), of_role(evidence, "heldout")
    wanted = need_of(_first_draw(case, numbers) for case in train)
    if wanted:
        return wanted
    gained = tuple(sorted(case.id for case in train if gain_of(case, numbers) is Answer.YES))
    rulings, notes = _training(train, numbers)
    refused = refusal(rulings, gained=gained, notes=notes)
    if refused:
        return refused
    wanted = need_of(_first_draw(case, numbers) for case in heldout)
    if wanted:
        return wanted
    dropped, held_notes = _held_out(heldout, numbers)
    said = (*notes, *held_notes)
    refused = refusal(dropped, gained=gained, notes=said)
    if refused:
        return refused
    wanted = need_of(_rerun_draw(case, numbers) for case in heldout)
    if wanted:
        return wanted
    cost, cost_notes = judge_tokens((*train, *heldout), numbers.token_rise)
    said = (*said, *cost_notes)
    return refusal(cost, gained=gained, notes=said) or Verdict(
        word=Word.ADMITTED,
        reasons=reasons_of(_gain(case, numbers) for case in train if case.id in gained),
        fixed_trigger=True,
        gained=gained,
        notes=said,
    )


def _first(case: CaseEvidence, numbers: GateSettings) -> tuple[Tally, Tally]:
    """Count the first draw of a case: baseline, candidate."""
    repeats = numbers.repeats
    return tally(case.baseline[:repeats]), tally(case.candidate[:repeats])


def _rerun(case: CaseEvidence, numbers: GateSettings) -> tuple[Tally, Tally]:
    """Count the rerun of a case, as far as it is drawn: baseline, candidate."""
    span = slice(numbers.repeats, 2 * numbers.repeats)
    return tally(case.baseline[span]), tally(case.candidate[span])


def _lacking(case: CaseEvidence, runs: int) -> Draw:
    """Ask for what is lacking to so many runs a side."""
    return Draw(
        case=case.id,
        baseline=max(0, runs - len(case.baseline)),
        candidate=max(0, runs - len(case.candidate)),
    )


def _first_draw(case: CaseEvidence, numbers: GateSettings) -> Draw:
    return _lacking(case, numbers.repeats)


def _rerun_draw(case: CaseEvidence, numbers: GateSettings) -> Draw | None:
    """Ask for the rerun of a held-out case that dropped, or may have."""
    first = _first(case, numbers)
    if evidence_of(*first) is not Evidence.BOTH or no_worse(*first) is Answer.YES:
        return None
    return _lacking(case, 2 * numbers.repeats)


def _gain(case: CaseEvidence, numbers: GateSettings) -> Ruling:
    return Ruling("gain", Answer.YES, shown(case, *_first(case, numbers)), case.id)


def _training(
    train: Sequence[CaseEvidence], numbers: GateSettings
) -> tuple[list[Ruling], list[Reason]]:
    """Rule on the training cases: none worse, and one that gained."""
    rulings, notes = sift(_training_case(case, numbers) for case in train)
    if not any(gave_evidence(case, numbers) for case in train):
        rulings.append(Ruling("no-train", Answer.OPEN, "no training case gives evidence"))
        return rulings, notes
    gain = either(gain_of(case, numbers) for case in train)
    if gain is not Answer.YES:
        counts = "; ".join(sorted(shown(case, *_first(case, numbers)) for case in train))
        needed = f"no training case {'certainly ' if gain is Answer.OPEN else ''}passed"
        text = f"{needed} {gain_needed(numbers)} more of {numbers.repeats} runs ({counts})"
        rulings.append(Ruling("no-gain", gain, text))
    return rulings, notes


def _training_case(case: CaseEvidence, numbers: GateSettings) -> Ruling | Reason:
    """Rule on one training case: fewer passes than its baseline refuses, literally."""
    first = _first(case, numbers)
    match evidence_of(*first):
        case Evidence.NOTHING:
            return left_out(case, "training-worse")
        case Evidence.ONE:
            text = f"{shown(case, *first)}: scored on one side only"
            return Ruling("training-worse", Answer.OPEN, text, case.id)
        case Evidence.BOTH:
            kind = "safety training case" if case.safety else "training case"
            text = f"{shown(case, *first)}; a {kind} may not pass fewer runs"
            return Ruling("training-worse", no_worse(*first), text, case.id)


def _held_out(
    heldout: Sequence[CaseEvidence], numbers: GateSettings
) -> tuple[list[Ruling], list[Reason]]:
    """Rule on the held-out cases as far as they are drawn."""
    if not any(gave_evidence(case, numbers) for case in heldout):
        text = "no held-out case gives evidence" if heldout else "there is no held-out case"
        return [Ruling("no-heldout", Answer.OPEN, text)], []
    return sift(said for case in heldout for said in _held_out_case(case, numbers))


def _held_out_case(case: CaseEvidence, numbers: GateSettings) -> list[Ruling | Reason]:
    """Rule on one held-out case: the pooled drop, and the safety rule on the rerun alone.

    Nothing is ruled while a rerun is still to be drawn.
    """
    first = _first(case, numbers)
    match evidence_of(*first):
        case Evidence.NOTHING:
            return [left_out(case, "heldout-drop")]
        case Evidence.ONE:
            text = f"{shown(case, *first)}: scored on one side only"
            return [Ruling("heldout-drop", Answer.OPEN, text, case.id)]
        case Evidence.BOTH:
            rerun = _rerun(case, numbers)
            drawn = rerun[0].runs == rerun[1].runs == numbers.repeats
            dropped = negated(no_worse(*first))
            if dropped is Answer.NO or not drawn:
                return []
            pooled = _pooled(case, dropped, numbers)
            return [pooled, _safety(case, dropped, rerun)] if case.safety else [pooled]


def _pooled(case: CaseEvidence, dropped: Answer, numbers: GateSettings) -> Ruling:
    """Rule on the pooled drop over first draw and rerun."""
    runs = 2 * numbers.repeats
    baseline, candidate = tally(case.baseline[:runs]), tally(case.candidate[:runs])
    refused = drop_refused(numbers)
    fell = told(
        worst=baseline.least - candidate.most >= refused,
        best=baseline.most - candidate.least >= refused,
    )
    text = f"{shown(case, baseline, candidate)}, rerun included; a drop of {refused} refuses"
    return Ruling("heldout-drop", negated(both(dropped, fell)), text, case.id)


def _safety(case: CaseEvidence, dropped: Answer, rerun: tuple[Tally, Tally]) -> Ruling:
    """Rule on a safety case that dropped: a fresh failure where the fresh baseline passes."""
    baseline, candidate = rerun
    failed = told(worst=candidate.fails > 0, best=candidate.fails + candidate.unscored > 0)
    confirmed = both(dropped, both(failed, majority(baseline)))
    text = f"{shown(case, *rerun)} in the rerun; a confirmed drop of a safety case refuses"
    return Ruling("safety-drop", negated(confirmed), text, case.id)
