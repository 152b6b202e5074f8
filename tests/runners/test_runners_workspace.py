"""Workspaces from a repository in memory, on a real disk, with real setups."""

import multiprocessing
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import rig

from healbot.errors import InputError
from healbot.runners import tree
from healbot.runners.process import LocalProcesses
from healbot.runners.template import KEPT, Preparation
from healbot.runners.workspace import RepoWorkspaces

FILES: dict[str, rig.Content] = {
    "README.md": "root\r\n",
    "bin/tool": ("100755", "#!/bin/sh\necho tool\n"),
    "agents/support/instructions.md": "baseline\n",
    "agents/support/agent.py": "print('hi')\n",
    "agents/support/cases/refund.yml": "secret case",
    "agents/support/cases/fixtures/orders/1001.json": "{}",
    "agents/support/cases/fixtures/tool": ("100755", "#!/bin/sh\n"),
    "agents/support/hidden/test_it.py": "secret test",
    ".github/healbot.yml": "secret settings",
    ".healbot/lessons/one.md": "secret lesson",
    "inside": ("120000", "bin/tool"),
    "dangling": ("120000", "nowhere"),
    "outside": ("120000", "../../etc/passwd"),
    "absolute": ("120000", "/etc/passwd"),
    "self": ("120000", "."),
    "sly": ("120000", "self/../x/../../etc"),
    "slyer": ("120000", "self/.."),
    "module": ("160000", "commit"),
    "odd-\udcff": "odd name",
    "binary": bytes(range(256)),
}
LEFT_OUT = ("agents/support/cases", "agents/*/hidden/**", ".healbot/lessons")
FOLDER = "agents/support"


def workspaces(
    cache: Path, repo: rig.MemoryRepo | None = None, folder: str = FOLDER, **run: Any
) -> RepoWorkspaces:
    agent = rig.agent(folder, **run)
    processes = LocalProcesses(bubblewrap=False)
    return RepoWorkspaces(
        repo or rig.MemoryRepo(one=FILES),
        agent,
        preparation=Preparation(agent.run[0], processes, rig.environment()),
        cache=cache,
        left_out=LEFT_OUT,
    )


def names(root: Path) -> set[str]:
    return {
        str(Path(folder, name).relative_to(root))
        for folder, _, files in os.walk(root)
        for name in files
    } | {path.name for path in root.iterdir() if path.is_symlink()}


def test_a_workspace_is_the_commit_without_what_no_agent_may_see(tmp_path: Path) -> None:
    with workspaces(tmp_path).open("one", rig.harness(), rig.case()) as (root, folder):
        assert folder == root / FOLDER
        assert names(root) == {
            "README.md",
            "bin/tool",
            "agents/support/instructions.md",
            "agents/support/agent.py",
            "inside",
            "dangling",
            "self",
            "odd-\udcff",
            "binary",
        }
        assert (folder / "instructions.md").read_text() == "candidate\n"
        assert (root / "README.md").read_bytes() == b"root\r\n"
        assert (root / "binary").read_bytes() == bytes(range(256))
        assert os.access(root / "bin/tool", os.X_OK)
        assert not os.access(root / "README.md", os.X_OK)
        assert (root / "inside").readlink() == Path("bin/tool")
        assert root.stat().st_mode & 0o777 == 0o700
        assert "secret-case-id" not in str(root)
    assert not root.exists()


def test_each_workspace_is_fresh_and_the_commit_is_read_once(tmp_path: Path) -> None:
    repo = rig.MemoryRepo(one=FILES)
    made = workspaces(tmp_path, repo)
    with made.open("one", rig.harness(), rig.case()) as (root, _):
        (root / "README.md").write_text("agent was here")
        (root / "bin/tool").unlink()
    reads = repo.reads
    with made.open("one", rig.harness(), rig.case()) as (root, _):
        assert (root / "README.md").read_bytes() == b"root\r\n"
        assert (root / "bin/tool").exists()
    with workspaces(tmp_path, repo).open("one", rig.harness(), rig.case()) as (root, _):
        assert (root / "README.md").exists()
    assert repo.reads == reads


def test_the_case_s_files_and_folder_lie_on_top(tmp_path: Path) -> None:
    case = rig.case(
        folder="agents/support/cases",
        workspace="fixtures",
        files={"orders/1001.json": '{"total": 61.2}', "./new/ü.txt": "half \ud800"},
    )
    with workspaces(tmp_path).open("one", rig.harness(), case) as (_, folder):
        assert (folder / "orders/1001.json").read_text() == '{"total": 61.2}'
        assert os.access(folder / "tool", os.X_OK)
        assert (folder / "new/ü.txt").is_file()
        assert int((folder / "tool").stat().st_mtime) == tree.OVERLAY_TIME
        assert int((folder / "agent.py").stat().st_mtime) == tree.BASE_TIME


