"""One whole cycle with a real agent and a real command line; its card adds up with the journal."""

import json
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from sandbox import INSTRUCTIONS, STARTS_VARIABLE, git, healbot, make_repository
from telling import answered, call, instructions, kinds, lines_of

from healbot.records.card import Card
from healbot.records.trailers import Trailers
from healbot.views.card import parse

STAGES = {
    "measure": "measured",
    "diagnose": "diagnosed",
    "probe": "probed",
    "earn": "earned",
    "gate": "gated",
    "canary": "canaried",
}


class Story(NamedTuple):
    folder: Path
    before: str
    done: dict[str, Any]
    starts: int
    card: Card


@pytest.fixture(scope="session")
def story(tmp_path_factory: pytest.TempPathFactory) -> Story:
    folder = make_repository(tmp_path_factory.mktemp("story") / "repo", steady=0.9)
    starts = folder.parent / "starts"
    before = git(folder, "rev-parse", "main")
    ran = healbot(folder, "cycle", "--json", environment={STARTS_VARIABLE: str(starts)})
    assert ran.returncode == 0, ran.stderr
    done = json.loads(ran.stdout)
    body = answered(folder, "pulls", "show", "1")["body"]
    card = parse(body)
    assert card is not None
    return Story(folder, before, done, len(starts.read_text().splitlines()), card)


def test_it_merges_with_a_real_merge_commit_that_names_its_cycle_and_anchors_the_chain(
    story: Story,
) -> None:
    assert (story.done["outcome"], story.done["verdict"]) == ("merged", "merged")
    merge, first = git(story.folder, "rev-parse", "main", "main^1").split()
    assert (merge, first) == (story.done["merged_sha"], story.before)
    trailers = Trailers.parse(git(story.folder, "log", "-1", "--format=%B", "main"))
    assert (trailers.agent, trailers.cycle) == ("s", story.done["cycle"])
    assert (trailers.baseline, trailers.revision) == (
        story.done["baseline"],
        story.done["candidate"],
    )
    digests = [line["previous"] for line in lines_of(story.folder, "audit")]
    assert trailers.ledger in digests
    assert "escalate above it" in instructions(story.folder)


def test_it_leaves_a_clean_work_tree_no_branch_no_lease_and_one_entry_a_phase(story: Story) -> None:
    assert git(story.folder, "status", "--porcelain") == ""
    assert (story.folder / INSTRUCTIONS).read_text().strip() == instructions(story.folder)
    names = git(story.folder, "for-each-ref", "--format=%(refname)").split()
    assert names == [
        "refs/heads/healbot/state", "refs/heads/main", "refs/healbot/anchor/s",
        "refs/healbot/pulls/1/head", "refs/healbot/tip",
    ]  # fmt: skip
    assert kinds(story.folder) == [
        "opened", "measured", "diagnosed", "proposed", "probed", "earned", "gated",
        "pull-opened", "canaried", "applied", "closed",
    ]  # fmt: skip


def test_the_chain_holds_with_the_heads_that_commit_and_card_recorded(story: Story) -> None:
    done = call(story.folder, "audit", "--verify")
    assert done.code == 0
    assert "11 entries, the chain holds; 11 heads recorded elsewhere are in it" in done.out


def test_every_run_was_started_once_and_counted_once_and_the_forecast_held(story: Story) -> None:
    spent = story.done["spent"]
    assert spent["runs"] == story.starts == len(lines_of(story.folder, "journal"))
    assert spent["runs"] <= story.done["forecast"]["runs"]
    assert story.card.cost.runs == story.starts
    assert story.card.cost.usd == pytest.approx(0.025 * story.starts)
    assert story.card.cost.unreported_runs == story.starts


def test_the_card_adds_up_with_the_journal_on_the_state_branch(story: Story) -> None:
    assert story.card.mismatches() == ()
    sides = {story.card.baseline: "baseline", story.card.candidate: "candidate"}
    ids = {
        used["case"]: used["case_id"]
        for line in lines_of(story.folder, "audit")
        for used in line["body"].get("used", ())
    }
    journal = Counter(
        (line["decision"], ids[line["case"]], sides[line["revision"]], line["repeat"],
         line["outcome"])
        for line in lines_of(story.folder, "journal")
    )  # fmt: skip
    listed = Counter(
        (STAGES[line.stage], line.case, line.side, repeat, str(outcome))
        for line in story.card.runs
        for repeat, outcome in zip(line.repeats, line.outcomes, strict=True)
    )
    assert journal == listed
    for row in story.card.rows:
        for stage, side, tally in (
            ("gated", "baseline", row.baseline),
            ("gated", "candidate", row.candidate),
            ("canaried", "candidate", row.canary),
            ("canaried", "baseline", row.canary_baseline),
        ):
            mine = [
                outcome
                for (decision, case, where, _, outcome), count in journal.items()
                for _ in range(count)
                if (decision, case, where) == (stage, row.case, side)
            ]
            assert (mine.count("pass"), mine.count("fail"), mine.count("none")) == (
                tally.passes,
                tally.fails,
                tally.none,
            )


def test_no_run_serves_two_decisions(story: Story) -> None:
    places = [
        (line["revision"], line["case"], line["runner"], line["repeat"])
        for line in lines_of(story.folder, "journal")
    ]
    assert len(places) == len(set(places))


def test_the_state_branch_holds_no_text_of_a_run_a_case_or_an_edit(story: Story) -> None:
    names = git(story.folder, "ls-tree", "-r", "--name-only", "healbot/state").splitlines()
    kept = [name for name in names if not name.startswith("pulls/")]
    text = "".join(git(story.folder, "show", f"healbot/state:{name}") for name in kept)
    for secret in ("refunded", "I escalate this", "order 1001", "Before a refund"):
        assert secret not in text


def test_the_queue_and_the_history_say_the_same(story: Story) -> None:
    assert answered(story.folder, "pulls", "list") == []
    (pull,) = answered(story.folder, "pulls", "list", "--all")
    (row,) = answered(story.folder, "history")
    assert pull["merged_sha"] == row["sha"] == story.done["merged_sha"]
    assert (pull["state"], row["what"], row["pull"]) == ("merged", "merged", 1)
    status = answered(story.folder, "status")["agents"][0]
    assert (status["revision"], status["open_pulls"]) == (story.done["candidate"], [])
    assert status["last"]["outcome"] == "merged"
    cases = {one["id"]: one["standing"] for one in answered(story.folder, "cases", "list")}
    assert cases["refund-over"] == "fixed"
