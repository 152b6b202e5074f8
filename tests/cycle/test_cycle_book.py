"""The book refuses to go on over a ledger that lacks what was recorded elsewhere, and says how."""

import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sandbox import commit_all, git, make_repository, plain_environment
from telling import answered, call, kinds

from healbot.cycle.book import Book
from healbot.entry.unlocking import open_shop
from healbot.entry.wiring import Shop
from healbot.errors import ChainError
from healbot.records.ledger import Closed, Switched
from healbot.records.settings import SETTINGS_PATH

STATE = "refs/heads/healbot/state"
TIP, ANCHOR = "refs/healbot/tip", "refs/healbot/anchor/s"
VERIFY = ("audit", "--verify")
ENTRIES = 6


def shop_of(folder: Path) -> Shop:
    return open_shop(folder, plain_environment())


def book(folder: Path) -> Book:
    shop = shop_of(folder)
    return shop.book(shop.agent(None))


def grow(folder: Path, count: int) -> None:
    with book(folder) as opened:
        for number in range(count):
            opened.append(Closed(outcome="healthy", note=str(number)), cycle=None)


def trailer(folder: Path) -> str:
    """Commit to the base branch what a merge of healbot's records there: the ledger's head."""
    head = answered(folder, "audit")["head"]
    git(folder, "commit", "--allow-empty", "-m", f"m\n\nHealbot-Agent: s\nHealbot-Ledger: {head}")
    return str(head)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = make_repository(tmp_path_factory.mktemp("book") / "repo")
    grow(folder, ENTRIES)
    shop = shop_of(folder)
    shop.store.save(shop.store.load(), {"STOP": b"x\n"}, message="stop", at=shop.clock.now())
    return folder


def refuses(folder: Path) -> str:
    """Return what a cycle says that must refuse, with the same answer from the audit."""
    assert call(folder, *VERIFY).code == 9
    with pytest.raises(ChainError) as caught, book(folder):
        pass
    return f"{caught.value.what} {caught.value.next_step}"