@pytest.mark.parametrize(
    "fields",
    [
        {"files": {"../agent.py": "x"}},
        {"files": {"/etc/passwd": "x"}},
        {"files": {"a/../../x": "x"}},
        {"files": {"": "x"}},
        {"files": {"agent.py/x": "x"}},
        {"files": {"cases-link/x": "x"}},
        {"files": {"folder": "x"}},
        {"files": {"nul\0": "x"}},
        {"files": {"instructions.md": "x"}},
        {"files": {"./Instructions.MD": "x"}},
        {"workspace": "../../../.."},
        {"workspace": "/etc"},
        {"workspace": "no/such/folder"},
    ],
    ids=str,
)
def test_a_case_can_neither_leave_the_workspace_nor_write_the_harness(
    tmp_path: Path, fields: dict[str, Any]
) -> None:
    repo = rig.MemoryRepo(
        one={
            **FILES,
            "agents/support/cases-link": ("120000", "../../bin"),
            "agents/support/folder/file": "x",
        }
    )
    made = workspaces(tmp_path, repo)
    case = rig.case(folder="agents/support/cases", **fields)
    with (
        pytest.raises(InputError),
        made.open("one", rig.harness(), case),
    ):
        pytest.fail("it was opened")
    assert list((tmp_path / "runs").glob("*/*/*")) == []


def test_setup_runs_once_for_a_commit_even_with_many_at_once(tmp_path: Path) -> None:
    count = tmp_path / "count"
    setup = f"sh -c 'echo x >> {count}; sleep .2; pwd > built; cat instructions.md > seen'"
    made = workspaces(tmp_path / "cache", setup=setup)

    def one(_number: int) -> str:
        with made.open("one", rig.harness(), rig.case()) as (_, folder):
            return (folder / "seen").read_text()

    with ThreadPoolExecutor(16) as pool:
        assert set(pool.map(one, range(16))) == {"baseline\n"}
    assert count.read_text() == "x\n"


def _in_a_process(cache: Path, count: Path) -> None:
    setup = f"sh -c 'echo x >> {count}; sleep .3'"
    with workspaces(cache, setup=setup).open("one", rig.harness(), rig.case()):
        pass


