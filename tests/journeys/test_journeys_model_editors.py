"""A model finds the missing rule: whole cycles from the command line, to a merged pull request."""

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
from fakes import door, hire
from sandbox import LESSON, commit_all, git, healbot, make_repository
from server import KEY, Request, Server, openai_ask, openai_body, say, serving
from telling import answered, call, change, instructions, kinds, lines_of

from healbot.chat.scripted import ScriptedChat
from healbot.entry import editing
from healbot.errors import Exit
from healbot.records.chat import Answer, Ask, Call, Tokens

RULE = "- Before a refund, compare the amount with the limit and escalate above it.\n"
EDIT = Call(id="e", name="edit", args={"path": "instructions.md", "op": "append", "text": RULE})
PROPOSE = Call(
    id="p",
    name="propose",
    args={
        "summary": "Escalate refunds above the limit",
        "reason": "Refunds were paid without a look at the limit.",
        "claims": ["refund-over"],
        "prediction": [{"case": "refund-over", "way": "better"}],
    },
)
USED = Tokens(sent=1_000, made=50)


def able(ask: Ask) -> Answer:
    """Behave as an able model: read, edit, propose; the second editor finds nothing to add."""
    if "domain" in ask.messages[0].text[:200]:
        return Answer(calls=(Call(id="d", name="decline"),), stop="tools", tokens=USED)
    done = [one.name for turn in ask.messages for one in turn.calls]
    todo = [Call(id="r", name="read", args={"path": "instructions.md"}), EDIT, PROPOSE]
    return Answer(calls=(todo[len(done)],), stop="tools", tokens=USED)


def answering(handler: BaseHTTPRequestHandler, request: Request) -> None:
    """Answer as an able model behind a server does."""
    body = {**request.body, "messages": [dict(one) for one in request.body["messages"]]}
    for one in body["messages"]:
        one["content"] = one.get("content") or ""
    say(openai_body(able(openai_ask(body))))(handler, request)


def repository(folder: Path, url: str = "http://127.0.0.1:1/v1", more: str = "") -> Path:
    """Make a repository whose editors ask a model, and that has no lesson to fall back on."""
    model = f"models: {{editor: {{name: m, key_env: MODEL_KEY, base_url: {url!r}}}}}\n"
    repo = make_repository(folder, more=f"{model}editors: [invariant, domain]\nseed: 3\n{more}")
    (repo / LESSON).unlink()
    commit_all(repo, "Keep no lesson")
    return repo


@pytest.fixture
def running() -> Iterator[Server]:
    with serving(answering) as server:
        yield server


def scripted(patch: pytest.MonkeyPatch, chat: ScriptedChat) -> None:
    patch.setattr(editing, "chat_of", lambda *_, **__: chat)


def spent(repo: Path, kind: str) -> dict[str, Any]:
    (line,) = [one for one in lines_of(repo, "audit") if one["body"]["kind"] == kind]
    read: dict[str, Any] = line["spent"]
    return read


@pytest.mark.slow
def test_a_model_behind_a_server_heals_the_real_agent_by_the_command_line(
    tmp_path: Path, running: Server
) -> None:
    repo = repository(tmp_path / "repo", running.url)
    done = healbot(repo, "cycle", environment={"MODEL_KEY": KEY})
    assert done.returncode == 0, done.stderr
    assert "Merged" in done.stdout
    assert RULE in (repo / "agents/s/instructions.md").read_text()
    assert len(running.requests) == 4
    (note,) = next(
        one["body"]["proposals"]
        for one in lines_of(repo, "audit")
        if one["body"]["kind"] == "proposed"
    )
    assert note["editor"] == "invariant"
    assert note["prediction"] == [{"case": "refund-over", "way": "better"}]
    assert len(note["prompt"]) == 64
    told = spent(repo, "proposed")
    assert (told["runs"], told["tokens"]) == (0, 4 * 1_050)
    assert healbot(repo, "audit", "--verify").returncode == 0
    everything = git(repo, "log", "--all", "-p") + done.stdout + done.stderr
    assert KEY not in everything


