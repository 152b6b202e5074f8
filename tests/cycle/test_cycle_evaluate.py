"""Attempting cases: each run once, journalled, counted, seeded, and under a number of its own."""

from pathlib import Path

import pytest
from fakes import FakeClock, FakeRunner, FakeVoice, FakeWorkspaces, Said

from healbot.checks.assertion import AssertionCheck
from healbot.cycle.draws import Draws, runs_behind, used_of
from healbot.cycle.evaluate import Bench, Evaluator, Wanted, Way, mixed_seed
from healbot.cycle.measure import UNKNOWN, diagnose, earn, majority, measure
from healbot.cycle.purse import Purse
from healbot.cycle.trial import gate_rows, hold
from healbot.errors import BudgetError, InputError
from healbot.records.case import Assertion, Case, Split, Standing
from healbot.records.harness import Harness, HarnessFile
from healbot.records.run import Outcome, RunKey, Usage
from healbot.records.settings import CanarySettings, RunWorstCase
from healbot.records.verdict import Comparison, Draw, Need, Verdict, Word
from healbot.rules.budget import UNLIMITED, Left
from healbot.rules.progress import Progress
from healbot.stores.journal import FileJournal

GOOD = Assertion(type="contains", value="good")
CASE = Case(id="one", split=Split.TRAIN, input="task one", asserts=(GOOD,))
OTHER = Case(id="two", split=Split.HELDOUT, input="task two", asserts=(GOOD,))
HARNESS = Harness(files=(HarnessFile(path="instructions.md", content=b"be good"),))
BETTER = HARNESS.replace("instructions.md", b"be better")


class Rig:
    """An evaluator over a real journal with an agent that says words in turn."""

    def __init__(
        self, folder: Path, *words: str, runs: float = UNLIMITED, parallel: int = 1
    ) -> None:
        answers = iter(words)
        self.runner = FakeRunner(
            lambda *_: Said(next(answers, "good"), usage=Usage(tokens=7, usd=0.1))
        )
        self.journal = FileJournal(folder)
        self.voice = FakeVoice()
        self.purse = Purse(Left(runs, UNLIMITED, UNLIMITED, UNLIMITED), RunWorstCase(), FakeClock())
        evaluator = Evaluator(
            {"": Way(self.runner, FakeWorkspaces())},
            checks_of=lambda case: [AssertionCheck(one) for one in case.asserts],
            journal=self.journal,
            clock=FakeClock(),
            voice=self.voice,
        )
        self.bench = Bench(
            evaluator, sha="s", seed=0, parallel=parallel, purse=self.purse, beat=lambda: None
        )

    def draws(self, progress: Progress | None = None) -> Draws:
        return Draws(self.bench, progress or Progress())


def test_a_run_that_the_journal_has_is_counted_and_not_made_again(tmp_path: Path) -> None:
    wanted = [Wanted(HARNESS, CASE, 0), Wanted(HARNESS, OTHER, 0), Wanted(HARNESS, CASE, 1)]
    first = Rig(tmp_path).bench.run(wanted[:2])
    rig = Rig(tmp_path)
    runs = rig.bench.run(wanted)
    assert rig.runner.runs == 1
    assert runs[:2] == first
    assert [(run.case_id, run.key.repeat) for run in runs] == [("one", 0), ("two", 0), ("one", 1)]
    assert rig.purse.take().runs == 3


