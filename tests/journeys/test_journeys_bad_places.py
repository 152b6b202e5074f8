"""Repositories, machines and moments that stand in the way: what works, and what is refused how."""

import json
import os
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from fakes import Said, door, hire, support
from sandbox import INSTRUCTIONS, commit_all, git, make_repository, settings_text
from spoiling import (
    CASES,
    SETTINGS,
    call,
    command,
    copy,
    look,
    put,
    sentence,
)
from telling import kinds

from healbot.entry.clock import SystemClock
from healbot.forges.git import GitRepo
from healbot.stores.permit import RefPermit

pytestmark = pytest.mark.slow
LESSON_LINE = "escalate above it"
NAMES = {
    "spaces": " a  b ",
    "a newline": "a\nb",
    "letters of elsewhere": "ä ü 漢 😀",
    "a dash": "-rf",
    "quotes and a variable": "a'b\"c$HOME`id`",
    "a backslash": "a\\tb",
}


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make the repository that every place is a copy of."""
    return make_repository(tmp_path_factory.mktemp("places") / "template")


@pytest.fixture
def folder(template: Path, tmp_path: Path) -> Path:
    return copy(template, tmp_path / "repo")


@pytest.mark.parametrize("name", NAMES)
def test_any_name_will_do_for_repository_agent_cases_and_work_tree(
    name: str, tmp_path: Path, template: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    odd = NAMES[name]
    inside = odd.replace("\\", "")  # git on other systems could not check a backslash out
    main = copy(template, tmp_path / odd / "repo")
    git(main, "mv", "agents/s", f"agents/{inside}")
    git(main, "mv", f"agents/{inside}/cases/c.yml", f"agents/{inside}/cases/{inside}.yml")
    place = json.dumps(f"agents/{inside}", ensure_ascii=False)
    moved = settings_text("auto").replace("dir: agents/s", f"dir: {place}")
    (main / SETTINGS).write_text(moved.replace("[agents/s/cases]", f'[{place[:-1]}/cases"]'))
    commit_all(main, "Move")
    beside = tmp_path / f"{odd} beside"
    git(main, "worktree", "add", "--quiet", "-b", "side", str(beside))
    assert call(beside, "cases", "run", "-k", "hello").code == 0
    hire(monkeypatch)
    done = call(beside, "cycle", "--json")
    assert (done.code, json.loads(done.out)["outcome"]) == (0, "merged"), done.err
    assert LESSON_LINE in (beside / f"agents/{inside}/instructions.md").read_text()
    assert LESSON_LINE not in (main / f"agents/{inside}/instructions.md").read_text()
    assert git(beside, "status", "--porcelain") == git(main, "status", "--porcelain") == ""


def test_no_agent_sees_another_work_tree_of_its_repository(template: Path, tmp_path: Path) -> None:
    main = copy(template, tmp_path / "repo")
    beside = tmp_path / "line\nbreak"
    git(main, "worktree", "add", "--quiet", "-b", "side", str(beside))
    spy = f"import os\nfor place in {[str(main), str(beside)]!r}:\n    print(os.listdir(place))\n"
    put("agents/s/agent.py", spy)(beside)
    put(CASES, "- {id: a, input: hello, assert: [{type: not-contains, value: notes.txt}]}\n")(
        beside
    )
    commit_all(beside, "Spy")
    done = call(beside, "cases", "run", "--json")
    if "unsandboxed" in call(beside, "status").out:
        pytest.skip("bubblewrap does not work here")
    assert done.code == 0, done.out


def test_a_shallow_clone_a_bare_one_and_a_submodule_heal_like_any_other(
    template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = copy(template, tmp_path / "source", put("notes.txt", "four\n"))
    above = tmp_path / "above"
    above.mkdir()
    git(above, "init", "--quiet")
    git(
        above, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(source), "sub"
    )
    git(tmp_path, "clone", "--quiet", "--depth", "1", f"file://{source}", "shallow")
    git(tmp_path, "clone", "--quiet", "--bare", str(source), "bare.git")
    hire(monkeypatch)
    cut = call(tmp_path / "shallow", "cycle")  # it can't tell whether there was a ledger before
    assert (cut.code, "git fetch --unshallow" in cut.err) == (4, True)
    git(tmp_path / "shallow", "fetch", "--quiet", "--unshallow")
    for one in (tmp_path / "shallow", tmp_path / "bare.git", above / "sub"):
        done = call(one, "cycle", "--json")
        assert (done.code, json.loads(done.out)["outcome"]) == (0, "merged"), done.err
        assert LESSON_LINE in git(one, "show", f"main:{INSTRUCTIONS}")
    put(SETTINGS, settings_text("auto").replace("agents/s", "sub/agents/s"))(above)
    commit_all(above, "From above")
    done = call(above, "cycle")
    assert done.code == 3
    assert "a submodule (sub)" in sentence(done)


def test_an_unborn_branch_and_a_detached_head_are_refused(folder: Path, tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet", "--initial-branch=trunk", "unborn")
    git(folder, "checkout", "--quiet", "--detach")
    for one, says in ((tmp_path / "unborn", "'trunk' has no commit yet"), (folder, "detached")):
        before = look(one)
        done = call(one, "cycle")
        assert (done.code, done.out) == (3, "")
        assert says in sentence(done)
        assert look(one) == before


def _changed(folder: Path) -> None:
    (folder / INSTRUCTIONS).write_text("# Mine\n")


def _untracked(folder: Path) -> None:
    git(folder, "rm", "--quiet", "--cached", INSTRUCTIONS)


def _locked(folder: Path) -> None:
    (folder / ".git/index.lock").touch()


@pytest.mark.parametrize("spoil", [_changed, _untracked, _locked])
def test_work_in_the_way_of_the_writer_stays_and_the_cycle_goes_on_later(
    spoil: object, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert callable(spoil)
    spoil(folder)
    tip, mine = git(folder, "rev-parse", "main"), (folder / INSTRUCTIONS).read_bytes()
    index = git(folder, "ls-files", "--stage")
    runner = hire(monkeypatch)
    done = call(folder, "cycle")
    assert (done.code, done.out) == (8, "")
    assert str(folder) in sentence(done)
    assert (folder / INSTRUCTIONS).read_bytes() == mine
    assert git(folder, "ls-files", "--stage") == index
    assert git(folder, "rev-parse", "main") == tip
    made = runner.runs
    (folder / ".git/index.lock").unlink(missing_ok=True)
    git(folder, "reset", "--quiet", "--hard")
    assert call(folder, "cycle").code == 0
    assert runner.runs == made  # nothing that was finished is made again
    assert LESSON_LINE in (folder / INSTRUCTIONS).read_text()


def test_a_harness_that_changes_between_reading_and_writing_is_never_written_over(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def behave(texts: Mapping[str, str], task: str, draw: float) -> Said:
        if LESSON_LINE in texts["instructions.md"] and not seen:
            seen.append(put(INSTRUCTIONS, "# Support\n\n- Be brief.\n")(folder))
            commit_all(folder, "By hand")
        return support(texts, task, draw)

    seen: list[object] = []
    hire(monkeypatch, behave)
    done = call(folder, "cycle", "--json")
    said = json.loads(done.out)
    assert (done.code, said["outcome"]) == (0, "abandoned")
    assert "changed since the cycle read it" in said["note"]
    assert git(folder, "show", f"main:{INSTRUCTIONS}") == "# Support\n\n- Be brief."
    assert "applied" not in kinds(folder)
    assert git(folder, "status", "--porcelain") == ""


def test_a_second_cycle_at_the_same_time_waits_for_another_day(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = GitRepo(folder)
    permit = RefPermit(repo, repo, SystemClock(), minutes=15)
    lease = permit.take("s")
    runner, before = hire(monkeypatch), look(folder)
    done = call(folder, "cycle")
    assert (done.code, done.out, runner.runs) == (5, "", 0)
    assert "Another cycle of 's' is under way" in sentence(done)
    assert look(folder) == before
    permit.release(lease)


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """Give a small disk of its own, where the system lets us make one."""
    place = tmp_path / "disk"
    place.mkdir()
    argv = ("mount", "-t", "tmpfs", "-o", "size=3m", "none", str(place))
    try:
        made = subprocess.run(argv, check=False, capture_output=True).returncode == 0
    except OSError:
        made = False
    if not made:
        pytest.skip("no file system can be mounted here")
    yield place
    subprocess.run(("umount", "--lazy", str(place)), check=True)


def _fill(disk: Path, left: int) -> None:
    """Leave so many bytes on a disk."""
    filler = disk / "filler"
    filler.unlink(missing_ok=True)
    free = os.statvfs(disk).f_bavail * os.statvfs(disk).f_bsize
    filler.write_bytes(b"x" * (free - left))


def test_a_full_disk_stops_a_cycle_in_a_sentence_and_room_lets_it_go_on(
    disk: Path, template: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = copy(template, disk / "repo")
    runner = hire(monkeypatch)
    for left in (0, 60_000, 200_000):
        _fill(disk, left)
        done = call(folder, "cycle")
        assert done.code in (3, 7), (left, done)
        sentence(done)
        git(folder, "fsck", "--strict")
        assert "audit" not in done.err
    (disk / "filler").unlink()
    done = call(folder, "cycle", "--json")
    assert (done.code, json.loads(done.out)["outcome"]) == (0, "merged"), done.err
    assert call(folder, "audit", "--verify").code == 0
    assert kinds(folder).count("opened") == kinds(folder).count("applied") == 1
    assert runner.runs >= 46


def test_a_repository_that_may_not_be_written_can_be_looked_at(
    disk: Path, template: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = copy(template, disk / "repo")
    subprocess.run(("mount", "-o", "remount,ro", str(disk)), check=True)
    runner = hire(monkeypatch)
    assert call(folder, "status", "--json").code == 0
    assert call(folder, "cases", "list", "--json").code == 0
    done = call(folder, "cycle")
    assert done.code in (3, 7)
    assert runner.runs == 0
    sentence(done)


ENVIRONMENTS: dict[str, tuple[dict[str, str | None], int]] = {
    "no home and no name": ({"HOME": None, "USER": None, "LOGNAME": None}, 0),
    "a temporary folder that is not there": ({"TMPDIR": "/nowhere/at/all"}, 0),
    "the locale C": ({"LC_ALL": "C", "LANG": "C"}, 0),
    "a locale that knows no umlaut": (
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}, 0,
    ),
    "no git": ({"PATH": "/nowhere"}, 3),
}  # fmt: skip


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_a_poor_environment_is_enough_or_says_what_it_lacks(
    name: str, template: Path, tmp_path: Path
) -> None:
    more, code = ENVIRONMENTS[name]
    folder = copy(template, tmp_path / "ä repo")
    done = command(folder, "cases", "run", "--json", "-k", "hello", environment=more)
    assert done.code == code, done.err
    if code:
        assert "There is no git on PATH" in sentence(done)
    else:
        assert json.loads(done.out)[0]["pass"] == 1


STREAMS = {
    "no input": ("<&-", 0, ""),
    "a reader that goes": ("| true", 0, ""),
    "no output": (">&-", 0, ""),
    "no stream at all": ("<&- >&- 2>&-", 0, ""),
    "a full output": (">/dev/full", 3, "No space left on device"),
}


@pytest.mark.parametrize("name", STREAMS)
def test_streams_that_are_closed_early_end_quietly(name: str, template: Path) -> None:
    shell, code, says = STREAMS[name]
    done = command(template, "cases", "list", shell=shell)
    assert done.code == code
    if says:
        assert says in sentence(done)
    else:
        assert done.err == ""


def test_a_fault_of_ours_shows_no_content_no_variable_and_no_path(
    template: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def break_(*_: object) -> None:
        raise RuntimeError(f"{Path.home()} sk-secret the customer's words")

    monkeypatch.setattr("healbot.entry.looping.status_facts", break_)
    done = call(template, "status")
    assert done.code == 70
    block = done.err.split("```")[1]
    assert "builtins.RuntimeError" in block
    assert "healbot/entry/looping.py:" in block
    for private in (str(Path.home()), "sk-secret", "customer", str(template), "/site-packages"):
        assert private not in block


def test_the_repository_may_be_named_before_the_command_and_usage_names_its_help(
    template: Path,
) -> None:
    assert door("--repo", str(template), "cases", "list", "--json").code == 0
    done = door("cases", "run", "--nothing")
    assert done.code == 2
    assert "See healbot cases run --help." in done.err
