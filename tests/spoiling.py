"""What tests of bad input share: a sandbox spoilt in one place, looked at before and after.

Knows files and git. A copy of one template is a repository of its own, and cheap.
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from fakes import Answer, door
from sandbox import ROOT, commit_all, interpreter, plain_environment, settings_text

SETTINGS = ".github/healbot.yml"
CASES = "agents/s/cases/c.yml"
AGENT = "agents/s/agent.py"
KEPT = ("HEAD", "index", "packed-refs", "config")
PROGRESS = ("measure", "diagnose", "edit", "probe", "earn", "gate", "canary", "run")

Spoil = Callable[[Path], object]


class Row(NamedTuple):
    """One thing wrong.

    Attributes:
        spoil: Does it to a fresh copy of the sandbox; what it leaves uncommitted is committed.
        code: The exit code.
        says: Words of the one sentence.
        words: The command.
    """

    spoil: Spoil
    code: int
    says: str
    words: tuple[str, ...] = ("cases", "list", "--json")


def put(path: str, content: str | bytes) -> Spoil:
    """Write a file."""

    def spoil(folder: Path) -> None:
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content if isinstance(content, bytes) else content.encode())

    return spoil


def settings(old: str = "", new: str = "", *, more: str = "") -> Spoil:
    """Change the settings file, or add lines to it."""
    text = settings_text("auto", more)
    assert old in text
    return put(SETTINGS, text.replace(old, new) if old else text)


def replace(path: str, content: str | bytes) -> Spoil:
    """Put another file in a case file's place."""

    def spoil(folder: Path) -> None:
        (folder / CASES).unlink()
        put(path, content)(folder)

    return spoil


def link(path: str, target: str) -> Spoil:
    """Put a symlink in a file's place."""

    def spoil(folder: Path) -> None:
        place = folder / path
        place.unlink(missing_ok=True)
        place.symlink_to(target)

    return spoil


def both(*spoils: Spoil) -> Spoil:
    """Do several."""

    def spoil(folder: Path) -> None:
        for one in spoils:
            one(folder)

    return spoil


def running(program: str, *, seconds: float = 20) -> Spoil:
    """Let the agent be another program."""
    timed = settings("run: {", f"run: {{timeout_seconds: {seconds}, ")
    return both(put(AGENT, program), timed)


def checking(program: str, *, seconds: float = 20) -> Spoil:
    """Let the only case be judged by a program."""
    command = json.dumps(f"{interpreter()} -S -E checks/c.py")
    case = (
        "- id: hello\n  split: train\n  input: hello\n"
        f"  checks: [{{command: {command}, timeout_seconds: {seconds}}}]\n"
    )
    return both(put(CASES, case), put("agents/s/cases/checks/c.py", program))


def copy(template: Path, place: Path, spoil: Spoil | None = None) -> Path:
    """Return a fresh copy of the template, spoilt, with everything committed."""
    shutil.copytree(template, place, symlinks=True)
    if spoil:
        spoil(place)
        commit_all(place, "Spoil")
    return place


def look(folder: Path) -> dict[str, str]:
    """Return a digest of everything that nobody may change: files, refs, index, private state."""
    return dict(_files(folder))


def _files(folder: Path) -> Iterator[tuple[str, str]]:
    for place, names, files in os.walk(folder):
        if place == str(folder / ".git"):  # objects without a ref are nobody's state
            names[:] = [name for name in names if name in ("refs", "healbot", "worktrees")]
            files[:] = [name for name in files if name in KEPT]
        for name in files:
            path = Path(place, name)
            content = str(path.readlink()).encode() if path.is_symlink() else path.read_bytes()
            yield str(path), hashlib.sha256(content).hexdigest()


def sentence(done: Answer) -> str:
    """Return the one sentence of a refusal, after seeing that it and the next step stand alone."""
    assert "Traceback" not in done.err, done.err
    if done.out.strip():
        json.loads(done.out)
    lines = [
        line
        for line in done.err.splitlines()
        if not line.startswith(tuple(f"healbot: {name}" for name in PROGRESS))
    ]
    assert len(lines) == 2, done.err
    assert lines[0].startswith("healbot: "), done.err
    assert lines[1].startswith("  next: "), done.err
    return lines[0]


def command(
    folder: Path, *words: str, environment: Mapping[str, str | None] | None = None, shell: str = ""
) -> Answer:
    """Run the real program; ``shell`` is put behind it, for streams that are closed."""
    full = plain_environment() | {k: v or "" for k, v in (environment or {}).items()}
    for name in [name for name, value in (environment or {}).items() if value is None]:
        del full[name]
    argv = [sys.executable, "-m", "healbot", *words, "--repo", str(folder)]
    done = subprocess.run(
        ("/bin/sh", "-c", f'"$@" {shell}', "sh", *argv),
        check=False, capture_output=True, text=True, errors="replace", cwd=ROOT, env=full,
    )  # fmt: skip
    return Answer(done.returncode, done.stdout, done.stderr)


def call(folder: Path, *words: str) -> Answer:
    """Run a command in this process."""
    return door(*words, "--repo", str(folder))
