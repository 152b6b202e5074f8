"""The module as a program: the same words, nothing heavy, pipes, folders, the worked example."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from seam.samples import event, lines
from typer.testing import CliRunner

from healbot.entry.seam import app

ROOT = Path(__file__).resolve().parents[2]
GAP: dict[str, Any] = {
    "visible_before": 0.70,
    "visible_after": 0.95,
    "holdout_before": 0.70,
    "holdout_after": 0.74,
}


def _module(*words: str, cwd: Path = ROOT, **more: Any) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "healbot.seam", *words]
    return subprocess.run(
        command, cwd=cwd, capture_output=True, text=True, check=False, timeout=60, **more
    )


def test_the_module_takes_the_same_words_and_loads_nothing_heavy(tmp_path: Path) -> None:
    (tmp_path / "h").write_text(lines(event(**GAP)))
    words = ["--heals", str(tmp_path / "h"), "--window", "7d"]
    done = _module(*words)
    assert done.returncode == 1, done.stderr
    through_typer = CliRunner().invoke(app, words)
    assert through_typer.stdout == done.stdout
    code = (
        "import sys\nfrom healbot.seam import __main__\nsys.argv[1:] = sys.argv[1:]\n"
        "__main__.main()\nprint(*sys.modules, file=sys.stderr)"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", code, *words], cwd=ROOT, capture_output=True, text=True, check=True
    ).stderr.split()
    own = {name.split(".")[0] for name in loaded} - sys.stdlib_module_names
    assert own <= {"healbot", "__main__"} | {one for one in own if one.startswith("_")}
    assert not [name for name in loaded if name.startswith("healbot.") and "seam" not in name]


def test_the_module_reads_standard_input_and_survives_a_closed_pipe(tmp_path: Path) -> None:
    done = _module("--heals", "-", input=lines(event(**GAP)))
    assert done.returncode == 1
    assert json.loads(done.stdout)["E"] == 0.16
    (tmp_path / "h").write_text(lines(event()))
    shell = f"{sys.executable} -m healbot.seam --heals {tmp_path / 'h'} --explain | true"
    closed = subprocess.run(
        ["bash", "-c", shell], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert not closed.stderr


def test_a_folder_or_a_file_that_is_not_there_is_one_sentence(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "absent"):
        done = _module("--heals", str(path))
        assert done.returncode == 3
        assert "can't be read" in done.stderr
        assert "Traceback" not in done.stderr


def test_the_worked_example_is_graded_as_it_was_by_hand() -> None:
    folder = ROOT / "tests" / "data" / "seam"
    words = [f"--{name}={folder / file}" for name, file in EXAMPLE.items()]
    done = _module(*words)
    assert done.returncode == 2
    assert json.loads(done.stdout) == json.loads((folder / "report.json").read_text())


EXAMPLE = {
    "heals": "heal_events.jsonl",
    "failures": "failures.jsonl",
    "surface": "surface.jsonl",
    "pre": "pre.json",
    "certified": "certified.json",
    "holdout": "holdout.jsonl",
    "protected": "protected.json",
}
