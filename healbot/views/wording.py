"""The sentences of a review card, each once; an Ink says how a surface writes text and ids.

Knows the card's data and English. GitHub's Markdown is ``views/card.py``'s ink, a terminal's is
``views/terminal.py``'s; neither has words of its own for what is said here.
"""

from collections.abc import Callable, Sequence
from datetime import date
from typing import NamedTuple

from healbot.records.card import Card, CaseRow, RunLine, Tally, Trigger, Way, Why
from healbot.records.case import Split, Standing
from healbot.records.edit import Earlier
from healbot.records.record import shown
from healbot.records.settings import Mode
from healbot.records.verdict import Reason, Word

SMALLEST_SHARE = 0.001
"""Below this a probability is said to be less than it."""

_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
REFUSED = frozenset({Word.REJECTED, Word.UNDERPOWERED, Word.NOT_EXERCISED, Word.INVALID})
"""The words of a candidate that may not be merged."""


class Ink(NamedTuple):
    """How one surface writes foreign prose, ids, and what should stand out; each made harmless.

    Attributes:
        items: How many members of a list are written out.
    """

    text: Callable[[str], str]
    code: Callable[[str], str]
    strong: Callable[[str], str]
    items: int


def some(shown_items: Sequence[str], cap: int, joint: str = ", ") -> str:
    """Join items, at most ``cap`` of them, and say how many are not shown."""
    more = len(shown_items) - cap
    head = joint.join(shown_items[:cap])
    return head if more <= 0 else f"{head}{joint if head else ''}and {more:,} more"


def count(tally: Tally) -> str:
    """Write a tally: ``2 of 3``, or ``2 of 2, 1 no score``; a dash where nothing ran."""
    if not tally.runs:
        return "–"
    none = f", {tally.none:,} no score" if tally.none else ""
    return f"{tally.passes:,} of {tally.scored:,}{none}"


def day(when: date) -> str:
    """Write a date the same way in every locale."""
    return f"{when.day} {_MONTHS[when.month - 1]} {when.year}"


def first_line(card: Card, ink: Ink) -> str:
    """Say the verdict, with the rule behind a refusal, and then the numbers."""
    word = card.word.value.capitalize()
    if card.word not in REFUSED:
        return f"{ink.strong(word + '.')} {_numbers(card, ink)}"
    fixed = "fixed its trigger but " if card.fixed_trigger else ""
    if fixed and card.protected.worse:
        word += ": fixed its trigger but broke a protected case"
    elif fixed:
        word += ": fixed its trigger but did not pass"
    rule = f" {reason(card.reasons[0], ink)}" if card.reasons else ""
    return f"{ink.strong(word + '.')}{rule} {_numbers(card, ink)}".rstrip()


def further_reasons(card: Card, ink: Ink) -> list[str]:
    """Name the other rules that spoke against a refused candidate."""
    if card.word not in REFUSED or len(card.reasons) <= 1:
        return []
    return ["Also: " + some([reason(one, ink) for one in card.reasons[1:]], ink.items, " ")]


def earlier(card: Card, ink: Ink) -> list[str]:
    """Name what was said to the same edit before, and what is new since."""
    said = [_earlier(one, ink) for one in card.earlier[: ink.items]]
    return [f"Earlier: {line}." for line in said]


def _earlier(one: Earlier, ink: Ink) -> str:
    where = f"pull request {one.number} (#{one.number}), " if one.number else ""
    by = f" by {ink.text(one.by)}" if one.by else ""
    new = some([ink.text(phrase) for phrase in one.new_since], ink.items)
    return f"{where}{one.what}{by} on {day(one.on)}; new since: {new}"


def reason(said: Reason, ink: Ink) -> str:
    """Name a rule, the case it spoke about, and what it said."""
    where = f" on {ink.code(said.case)}" if said.case else ""
    text = ink.text(said.text)
    stop = "" if text.endswith((".", "!", "?")) else "."
    return f"Rule {ink.code(said.rule)}{where}: {text}{stop}"


