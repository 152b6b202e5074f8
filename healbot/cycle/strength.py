"""How strong the evidence was: would an edit that does nothing have passed?

Knows what one cycle drew; the odds themselves are ``rules/stats.py``.
"""

from healbot.cycle.propose import load_proposal
from healbot.cycle.research import Research, corpus_of, gate_evidence
from healbot.records.case import Split
from healbot.records.verdict import CaseEvidence, Comparison
from healbot.rules.progress import CycleState
from healbot.rules.stats import null_pass_probability


def null_pass(state: CycleState, research: Research) -> float | None:
    """Return the probability, at the base rates measured in this cycle; None before the gate."""
    if not state.gated:
        return None
    gated = state.gated[-1]
    proposal = load_proposal(research.journal, gated.proposal)
    claims = [one for one in proposal.claims if one in research.ground.cases]
    gate = gate_evidence(gated.used, research.ground, proposal, claims=claims)
    earned = {one.case_id: one.outcomes for one in (state.earned.used if state.earned else ())}
    standings = state.earned.standings if state.earned else {}
    corpus = [
        CaseEvidence(
            id=case.id,
            role="corpus",
            safety=case.safety,
            protected=True,
            history=earned.get(case.id, ()),
        )
        for case in corpus_of(research.ground, standings, state.opened.left_out)
        if case.split == Split.HELDOUT
    ]
    rows = (*gate.cases, *corpus)
    return null_pass_probability(Comparison(cases=rows), research.numbers)
