"""A run of a closed cycle keeps what it was, and loses what nobody should find in it later."""

from datetime import UTC, datetime

from healbot.records.ledger import Closed, Measured, Opened, Spend, Used
from healbot.records.run import CheckResult, Outcome, Run, RunKey, ToolCall
from healbot.records.settings import Mode
from healbot.rules.progress import CycleState, Progress
from healbot.rules.settling import is_behind_us, settled

AT = datetime(2026, 1, 1, tzinfo=UTC)
SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
RUN = Run(
    key=RunKey(revision="r", case="c", runner="w", repeat=0), case_id="x", started_at=AT,
    duration_seconds=1, ended="exited", exit_code=1, stdout=f"said {SECRET}", stderr=SECRET,
    notes=(SECRET,), tool_calls=(ToolCall(name="t", args={"k": SECRET}, error=SECRET),),
    checks=(CheckResult(check="a", outcome=Outcome.FAIL, reason=SECRET, missed=SECRET),),
)  # fmt: skip


def test_every_text_of_a_settled_run_is_redacted_and_its_outcome_stays() -> None:
    done = settled(RUN)
    assert SECRET not in done.model_dump_json()
    assert done.stdout == "said [secret-1]"
    assert (done.key, done.outcome, done.started_at) == (RUN.key, Outcome.FAIL, AT)
    assert done.exit_code == 1
    assert settled(done) == done


def test_only_runs_that_a_closed_cycle_used_are_behind_us() -> None:
    def cycle(repeat: int, closed: Closed | None) -> CycleState:
        used = Used(
            case_id="x", case="c", revision="r", runner="w", repeats=(repeat,),
            outcomes=(Outcome.FAIL,), tokens=(None,),
        )  # fmt: skip
        opened = Opened(
            mode=Mode.MANUAL, base_ref="main", base_sha="s", baseline="r", settings="d",
            cases="d", forecast=Spend(),
        )  # fmt: skip
        measured = Measured(used=(used,), failing=("x",))
        return CycleState(id="1", opened=opened, opened_at=AT, measured=measured, closed=closed)

    cycles = (cycle(0, Closed(outcome="healthy")), cycle(1, None))
    behind = is_behind_us(Progress(cycles=cycles, next_repeat={("r", "c"): 2}))
    keys = [RUN.key.model_copy(update={"repeat": one}) for one in range(3)]
    assert [behind(key) for key in keys] == [True, False, False]
