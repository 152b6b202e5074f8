"""Folders that live as long as whoever made them, and no longer."""

import subprocess
import sys
from pathlib import Path

from healbot.runners.scratch import ALIVE, Scratch


def test_a_folder_is_gone_when_nobody_holds_it_any_more(tmp_path: Path) -> None:
    one, other = Scratch(tmp_path), Scratch(tmp_path)
    mine, theirs = one.folder(), other.folder()
    assert (mine / ALIVE).exists()
    one.close()
    assert (mine.exists(), theirs.exists()) == (False, True)
    again = one.folder()
    del one, other
    assert (again.exists(), theirs.exists()) == (False, False)


def test_the_end_of_a_process_removes_its_folder_and_its_death_leaves_it_to_the_next(
    tmp_path: Path,
) -> None:
    program = (
        "import os, sys\nfrom pathlib import Path\nfrom healbot.runners.scratch import Scratch\n"
        "here = Scratch(Path(sys.argv[1]))\nprint(here.folder())\nsys.stdout.flush()\n"
        "os.kill(os.getpid(), int(sys.argv[2])) if sys.argv[2] != '0' else None\n"
    )

    def left(number: str) -> bool:
        argv = (sys.executable, "-c", program, str(tmp_path), number)
        done = subprocess.run(argv, check=False, capture_output=True, text=True)
        return Path(done.stdout.strip()).exists()

    assert (left("0"), left("9")) == (False, True)
    assert len([one for one in tmp_path.iterdir() if one.is_dir()]) == 1
    next_one = Scratch(tmp_path)
    assert [one for one in tmp_path.iterdir() if one.is_dir()] != [next_one.folder()]
    assert len([one for one in tmp_path.iterdir() if one.is_dir()]) == 1