@pytest.mark.slow
def test_a_scripted_chat_goes_through_the_same_cycle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chat = ScriptedChat(able)
    scripted(monkeypatch, chat)
    repo = repository(tmp_path / "repo")
    facts = answered(repo, "cycle")
    assert facts["outcome"] == "merged"
    assert RULE.strip() in instructions(repo)
    prompts = "\n".join(turn.text for ask in chat.asked for turn in ask.messages)
    assert "please refund order 1001" in prompts
    assert "broken lamp" not in prompts
    assert "hello there" not in prompts


def test_without_the_key_nothing_is_run_and_the_variable_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runner = hire(monkeypatch)
    repo = repository(tmp_path / "repo")
    done = call(repo, "cycle")
    assert done.code == Exit.INPUT
    assert "MODEL_KEY" in done.err
    assert runner.runs == 0
    assert git(repo, "branch", "--list", "healbot/*") == ""


def test_an_editor_without_a_model_in_the_settings_is_a_slip_with_its_place(
    tmp_path: Path,
) -> None:
    repo = make_repository(tmp_path / "repo", more="editors: [domain]\n")
    done = door("cycle", "--repo", str(repo))
    assert done.code == Exit.INPUT
    assert "the editor 'domain' needs models.editor" in done.err


def test_a_model_that_gives_up_leaves_the_files_as_they_are_and_the_reason_is_recorded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hire(monkeypatch)
    scripted(monkeypatch, ScriptedChat(lambda _: "I would rather write a poem."))
    repo = repository(tmp_path / "repo")
    main = git(repo, "rev-parse", "main")
    facts = answered(repo, "cycle")
    assert facts["outcome"] == "no-proposal"
    assert "The editor domain gave up: it answered without a tool call" in facts["note"]
    assert "poem" not in json.dumps(lines_of(repo, "audit"))
    assert git(repo, "rev-parse", "main") == main


def test_an_editor_that_gives_up_does_not_stop_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def one_of_two(ask: Ask) -> Answer | str:
        return "no" if "invariant" not in ask.messages[0].text[:200] else able(ask)

    hire(monkeypatch)
    scripted(monkeypatch, ScriptedChat(one_of_two))
    facts = answered(repository(tmp_path / "repo"), "cycle")
    assert facts["outcome"] == "merged"


def test_a_server_that_can_not_be_reached_is_told_and_is_no_verdict(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hire(monkeypatch)
    with serving(say({"error": {"message": "no such key"}}, 401)) as refusing:
        repo = repository(tmp_path / "repo", refusing.url)
        done = call(repo, "cycle", MODEL_KEY=KEY)
    assert done.code == Exit.REFUSED
    assert "401" in done.err
    assert KEY not in done.err
    assert kinds(repo)[-1] == "closed"
    assert "no such key" not in json.dumps(lines_of(repo, "audit"))


def test_a_persons_edit_is_checked_without_a_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hire(monkeypatch)
    repo = repository(tmp_path / "repo")
    git(repo, "checkout", "--quiet", "-b", "mine")
    change(repo, "agents/s/instructions.md", "politely.\n", f"politely.\n{RULE}")
    done = call(repo, "check", "mine", "--base", "main")
    assert "MODEL_KEY" not in done.err
    assert "ADMITTED" in done.out


def test_a_spent_budget_stops_the_asking(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hire(monkeypatch)
    chat = ScriptedChat(able)
    scripted(monkeypatch, chat)
    repo = repository(tmp_path / "repo", more="editing: {tokens: 5000}\n")
    facts = answered(repo, "cycle")
    assert facts["outcome"] == "no-proposal"
    assert "are left, and the next question may take" in facts["note"]
    assert chat.asked == []


def test_what_editors_may_spend_is_set_aside_and_forecast(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hire(monkeypatch)
    scripted(monkeypatch, ScriptedChat(able))
    tight = "budget: {cycle: {tokens: 600000}}\n"
    repo = repository(tmp_path / "repo", more=tight)
    before = answered(repo, "cost")["agents"][0]["next_cycle"]["most"]
    facts = answered(repo, "cycle")
    assert facts["outcome"] == "merged"
    opened = next(one for one in lines_of(repo, "audit") if one["body"]["kind"] == "opened")
    assert opened["body"]["forecast"]["tokens"] == before["tokens"] == 600_000
    assert opened["body"]["forecast"]["runs"] * 5_000 <= 600_000 - 2 * 150_000
