"""What healbot itself took out again is no person's revert, whoever commits afterwards."""

from pathlib import Path

from sandbox import INSTRUCTIONS, commit_all, git, make_repository, plain_environment
from telling import kinds

from healbot.cycle.reading import harness_at
from healbot.entry.loop import settle
from healbot.entry.unlocking import open_shop
from healbot.records.ledger import Applied, Body, Closed, Opened, PullOpened, Queued, Spend
from healbot.records.settings import Mode

RULE = "- Always escalate a refund.\n"


def settled(folder: Path) -> list[str]:
    """Settle; returns the kinds of what the ledger learnt."""
    shop = open_shop(folder, plain_environment())
    with shop.book(shop.agent(None)) as book:
        return [body.kind for body in settle(shop, book)]


def merge(folder: Path, number: int, text: str) -> None:
    """Merge a pull request as healbot does, and record its cycle."""
    shop = open_shop(folder, plain_environment())
    agent, base = shop.agent(None), git(folder, "rev-parse", "main")
    git(folder, "switch", "--quiet", "--create", f"healbot/{number}")
    (folder / INSTRUCTIONS).write_text(text)
    head = commit_all(folder, f"fix(s): edit {number}")
    git(folder, "switch", "--quiet", "main")
    git(folder, "merge", "--quiet", "--no-ff", "--no-edit", head)
    merged = git(folder, "rev-parse", "main")
    before, after = (
        harness_at(shop.repo, sha, agent, open_skills=False).revision for sha in (base, merged)
    )
    bodies: tuple[Body, ...] = (
        Opened(
            mode=Mode.AUTO, base_ref="main", base_sha=base, baseline=before, settings="d",
            cases="c", forecast=Spend(),
        ),
        PullOpened(
            number=number, branch=f"healbot/{number}", head_sha=head, proposal=f"p{number}",
            candidate=after,
        ),
        Queued(number=number, because="m"),
        Applied(
            number=number, by="healbot", before=before, after=after, sha=merged,
            base_before_sha=base, proposal=f"p{number}", fixed=(),
        ),
        Closed(outcome="merged"),
    )  # fmt: skip
    with shop.book(agent) as book:
        for body in bodies:
            book.append(body, cycle=f"c{number}")


def test_a_later_merge_that_takes_the_lines_out_again_is_no_revert(tmp_path: Path) -> None:
    folder = make_repository(tmp_path / "repo")
    first = (folder / INSTRUCTIONS).read_text()
    merge(folder, 1, first + RULE)
    merge(folder, 2, first)
    assert settled(folder) == []
    (folder / INSTRUCTIONS).write_text(first + "- Be brief.\n")
    commit_all(folder, "Be brief")
    (folder / INSTRUCTIONS).write_text(first)
    commit_all(folder, "As it was")
    assert settled(folder) == []  # a person took back a line of their own
    assert "rolled-back" not in kinds(folder)


def test_a_person_who_puts_back_what_was_there_before_a_merge_undoes_it(
    tmp_path: Path,
) -> None:
    folder = make_repository(tmp_path / "repo")
    first = (folder / INSTRUCTIONS).read_text()
    merge(folder, 1, first + RULE)
    (folder / INSTRUCTIONS).write_text(first)
    commit_all(folder, "As it was")
    assert settled(folder) == ["rolled-back"]
