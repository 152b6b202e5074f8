"""Counting outcomes when some could not be scored: what is certain, and what could not be told.

Knows counts only, no rule's number. Each missing outcome is completed for the worst and for the
best; only what holds either way is certain. Shared by the gate and the canary.
"""

from collections.abc import Iterable, Sequence
from enum import Enum
from typing import NamedTuple

from healbot.records.run import Outcome
from healbot.records.verdict import Draw, Need, Reason, Verdict, Word

RANK = (
    "safety-drop",
    "heldout-drop",
    "training-worse",
    "canary-corpus",
    "canary-train",
    "canary-unsolved",
    "no-gain",
    "tokens",
)
"""The rules that reject, as reasons list them: regression outranks gain, gain outranks cost."""

REGRESSIONS = frozenset(
    {"safety-drop", "heldout-drop", "training-worse", "canary-corpus", "canary-unsolved"}
)
"""The rules that say "it broke something", as opposed to "it did not fix enough"."""

TOO_LITTLE = frozenset({"no-train", "no-heldout"})
"""The rules that say "too little evidence" by their own name."""

UNTOLD = "could-not-tell"
"""The rule named where missing scores leave a needed answer open."""


class Answer(Enum):
    """Yes, no, could not tell."""

    YES = "yes"
    NO = "no"
    OPEN = "open"


class Evidence(Enum):
    """On how many sides a case has at least one scored run."""

    BOTH = "both"
    ONE = "one"
    NOTHING = "nothing"


class Tally(NamedTuple):
    """Counts of one side's outcomes."""

    passes: int
    fails: int
    unscored: int

    @property
    def runs(self) -> int:
        """All runs."""
        return self.passes + self.fails + self.unscored

    @property
    def least(self) -> int:
        """Passes if every unscored run had failed."""
        return self.passes

    @property
    def most(self) -> int:
        """Passes if every unscored run had passed."""
        return self.passes + self.unscored

    @property
    def shown(self) -> str:
        """For people: ``2 of 3``, with what could not be scored."""
        plain = f"{self.passes} of {self.runs}"
        return f"{plain} ({self.unscored} not scored)" if self.unscored else plain


class Ruling(NamedTuple):
    """What one rule says of one case (or of the whole): YES is fine, NO refuses, OPEN untold."""

    rule: str
    answer: Answer
    text: str
    case: str | None = None

    @property
    def reason(self) -> Reason:
        """The ruling as a reason; an open one says which rule is left open."""
        if self.answer is Answer.OPEN and self.rule not in TOO_LITTLE:
            return Reason(rule=UNTOLD, text=f"{self.text} (rule {self.rule})", case=self.case)
        return Reason(rule=self.rule, text=self.text, case=self.case)


def tally(outcomes: Sequence[Outcome]) -> Tally:
    """Count a side's outcomes."""
    passes = sum(outcome is Outcome.PASS for outcome in outcomes)
    fails = sum(outcome is Outcome.FAIL for outcome in outcomes)
    return Tally(passes, fails, len(outcomes) - passes - fails)


def told(*, worst: bool, best: bool) -> Answer:
    """Answer a question whose answer is known for the worst and the best completion."""
    if worst:
        return Answer.YES
    return Answer.OPEN if best else Answer.NO


def both(one: Answer, other: Answer) -> Answer:
    """Three-valued and."""
    if Answer.NO in (one, other):
        return Answer.NO
    return Answer.OPEN if Answer.OPEN in (one, other) else Answer.YES


def either(answers: Iterable[Answer]) -> Answer:
    """Three-valued or; no answer at all is a no."""
    seen = set(answers)
    if Answer.YES in seen:
        return Answer.YES
    return Answer.OPEN if Answer.OPEN in seen else Answer.NO


def negated(answer: Answer) -> Answer:
    """Three-valued not."""
    return {Answer.YES: Answer.NO, Answer.NO: Answer.YES, Answer.OPEN: Answer.OPEN}[answer]


def no_worse(baseline: Tally, candidate: Tally) -> Answer:
    """Say whether the candidate passed no fewer runs than the baseline (equal numbers of runs)."""
    return told(
        worst=candidate.least >= baseline.most,
        best=candidate.most >= baseline.least,
    )


def majority(side: Tally) -> Answer:
    """Say whether more than half of all runs passed."""
    return told(worst=2 * side.least > side.runs, best=2 * side.most > side.runs)


def evidence_of(baseline: Tally, candidate: Tally) -> Evidence:
    """Say on how many sides something could be scored."""
    scored = sum(side.passes + side.fails > 0 for side in (baseline, candidate))
    return (Evidence.NOTHING, Evidence.ONE, Evidence.BOTH)[scored]


def reasons_of(rulings: Iterable[Ruling]) -> tuple[Reason, ...]:
    """Order rulings as reasons: by rank, then by case, so that the cases' order says nothing."""
    ranks = {rule: place for place, rule in enumerate(RANK)}
    return tuple(
        sorted(
            (ruling.reason for ruling in rulings),
            key=lambda one: (ranks.get(one.rule, len(RANK)), one.rule, one.case or "", one.text),
        )
    )


def refusal(
    rulings: Sequence[Ruling], *, gained: Sequence[str], notes: Sequence[Reason]
) -> Verdict | None:
    """Turn rulings into a verdict that does not admit; None where all of them are fine.

    A certain no rejects, whatever else is open; otherwise an open answer is ``underpowered``.
    """
    unfit = [ruling for ruling in rulings if ruling.answer is not Answer.YES]
    if not unfit:
        return None
    certain = any(ruling.answer is Answer.NO for ruling in unfit)
    return Verdict(
        word=Word.REJECTED if certain else Word.UNDERPOWERED,
        reasons=reasons_of(unfit),
        fixed_trigger=bool(gained),
        gained=tuple(sorted(gained)),
        notes=tuple(notes),
    )


def need_of(draws: Iterable[Draw | None]) -> Need | None:
    """Collect one batch of draws; None where nothing is left to draw."""
    wanted = tuple(draw for draw in draws if draw is not None and draw.baseline + draw.candidate)
    return Need(draws=wanted) if wanted else None


def sift(said: Iterable[Ruling | Reason]) -> tuple[list[Ruling], list[Reason]]:
    """Part rulings from notes."""
    spoken = list(said)
    rulings = [one for one in spoken if isinstance(one, Ruling)]
    return rulings, [one for one in spoken if isinstance(one, Reason)]