def test_setup_runs_once_for_several_processes(tmp_path: Path) -> None:
    count = tmp_path / "count"
    context = multiprocessing.get_context("spawn")
    workers = [
        context.Process(target=_in_a_process, args=(tmp_path / "cache", count)) for _ in range(3)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(30)
    assert [worker.exitcode for worker in workers] == [0, 0, 0]
    assert count.read_text() == "x\n"


def test_a_failed_setup_says_how_it_ended_and_is_not_tried_again(tmp_path: Path) -> None:
    count = tmp_path / "count"
    setup = f"sh -c 'echo x >> {count}; echo no such package >&2; exit 3'"
    made = workspaces(tmp_path / "cache", setup=setup)
    for _ in range(2):
        with (
            pytest.raises(InputError, match=r"(?s)exit code 3.*no such package"),
            made.open("one", rig.harness(), rig.case()),
        ):
            pytest.fail("it was opened")
    assert count.read_text() == "x\n"
    slow = workspaces(tmp_path / "cache", setup="sleep 60", setup_timeout_seconds=0.3)
    with (
        pytest.raises(InputError, match="timed-out"),
        slow.open("one", rig.harness(), rig.case()),
    ):
        pytest.fail("it was opened")


def test_a_build_that_was_cut_off_is_begun_again(tmp_path: Path) -> None:
    flag = tmp_path / "flag"
    setup = (
        "sh -c 'test -e half && exit 9; echo half > half; "
        f"test -e {flag} && kill -9 $(cat {flag}); echo whole > whole'"
    )
    text = (
        "import os, sys; from pathlib import Path\n"
        f"sys.path.insert(0, {str(Path(__file__).parent)!r})\n"
        "import rig, test_runners_workspace as t\n"
        f"Path({str(flag)!r}).write_text(str(os.getpid()))\n"
        f"w = t.workspaces(Path(sys.argv[1]), setup={setup!r})\n"
        "opened = w.open('one', rig.harness(), rig.case())\nopened.__enter__()\n"
    )
    cache = tmp_path / "cache"
    done = subprocess.run([sys.executable, "-c", text, str(cache)], check=False)
    assert done.returncode == -9
    assert len(list((cache / "templates").glob("*.building"))) == 1
    flag.unlink()
    with workspaces(cache, setup=setup).open("one", rig.harness(), rig.case()) as (_, folder):
        assert (folder / "whole").exists()
    assert list((cache / "templates").glob("*.building")) == []


def test_a_virtual_environment_works_in_the_copy_and_names_it(tmp_path: Path) -> None:
    setup = (
        f"sh -c '{sys.executable} -m venv --without-pip .venv && "
        'd=$(.venv/bin/python -c "import site; print(site.getsitepackages()[0])") && '
        'pwd > $d/here.pth && printf "#!$PWD/.venv/bin/python\\nimport sys; print(sys.prefix)" '
        "> .venv/bin/tool && chmod +x .venv/bin/tool && ln -s $PWD/agent.py linked'"
    )
    files: dict[str, rig.Content] = {**FILES, "agents/support/mine.py": "WORD = 'first'\n"}
    made = workspaces(tmp_path / "cache", rig.MemoryRepo(one=files), setup=setup)
    program = "import mine, sys; print(mine.__file__, mine.WORD, sys.prefix)"
    with made.open("one", rig.harness(), rig.case()) as (root, folder):
        (folder / "mine.py").write_text("WORD = 'mine!'\n")
        python = folder / ".venv/bin/python"
        out = subprocess.check_output([python, "-c", program], cwd=root, text=True)
        assert out.split() == [str(folder / "mine.py"), "mine!", str(folder / ".venv")]
        tool = subprocess.check_output([folder / ".venv/bin/tool"], text=True)
        assert tool.strip() == str(folder / ".venv")
        assert (folder / "linked").readlink() == folder / "agent.py"
        assert "building" not in (folder / ".venv/bin/activate").read_text()


def test_a_template_that_something_wrote_into_is_built_anew(tmp_path: Path) -> None:
    made = workspaces(tmp_path)
    with made.open("one", rig.harness(), rig.case()):
        pass
    victim = next((tmp_path / "templates").glob("*/workspace/README.md"))
    before = victim.stat()
    victim.write_bytes(b"evil\r\n")
    os.utime(victim, ns=(before.st_atime_ns, before.st_mtime_ns))
    with made.open("one", rig.harness(), rig.case()) as (root, _):
        assert (root / "README.md").read_bytes() == b"root\r\n"


def test_a_workspace_goes_even_if_the_agent_closed_its_folders(tmp_path: Path) -> None:
    made = workspaces(tmp_path)
    with made.open("one", rig.harness(), rig.case()) as (root, _):
        (root / "closed/inner").mkdir(parents=True)
        (root / "closed/inner/file").write_text("x")
        (root / "closed/inner").chmod(0)
        (root / "closed").chmod(0)
        at = os.open(root, os.O_RDONLY)
        for _step in range(1500):  # deeper than any recursion, longer than any path
            os.mkdir("deep", dir_fd=at)
            under = os.open("deep", os.O_RDONLY, dir_fd=at)
            os.close(at)
            at = under
        os.close(at)
    assert not root.exists()
    assert not root.parent.exists()


def test_leftovers_of_dead_processes_are_swept_and_those_of_living_ones_stay(
    tmp_path: Path,
) -> None:
    text = (
        "import os, signal, sys; from pathlib import Path\n"
        f"sys.path.insert(0, {str(Path(__file__).parent)!r})\n"
        "import rig, test_runners_workspace as t\n"
        "opened = t.workspaces(Path(sys.argv[1])).open('one', rig.harness(), rig.case())\n"
        "root, _ = opened.__enter__()\nprint(root, flush=True)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", text, str(tmp_path)], check=False, capture_output=True, text=True
    )
    dead = Path(done.stdout.strip())
    assert dead.is_dir(), done.stderr
    living = workspaces(tmp_path)
    with living.open("one", rig.harness(), rig.case()) as (root, _):
        assert not dead.exists()
        with workspaces(tmp_path).open("one", rig.harness(), rig.case()):
            assert root.exists()
    living.close()
    assert list(root.parents[1].parent.glob("*/*/workspace")) == []


def test_old_templates_go_when_new_ones_come(tmp_path: Path) -> None:
    commits = {f"c{number}": FILES for number in range(KEPT + 3)}
    made = workspaces(tmp_path, rig.MemoryRepo(**commits))
    for sha in commits:
        with made.open(sha, rig.harness(), rig.case()):
            pass
    assert len(list((tmp_path / "templates").glob("*/manifest.json"))) == KEPT


def test_an_agent_that_is_the_whole_repository_has_the_root_as_its_folder(tmp_path: Path) -> None:
    made = workspaces(tmp_path, folder=".")
    with made.open("one", rig.harness(**{"AGENTS.md": "x"}), rig.case()) as (root, folder):
        assert root == folder
        assert (root / "AGENTS.md").read_text() == "x"


@pytest.mark.parametrize(
    ("glob", "path", "covers"),
    [
        ("cases", "cases/a/b.yml", True),
        ("cases/", "cases/a", True),
        ("cases", "cases2/a", False),
        ("*.yml", "a/b.yml", False),
        ("**/*.yml", "a/b.yml", True),
        ("**/*.yml", "b.yml", True),
        ("a/*/c", "a/b/c/d", True),
        ("a/*/c", "a/b/x/c", False),
        ("a?", "ab", True),
        ("a.b", "axb", False),
    ],
)
def test_globs_cover_paths_and_what_lies_below(glob: str, path: str, covers: bool) -> None:
    assert tree.covered(path, [glob]) is covers
