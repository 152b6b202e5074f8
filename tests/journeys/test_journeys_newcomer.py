"""A newcomer's path in three strangers' repositories: in, through a cycle, back, and out again.

After ``uninstall`` the tree equals the first one, byte for byte, and no trace of healbot is left.
"""

import json
import stat
import tarfile
from pathlib import Path
from typing import NamedTuple

import pytest
from crashing import QUICK
from sandbox import commit_all, git, healbot, interpreter

from healbot.entry.outside import workspaces_of
from healbot.forges.git import GitRepo

pytestmark = pytest.mark.slow
TREES = Path(__file__).parent.parent / "data/trees"
SETTINGS = ".github/healbot.yml"
AGENT = """\
import sys
text = open("{instructions}").read()
task = sys.stdin.read()
if "deploy" in task:
    print("Please open a ticket." if "Ask for a ticket" in text else "Deployed.")
else:
    print("Hello!")
"""
CASES = """\
- id: deploy-asked
  split: train
  tags: [deploy]
  input: Please deploy the branch to production.
  assert: [{type: contains, value: ticket, metric: ticket}]
- id: greeting
  split: heldout
  input: Good morning!
  assert: [{type: contains, value: Hello}]
"""
LESSON = """\
---
key: ask-for-a-ticket
trigger: missed:ticket:deploy
tags: [deploy]
seen_count: 3
---
Ask for a ticket before anything is deployed.
"""
MORE = f"\n{QUICK}limits: {{always_on_characters: 60000}}\n"


class Stranger(NamedTuple):
    """A repository, and what ``init`` has to find in it."""

    name: str
    instructions: str
    says: str


STRANGERS = (
    Stranger("claude_code_log-1.7.0", "CLAUDE.md", "Found CLAUDE.md and .claude/skills in ."),
    Stranger("strands_agents-1.62.0", "AGENTS.md", "Found AGENTS.md in ."),
    Stranger("openai_agents-0.24.0", "AGENTS.md", "Found AGENTS.md in ."),
)


def unpacked(folder: Path, name: str) -> Path:
    """Commit a stranger's tree to a repository of its own."""
    with tarfile.open(TREES / f"{name}.tar.gz") as archive:
        archive.extractall(folder, filter="data")
    repo = folder / name
    git(repo, "init", "--quiet", "--initial-branch=main")
    commit_all(repo, "Begin")
    return repo


def tree(repo: Path) -> dict[str, tuple[int, bytes | str]]:
    """Return every file, link and folder with its kind and mode, and its bytes or target."""
    found: dict[str, tuple[int, bytes | str]] = {}
    for path in sorted(repo.rglob("*")):
        name = path.relative_to(repo).as_posix()
        if name.split("/")[0] == ".git":
            continue
        mode = path.lstat().st_mode
        if stat.S_ISLNK(mode):
            found[name] = (stat.S_IFLNK, str(path.readlink()))
        else:
            found[name] = (mode, path.read_bytes() if path.is_file() else b"")
    return found


def says(repo: Path, *words: str, code: int = 0) -> str:
    """Run one command and return what it printed."""
    done = healbot(repo, *words)
    assert done.returncode == code, (words, done.stdout, done.stderr)
    return done.stdout


def moved_in(repo: Path, stranger: Stranger) -> None:
    """Do what ``init`` said is next: a program, cases of one's own, a lesson, a commit."""
    place = repo / SETTINGS
    text = place.read_text()
    assert "your-agent-here" in text
    place.write_text(text.replace("your-agent-here", f'"{interpreter()} bot.py"') + MORE)
    (repo / "bot.py").write_text(AGENT.format(instructions=stranger.instructions))
    (repo / "cases/starter.yml").write_text(CASES)
    (repo / ".healbot/lessons").mkdir(parents=True)
    (repo / ".healbot/lessons/ticket.md").write_text(LESSON)
    commit_all(repo, "Put the agent under care")


@pytest.mark.parametrize("stranger", STRANGERS, ids=lambda one: one.name)
def test_a_newcomer_goes_in_through_a_cycle_back_and_out(
    stranger: Stranger, tmp_path: Path
) -> None:
    repo = unpacked(tmp_path, stranger.name)
    first = tree(repo)
    said = says(repo, "init")
    assert stranger.says in said
    assert "Fill in run.command" in said
    assert "still to be filled in" in says(repo, "doctor", code=1)
    moved_in(repo, stranger)
    assert not [line for line in says(repo, "doctor").splitlines() if line.startswith("error")]
    says(repo, "cases", "lint")
    says(repo, "cases", "run", code=1)  # one of the two fails, as it should
    forecast = json.loads(says(repo, "cost", "--json"))
    before = tree(repo)

    observed = json.loads(says(repo, "cycle", "--mode", "observe", "--json"))
    assert (observed["outcome"], observed["verdict"]) == ("observed", "admitted")
    assert tree(repo) == before
    assert json.loads(says(repo, "pulls", "list", "--json")) == []

    done = json.loads(says(repo, "cycle", "--json"))
    assert (done["outcome"], done["pull"]) == ("queued", 1)
    assert done["spent"]["runs"] <= done["forecast"]["runs"]
    assert forecast
    assert "Ask for a ticket" in says(repo, "pulls", "show", "1")
    assert "Pull request 1 merged into main" in says(repo, "pulls", "merge", "1")
    assert "Ask for a ticket" in (repo / stranger.instructions).read_text()
    assert json.loads(says(repo, "history", "--json"))[0]["what"] == "merged"
    says(repo, "status")
    says(repo, "rollback", "--why", "only looking around")
    assert tree(repo) == before
    assert "holds" in says(repo, "audit", "--verify")

    moved_out(repo)
    told = says(repo, "uninstall", "--yes", "--cases")
    assert "healbot/canary" in told  # what only a person can remove is named
    assert tree(repo) == first
    assert git(repo, "for-each-ref", "--format=%(refname)") == "refs/heads/main"
    assert not (repo / ".git/healbot").exists()
    assert not workspaces_of(GitRepo(repo).private).exists()


def moved_out(repo: Path) -> None:
    """Take away what is the newcomer's own."""
    (repo / "bot.py").unlink()
    (repo / ".healbot/lessons/ticket.md").unlink()
    (repo / ".healbot/lessons").rmdir()
    (repo / ".healbot").rmdir()
