"""What stories of a cycle share: the sandbox changed a little, its refs and ledger looked at."""

import json
from pathlib import Path
from typing import Any

from fakes import Answer, door
from sandbox import INSTRUCTIONS, commit_all, git

SETTINGS = ".github/healbot.yml"
CASES = "agents/s/cases/c.yml"
EDITS = "agents/s/edits.yml"
SCRIPTED = f"editors: [{{scripted: {EDITS}}}]\n"
ESCALATE = """\
proposals:
  - summary: escalate refunds
    reason: refunds above the limit were paid
    hunks: [{path: instructions.md, op: append, text: "- Always escalate a refund.\\n"}]
"""


def call(folder: Path, *words: str, **environment: str) -> Answer:
    """Run one command in this process."""
    return door(*words, "--repo", str(folder), **environment)


def answered(folder: Path, *words: str, code: int = 0) -> Any:
    """Run one command and return the one document that it prints."""
    done = call(folder, *words, "--json")
    assert done.code == code, done.err
    return json.loads(done.out)


def change(folder: Path, path: str, old: str, new: str) -> str:
    """Commit a changed file; an empty ``old`` writes it anew."""
    place = folder / path
    text = place.read_text() if old else ""
    assert old in text
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text.replace(old, new) if old else new)
    return commit_all(folder, f"Change {path}")


def script(folder: Path, text: str = ESCALATE) -> None:
    """Let the scripted editor answer."""
    place = folder / SETTINGS
    place.write_text(place.read_text() + SCRIPTED)
    change(folder, EDITS, "", text)


def refs(folder: Path, *, state: bool = True) -> dict[str, str]:
    """Return every ref, with or without the state branch."""
    lines = git(folder, "for-each-ref", "--format=%(refname) %(objectname)").splitlines()
    found = dict(line.split(" ") for line in lines)
    return found if state else {k: v for k, v in found.items() if "healbot/state" not in k}


def lines_of(folder: Path, kind: str) -> list[dict[str, Any]]:
    """Return the lines of the state branch's audit or journal files."""
    names = git(folder, "ls-tree", "-r", "--name-only", "healbot/state").splitlines()
    texts = [git(folder, "show", f"healbot/state:{name}") for name in names if f"/{kind}/" in name]
    return [json.loads(line) for text in texts for line in text.splitlines()]


def kinds(folder: Path) -> list[str]:
    """Return the kinds of the ledger's entries, in order."""
    return [line["body"]["kind"] for line in lines_of(folder, "audit")]


def instructions(folder: Path, ref: str = "main") -> str:
    """Return the instructions at a ref."""
    return git(folder, "show", f"{ref}:{INSTRUCTIONS}")
