"""The canary, before the write: does the proposal hold in runs that no gate decision used?

Knows counts of canary runs, and of the gate only which training cases were claimed, gained or
passed before; no run serves two decisions. Source of the rules: the loop's specification, "Canary".
Training cases run first, then corpus cases, each with its second chances as one further batch.
"""

from collections.abc import Sequence
from typing import NamedTuple

from healbot.records.run import Outcome
from healbot.records.settings import CanarySettings, GateSettings
from healbot.records.verdict import CaseEvidence, Comparison, Draw, Need, Reason, Verdict, Word
from healbot.rules.gate import gain_of, gave_evidence, left_out, of_role, passed_before, shown
from healbot.rules.tally import (
    Answer,
    Evidence,
    Ruling,
    Tally,
    both,
    either,
    evidence_of,
    need_of,
    no_worse,
    reasons_of,
    refusal,
    sift,
    tally,
    told,
)


class _Plan(NamedTuple):
    """What one case's first canary runs ask for.

    Attributes:
        first: The candidate's first runs.
        alarm: A safety case failed one of them, or may have: one fresh candidate run, drawn before
            the second chance, so that its place does not depend on it.
        second: It gets a second chance.
        compare: It is compared with as many baseline runs.
    """

    first: Tally
    alarm: bool
    second: bool
    compare: bool


class _Look(NamedTuple):
    """What one case says so far, and what it still wants.

    Attributes:
        passes: Whether it passes often enough to confirm a gain; None while that is to be drawn.
    """

    said: tuple[Ruling | Reason, ...] = ()
    draw: Draw | None = None
    passes: Answer | None = None


def bound_cases(gate: Comparison, numbers: GateSettings) -> dict[str, Answer]:
    """Say which training cases must pass the canary; the others must be no worse than baseline.

    Bound are the claimed cases and those that passed before (majority of the gate's baseline runs);
    ``strict`` binds all. A training case that no gate run could score is left out (it is not in
    the answer) unless it is claimed.
    """
    bound: dict[str, Answer] = {}
    for case in of_role(gate, "train"):
        if case.claimed or numbers.canary.strict:
            bound[case.id] = Answer.YES
        elif gave_evidence(case, numbers):
            bound[case.id] = passed_before(case, numbers)
    return bound


def judge_canary(evidence: Comparison, gate: Comparison, numbers: GateSettings) -> Verdict | Need:
    """Judge an edit that the gate admitted on fresh runs, or ask for the next batch.

    Args:
        evidence: Canary runs only, in the order drawn. Held-out cases are not looked at.
        gate: What the gate judged.
        numbers: The policy's numbers.

    Returns:
        ``admitted`` only where every bound training case and every corpus case certainly passes
        often enough, no unsolved training case got worse, no safety case has a confirmed failure,
        and at least one case that gained at the gate passes often enough here: an edit that claims
        nothing, or only what passed anyway, still has its gain confirmed. (One, as at the gate:
        were every gained case bound, a further pass at the gate could refuse an edit.)

    Raises:
        ValueError: A training case here was not before the gate; a fault of the caller.
    """
    bound = bound_cases(gate, numbers)
    known = {case.id for case in gate.cases}
    train, corpus = of_role(evidence, "train"), of_role(evidence, "corpus")
    strangers = [case.id for case in train if case.id not in known]
    if strangers:
        raise ValueError(f"training cases that the gate did not judge: {strangers}")
    binding = [case for case in train if case.id in bound]
    out = [left_out(case, "canary-train") for case in train if case.id not in bound]
    looks = [_look_train(case, bound[case.id], numbers.canary) for case in binding]
    looks.append(_confirm(binding, looks, gate=gate, numbers=numbers))
    answer = _settle(looks, out, gate=gate, numbers=numbers)
    if answer is None:
        looks += [_look_corpus(case, numbers.canary) for case in corpus]
        answer = _settle(looks, out, gate=gate, numbers=numbers)
    return answer or _admitted((*binding, *corpus), looks, out, gate=gate, numbers=numbers)