@given(back=st.integers(1, ENTRIES))
@settings(max_examples=5, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_a_branch_set_back_to_any_earlier_commit_is_found(whole: Path, back: int) -> None:
    now = git(whole, "rev-parse", STATE)
    git(whole, "update-ref", STATE, f"{now}~{back}")
    try:
        said = refuses(whole)
        assert "set back" in said
        assert "git update-ref" in said
        assert "audit --accept" in said
        assert call(whole, "cycle").code in (5, 9)
        shop = shop_of(whole)
        state = shop.store.load()
        with pytest.raises(ChainError):
            shop.store.save(state, {"x": b""}, message="m", at=shop.clock.now())
    finally:
        git(whole, "update-ref", STATE, now)
    assert call(whole, *VERIFY).code == 0


@given(back=st.integers(2, ENTRIES), agent_s=st.booleans())
@settings(max_examples=4, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_either_anchor_ref_alone_finds_it(whole: Path, back: int, agent_s: bool) -> None:
    now = {ref: git(whole, "rev-parse", ref) for ref in (STATE, TIP, ANCHOR)}
    git(whole, "update-ref", STATE, f"{now[STATE]}~{back}")
    git(whole, "update-ref", "-d", TIP if agent_s else ANCHOR)
    try:
        refuses(whole)
    finally:
        for ref, sha in now.items():
            git(whole, "update-ref", ref, sha)


@given(data=st.data())
@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_a_commit_that_edits_removes_moves_or_cuts_a_line_is_found(
    whole: Path, data: st.DataObject
) -> None:
    now = {ref: git(whole, "rev-parse", ref) for ref in (STATE, TIP, ANCHOR)}
    (path,) = git(whole, "ls-tree", "-r", "--name-only", STATE, "agents/s/audit/").split()
    lines = git(whole, "show", f"{STATE}:{path}").splitlines()
    place = data.draw(st.integers(0, ENTRIES - 2))
    kind = data.draw(st.sampled_from(["edit", "remove", "swap", "cut"]))
    if kind == "edit":
        lines[place] = lines[place].replace('"kind":"closed"', '"kind":"closed" ')
    elif kind == "swap":
        lines[place], lines[place + 1] = lines[place + 1], lines[place]
    else:
        del lines[place : place + 1 if kind == "remove" else None]
    shop = shop_of(whole)
    try:
        text = "".join(f"{one}\n" for one in lines).encode()
        shop.store.save(shop.store.load(), {path: text}, message="forged", at=shop.clock.now())
        refuses(whole)
    finally:
        for ref, sha in now.items():
            git(whole, "update-ref", ref, sha)


def test_a_deleted_branch_does_not_begin_again_in_silence(tmp_path: Path) -> None:
    folder = make_repository(tmp_path / "repo")
    grow(folder, 2)
    git(folder, "update-ref", "-d", STATE)
    assert "is gone" in refuses(folder)
    git(folder, "update-ref", "-d", TIP)  # and without that ref the agent's own still tells
    assert "cut off" in refuses(folder)


def test_a_cut_state_goes_on_once_a_person_accepts_it_and_says_so_ever_after(
    tmp_path: Path,
) -> None:
    folder = make_repository(tmp_path / "repo")
    grow(folder, 4)
    git(folder, "update-ref", STATE, f"{STATE}~2")
    refuses(folder)
    done = call(folder, "audit", "--accept", "the disk was restored", "--verify")
    assert done.code == 0, done.err
    assert "goes on without" in done.out
    assert "the disk was restored" in done.out
    assert kinds(folder) == ["closed", "closed", "restarted"]
    grow(folder, 2)
    git(folder, "update-ref", STATE, f"{STATE}~1")  # a later cut is still found
    refuses(folder)


def test_an_edited_line_is_nothing_to_accept(tmp_path: Path) -> None:
    folder = make_repository(tmp_path / "repo")
    grow(folder, 3)
    shop = shop_of(folder)
    (path,) = [one for one in shop.store.load().files if "/audit/" in one]
    raw = shop.store.read(shop.store.load(), path) or b""
    forged = raw.replace(b'"note":"1"', b'"note":"7"')
    shop.store.save(shop.store.load(), {path: forged}, message="forged", at=shop.clock.now())
    assert call(folder, "audit", "--accept", "why not").code == 9


def test_a_repository_of_before_the_anchor_refs_goes_on_and_gets_them(tmp_path: Path) -> None:
    folder = make_repository(tmp_path / "repo")
    grow(folder, 2)
    for ref in (TIP, ANCHOR):
        git(folder, "update-ref", "-d", ref)
    assert call(folder, *VERIFY).code == 0
    grow(folder, 1)
    tips = {git(folder, "rev-parse", ref) for ref in (STATE, TIP, ANCHOR)}
    assert len(tips) == 1
    assert call(folder, *VERIFY).code == 0


def test_a_new_life_after_a_removal_excuses_the_old_heads_alone(tmp_path: Path) -> None:
    folder = make_repository(tmp_path / "repo")
    grow(folder, 2)
    trailer(folder)
    forget(folder)
    settings = (folder / SETTINGS_PATH).read_bytes()
    (folder / SETTINGS_PATH).unlink()
    commit_all(folder, "Without")
    (folder / SETTINGS_PATH).write_bytes(settings)
    commit_all(folder, "Again")
    assert call(folder, *VERIFY).code == 4
    grow(folder, 2)
    assert kinds(folder) == ["restarted", "closed", "closed"]
    done = call(folder, *VERIFY)
    assert done.code == 0
    assert "goes on without 1 heads recorded before" in done.out
    trailer(folder)
    for ref in (TIP, ANCHOR):
        git(folder, "update-ref", "-d", ref)
    git(folder, "update-ref", STATE, f"{STATE}~1")
    refuses(folder)


def forget(folder: Path) -> None:
    """Take all away that healbot keeps outside the base branch."""
    for ref in git(folder, "for-each-ref", "--format=%(refname)", "refs/healbot", STATE).split():
        git(folder, "update-ref", "-d", ref)
    shutil.rmtree(folder / ".git/healbot", ignore_errors=True)


def lost(folder: Path) -> str:
    """Return what is said where commits record a ledger that is not here; none may begin."""
    said = refuses(folder)
    assert "record a ledger that is not here" in said
    assert call(folder, "cycle").code == 9
    assert git(folder, "for-each-ref", STATE) == ""
    return said


def test_where_nothing_shows_a_removal_no_new_life_begins_by_itself(tmp_path: Path) -> None:
    folder = make_repository(tmp_path / "repo")
    (folder / SETTINGS_PATH).rename(tmp_path / "kept.yml")
    commit_all(folder, "A removal before the ledger is none of it")
    (tmp_path / "kept.yml").rename(folder / SETTINGS_PATH)
    commit_all(folder, "Again")
    grow(folder, 2)
    trailer(folder)
    (folder / SETTINGS_PATH).write_text((folder / SETTINGS_PATH).read_text() + "# later\n")
    commit_all(folder, "Later")
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "--quiet", "--single-branch", str(folder), str(clone))
    command = "git fetch origin healbot/state:healbot/state 'refs/healbot/*:refs/healbot/*'"
    assert command in lost(clone)
    words = ("healbot/state:healbot/state", "refs/healbot/*:refs/healbot/*")
    git(clone, "fetch", "--quiet", "origin", *words)
    assert call(clone, *VERIFY).code == 0
    forget(folder)
    said = lost(folder)
    assert "git fetch" not in said
    assert "audit --accept" in said
    assert call(folder, "audit", "--accept", "the disk died", "--verify").code == 0


def test_a_shallow_clone_cannot_tell_and_names_how_to_deepen(tmp_path: Path) -> None:
    folder = make_repository(tmp_path / "repo")
    grow(folder, 2)
    trailer(folder)
    git(tmp_path, "clone", "--quiet", "--depth=1", f"file://{folder}", "clone")
    for words in (VERIFY, ("cycle",)):
        done = call(tmp_path / "clone", *words)
        assert done.code == 4, done.err
        assert "git fetch --unshallow" in done.err
    assert git(tmp_path / "clone", "for-each-ref", STATE) == ""


def test_a_plain_clone_is_told_how_to_fetch_the_ledger(tmp_path: Path) -> None:
    folder = make_repository(tmp_path / "repo")
    grow(folder, 2)
    git(folder, "clone", "--quiet", str(folder), str(tmp_path / "clone"))
    clone = tmp_path / "clone"
    for words in (VERIFY, ("cycle",)):
        done = call(clone, *words)
        assert done.code == 4, done.err
        assert "git fetch origin" in done.err
    spec = ("refs/heads/healbot/state:refs/heads/healbot/state", "+refs/healbot/*:refs/healbot/*")
    git(clone, "fetch", "--quiet", "origin", *spec)
    assert call(clone, *VERIFY).code == 0


def test_a_switch_that_is_thrown_during_a_cycle_is_recorded_later(tmp_path: Path) -> None:
    folder = make_repository(tmp_path / "repo")
    with book(folder):
        assert call(folder, "stop", "--why", "look").code == 0
        assert call(folder, "start").code == 0
    assert git(folder, "ls-tree", "-r", "--name-only", STATE, "agents/s/audit") == ""
    with book(folder) as opened:
        opened.append(Switched(stopped=True, by="Ada"), cycle=None)
    assert kinds(folder) == ["switched"] * 3
    assert "switched.jsonl" not in git(folder, "ls-tree", "-r", "--name-only", STATE)


def test_start_while_something_else_stops_exits_with_5(tmp_path: Path) -> None:
    folder = make_repository(tmp_path / "repo")
    done = call(folder, "start", HEALBOT_STOP="1")
    assert done.code == 5
    assert "HEALBOT_STOP" in done.err
    assert call(folder, "start").code == 0