def _numbers(card: Card, ink: Ink) -> str:
    triggers = [_trigger(one, ink) for one in card.triggers]
    parts = [some(triggers, ink.items, "; ") + "."] if triggers else []
    if card.protected.cases:
        worse = [ink.code(case) for case in card.protected.worse]
        ending = f", worse: {some(worse, ink.items)}" if worse else ": none worse"
        noun = "case" if card.protected.cases == 1 else "cases"
        parts.append(f"{card.protected.cases:,} protected {noun}{ending}.")
    elif card.rows:
        parts.append("No protected case yet.")
    if card.canary is not None or card.rows:
        parts.append(_canary(card))
    return " ".join(parts)


def _trigger(trigger: Trigger, ink: Ink) -> str:
    return f"{ink.code(trigger.case)} {count(trigger.baseline)} → {count(trigger.candidate)}"


def _canary(card: Card) -> str:
    canary = card.canary
    if canary is None:
        return "Canary: not reached." if card.word in REFUSED else "Canary: not run yet."
    each = f"{canary.fewest:,}" if canary.fewest == canary.most else (
        f"{canary.fewest:,} to {canary.most:,}"
    )  # fmt: skip
    cases = "1 case" if canary.cases == 1 else f"{canary.cases:,} cases"
    return f"Canary {count(canary.tally)} ({cases}, {each} runs each)."


def limits(card: Card, ink: Ink) -> list[str]:
    """Say what the numbers do not show: trigger only, not covered, could not tell, left out."""
    parts = ["Trigger only: no sibling case improved."] if card.trigger_only else []
    if card.not_covered:
        parts.append(f"Not covered: {_phrases(card.not_covered, ink)}.")
    if card.could_not_tell:
        parts.append(f"Could not tell: {_phrases(card.could_not_tell, ink)}.")
    never = [ink.code(row.case) for row in card.rows if _never_passed(row)]
    if never:
        parts.append(f"Check the check: {some(never, ink.items)} passed on neither side.")
    if card.canary is not None and card.canary.left_out:
        budget = card.canary.run_budget
        within = "" if budget is None else f" (run budget {budget:,})"
        names = some([ink.code(case) for case in card.canary.left_out], ink.items)
        parts.append(f"Left out of the canary{within}: {names}.")
    return [" ".join(parts)] if parts else []


def _phrases(texts: Sequence[str], ink: Ink) -> str:
    return some([ink.text(text).rstrip(".") for text in texts], ink.items, "; ")


def _never_passed(row: CaseRow) -> bool:
    both = row.baseline.plus(row.candidate).plus(row.canary).plus(row.canary_baseline)
    return row.split is Split.TRAIN and both.scored > 0 and both.passes == 0


def spend(card: Card) -> str:
    """Say what the cycle cost, what of it is a stated worst case, and how the text grew."""
    cost = card.cost
    assumed = cost.unreported_runs and cost.usd is not None
    price = "Cost unknown" if cost.usd is None else f"${cost.usd:,.2f}"
    minutes = max(1, round(cost.minutes)) if cost.minutes else 0
    parts = [
        f"{'At most ' if assumed else ''}{price}",
        f"{minutes:,} minute{'' if minutes == 1 else 's'}",
        f"{cost.runs:,} run{'' if cost.runs == 1 else 's'}",
    ]
    line = ", ".join(parts) + "."
    if cost.unreported_runs:
        line += f" {_assumption(card)}"
    if card.always_on is not None:
        size = card.always_on
        line += f" Always-on text {size.before:,} → {size.after:,} of {size.limit:,} characters."
    return line


def _assumption(card: Card) -> str:
    cost = card.cost
    verb = "run reported" if cost.unreported_runs == 1 else "runs reported"
    if cost.worst_case_usd is None:
        return f"{cost.unreported_runs:,} {verb} no usage."
    worst = f"{cost.worst_case_usd:,.4f}".rstrip("0").rstrip(".")
    return (
        f"{cost.unreported_runs:,} {verb} no usage: counted at the stated worst case, "
        f"{worst} USD a run."
    )