def _confirm(
    cases: Sequence[CaseEvidence],
    looks: Sequence[_Look],
    *,
    gate: Comparison,
    numbers: GateSettings,
) -> _Look:
    """Rule that some case which gained at the gate passes here, once that is drawn."""
    gains = {case.id: gain_of(case, numbers) for case in of_role(gate, "train")}
    pairs = [(gains[case.id], look.passes) for case, look in zip(cases, looks, strict=True)]
    known = [both(gain, passes) for gain, passes in pairs if passes is not None]
    if len(known) < len(pairs):
        return _Look()
    confirmed = either(known)
    others = {one.answer for look in looks for one in look.said if isinstance(one, Ruling)}
    if Answer.NO in others or (confirmed is Answer.OPEN and Answer.OPEN in others):
        return _Look()
    text = f"some case that gained at the gate must pass {numbers.canary.passes} canary runs"
    return _Look((Ruling("canary-train", confirmed, text),))


def _settle(
    looks: Sequence[_Look],
    out: Sequence[Ruling | Reason],
    *,
    gate: Comparison,
    numbers: GateSettings,
) -> Verdict | Need | None:
    """Turn what the cases say into a refusal or the next batch; None where all is well so far."""
    rulings, notes = sift([*out, *(one for look in looks for one in look.said)])
    gained = _still_gained(gate, rulings, numbers)
    refused = refusal(rulings, gained=gained, notes=notes)
    return refused or need_of(look.draw for look in looks)


def _admitted(
    cases: Sequence[CaseEvidence],
    looks: Sequence[_Look],
    out: Sequence[Ruling | Reason],
    *,
    gate: Comparison,
    numbers: GateSettings,
) -> Verdict:
    """Admit, with the count of the canary's runs."""
    rulings, notes = sift([*out, *(one for look in looks for one in look.said)])
    gained = _still_gained(gate, rulings, numbers)
    candidate = tally([outcome for case in cases for outcome in case.candidate])
    noun = "case" if len(cases) == 1 else "cases"
    text = f"{candidate.shown} canary runs passed ({len(cases)} {noun})"
    return Verdict(
        word=Word.ADMITTED,
        reasons=reasons_of([Ruling("canary", Answer.YES, text)]),
        fixed_trigger=bool(gained),
        gained=gained,
        notes=tuple(notes),
    )


def _still_gained(
    gate: Comparison, rulings: Sequence[Ruling], numbers: GateSettings
) -> tuple[str, ...]:
    """Return the cases that gained at the gate and that no ruling here refuses."""
    refused = {ruling.case for ruling in rulings if ruling.answer is Answer.NO}
    train = of_role(gate, "train")
    gained = {case.id for case in train if gain_of(case, numbers) is Answer.YES}
    return tuple(sorted(gained - refused))


def _plan(case: CaseEvidence, canary: CanarySettings, *, pooled: bool, bound: Answer) -> _Plan:
    first = tally(case.candidate[: canary.repeats])
    spotless = first.least == canary.repeats
    reachable = first.most + canary.repeats >= canary.second_passes
    return _Plan(
        first=first,
        alarm=case.safety and not spotless,
        second=pooled and first.least < canary.passes and reachable,
        compare=not pooled and bound is not Answer.YES and not spotless,
    )


def _look_train(case: CaseEvidence, bound: Answer, canary: CanarySettings) -> _Look:
    """Look at a training case; a protected one has the corpus rule and its second chance.

    Where it could not be told whether a case is bound, it must satisfy both rules, and refuses
    only where it satisfies neither; with a safety alarm on top it stays open (the place of the
    alarm's baseline run would depend on what could not be told).
    """
    if case.protected and not canary.strict:
        return _look_corpus(case, canary)
    plan = _plan(case, canary, pooled=False, bound=bound)
    if plan.first.runs < canary.repeats:
        return _Look(draw=Draw(case=case.id, candidate=canary.repeats - plan.first.runs))
    must = _must_pass(case, plan, canary)
    said: tuple[Ruling | Reason, ...] = (must,)
    if bound is Answer.OPEN and plan.alarm:
        text = f"{case.id}: a safety case failed, and it could not be told whether it passed before"
        said = (Ruling("canary-train", Answer.OPEN, text, case.id),)
    elif bound is not Answer.YES:
        unsolved = _unsolved(case, plan, canary)
        if bound is Answer.NO:
            said = (unsolved,) if unsolved else ()
        elif isinstance(unsolved, Ruling) and unsolved.answer is must.answer:
            said = (must,)
        else:
            said = (must._replace(answer=Answer.OPEN),) if unsolved else ()
    spoken = (*said, *_safety(case, plan, canary))
    return _Look(spoken, _draw(case, plan, canary), must.answer)


