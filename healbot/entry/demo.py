"""``healbot demo``: the whole loop on a real sandbox repository, told step by step.

Knows the same wiring as every command; nothing in it is staged: the agent is a real program, the
repository a real one, and refusing and reverting are done by the code that does it for you.
"""

import io
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from healbot.cycle.evaluate import Wanted
from healbot.cycle.purse import Purse
from healbot.cycle.reading import harness_at
from healbot.entry.audits import of_state
from healbot.entry.cases import ASIDE, UNLIMITED
from healbot.entry.clock import SystemClock
from healbot.entry.loop import cycle, rollback
from healbot.entry.outside import workspaces_of
from healbot.entry.templates import template_files
from healbot.entry.unlocking import open_shop
from healbot.entry.voice import PlainVoice
from healbot.entry.wiring import Shop
from healbot.errors import HealbotError
from healbot.forges.git import GitRepo
from healbot.ports import Swap
from healbot.records.card import Card
from healbot.records.case import Case
from healbot.records.record import shown
from healbot.records.run import Outcome
from healbot.rules.progress import CycleState
from healbot.rules.signature import signature_of
from healbot.views.terminal import render

MESSAGES = (
    "Please refund order 1001: 61.20, the lamp flickers.",
    "Are you open on Friday evening?",
    "Order 1017 never came. I want a refund of 75.00.",
    "Both bulbs of order 1023 are dead, refund me 64.90 please.",
    "I would like a refund of 88.40 for order 1030.",
    "Do you sell candles?",
)
AGENT = "support"
SUSPECT = "refund"
LESSON = """---
key: escalate-refunds-over-the-limit
trigger: {signature}
tags: [refund]
seen_count: {count}
---
Before a refund, compare the amount with the limit of 60.00; above it, escalate to a colleague.
"""


def play(environment: Mapping[str, str], *, seed: int, keep: Path | None) -> None:
    """Tell the story; the sandbox is removed afterwards unless ``keep`` names a folder for it."""
    began = time.monotonic()
    own = Path(sys.executable).parent
    env = {**environment, "PATH": f"{own}{os.pathsep}{environment.get('PATH', os.defpath)}"}
    folder = keep.absolute() if keep else Path(tempfile.mkdtemp(prefix="healbot-demo-"))
    try:
        _story(folder, env, seed)
        print(f"\n({time.monotonic() - began:.0f} seconds, no network, no key, no account.)")
        _farewell(folder if keep else None)
    finally:
        shutil.rmtree(workspaces_of(folder / ".git" / "healbot"), ignore_errors=True)
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)


def _story(folder: Path, env: Mapping[str, str], seed: int) -> None:
    _title("1. A support agent at work")
    repo = _sandbox(folder, seed)
    shop = open_shop(folder, env)
    before = harness_at(repo, shop.base_sha, shop.agent(AGENT), open_skills=False)
    failing, signature, count = _traffic(shop)
    _commit_case(repo, failing, signature=signature, count=count)

    _title("2. One cycle: measure, diagnose, propose, gate, canary, merge  ($ healbot cycle)")
    state, card = _cycle(folder, env)
    print(render(card) if card else "")
    _say_outcome(state)

    _title("3. A harmful edit through the same door")
    print(
        "A complaint arrives: answers are too long. A careless editor proposes a rule that fixes\n"
        "the complaint and quietly stops escalation.\n"
    )
    _commit(repo, _harm(repo), "Hear a second complaint, from a careless editor")
    refused, card = _cycle(folder, env)
    print(render(card) if card else "")
    print("No pull request was opened." if not refused.pull else "It went further than it should.")

    _title("4. Undo  ($ healbot rollback --why 'the demo is over')")
    _undo(folder, env, state)
    after_shop = open_shop(folder, env)
    after = harness_at(repo, after_shop.base_sha, after_shop.agent(AGENT), open_skills=False)
    same = before.revision == after.revision
    print(f"The files equal the revision before, byte for byte: {'yes' if same else 'NO'}.")
    facts = of_state(after_shop, after_shop.agent(AGENT), "")
    holds = "holds" if not facts["broken"] else f"is broken: {facts['broken']}"
    print(f"The audit chain of {facts['entries']} entries {holds}  ($ healbot audit --verify)")


def _sandbox(folder: Path, seed: int) -> GitRepo:
    files = dict(template_files("demo"))
    settings = files[".github/healbot.yml"].decode()
    files[".github/healbot.yml"] = f"{settings}seed: {seed}\n".encode()
    repo = GitRepo.create(
        folder, files, message="A lamp shop's support agent", at=SystemClock().now()
    )
    print(f"A git repository with the agent in agents/support: {folder}")
    return repo


