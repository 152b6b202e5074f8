"""What an editor's model may do with its tools, call by call, and what each call comes to.

Knows the workspace, the guard and what was refused before; asks no model.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from healbot.editors.tools import DECLINE, EDIT, PROPOSE, READ, Offer, offer_of, specs
from healbot.editors.workspace import OUTSIDE, Workspace
from healbot.records.brief import Brief
from healbot.records.chat import Call
from healbot.records.edit import Edit
from healbot.records.lesson import Lesson
from healbot.rules.guard import Guarded
from healbot.rules.markers import Regions
from healbot.rules.transcripts import clipped

READ_CHARACTERS = 40_000
"""How much of one file is shown at once."""


class Result(NamedTuple):
    """What a call came to.

    Attributes:
        text: For the model.
        failed: The call did nothing.
        misstep: In healbot's words, where it was one that is forgiven once only.
        done: The model ended; ``offer`` is what it proposes, None where it declined.
    """

    text: str
    failed: bool = False
    misstep: str = ""
    done: bool = False
    offer: tuple[Edit, Offer] | None = None


class Desk:
    """The files under edit, and the tools over them."""

    def __init__(
        self,
        brief: Brief,
        guard: Callable[[Edit], Guarded],
        *,
        regions: Regions,
        lessons: Sequence[Lesson],
    ) -> None:
        self._brief = brief
        self._guard = guard
        self._regions = regions
        self._work = Workspace(brief.harness)
        self._cases = frozenset(one.case.id for one in brief.failed)
        self._lessons = frozenset(one.key for one in lessons)

    def perform(self, call: Call) -> Result:
        """Carry out one call."""
        if call.broken:
            return Result("The arguments are no JSON object. Send the call again.", failed=True)
        acts = {READ: self._read, EDIT: self._edit, PROPOSE: self._propose}
        if call.name == DECLINE:
            return Result("", done=True)
        act = acts.get(call.name)
        if act is None:
            names = ", ".join(one.name for one in specs())
            return Result(f"There is no such tool; there are {names}.", failed=True)
        return act(call.args)

    def _read(self, args: dict[str, object]) -> Result:
        path = args.get("path")
        text = self._work.read(path) if isinstance(path, str) else None
        if text is None:
            there = ", ".join(self._work.paths)
            return Result(f"There is no such file; there are {there}.", failed=True)
        return Result(self._regions.region(f"file {path}", clipped(text, READ_CHARACTERS)))

    def _edit(self, args: dict[str, object]) -> Result:
        reason = self._work.change(args)
        if reason is None:
            return Result("Done. Edit more, or propose.")
        told = f"Nothing was changed: {reason.text}."
        if reason.rule in OUTSIDE:
            return Result(told, failed=True, misstep="it reached for a file it may not edit")
        return Result(told, failed=True)

    def _propose(self, args: dict[str, object]) -> Result:
        offer = offer_of(args, self._cases, self._lessons)
        if isinstance(offer, str):
            return Result(f"Not proposed: {offer}.", failed=True)
        edit = self._work.edit
        if edit is None:
            return Result(
                "Not proposed: nothing is edited yet. Edit first, or decline.",
                failed=True,
                misstep="it proposed without an edit",
            )
        guarded = self._guard(edit)
        if guarded.refusals:
            why = "; ".join(one.text for one in guarded.refusals)
            rules = ", ".join(dict.fromkeys(one.rule for one in guarded.refusals))
            return self._back(f"The edit is refused: {why}.", f"its edit was refused ({rules})")
        if edit.digest in self._brief.refused_before:
            return self._back(
                "This edit was refused before.", "it proposed what was refused before"
            )
        return Result("", done=True, offer=(edit, offer))

    def _back(self, told: str, misstep: str) -> Result:
        self._work.reset()
        return Result(
            f"{told} All your edits were taken back; make another one, or decline.",
            failed=True,
            misstep=misstep,
        )