def test_a_start_that_a_crash_cut_off_was_spent_as_well(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    rig.journal.begin(rig.bench.evaluator.key(HARNESS, CASE, 0))
    rig.bench.run([Wanted(HARNESS, CASE, 0)])
    spent = rig.purse.take()
    assert (spent.runs, spent.tokens) == (2, 5007)


def test_a_start_that_a_crash_cut_off_leaves_less_room_for_further_runs(tmp_path: Path) -> None:
    rig = Rig(tmp_path, runs=2)
    for repeat in (0, 1):
        rig.journal.begin(rig.bench.evaluator.key(HARNESS, CASE, repeat))
    with pytest.raises(BudgetError):
        rig.bench.run([Wanted(HARNESS, CASE, repeat) for repeat in (0, 1)])
    assert (rig.runner.runs, rig.purse.take().runs) == (0, 2)


def test_when_the_budget_ends_what_was_begun_is_kept_and_counted(tmp_path: Path) -> None:
    rig = Rig(tmp_path, runs=3, parallel=3)
    with pytest.raises(BudgetError):
        rig.bench.run([Wanted(HARNESS, CASE, repeat) for repeat in range(9)])
    spent = rig.purse.take()
    kept = [rig.journal.find(rig.bench.evaluator.key(HARNESS, CASE, n)) for n in range(9)]
    assert spent.runs == rig.runner.runs == sum(run is not None for run in kept)
    assert 1 <= spent.runs <= 3  # what was still waiting for its turn is never begun


def test_a_fault_on_the_way_ends_it_and_loses_no_finished_run(tmp_path: Path) -> None:
    def broken(texts: object, task: str, draw: float) -> Said:
        if task == "task two":
            raise InputError("No workspace.")
        return Said("good")

    rig = Rig(tmp_path)
    rig.runner._behave = broken
    with pytest.raises(InputError):
        rig.bench.run([Wanted(HARNESS, CASE, 0), Wanted(HARNESS, OTHER, 0)])
    assert rig.purse.take().runs == 1


def test_the_seed_follows_revision_case_and_repeat_and_nothing_else() -> None:
    key = RunKey(revision="r", case="c", runner="w", repeat=0)
    assert mixed_seed(1, key) == mixed_seed(1, key.model_copy(update={"runner": "x"}))
    others = [mixed_seed(1, key.model_copy(update=one))
              for one in ({"revision": "s"}, {"case": "d"}, {"repeat": 1})]  # fmt: skip
    assert len({mixed_seed(1, key), mixed_seed(2, key), *others}) == 5
    assert all(0 <= seed < 2**31 for seed in others)


def test_a_decision_s_numbers_begin_where_the_ledger_ends_and_go_up(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    place = (HARNESS.revision, CASE.digest)
    draws = rig.draws(Progress(next_repeat={place: 4}))
    draws.run([(HARNESS, CASE, 2), (HARNESS, OTHER, 1)])
    draws.run([(HARNESS, CASE, 1)])
    used = {one.case_id: one for one in draws.used}
    assert used["one"].repeats == (4, 5, 6)
    assert used["two"].repeats == (0,)
    assert used["one"].tokens == (7, 7, 7)
    assert used_of(runs_behind(draws.used, rig.bench)) == draws.used
    assert runs_behind(draws.used, Rig(tmp_path / "elsewhere").bench) == ()


def test_a_case_fails_by_majority_and_is_unclear_without_one(tmp_path: Path) -> None:
    asks = [CASE, OTHER]
    body = measure(
        Rig(tmp_path, "bad", "good", "bad", "good", "bad", "good").draws(),
        HARNESS, asks, repeats=3,
    )  # fmt: skip
    assert (body.failing, body.unscored) == (("one",), ())
    blind = CASE.model_copy(update={"asserts": ()})
    body = measure(Rig(tmp_path / "b").draws(), HARNESS, [blind], repeats=3)
    assert (body.failing, body.unscored) == ((), ("one",))
    even = measure(Rig(tmp_path / "c", "bad", "good").draws(), HARNESS, [CASE], repeats=2)
    assert even.unscored == ("one",)
    assert majority(()) == Outcome.NONE


def test_a_steady_failure_is_retried_once_and_a_noisy_one_three_times(tmp_path: Path) -> None:
    for name, before, after, retries, real in (
        ("steady", ("bad", "bad", "bad"), ("bad",), 1, True),
        ("flake", ("bad", "bad", "bad"), ("good",), 1, False),
        ("noisy", ("bad", "good", "bad"), ("bad", "good", "bad"), 3, True),
        ("noisy flake", ("bad", "good", "bad"), ("bad", "good", "good"), 3, False),
    ):
        rig = Rig(tmp_path / name, *before, *after)
        draws = rig.draws()
        measured = draws.run([(HARNESS, CASE, 3)])
        later = rig.draws(Progress(next_repeat={(HARNESS.revision, CASE.digest): 3}))
        body = diagnose(later, HARNESS, [CASE], measured=measured)
        (finding,) = body.findings
        assert (finding.was_real, sum(len(u.repeats) for u in body.used)) == (real, retries), name
        assert finding.signature == "failed:contains:one"
        assert finding.distinct_runs == sum(word == "bad" for word in (*before, *after))


def test_where_the_failed_runs_are_on_another_machine_the_signature_is_unknown(
    tmp_path: Path,
) -> None:
    body = diagnose(Rig(tmp_path).draws(), HARNESS, [CASE], measured=())
    assert (body.findings[0].signature, body.findings[0].was_real) == (UNKNOWN, False)


def test_a_standing_is_earned_by_enough_passes_of_fresh_runs(tmp_path: Path) -> None:
    words = ("good",) * 5 + ("bad",) + ("good",) * 4 + ("bad",) * 2
    body = earn(Rig(tmp_path, *words).draws(), HARNESS, [CASE, OTHER], numbers=CanarySettings())
    assert body.standings == {CASE.digest: Standing.PROTECTED}
    assert [len(used.repeats) for used in body.used] == [6, 6]


def test_a_policy_is_given_what_it_asks_for_until_it_answers(tmp_path: Path) -> None:
    asked: list[Comparison] = []

    def policy(seen: Comparison) -> Verdict | Need:
        asked.append(seen)
        wishes = (
            (Draw(case="two", candidate=2), Draw(case="one", baseline=1, candidate=1)),
            (Draw(case="one", baseline=1),),
        )
        return (
            Need(draws=wishes[len(asked) - 1]) if len(asked) <= 2 else Verdict(word=Word.ADMITTED)
        )

    draws = Rig(tmp_path, "bad", "good", "bad", "good", "bad").draws()
    verdict, seen = hold(
        policy,
        gate_rows([CASE], [OTHER], claims=("one",)),
        draws=draws,
        cases={"one": CASE, "two": OTHER},
        sides=(HARNESS, BETTER),
    )
    assert verdict.word == Word.ADMITTED
    one, two = seen.cases
    assert (one.baseline, one.candidate) == ((Outcome.FAIL, Outcome.FAIL), (Outcome.PASS,))
    assert (two.baseline, two.candidate) == ((), (Outcome.FAIL, Outcome.PASS))
    assert (one.claimed, two.claimed, one.candidate_tokens) == (True, None, (7,))
    revisions = {(used.case_id, used.revision): used.repeats for used in draws.used}
    assert revisions[("one", HARNESS.revision)] == (0, 1)
    assert revisions[("one", BETTER.revision)] == (0,)
