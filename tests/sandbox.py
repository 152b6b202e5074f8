"""A small repository to heal, shared by the tests of the loop: a real agent, cases and a lesson.

Knows only git and text. The agent is a real program whose behaviour follows its instructions and
``HEALBOT_SEED``, so one seed tells the same story on every machine.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
STARTS_VARIABLE = "SANDBOX_STARTS"
"""Names a file outside every workspace to which the agent adds a line per start."""
PAUSE_VARIABLE = "SANDBOX_PAUSE"
"""Seconds that each run of the agent takes longer."""
INSTRUCTIONS = "agents/s/instructions.md"
LESSON = ".healbot/lessons/refund.md"
NAME = "s"

AGENT = """\
import os, random, sys, time
text = open("instructions.md").read().lower()
task = sys.stdin.read().strip()
starts = os.environ.get("SANDBOX_STARTS")
if starts:
    line = os.environ.get("HEALBOT_SEED", "0") + "\\t" + task[:40] + "\\n"
    handle = os.open(starts, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(handle, line.encode())
time.sleep(float(os.environ.get("SANDBOX_PAUSE") or 0))
good = random.Random(int(os.environ.get("HEALBOT_SEED", "0"))).random() < STEADY
if "refund" in task:
    print("I escalate this." if "escalate" in text and good else "refunded")
else:
    print("Hello, how can I help?" if good else "what")
"""

CASES = """\
- id: refund-over
  split: train
  tags: [refund]
  input: please refund order 1001 of 61.20
  assert: [{type: contains, value: escalate, metric: escalation}]
- id: refund-big
  split: heldout
  tags: [refund]
  input: a refund of 500 for the broken lamp
  assert: [{type: contains, value: escalate, metric: escalation}]
- id: hello
  split: heldout
  input: hello there
  assert: [{type: icontains, value: hello}]
"""

LESSON_TEXT = """\
---
key: escalate-refunds
trigger: missed:escalation:refund
tags: [refund]
seen_count: 4
---
Before a refund, compare the amount with the limit and escalate above it.
"""


def make_repository(
    folder: Path, *, mode: str = "auto", steady: float = 2.0, more: str = ""
) -> Path:
    """Make a repository whose next cycle ends in a merged (or queued) pull request.

    Args:
        folder: Made; must not exist.
        mode: The settings' mode; lessons are let through.
        steady: How often an obedient agent does right; 1 and above: always.
        more: Lines added to the settings file.
    """
    (folder / "agents/s/cases").mkdir(parents=True)
    (folder / ".github").mkdir()
    (folder / ".healbot/lessons").mkdir(parents=True)
    (folder / ".github/healbot.yml").write_text(settings_text(mode, more))
    (folder / "agents/s/agent.py").write_text(AGENT.replace("STEADY", str(steady)))
    (folder / INSTRUCTIONS).write_text("# Support\n\n- Answer politely.\n")
    (folder / "agents/s/cases/c.yml").write_text(CASES)
    (folder / LESSON).write_text(LESSON_TEXT)
    (folder / "notes.txt").write_text("one\ntwo\nthree\n")
    git(folder, "init", "--quiet", "--initial-branch=main")
    commit_all(folder, "Begin")
    return folder


def agent_only(folder: Path) -> Path:
    """Make a repository that holds the agent and nothing of healbot's."""
    (folder / "agents/s").mkdir(parents=True)
    (folder / INSTRUCTIONS).write_text("# Support\n")
    (folder / "agents/s/agent.py").write_text(AGENT.replace("STEADY", "2"))
    git(folder, "init", "--quiet", "--initial-branch=main")
    commit_all(folder, "Begin")
    return folder


def refs(folder: Path) -> str:
    """Return the names of every ref, a line each."""
    return git(folder, "for-each-ref", "--format=%(refname)")


def settings_text(mode: str, more: str = "") -> str:
    """Return the settings file of the sandbox."""
    return f"""\
version: 1
mode: {mode}
lessons: {{auto: true}}
agents:
  - name: {NAME}
    dir: agents/s
    cases: [agents/s/cases]
    run: {{command: "{interpreter()} -S -E agent.py", env: [{STARTS_VARIABLE}, {PAUSE_VARIABLE}]}}
{more}"""


def interpreter() -> str:
    """Return a python that an agent can be started with from PATH."""
    return "python3" if shutil.which("python3") else sys.executable


def commit_all(folder: Path, message: str) -> str:
    """Commit everything in the work tree; returns the commit's id."""
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", message)
    return git(folder, "rev-parse", "HEAD")


def git(folder: Path, *words: str) -> str:
    """Run git in a folder as a person of the sandbox; returns what it printed, trimmed."""
    person = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
    done = subprocess.run(
        ("git", "-C", str(folder), *person, *words),
        check=True, capture_output=True, text=True, env=plain_environment(),
    )  # fmt: skip
    return done.stdout.strip()


def plain_environment(**more: str) -> dict[str, str]:
    """Return an environment without the user's git settings and without healbot's variables."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("HEALBOT_")}
    quiet = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull, "LC_ALL": "C"}
    return {**kept, **quiet, **more}


def healbot(
    folder: Path, *words: str, environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run the command line in a folder, to its end."""
    return subprocess.run(
        (sys.executable, "-m", "healbot", *words, "--repo", str(folder)),
        check=False, capture_output=True, text=True, cwd=ROOT,
        env=plain_environment(**(environment or {})),
    )  # fmt: skip
