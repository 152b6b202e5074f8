"""``healbot audit`` of files: whatever was done to a line is found, located, and exits with 9."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from fakes import Answer, door

from healbot.records.ledger import Closed, Entry, Spend
from healbot.rules.chain import Chain, audit_path, extend

Lines = list[bytes]


def ledger(folder: Path) -> tuple[list[Path], str]:
    """Write a chain of eight entries in two months; returns its files and its head."""
    chain = Chain()
    for number in range(8):
        at = datetime(2026, 1, 29, tzinfo=UTC) + timedelta(hours=12 * number)
        body = Closed(outcome="healthy", note=f"cycle {number}")
        entry = extend(chain, body, agent="s", cycle=None, at=at, spent=Spend(runs=3))
        chain = Chain(entries=(*chain.entries, entry), head=entry.digest)
        path = folder / audit_path("s", at)
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab") as file:
            file.write(entry.render().encode() + b"\n")
    return sorted(folder.rglob("*.jsonl")), chain.head


def audit(paths: list[Path], head: str, *more: str) -> Answer:
    files = [word for path in paths for word in ("--file", str(path))]
    return door("audit", *files, *(("--head", head) if head else ()), *more)


def edited(lines: Lines) -> Lines:
    entry = Entry.parse(lines[2].decode().rstrip("\n"))
    forged = entry.model_copy(update={"spent": Spend(runs=1)})
    return [*lines[:2], forged.render().encode() + b"\n", *lines[3:]]


def inserted(lines: Lines) -> Lines:
    entry = Entry.parse(lines[2].decode().rstrip("\n"))
    return [*lines[:2], entry.render().encode() + b"\n", *lines[2:]]


TAMPERED: dict[str, tuple[Callable[[Lines], Lines], int, str]] = {
    "one word edited": (lambda lines: [*lines[:2], lines[2].replace(b'"runs":3', b'"runs":30'),
                                       *lines[3:]], 4, "line before this one was edited"),
    "an entry edited": (edited, 4, "line before this one was edited"),
    "spelled otherwise": (lambda lines: [*lines[:2], lines[2].replace(b":", b": ", 1),
                                         *lines[3:]], 3, "canonical"),
    "inserted": (inserted, 4, "inserted, repeated or out of order"),
    "garbage": (lambda lines: [*lines[:2], b"{}\n", *lines[2:]], 3, "edited or damaged"),
    "an empty line": (lambda lines: [*lines[:2], b"\n", *lines[2:]], 3, "empty line"),
    "removed": (lambda lines: [*lines[:2], *lines[3:]], 3, "1 line(s) before this one"),
    "three removed": (lambda lines: [lines[0], *lines[4:]], 2, "3 line(s) before this one"),
    "swapped": (lambda lines: [lines[0], lines[2], lines[1], *lines[3:]], 2, "were removed"),
    "cut off": (lambda lines: lines[:-1], 6, "cut off at the end"),
    "cut in the middle": (lambda lines: [*lines[:-1], lines[-1][:40]], 6, "cut off in the middle"),
}  # fmt: skip


def test_a_whole_chain_holds_and_says_its_head(tmp_path: Path) -> None:
    paths, head = ledger(tmp_path)
    code, out, err = audit(paths, head, "--verify")
    assert (code, err) == (0, "")
    assert "8 entries, the chain holds" in out
    document = json.loads(audit(paths[::-1], head, "--json").out)
    assert (document["entries"], document["head"], document["broken"]) == (8, head, [])
    assert [one["number"] for one in document["log"]] == list(range(1, 9))


@pytest.mark.parametrize("name", TAMPERED)
def test_what_was_done_to_a_line_is_found_and_located(name: str, tmp_path: Path) -> None:
    paths, head = ledger(tmp_path)
    tamper, line, words = TAMPERED[name]
    first = paths[0] if name not in ("cut off", "cut in the middle") else paths[1]
    lines = first.read_bytes().splitlines(keepends=True)
    place = line if first is paths[0] else len(lines)
    first.write_bytes(b"".join(tamper(lines)))
    done = audit(paths, head, "--verify")
    assert done.code == 9
    assert f"{first}:{place}: " in done.err
    assert words in done.err
    document = json.loads(audit(paths, head, "--json").out)
    assert document["broken"]
    assert audit(paths, head, "--json", "--verify").code == 9


def test_a_cut_tail_needs_the_head_from_elsewhere(tmp_path: Path) -> None:
    paths, head = ledger(tmp_path)
    paths[1].unlink()
    assert audit(paths[:1], "", "--verify").code == 0
    done = audit(paths[:1], head, "--verify")
    assert done.code == 9
    assert head[:12] in done.err


def test_a_file_that_is_not_there_exits_with_3(tmp_path: Path) -> None:
    done = audit([tmp_path / "none.jsonl"], "")
    assert (done.code, done.out) == (3, "")
    assert "none.jsonl can't be read" in done.err


def test_a_head_may_be_given_by_its_first_eight_digits(tmp_path: Path) -> None:
    paths, head = ledger(tmp_path)
    assert audit(paths, head[:8], "--verify").code == 0
    assert audit(paths, "0" * 9, "--verify").code == 9
    for wrong in (head[:7], "no digest"):
        done = audit(paths, wrong, "--verify")
        assert (done.code, done.out) == (3, "")


@pytest.mark.parametrize("content", [b"", b"garbage\n", b"\n"])
def test_files_without_any_entry_are_no_chain(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(content)
    for head in ("", "a" * 64):
        for more in ((), ("--verify",)):
            done = audit([path], head, *more) if head else door("audit", "--file", str(path), *more)
            assert done.code == 9
            assert "is an entry of a ledger" in done.err
