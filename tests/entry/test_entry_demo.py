"""The demo tells the same true story, from a checkout and from an installed wheel."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from healbot.entry.templates import template_files

PROJECT = Path(__file__).parent.parent.parent


def play(folder: Path, *words: str, path: str = str(PROJECT)) -> str:
    ran = subprocess.run(
        [sys.executable, "-m", "healbot", *words],
        cwd=folder,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": path, "HOME": str(folder)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A wheel, built and installed into a folder of its own."""
    folder = tmp_path_factory.mktemp("wheel")
    quiet = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    build = [*quiet, "wheel", "--no-deps", "--no-build-isolation", "-w", str(folder), str(PROJECT)]
    subprocess.run(build, check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    target = folder / "site"
    install = [*quiet, "install", "--no-deps", "--target", str(target), str(wheel)]
    subprocess.run(install, check=True, capture_output=True)
    return str(target)


def test_the_demo_of_an_installed_wheel_merges_refuses_and_reverts(
    installed: str, tmp_path: Path
) -> None:
    told = " ".join(play(tmp_path, "demo", path=installed).split())
    assert "ADMITTED. refund-over-limit 0 of 3 → 3 of 3. 3 protected cases: none worse." in told
    assert "Canary 24 of 24 (4 cases, 6 runs each)" in told
    assert "Pull request 1 was merged" in told
    assert "REJECTED: FIXED ITS TRIGGER BUT BROKE A PROTECTED CASE" in told
    assert "No pull request was opened." in told
    assert "equal the revision before, byte for byte: yes" in told
    assert "entries holds" in told


def test_init_of_an_installed_wheel_writes_what_it_says(installed: str, tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", "-b", "main", str(tmp_path)], check=True)
    (tmp_path / "instructions.md").write_text("# Agent\n")
    told = play(tmp_path, "init", path=installed)
    assert "wrote  .github/healbot.yml" in told
    assert (tmp_path / "cases" / "starter.yml").exists()


def test_the_sandbox_is_kept_where_it_is_asked_for(tmp_path: Path) -> None:
    files = template_files("demo")
    assert "agents/support/agent.py" in files
    told = play(tmp_path, "demo", "--keep", str(tmp_path / "kept"), "--seed", "7")
    assert "byte for byte: yes" in told
    assert (tmp_path / "kept" / "agents" / "support" / "instructions.md").read_bytes() == files[
        "agents/support/instructions.md"
    ]
