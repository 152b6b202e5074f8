"""What tests of editors with a model share: a brief, a script of calls, and an editor over both."""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from healbot.chat.scripted import Line, ScriptedChat
from healbot.editors.prompted import PromptedEditor
from healbot.records.brief import Brief, FailedCase
from healbot.records.case import Case
from healbot.records.chat import Answer, Call
from healbot.records.edit import Edit
from healbot.records.harness import Harness, HarnessFile
from healbot.records.ledger import Finding
from healbot.records.lesson import Lesson
from healbot.records.run import CheckResult, Outcome, Run, RunKey
from healbot.records.settings import EditingSettings
from healbot.rules.guard import Guarded, inspect

PATH = "instructions.md"
LOCKED = "skills/scan/SKILL.md"
HARNESS = Harness(
    files=(
        HarnessFile(path=PATH, content=b"# Support\n\n- Be polite.\n"),
        HarnessFile(
            path=LOCKED, content=b"---\nname: scan\ndescription: d\n---\nScan.\n", skill="scan",
            read_only="other files lie beside it",
        ),
    )
)  # fmt: skip
ADD = {"path": PATH, "op": "append", "text": "- Escalate a refund above the limit.\n"}
OFFER: dict[str, Any] = {
    "summary": "Escalate refunds",
    "reason": "It paid them.",
    "claims": ["refund-1"],
    "prediction": [{"case": "refund-1", "way": "better"}],
}


def failed(name: str = "refund-1", out: str = "refunded", **fields: Any) -> FailedCase:
    case = Case.model_validate(
        {
            "id": name,
            "input": "please refund it",
            "split": "train",
            "assert": [{"type": "contains", "value": "HELD-IN-THE-CHECK"}],
        }
    )
    check = CheckResult(
        check="contains", outcome=Outcome.FAIL, reason="no HELD-IN-THE-CHECK", missed="escalation"
    )
    run = Run(
        key=RunKey(revision="r", case=case.digest, runner="x", repeat=0), case_id=name,
        started_at=datetime(2026, 1, 1, tzinfo=UTC), duration_seconds=1, ended="exited",
        stdout=out, checks=(check,),
    )  # fmt: skip
    finding = Finding(case_id=name, signature="missed", distinct_runs=3, was_real=True)
    return FailedCase(case=case, finding=finding, runs=(run,), **fields)


def brief(**fields: Any) -> Brief:
    whole: dict[str, Any] = {
        "agent": "s",
        "instructions": PATH,
        "harness": HARNESS,
        "failed": (failed(),),
        "lessons": (Lesson(key="limit", value="Compare with the limit."),),
        **fields,
    }
    return Brief(**whole)


def call(name: str, number: int = 1, **args: Any) -> Call:
    return Call(id=f"call_{number}", name=name, args=args)


def says(*calls: Call, **fields: Any) -> Answer:
    return Answer(**{"calls": calls, "stop": "tools", **fields})


def guards(before: Harness) -> Any:
    def guard(edit: Edit) -> Guarded:
        return inspect(before, edit, always_on_limit=8_000)

    return guard


def editor(
    script: Iterable[Line] | ScriptedChat, **limits: Any
) -> tuple[PromptedEditor, ScriptedChat]:
    chat = script if isinstance(script, ScriptedChat) else ScriptedChat(script)
    made = PromptedEditor(
        "invariant",
        "Improve it.",
        chat=chat,
        limits=EditingSettings.model_validate(limits),
        guards=guards,
    )
    return made, chat
