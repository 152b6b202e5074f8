"""Where the loop must say no, or stop: told by what reached the refs, and what did not."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
from fakes import FakeRunner, Said, hire, support
from sandbox import INSTRUCTIONS, git, healbot, make_repository
from telling import (
    CASES,
    answered,
    call,
    change,
    instructions,
    kinds,
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


def test_what_the_canary_refuses_is_closed_with_a_failed_check(folder: Path, agent: Hire) -> None:
    seen = []

    def late(texts: Mapping[str, str], task: str, draw: float) -> Said:
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


def test_a_rise_of_tokens_is_refused(folder: Path, agent: Hire) -> None:
    def costly(texts: Mapping[str, str], task: str, draw: float) -> Said:
        said = support(texts, task, draw)
        longer = "escalate" in texts["instructions.md"]
        return said._replace(usage=Usage(tokens=2000 if longer else 1000, usd=0.001))

    agent(costly)
    done = answered(folder, "cycle")
    assert (done["verdict"], done["card"]["reasons"][0]["rule"]) == ("rejected", "tokens")


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

    def noisy(texts: Mapping[str, str], task: str, draw: float) -> Said:
        return support(texts, task, draw) if draw < steady else Said("what")

    runner = agent(noisy)
    done = answered(folder, "cycle")
    assert runner.runs == done["spent"]["runs"] <= done["forecast"]["runs"]
    assert done["spent"]["usd"] <= done["forecast"]["usd"] + 1e-9
    assert done["spent"]["tokens"] <= done["forecast"]["tokens"]


def test_the_kill_switch_stops_a_cycle_under_way_and_start_lets_it_go_on(
    folder: Path, agent: Hire
) -> None:
    def thrown(texts: Mapping[str, str], task: str, draw: float) -> Said:
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


@pytest.mark.parametrize("word", ["#1", "revision"])
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
