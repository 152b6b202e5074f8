"""A repository in which mini-swe-agent works, with its system prompt under healbot's care.

Knows text and git only. The agent program is mini-swe-agent's own command line; ``run.py`` is what
its user writes: it hands over the instructions file and tells healbot what was spent.
"""

import sys
from pathlib import Path

from sandbox import commit_all, git

NAME = "coder"
INSTRUCTIONS = "agents/coder/instructions.md"
BEFORE = "# Coding assistant\r\n\r\n- Keep functions small. {{ This stays as it is. }}\r\n"
"""Windows line ends and braces: neither healbot nor the agent's templates may change a byte."""
RULE = "Before you finish, add one line about the change to CHANGES.md."
PASSED = ("OPENAI_API_KEY", "OPENAI_API_BASE", "LITELLM_LOCAL_MODEL_COST_MAP")

RUN = """\
import contextlib, json, os, pathlib, sys, tempfile
os.environ |= {"MSWEA_CONFIGURED": "true", "MSWEA_SILENT_STARTUP": "1", "LINES": "40"}
os.environ["MSWEA_MODEL_RETRY_STOP_AFTER_ATTEMPT"] = "1"
os.environ["AGENT_INSTRUCTIONS"] = pathlib.Path("instructions.md").read_bytes().decode()
from minisweagent.run.mini import app

place = pathlib.Path(tempfile.mkdtemp()) / "run.traj.json"
words = ["--yolo", "--exit-immediately", "--cost-limit", "1", "--output", str(place)]
words += ["-c", "mini.yaml", "-c", "agent.yaml", "--task", sys.argv[1]]
with contextlib.redirect_stdout(sys.stderr):
    app(words, standalone_mode=False)
run = json.loads(place.read_text())
answers = [one["extra"] for one in run["messages"] if "response" in one.get("extra", {})]
spent = {"tokens": sum(one["response"]["usage"]["total_tokens"] for one in answers)}
spent["usd"] = run["info"]["model_stats"]["instance_cost"] or None
spent["tool_calls"] = [
    {"name": "bash", "args": {"command": call["command"]}}
    for one in answers for call in one["actions"]
]
pathlib.Path(os.environ["HEALBOT_RUN_REPORT"]).write_text(json.dumps(spent))
print(run["info"]["submission"])
"""

CONFIG = """\
agent: {system_template: '{{ AGENT_INSTRUCTIONS }}', step_limit: 6}
environment: {cwd: ../..}
model: {model_name: openai/scripted, model_class: MODEL_CLASS, cost_tracking: ignore_errors}
"""

ENDPOINT = """\
import os
from minisweagent.models.openrouter_model import OpenRouterModel

class EndpointModel(OpenRouterModel):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self._api_url = os.environ["OPENAI_API_BASE"] + "/chat/completions"
        self._api_key = os.environ["OPENAI_API_KEY"]
"""
QUICK_CLIENT = "endpoint.EndpointModel"
"""mini-swe-agent's plain HTTP client, which starts in half a second, at the server under test."""
DEFAULT_CLIENT = "litellm"
"""Its default client, which takes four seconds of a core to import."""

CASES = """\
- id: double
  split: train
  tags: [code]
  input: Add a function double(x) to calc.py that returns x * 2.
  checks:
    - command: PYTHON noted.py double
    - tool-called: bash
    - tests: {add: hidden/double, run: PYTHON -B -m unittest -q, protect: ['test_*.py']}
- id: square
  split: heldout
  tags: [code]
  input: We miss square(n) when we compute areas. Write it. The product of n with itself, so it \
returns n * n.
  checks:
    - command: PYTHON noted.py square
- id: what-is-there
  split: heldout
  tags: [question]
  input: Which definitions can I call today? Look, and change nothing.
  assert: [{type: contains, value: 'add(a, b)'}]
  checks:
    - command: PYTHON untouched.py
"""

NOTED = """\
import os, pathlib, sys
notes = pathlib.Path(os.environ["HEALBOT_WORKSPACE"], "CHANGES.md")
lines = notes.read_text().splitlines() if notes.exists() else []
if len(lines) != 1 or sys.argv[1] not in lines[0]:
    print("change note")
    sys.exit(1)
"""

UNTOUCHED = """\
import json, os, pathlib, sys
changed = json.loads(pathlib.Path(os.environ["HEALBOT_CHANGED"]).read_text())
print(*changed)
sys.exit(bool(changed))
"""

HIDDEN = """\
import sys, unittest
sys.path.insert(0, "../..")
import calc

class Doubles(unittest.TestCase):
    def test_doubles(self):
        self.assertEqual(calc.double(21), 42)
"""

LESSON = f"""\
---
key: note-changes
trigger: missed:change-note:code
seen_count: 4
---
{RULE}
"""


def make_repository(folder: Path, *, client: str = QUICK_CLIENT) -> Path:
    """Make a repository whose coding agent forgets change notes, with a lesson about it."""
    python = sys.executable
    files = {
        ".github/healbot.yml": _settings(python),
        ".healbot/lessons/notes.md": LESSON,
        INSTRUCTIONS: BEFORE,
        "agents/coder/run.py": RUN,
        "agents/coder/agent.yaml": CONFIG.replace("MODEL_CLASS", client),
        "agents/coder/endpoint.py": ENDPOINT,
        "agents/coder/cases/code.yml": CASES.replace("PYTHON", python),
        "agents/coder/cases/noted.py": NOTED,
        "agents/coder/cases/untouched.py": UNTOUCHED,
        "agents/coder/cases/hidden/double/test_double.py": HIDDEN,
        "calc.py": "def add(a, b):\n    return a + b\n",
    }
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(text.encode())
    git(folder, "init", "--quiet", "--initial-branch=main")
    commit_all(folder, "Begin")
    return folder


def _settings(python: str) -> str:
    return f"""\
version: 1
mode: auto
lessons: {{auto: true}}
agents:
  - name: {NAME}
    dir: agents/coder
    cases: [agents/coder/cases/*.yml]
    run:
      command: {python} -B run.py
      input: argument
      timeout_seconds: 120
      env: [{", ".join(PASSED)}]
gate: {{repeats: 3, canary: {{repeats: 2, passes: 2, second_passes: 3}}}}
"""
