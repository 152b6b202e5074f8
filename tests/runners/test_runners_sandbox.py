"""What a sandbox hides, and what it must leave where a program looks for it."""

import os
import sys
from pathlib import Path

import pytest

from healbot.ports import Command
from healbot.runners.process import LocalProcesses
from healbot.runners.sandbox import tools_in


def test_a_virtual_environment_in_a_hidden_folder_is_shown_whole(tmp_path: Path) -> None:
    home = tmp_path / "repo" / ".venv"
    (home / "bin").mkdir(parents=True)
    (home / "pyvenv.cfg").touch()
    path = os.pathsep.join([str(home / "bin"), "/usr/bin", "relative/bin"])
    assert tools_in(path, [tmp_path / "repo"]) == [home]


def test_a_plain_folder_of_programs_is_shown_alone(tmp_path: Path) -> None:
    place = tmp_path / "repo" / "bin"
    place.mkdir(parents=True)
    assert tools_in(str(place), [tmp_path / "repo"]) == [place]


def test_the_hidden_folder_itself_is_never_shown(tmp_path: Path) -> None:
    assert tools_in(f"{tmp_path}{os.pathsep}/usr/bin", [tmp_path]) == []


def test_a_program_of_a_hidden_folder_runs_and_cannot_see_its_neighbours(tmp_path: Path) -> None:
    processes = LocalProcesses(path=os.environ["PATH"])
    if not processes.sandboxed:
        pytest.skip("bubblewrap is not installed or not allowed here")
    tools = tmp_path / "repo" / "bin"
    tools.mkdir(parents=True)
    (tmp_path / "repo" / "secret").write_text("the exam")
    program = tools / "look"
    program.write_text(f"#!{sys.executable}\nimport os\nprint(os.listdir({str(tools.parent)!r}))\n")
    program.chmod(0o755)
    work = tmp_path / "work"
    work.mkdir()
    ran = processes.run(
        Command(["look"], work, {"PATH": f"{tools}{os.pathsep}/usr/bin"}, 20, hide=[tools.parent])
    )
    processes.close()
    assert (ran.ended, ran.exit_code) == ("exited", 0), ran
    assert ran.stdout.decode().strip() == "['bin']"