def _look_corpus(case: CaseEvidence, canary: CanarySettings) -> _Look:
    """Look at a case that must not fall below its standing; short of it, it is run once more."""
    plan = _plan(case, canary, pooled=True, bound=Answer.YES)
    if plan.first.runs < canary.repeats:
        return _Look(draw=Draw(case=case.id, candidate=canary.repeats - plan.first.runs))
    start = canary.repeats + plan.alarm
    second = tally(case.candidate[start : start + canary.repeats] if plan.second else ())
    said: tuple[Ruling | Reason, ...] = ()
    kept = None
    if second.runs == canary.repeats * plan.second:
        kept = told(
            worst=plan.first.least >= canary.passes
            or plan.first.least + second.least >= canary.second_passes,
            best=plan.first.most >= canary.passes
            or plan.first.most + second.most >= canary.second_passes,
        )
        counts = f"{case.id}: {plan.first.shown}, then {second.shown} of its second chance passed"
        text = f"{counts}; below {canary.passes} and {canary.second_passes} of both refuses"
        said = (Ruling("canary-corpus", kept, text, case.id),)
    return _Look((*said, *_safety(case, plan, canary)), _draw(case, plan, canary), kept)


def _must_pass(case: CaseEvidence, plan: _Plan, canary: CanarySettings) -> Ruling:
    """Rule on a training case that must pass."""
    answer = told(worst=plan.first.least >= canary.passes, best=plan.first.most >= canary.passes)
    text = f"{case.id}: {plan.first.shown} canary runs passed, below {canary.passes} refuses"
    return Ruling("canary-train", answer, text, case.id)


def _unsolved(case: CaseEvidence, plan: _Plan, canary: CanarySettings) -> Ruling | Reason | None:
    """Rule on a training case still unsolved: no worse than as many fresh baseline runs.

    None while those are to be drawn; a candidate that passed every run needs none.
    """
    if not plan.compare:
        return Ruling("canary-unsolved", Answer.YES, f"{case.id}: passed every run", case.id)
    baseline = tally(case.baseline[: canary.repeats])
    if baseline.runs < canary.repeats:
        return None
    text = f"{shown(case, baseline, plan.first)} in the canary; an unsolved case may not pass fewer"
    match evidence_of(baseline, plan.first):
        case Evidence.NOTHING:
            return left_out(case, "canary-unsolved")
        case Evidence.ONE:
            return Ruling("canary-unsolved", Answer.OPEN, text, case.id)
        case Evidence.BOTH:
            return Ruling("canary-unsolved", no_worse(baseline, plan.first), text, case.id)


def _safety(case: CaseEvidence, plan: _Plan, canary: CanarySettings) -> tuple[Ruling, ...]:
    """Rule on a safety case's alarm: a fresh failure, and then a fresh baseline run that passes."""
    confirm = case.candidate[canary.repeats : canary.repeats + 1]
    if not plan.alarm or not confirm or confirm[0] is Outcome.PASS:
        return ()
    place = canary.repeats * plan.compare
    answer = case.baseline[place : place + 1]
    if not answer or answer[0] is Outcome.FAIL:
        return ()
    certain = plan.first.fails and confirm[0] is Outcome.FAIL and answer[0] is Outcome.PASS
    text = (
        f"{case.id}: a safety case failed, and again afresh; with a passing baseline this refuses"
    )
    return (Ruling("safety-drop", Answer.NO if certain else Answer.OPEN, text, case.id),)


def _draw(case: CaseEvidence, plan: _Plan, canary: CanarySettings) -> Draw:
    """Ask for what the plan still lacks; the safety rule's baseline run follows its failure."""
    confirm = case.candidate[canary.repeats : canary.repeats + 1]
    failed = plan.alarm and bool(confirm) and confirm[0] is not Outcome.PASS
    candidate = canary.repeats * (1 + plan.second) + plan.alarm
    baseline = canary.repeats * plan.compare + failed
    return Draw(
        case=case.id,
        candidate=max(0, candidate - len(case.candidate)),
        baseline=max(0, baseline - len(case.baseline)),
    )
