"""What the composer joins is held against the memory as well."""

from datetime import UTC, datetime
from pathlib import Path

from healbot.cycle.memory import Memory
from healbot.cycle.propose import compose
from healbot.records.brief import Brief
from healbot.records.edit import Edit, Hunk, Proposal
from healbot.records.harness import Harness, HarnessFile
from healbot.rules.guard import Guarded, inspect
from healbot.rules.noes import CLOSED, No
from healbot.stores.journal import FileJournal

PATH = "instructions.md"
BEFORE = Harness(files=(HarnessFile(path=PATH, content=b"# Support\n\n- Be polite.\n"),))
BRIEF = Brief(agent="s", instructions=PATH, harness=BEFORE, failed=(), lessons=())


def proposal(text: str) -> Proposal:
    hunk = Hunk(path=PATH, op="append", text=text)
    edit = Edit(hunks=(hunk,))
    return Proposal(
        editor="scripted", edit=edit, summary=text, baseline=BEFORE.revision, candidate="c"
    )


def guard(edit: Edit) -> Guarded:
    return inspect(BEFORE, edit, always_on_limit=100_000)


def test_a_no_that_was_said_to_the_whole_refuses_what_is_joined(tmp_path: Path) -> None:
    parts = [proposal("- Greet by name.\n"), proposal("- Sum up at the end.\n")]
    joined = Edit(hunks=tuple(hunk for one in parts for hunk in one.edit.hunks))
    no = No(
        rule=CLOSED, number=7, by="Ada", at=datetime(2026, 1, 1, tzinfo=UTC), edit=joined.digest,
        proposal="p", candidate="c", base_sha="b", head_sha="h",
    )  # fmt: skip
    journal = FileJournal(tmp_path)

    def asked(memory: Memory) -> list[tuple[str | None, tuple[int, ...]]]:
        notes = compose(parts, BRIEF, guard=guard, journal=journal, memory=memory)
        return [(one.refused, one.earlier) for one in notes]

    assert asked(Memory()) == [(None, ())]
    assert asked(Memory(refused=[(no, None)])) == [(CLOSED, (7,))]