def chance(card: Card) -> list[str]:
    """Say how likely an edit that does nothing would have passed."""
    if card.word in REFUSED:
        return []  # nothing passed
    if card.null_pass is None:
        return ["How often an edit that does nothing would have passed: could not tell."]
    share = f"{card.null_pass * 100:.2g} %" if card.null_pass < 1 else "100 %"
    if card.null_pass < SMALLEST_SHARE:
        share = f"less than {SMALLEST_SHARE * 100:.2g} %"
    said = f"An edit that does nothing would have passed with probability {share}"
    return [said + " (at the base rates measured here)."]


def merging(card: Card, ink: Ink) -> str:
    """Say what merging needs, and the way back."""
    if card.word in REFUSED:
        return "Nothing was merged, and nothing waits."
    if card.word is Word.ROLLED_BACK:
        return "Merged, and rolled back since."
    undo = _way(card.undo, ink)
    ending = f" Undo: {undo}." if undo else ""
    if card.merging.done or card.word in {Word.MERGED, Word.KEPT, Word.KEPT_UNVERIFIED}:
        return f"Merged.{ending}"
    if card.merging.mode is Mode.OBSERVE:
        return "Observed only: no pull request is opened and nothing changes."
    if not card.merging.waits_for:
        return f"Merges once required checks are green, unless closed.{ending}"
    return _waits(card, ink) + ending


def _waits(card: Card, ink: Ink) -> str:
    why = f": {_phrases(card.merging.why, ink)}" if card.merging.why else ""
    how = _way(card.merging.way, ink)
    waits = f"Waits for {ink.text(card.merging.waits_for)}{why}."
    return waits + (f" To merge: {how}." if how else "")


def _way(way: Way, ink: Ink) -> str:
    parts = [ink.text(way.click)] if way.click else []
    if way.command:
        parts.append(ink.code(way.command))
    return ", or ".join(parts)


def failures(card: Card, ink: Ink) -> list[str]:
    """Say which failure is behind the proposal."""
    return ["Why: " + some([_why(one, ink) for one in card.why], ink.items, "; ") + "."] * bool(
        card.why
    )


def _why(why: Why, ink: Ink) -> str:
    since = f" since {day(why.since)}" if why.since else ""
    noun = "run" if why.runs == 1 else "runs"
    return f"{why.runs:,} {noun}{since} failed with {ink.code(why.signature)}"


def case_cells(row: CaseRow) -> list[str]:
    """Return a case's cells after its name: split, both sides, canary, tokens per pass."""
    marks = [row.split.value]
    if row.standing is not Standing.PLAIN:
        marks.append(row.standing.value)
    if row.safety:
        marks.append("safety")
    canary = count(row.canary)
    if row.canary_baseline.runs:
        canary += f" (baseline {count(row.canary_baseline)})"
    tokens = [
        _tokens(row.baseline, row.baseline_tokens),
        _tokens(row.candidate, row.candidate_tokens),
    ]
    spent = tokens[0] if tokens[0] == tokens[1] and not tokens[0].isdigit() else " → ".join(tokens)
    return [", ".join(marks), count(row.baseline), count(row.candidate), canary, spent]


def _tokens(tally: Tally, mean: int | None) -> str:
    """Say a side's tokens per passing run; without a pass there are none to tell."""
    if mean is not None:
        return f"{mean:,}"
    return "unknown" if tally.passes else "–"


CASE_HEADS = ("case", "split", "baseline", "candidate", "canary", "tokens per pass")
"""The table's heads; the first column is the case's name."""


def run_words(line: RunLine, cap: int) -> str:
    """Write every run of one decision by repeat number: ``3 fail, 4 pass``."""
    pairs = zip(line.repeats, line.outcomes, strict=False)
    return some([f"{repeat} {outcome.value}" for repeat, outcome in pairs], cap)


def about(line: RunLine) -> str:
    """Name the decision: its stage, and the candidate that it was about."""
    return f"{line.stage} {shown(line.about)}".rstrip()


def anchors(card: Card, ink: Ink) -> list[str]:
    """Name cycle, revisions and the ledger's head."""
    pairs = (
        ("Cycle", card.cycle),
        ("Baseline", card.baseline),
        ("Candidate", card.candidate),
        ("Ledger entry", card.ledger),
    )
    return [f"{name} {ink.code(value)}" for name, value in pairs]
