"""Whole stories of the loop, through the command line's door, told by what reached the refs."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from fakes import FakeRunner, Said, hire, support
from sandbox import INSTRUCTIONS, git, healbot, make_repository
from stories import (
    CASES,
    ESCALATE,
    SETTINGS,
    answered,
    call,
    change,
    instructions,
    kinds,
    lines_of,
    refs,
    script,
)

from healbot.records.run import Usage

Hire = Callable[..., FakeRunner]


@pytest.fixture
def agent() -> Iterator[Hire]:
    patch = pytest.MonkeyPatch()
    yield lambda behave=support: hire(patch, behave)
    patch.undo()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return make_repository(tmp_path / "repo")


@pytest.fixture
def manual(tmp_path: Path) -> Path:
    return make_repository(tmp_path / "repo", mode="manual")


def test_manual_mode_waits_and_a_person_merges(manual: Path, agent: Hire) -> None:
    agent()
    before = instructions(manual)
    done = answered(manual, "cycle")
    assert (done["outcome"], done["verdict"], done["merged_sha"]) == ("queued", "queued", None)
    assert instructions(manual) == before
    (row,) = answered(manual, "pulls", "list")
    assert (row["number"], row["state"]) == (1, "open")
    assert answered(manual, "pulls", "show", "1")["card"]["merging"]["waits_for"] == "a person"
    assert answered(manual, "pulls", "checks", "1")[0]["conclusion"] == "success"
    waiting = call(manual, "cycle")
    assert waiting.code == 5
    assert "Pull request 1 still waits" in waiting.err
    assert call(manual, "pulls", "merge", "1").code == 0
    assert "escalate" in instructions(manual)
    assert answered(manual, "history")[0]["what"] == "merged"
    assert kinds(manual)[-3:] == ["queued", "closed", "applied"]
    assert call(manual, "pulls", "merge", "1").code == 7


def test_an_edit_born_of_a_lesson_waits_for_a_person_unless_a_setting_lets_it_through(
    folder: Path, agent: Hire
) -> None:
    agent()
    change(folder, SETTINGS, "lessons: {auto: true}\n", "")
    done = answered(folder, "cycle")
    assert (done["mode"], done["outcome"]) == ("auto", "queued")
    assert "born of a lesson" in done["note"]


def test_observe_mode_writes_nothing_but_the_ledger(folder: Path, agent: Hire) -> None:
    agent()
    before = refs(folder)
    done = answered(folder, "cycle", "--mode", "observe")
    assert (done["outcome"], done["verdict"], done["pull"]) == ("observed", "admitted", None)
    assert refs(folder, state=False) == before
    assert kinds(folder)[-1] == "closed"
    assert answered(folder, "pulls", "list", "--all") == []


def test_a_dry_run_moves_no_ref_and_tells_every_intent(folder: Path, agent: Hire) -> None:
    runner = agent()
    before = refs(folder)
    done = answered(folder, "cycle", "--dry-run")
    assert refs(folder) == before
    assert runner.runs == done["spent"]["runs"] > 0
    told = [one["kind"] for one in done["intents"]]
    assert told == ["open-pull", "update-pull", "post-check", "merge-pull"]
    assert (done["outcome"], done["pull"], done["merged_sha"]) == ("merged", None, None)
    words = call(folder, "cycle", "--dry-run")
    assert "would open-pull: open:s:" in words.out
    assert refs(folder) == before


def test_a_harmful_edit_is_refused_by_the_gate_and_its_card_says_which_rule(
    folder: Path, agent: Hire
) -> None:
    def overdone(texts: dict[str, str], task: str, draw: float) -> Said:
        if "escalate" in texts["instructions.md"]:
            return Said("I escalate this.")
        return support(texts, task, draw)

    agent(overdone)
    script(folder)
    before = refs(folder)
    done = answered(folder, "cycle")
    assert (done["outcome"], done["verdict"]) == ("refused", "rejected")
    assert [(one["rule"], one["case"]) for one in done["card"]["reasons"]] == [
        ("heldout-drop", "hello")
    ]
    assert done["card"]["fixed_trigger"]
    assert refs(folder, state=False) == before
    words = call(folder, "cycle", "--exit-code", "--mode", "observe")
    assert "refused unspent: tried-before" in words.out
    assert words.code == 1


def test_what_the_canary_refuses_is_closed_with_a_failed_check(folder: Path, agent: Hire) -> None:
    seen = []

    def late(texts: dict[str, str], task: str, draw: float) -> Said:
        if "escalate" in texts["instructions.md"] and "hello" in task:
            seen.append(task)
            return Said("Hello" if len(seen) <= 3 else "what")
        return support(texts, task, draw)

    agent(late)
    script(folder)
    before = instructions(folder)
    done = answered(folder, "cycle")
    assert (done["outcome"], done["verdict"], done["pull"]) == ("refused", "rejected", 1)
    pull = answered(folder, "pulls", "show", "1")
    assert (pull["state"], pull["closed_by"]) == ("closed", "healbot")
    assert [check["conclusion"] for check in pull["checks"]] == ["failure"]
    assert pull["card"]["word"] == "rejected"
    assert instructions(folder) == before
    assert git(folder, "branch", "--list", "healbot/s/*") == ""


@pytest.mark.parametrize(
    ("text", "hunk", "rule"),
    [
        (
            "# Support\n\n## Safety\n\n- Never pay twice.\n",
            '{path: instructions.md, op: delete, anchor: "- Never pay twice.\\n"}',
            "protected",
        ),
        (
            "# Support\n\n- Be kind.\n",
            f'{{path: instructions.md, op: append, text: "- {"Escalate. " * 900}\\n"}}',
            "too-long",
        ),
        (
            "# Support\n\n- Be kind.\n",
            '{path: agent.py, op: append, text: "escalate"}',
            "outside",
        ),
    ],
)
def test_what_no_edit_may_do_is_refused_before_a_run_is_spent_on_it(
    folder: Path, agent: Hire, text: str, hunk: str, rule: str
) -> None:
    runner = agent()
    change(folder, INSTRUCTIONS, "", text)
    change(folder, SETTINGS, "version: 1", "version: 1\nprotect: ['## Safety']")
    script(folder, f"proposals: [{{summary: harm, hunks: [{hunk}]}}]\n")
    before = refs(folder)
    done = answered(folder, "cycle")
    assert (done["outcome"], done["verdict"]) == ("refused", "invalid")
    assert done["refused_unspent"] == [{"editor": "scripted", "rule": rule}]
    assert runner.runs == 4
    assert refs(folder, state=False) == before


def test_a_healthy_agent_has_nothing_to_fix(folder: Path, agent: Hire) -> None:
    runner = agent(lambda texts, task, draw: Said("I escalate this. Hello!"))
    done = answered(folder, "cycle", "--exit-code")
    assert (done["outcome"], done["verdict"], runner.runs) == ("healthy", None, 3)
    assert kinds(folder) == ["opened", "measured", "closed"]


def test_a_flake_is_no_failure(folder: Path, agent: Hire) -> None:
    seen = []

    def flaky(texts: dict[str, str], task: str, draw: float) -> Said:
        seen.append(task)
        return Said("refunded" if len(seen) <= 3 else "I escalate this.")

    agent(flaky)
    done = answered(folder, "cycle")
    assert (done["outcome"], done["spent"]["runs"]) == ("healthy", 4)
    assert "flake" in done["note"]
    (finding,) = lines_of(folder, "audit")[2]["body"]["findings"]
    assert finding["was_real"] is False


def test_a_check_that_crashes_could_not_tell_and_is_never_a_pass(
    folder: Path, agent: Hire
) -> None:
    agent()
    change(folder, CASES, "value: escalate, metric: escalation}]\n- id: refund-big",
           "value: escalate}]\n  checks: [{command: 'exit 9'}]\n- id: refund-big")  # fmt: skip
    change(folder, INSTRUCTIONS, "politely", "politely and escalate")
    done = answered(folder, "cycle", "--exit-code", code=4)
    assert (done["outcome"], done["verdict"]) == ("could-not-tell", None)
    assert "refund-over" in done["note"]
    outcomes = {line["outcome"] for line in lines_of(folder, "journal")}
    assert outcomes == {"none"}


def test_without_a_held_out_case_every_verdict_is_underpowered(folder: Path, agent: Hire) -> None:
    agent()
    change(folder, CASES, "split: heldout", "split: train")
    done = answered(folder, "cycle", "--exit-code", code=4)
    assert (done["outcome"], done["verdict"]) == ("refused", "underpowered")
    assert [one["rule"] for one in done["card"]["reasons"]] == ["no-heldout"]


def test_a_rise_of_tokens_is_refused(folder: Path, agent: Hire) -> None:
    def costly(texts: dict[str, str], task: str, draw: float) -> Said:
        said = support(texts, task, draw)
        longer = "escalate" in texts["instructions.md"]
        return said._replace(usage=Usage(tokens=2000 if longer else 1000, usd=0.001))

    agent(costly)
    done = answered(folder, "cycle")
    assert (done["verdict"], done["card"]["reasons"][0]["rule"]) == ("rejected", "tokens")


def test_an_edit_to_a_skill_that_no_run_is_known_to_have_read_is_not_exercised(
    folder: Path, agent: Hire
) -> None:
    seen = []

    def better_by_luck(texts: dict[str, str], task: str, draw: float) -> Said:
        changed = "escalate" in texts["skills/refund/SKILL.md"]
        seen.append(changed)
        text = "I escalate this." if changed and "refund" in task else "Hello, refunded"
        return Said(text, skills_read=())

    agent(better_by_luck)
    change(folder, "agents/s/skills/refund/SKILL.md", "",
           "---\nname: refund\ndescription: How to refund.\n---\n\nRefund.\n")  # fmt: skip
    script(folder, ESCALATE.replace("path: instructions.md", "path: skills/refund/SKILL.md"))
    done = answered(folder, "cycle", "--exit-code", code=4)
    assert (done["outcome"], done["verdict"]) == ("refused", "not-exercised")
    assert any(seen)


def test_a_budget_that_is_too_small_ends_it_before_the_first_run(
    tmp_path: Path, agent: Hire
) -> None:
    runner = agent()
    for place, budget in enumerate(
        ("cycle: {runs: 20}", "day: {usd: 0.5}", "cycle: {tokens: 50000}")
    ):
        folder = make_repository(tmp_path / str(place), more=f"budget: {{{budget}}}\n")
        before = refs(folder)
        done = call(folder, "cycle")
        assert (done.code, done.out, runner.runs) == (6, "", 0)
        assert "the budgets leave" in done.err
        assert refs(folder) == before


def test_a_budget_that_is_spent_midway_abandons_the_cycle_and_every_run_is_counted(
    folder: Path, agent: Hire
) -> None:
    def dear(texts: dict[str, str], task: str, draw: float) -> Said:
        return support(texts, task, draw)._replace(usage=Usage(tokens=150_000, usd=0.1))

    runner = agent(dear)
    done = call(folder, "cycle")
    assert done.code == 6
    assert "budget is spent" in done.err
    last = lines_of(folder, "audit")[-1]
    assert last["body"]["outcome"] == "abandoned"
    spent = [line["spent"] for line in lines_of(folder, "audit")]
    assert sum(one["runs"] for one in spent) == runner.runs
    assert sum(one["tokens"] for one in spent) == 150_000 * runner.runs <= 2_000_000
    assert answered(folder, "status")["agents"][0]["today"]["runs"] == runner.runs


SHAPES = {
    "noisy": (0.5, ""),
    "strict": (0.8, "gate: {canary: strict}\n"),
    "tight": (0.7, "budget: {cycle: {runs: 125}}\n"),
    "few": (0.8, "gate: {repeats: 2, canary: {repeats: 3, passes: 2, second_passes: 4}}\n"),
}


@pytest.mark.parametrize("name", SHAPES)
def test_no_cycle_makes_more_runs_than_its_forecast(name: str, tmp_path: Path, agent: Hire) -> None:
    steady, more = SHAPES[name]
    folder = make_repository(tmp_path / "repo", more=more)
    extra = "".join(
        f"- id: more-{n}\n  split: {('train', 'heldout')[n % 2]}\n  safety: {str(n == 3).lower()}\n"
        f"  input: {('refund my', 'hello from')[n % 2]} {word}\n"
        f"  assert: [{{type: icontains, value: {('escalate', 'hello')[n % 2]}}}]\n"
        for n, word in enumerate(("lamp in blue", "a town by the sea", "bicycle", "the old bridge"))
    )
    change(folder, CASES, "- id: hello\n", extra + "- id: hello\n")

    def noisy(texts: dict[str, str], task: str, draw: float) -> Said:
        return support(texts, task, draw) if draw < steady else Said("what")

    runner = agent(noisy)
    done = answered(folder, "cycle")
    assert runner.runs == done["spent"]["runs"] <= done["forecast"]["runs"]
    assert done["spent"]["usd"] <= done["forecast"]["usd"] + 1e-9
    assert done["spent"]["tokens"] <= done["forecast"]["tokens"]


def test_the_kill_switch_is_a_command_a_setting_and_a_variable(folder: Path, agent: Hire) -> None:
    runner = agent()
    assert call(folder, "stop", "--why", "holiday").code == 0
    before = refs(folder)
    assert call(folder, "cycle").code == 5
    assert answered(folder, "status")["stopped_by"] == "healbot stop"
    assert refs(folder) == before
    assert call(folder, "start").code == 0
    assert kinds(folder) == ["switched", "switched"]
    stopped = call(folder, "cycle", HEALBOT_STOP="1")
    assert stopped.code == 5
    assert "HEALBOT_STOP" in stopped.err
    change(folder, SETTINGS, "version: 1", "version: 1\nstop: true")
    stopped = call(folder, "cycle")
    assert stopped.code == 5
    assert "stop: true in the settings" in stopped.err
    assert "Still stopped by stop: true" in call(folder, "start").out
    assert runner.runs == 0


def test_the_kill_switch_stops_a_cycle_under_way_and_start_lets_it_go_on(
    folder: Path, agent: Hire
) -> None:
    def thrown(texts: dict[str, str], task: str, draw: float) -> Said:
        if "escalate" in texts["instructions.md"] and not seen:
            seen.append(healbot(folder, "stop"))
        return support(texts, task, draw)

    seen: list[object] = []
    runner = agent(thrown)
    assert call(folder, "cycle").code == 5
    assert "pull-opened" not in kinds(folder)
    assert instructions(folder) == "# Support\n\n- Answer politely."
    call(folder, "start")
    made = runner.runs
    assert answered(folder, "cycle")["outcome"] == "merged"
    assert runner.runs == made + 12
    assert kinds(folder).count("opened") == 1


def test_while_it_is_stopped_nobody_merges_through_it(manual: Path, agent: Hire) -> None:
    agent()
    call(manual, "cycle")
    call(manual, "stop")
    before = refs(manual)
    assert call(manual, "pulls", "merge", "1").code == 5
    assert refs(manual) == before
    call(manual, "start")
    assert call(manual, "pulls", "merge", "1").code == 0


def test_a_closed_pull_request_is_a_no_that_is_remembered(manual: Path, agent: Hire) -> None:
    runner = agent()
    call(manual, "cycle")
    assert call(manual, "pulls", "close", "1", "--why", "we pay these").code == 0
    assert kinds(manual)[-1] == "declined"
    assert answered(manual, "pulls", "show", "1")["comments"][0]["body"] == "we pay these"
    made = runner.runs
    done = answered(manual, "cycle")
    assert done["refused_unspent"] == [{"editor": "lessons", "rule": "tried-before"}]
    assert runner.runs == made + 4
    assert answered(manual, "history")[-1]["what"] == "declined"


def test_a_rollback_restores_the_bytes_by_a_new_commit_and_begins_a_cooldown(
    folder: Path, agent: Hire
) -> None:
    agent()
    earlier = (folder / INSTRUCTIONS).read_bytes()
    call(folder, "cycle")
    merged = git(folder, "rev-parse", "main")
    assert (folder / INSTRUCTIONS).read_bytes() != earlier
    assert call(folder, "rollback").code == 3
    done = answered(folder, "rollback", "--why", "it pays too late")
    assert (folder / INSTRUCTIONS).read_bytes() == earlier
    assert done["reverted_sha"] == merged == git(folder, "rev-parse", "main^")
    message = git(folder, "log", "-1", "--format=%B", "main")
    assert f"This reverts commit {merged}." in message
    assert f"Healbot-Reverts: {merged}" in message
    assert "it pays too late" in answered(folder, "pulls", "show", "1")["comments"][-1]["body"]
    before = refs(folder)
    for words in (("cycle",), ("cycle", "--mode", "manual")):
        cooled = call(folder, *words)
        assert cooled.code == 5
        assert "A rollback was made" in cooled.err
    assert refs(folder) == before
    again = call(folder, "rollback", "--why", "once more")
    assert again.code == 3
    assert "no merge of healbot's that still stands" in again.err
    assert answered(folder, "cycle", "--mode", "observe")["refused_unspent"][0]["rule"] == (
        "tried-before"
    )


@pytest.mark.parametrize("word", ["1", "#1", "revision"])
def test_a_rollback_goes_to_a_pull_request_or_to_a_revision(
    word: str, folder: Path, agent: Hire
) -> None:
    agent()
    earlier = (folder / INSTRUCTIONS).read_bytes()
    baseline = answered(folder, "cycle")["baseline"]
    change(folder, "notes.txt", "one", "1")
    to = baseline[:8] if word == "revision" else word
    done = answered(folder, "rollback", "--to", to, "--why", "w")
    assert (done["number"], done["after"]) == (1, baseline)
    assert (folder / INSTRUCTIONS).read_bytes() == earlier
    assert (folder / "notes.txt").read_text().startswith("1\n")
    assert call(folder, "rollback", "--to", to, "--why", "w").code == 3


def test_a_rollback_names_what_it_does_not_know(folder: Path, agent: Hire) -> None:
    agent()
    call(folder, "cycle")
    for to in ("7", "abcdef99", "ab", "#"):
        done = call(folder, "rollback", "--to", to, "--why", "w")
        assert (done.code, done.out) == (3, ""), to


def test_a_person_s_revert_by_git_is_noticed_and_counts_as_a_no(folder: Path, agent: Hire) -> None:
    agent()
    call(folder, "cycle")
    git(folder, "revert", "--no-edit", "-m", "1", "HEAD")
    done = call(folder, "cycle")
    assert done.code == 5
    assert kinds(folder)[-1] == "rolled-back"
    last = answered(folder, "history")[0]
    assert (last["what"], last["pull"]) == ("rolled-back", 1)
    assert "Ada" in last["why"]
    assert call(folder, "rollback", "--why", "w").code == 3


def test_a_harness_that_changed_since_is_not_merged_into(manual: Path, agent: Hire) -> None:
    agent()
    call(manual, "cycle")
    change(manual, "agents/s/skills/greet/SKILL.md", "",
           "---\nname: greet\ndescription: How to greet.\n---\n\nGreet.\n")  # fmt: skip
    before = refs(manual)
    done = call(manual, "pulls", "merge", "1")
    assert done.code == 8
    assert refs(manual) == before
    assert call(manual, "pulls", "close", "1").code == 0


def test_on_a_broken_chain_nothing_is_written_and_everything_says_so(
    folder: Path, agent: Hire
) -> None:
    runner = agent()
    call(folder, "cycle", "--mode", "observe")
    made = runner.runs
    git(folder, "checkout", "--quiet", "healbot/state")
    (path,) = (folder / "agents/s/audit").glob("*.jsonl")
    path.write_text("".join(path.read_text().splitlines(keepends=True)[1:]))
    git(folder, "commit", "--quiet", "--all", "--message", "tamper")
    git(folder, "checkout", "--quiet", "main")
    before = refs(folder)
    for words in (("cycle",), ("status",), ("history",), ("audit", "--verify"),
                  ("rollback", "--why", "w")):  # fmt: skip
        done = call(folder, *words)
        assert done.code == 9, (words, done.err)
        assert ".jsonl:1: 1 line(s) before this one were removed" in done.err
    assert (refs(folder), runner.runs) == (before, made)
