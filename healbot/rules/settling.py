"""What stays of a run's texts in the clone once the cycle that made it is closed.

Pure. The address, the outcome, the cost and the times stay; texts lose secrets and personal data.
"""

from collections.abc import Callable

from healbot.records.run import Run, RunKey
from healbot.rules.privacy import redact_value
from healbot.rules.progress import CycleState, Progress, uses

TEXTS = frozenset({
    "stdout", "stderr", "changed", "tool_calls", "skills_read", "rules_read", "notes", "checks",
})  # fmt: skip
"""Fields of a run that hold words of an agent, of a check, or of a program that failed."""


def settled(run: Run) -> Run:
    """Return a run without secrets and personal data; its outcome is what it was."""
    plain = run.model_dump(mode="json")
    texts = redact_value({name: plain[name] for name in sorted(TEXTS)}).value
    for check, before in zip(texts["checks"], run.checks, strict=True):
        check["outcome"] = before.outcome
    return Run.model_validate({**plain, **texts})


def is_behind_us(progress: Progress) -> Callable[[RunKey], bool]:
    """Return what says of a run that a decision used it, and that its cycle is closed.

    A run that no entry tells of may still be drawn by the next cycle, which then reads its text.
    """
    current = progress.current
    needed = _drawn(current) if current else frozenset()

    def behind(key: RunKey) -> bool:
        place = (key.revision, key.case, key.repeat)
        return key.repeat < progress.first_repeat(key) and place not in needed

    return behind


def _drawn(cycle: CycleState) -> frozenset[tuple[str, str, int]]:
    phases = (cycle.measured, cycle.diagnosed, cycle.probed, cycle.earned, cycle.canaried)
    bodies = [body for body in (*phases, *cycle.gated) if body]
    used = (one for body in bodies for one in uses(body))
    return frozenset((one.revision, one.case, repeat) for one in used for repeat in one.repeats)