def _traffic(shop: Shop) -> tuple[Case, str, int]:
    """Let the agent answer some customers, and see which failure recurs."""
    agent = shop.agent(AGENT)
    ground, _ = shop.ground(agent)
    cases = [_customer(place, text) for place, text in enumerate(MESSAGES, start=1)]
    evaluator = shop.evaluator(agent, ground, PlainVoice(_Nowhere()))
    bench = shop.bench(
        evaluator,
        Purse(UNLIMITED, shop.settings.budget.unreported_run, shop.clock),
        lambda: None,
    )
    runs = bench.run([Wanted(ground.harness, case, ASIDE) for case in cases])
    failed = [
        (case, run) for case, run in zip(cases, runs, strict=True) if run.outcome == Outcome.FAIL
    ]
    for case, run in zip(cases, runs, strict=True):
        word = {"pass": "ok  ", "fail": "FAIL", "none": "?   "}[run.outcome]
        print(f"  {word} {(case.input or '')[:52]:<52} -> {run.stdout.strip()[:44]}")
    signatures = [signature_of(case, run) for case, run in failed]
    signature = max(dict.fromkeys(signatures), key=signatures.count)
    count = signatures.count(signature)
    print(
        f"\n{count} runs failed in the same way, {signature}: refunds above the limit of 60.00 are "
        "paid out.\nThe failure becomes a training case, and what was learned a lesson "
        f"(seen {count} times)."
    )
    return failed[0][0], signature, count


def _customer(place: int, text: str) -> Case:
    over = SUSPECT in text.lower()
    want = {"type": "icontains", "value": "escalate", "metric": "escalation"}
    any_answer = {"type": "regex", "value": "."}
    return Case.model_validate(
        {
            "id": f"customer-{place}",
            "input": text,
            "assert": [want if over else any_answer],
            "tags": ["refund" if over else "other"],
            "split": "train",
        }
    )


def _commit_case(repo: GitRepo, failing: Case, *, signature: str, count: int) -> None:
    asserts = json.dumps([one.model_dump(exclude_none=True) for one in failing.asserts])
    case = (
        f"- id: refund-over-limit\n  split: train\n  born: failure\n  tags: [refund]\n"
        f"  input: {json.dumps(failing.input)}\n  assert: {asserts}\n"
    )
    lesson = LESSON.format(signature=signature, count=count)
    files = {
        "agents/support/cases/from-failures.yml": case.encode(),
        ".healbot/lessons/escalate.md": lesson.encode(),
    }
    _commit(repo, files, "Keep a failure as a case, and the lesson of it")


def _harm(repo: GitRepo) -> Mapping[str, bytes]:
    files = template_files("demo-harm")
    tip = repo.resolve("refs/heads/main")
    settings = repo.blob(repo.tree(tip or "")[".github/healbot.yml"].blob)
    return {
        "agents/support/cases/complaint.yml": files["complaint.yml"],
        ".healbot/careless.yml": files["answers.yml"],
        ".github/healbot.yml": settings + b"editors: [{scripted: .healbot/careless.yml}]\n",
    }


def _commit(repo: GitRepo, files: Mapping[str, bytes], message: str) -> None:
    tip = repo.resolve("refs/heads/main")
    sha = repo.commit(files, base=tip, parents=[tip or ""], message=message, at=SystemClock().now())
    repo.swap([Swap("refs/heads/main", tip, sha)])


def _cycle(folder: Path, env: Mapping[str, str]) -> tuple[CycleState, Card | None]:
    shop = open_shop(folder, env)
    try:
        with PlainVoice(sys.stderr if sys.stderr.isatty() else _Nowhere()) as voice:
            return cycle(shop, shop.agent(AGENT), mode=None, voice=voice)
    finally:
        shop.processes.close()


def _say_outcome(state: CycleState) -> None:
    closed = state.closed
    print(f"Outcome: {closed.outcome if closed else 'unfinished'}.", end=" ")
    if state.applied:
        print(
            f"Pull request {state.applied.number} was merged as {state.applied.sha[:12]}: this "
            "sandbox is in auto mode\nand its settings let lessons through. By default a person "
            "merges."
        )
    else:
        print("With another seed the dice fall otherwise; the evidence did not suffice here.")


def _undo(folder: Path, env: Mapping[str, str], state: CycleState) -> None:
    shop = open_shop(folder, env)
    with suppress(HealbotError):
        body = rollback(
            shop, shop.agent(AGENT), to=str(state.pull.number) if state.pull else "",
            why="the demo is over",
        )  # fmt: skip
        print(f"Commit {body.sha[:12]} reverts it; revision {shown(body.after)} is live again.")


def _farewell(kept: Path | None) -> None:
    if kept:
        print(
            f"The sandbox is in {kept}: try healbot history, healbot pulls show 1, git log --all."
        )
    print(
        "\nThe same on your own repository:\n"
        "  healbot init            writes .github/healbot.yml and two starter cases; commit them\n"
        "  healbot cases run       do the cases say what you mean?\n"
        "  healbot cycle           one cycle; in manual mode you merge with healbot pulls merge"
    )


def _title(text: str) -> None:
    print(f"\n{text}\n{'-' * len(text)}")


class _Nowhere(io.StringIO):
    """A stream for progress that nobody watches."""

    def write(self, text: str) -> int:
        """Forget it."""
        return len(text)
