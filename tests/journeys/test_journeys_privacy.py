"""Privacy as a stranger would test it: plant markers, run everything, look into every ref."""

import json
from pathlib import Path

from crashing import QUICK
from sandbox import commit_all, git, healbot, interpreter, make_repository

INPUT, OUTPUT, FILE, TOOL, ERROR = (
    f"zq{word}marker" for word in ["input", "output", "file", "tool", "error"]
)
MARKERS = (INPUT, OUTPUT, FILE, TOOL, ERROR)
SECRET, PERSON = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8", "maria.rossi@example.com"

AGENT = f"""\
import json, os, sys
text = open("instructions.md").read().lower()
task = sys.stdin.read()
open("{FILE}.txt", "w").write("{OUTPUT}")
print("{OUTPUT} {PERSON} {SECRET}", "escalate" if "escalate" in text else "refunded")
print("{ERROR} token={SECRET}", file=sys.stderr)
calls = [{{"name": "{TOOL}", "args": {{"file": "{FILE}"}}, "error": "{ERROR}"}}]
report = os.environ.get("HEALBOT_RUN_REPORT")
if report:
    json.dump({{"tool_calls": calls}}, open(report, "w"))
sys.exit(0)
"""
CASES = """\
- id: refund-over
  split: train
  tags: [refund]
  input: please refund order 1001 of 61.20
  assert: [{type: contains, value: escalate}]
- id: refund-big
  split: heldout
  tags: [refund]
  input: a refund of 500 for the broken lamp
  assert: [{type: contains, value: escalate}]
- id: unscorable
  split: train
  input: something else altogether, said at length
  checks: [{command: "COMMAND"}]
- id: quoting
  split: train
  tags: [quoting]
  input: a check that prints what it was given
  checks: [{command: "QUOTES"}]
"""


def planted(folder: Path, privacy: str) -> Path:
    repo = make_repository(folder, more=QUICK + (f"privacy: {privacy}\n" if privacy else ""))
    (repo / "agents/s/agent.py").write_text(AGENT)
    unscorable = f"{interpreter()} -c 'import sys; print(sys.stdin.read()); sys.exit(3)'"
    script = "import sys; print(chr(113), sys.stdin.read().split()[0]); sys.exit(1)"
    cases = CASES.replace("COMMAND", unscorable)
    cases = cases.replace("QUOTES", f"{interpreter()} -c '{script}'")
    (repo / "agents/s/cases/c.yml").write_text(cases)
    commit_all(repo, "An agent that talks")
    return repo


def lived(repo: Path) -> str:
    """Run everything there is, and return all that was said."""
    seen = {
        "session": "s-1", "at": "2126-03-01T00:00:00Z", "verdict": "fail",
        "input": f"{INPUT} for {PERSON}", "output": f"{OUTPUT} {SECRET}",
        "error": f"{ERROR}Error: {FILE} password=hunter2", "check": TOOL, "missed": OUTPUT,
        "tool_calls": [{"name": TOOL, "args": {"path": FILE}, "error": ERROR}],
    }  # fmt: skip
    (repo.parent / "runs.jsonl").write_text(json.dumps(seen) + f"\n{INPUT}\n")
    said = []
    for words in (
        ("runs", "add", str(repo.parent / "runs.jsonl"), "--json"), ("cycle",),
        ("status", "--json"), ("history", "--json"), ("audit", "--json"),
        ("pulls", "list", "--all", "--json"),
        ("pulls", "show", "1"), ("pulls", "checks", "1"),
        ("report", "--out", str(repo.parent / "page.html")),
    ):  # fmt: skip
        done = healbot(repo, *words)
        assert done.returncode in {0, 1, 4}, (words, done.stderr)
        assert "Traceback" not in done.stderr
        assert "unexpected" not in done.stderr
        said.append(done.stdout + done.stderr)
    return "\n".join([*said, (repo.parent / "page.html").read_text()])


def in_every_ref(repo: Path, before: set[str]) -> str:
    """Return every object that came since: blobs, trees' names, commit messages."""
    names = git(repo, "rev-list", "--objects", "--all").splitlines()
    new = [line for line in names if line.split(" ")[0] not in before]
    texts = [git(repo, "cat-file", "-p", line.split(" ")[0]) for line in new]
    return "\n".join([*names, *texts, git(repo, "for-each-ref")])


def objects(repo: Path) -> set[str]:
    return {line.split(" ")[0] for line in git(repo, "rev-list", "--objects", "--all").splitlines()}


def test_under_verdicts_nothing_an_agent_said_or_was_told_leaves_the_clone(
    tmp_path: Path,
) -> None:
    repo = planted(tmp_path / "repo", "")  # which is verdicts: nobody can tell that it is private
    before = objects(repo)
    said = lived(repo)
    everywhere = said + in_every_ref(repo, before)
    assert "agents/s/runs/2126-03.jsonl" in everywhere
    assert "failed:x" in everywhere  # the tool that the agent named, as a digest
    assert "missed:q-x" in everywhere  # what the check quoted from the agent
    assert "unscorable can't be scored: its check" in said
    for marker in (*MARKERS, SECRET, PERSON, "hunter2"):
        assert marker not in everywhere.lower() + everywhere, marker


def test_under_redacted_the_texts_are_there_without_secrets_and_personal_data(
    tmp_path: Path,
) -> None:
    repo = planted(tmp_path / "repo", "{publish: redacted}")
    before = objects(repo)
    said = lived(repo)
    everywhere = said + in_every_ref(repo, before)
    assert OUTPUT in everywhere
    assert INPUT in everywhere
    journal = repo / ".git/healbot/journal"
    kept = "".join(path.read_text() for path in journal.rglob("*") if path.is_file())
    assert OUTPUT in kept
    for planted_value in (SECRET, PERSON, "hunter2"):
        assert planted_value not in everywhere, planted_value
        assert planted_value not in kept  # the cycle is closed
