"""Files that can't be used: one sentence with its place, one next step, its exit code, no change."""

# ruff: noqa: E501 - a table is read a row a line

from pathlib import Path

import pytest
from fakes import hire
from sandbox import CASES as GOOD_CASES
from sandbox import INSTRUCTIONS, interpreter, make_repository
from spoiling import (
    CASES,
    SETTINGS,
    Row,
    both,
    call,
    copy,
    link,
    look,
    put,
    replace,
    running,
    sentence,
    settings,
)

CYCLE = ("cycle", "--json")
RUN = ("cases", "run", "--json")
LINT = ("cases", "lint", "--json")
SKILL = "agents/s/skills/greet/SKILL.md"
BOMB = "- &a [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"- &{name} [{', '.join([f'*{before}'] * 10)}]\n"
    for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)


def case(rest: str) -> str:
    """Return a case file with one case."""
    return f"- id: a\n  input: x\n{rest}"


def bounded(more: str, says: str) -> Row:
    """Return a row on a number out of bounds."""
    return Row(settings(more=f"{more}\n"), 3, f"{SETTINGS}:9: {says}")


def without(path: str) -> Row:
    """Return a row on settings that are not there."""
    return Row(lambda folder: (folder / path).unlink(), 3, f"{path} is not committed")


SETTINGS_ROWS = {
    "missing": without(SETTINGS),
    "empty": Row(put(SETTINGS, ""), 3, f"{SETTINGS}:1: is empty"),
    "no mapping": Row(put(SETTINGS, "- a\n"), 3, f"{SETTINGS}:1: holds no settings"),
    "a folder": Row(
        both(lambda folder: (folder / SETTINGS).unlink(), put(f"{SETTINGS}/a", "x")),
        3, f"{SETTINGS} is not committed",
    ),
    "a symlink": Row(link(SETTINGS, "other.yml"), 3, f"{SETTINGS} is a symlink"),
    "latin 1": Row(put(SETTINGS, b"version: 1\n# \xe4\n"), 3, f"{SETTINGS}:2: this file is not UTF-8"),
    "a zero byte": Row(put(SETTINGS, "version: 1\n\0"), 3, ":2: holds the control character U+0000"),
    "tabs": Row(settings(more="gate:\n\trepeats: 3\n"), 3, ":10: a tab can't indent in YAML"),
    "a key twice": Row(settings(more="mode: auto\n"), 3, ":9: the key 'mode' stands here twice"),
    "a typo": Row(settings(more="budgets: {}\n"), 3, ":9: unknown key 'budgets'; did you mean 'budget'?"),
    "a word for a number": bounded("gate: {repeats: many}", "gate.repeats: a whole number is expected"),
    "a newer version": Row(settings("version: 1", "version: 2"), 3, ":1: version 2 is newer"),
    "a quoted version": Row(settings("version: 1", "version: '1'"), 3, ":1: version: must be the number 1"),
    "two documents": Row(settings(more="---\nversion: 1\n"), 3, ":9: begins a second document"),
    "a program's tag": Row(settings(more="stop: !!python/name:os.system\n"), 3, ":9: the tag"),
    "an alias bomb": Row(put(SETTINGS, BOMB), 3, "holds more than 200,000 values"),
    "nested too deep": Row(put(SETTINGS, "a: " + "{a: " * 3_000), 3, "levels deep"),
    "too large": Row(put(SETTINGS, b"#" * 10_000_001), 3, "10,000,001 bytes"),
    "a lease for ever": bounded("limits: {lease_minutes: 1e300}", "limits.lease_minutes: must be at most 1,440"),
    "a lease of no number": bounded("limits: {lease_minutes: .nan}", "limits.lease_minutes: a number is"),
    "a lease below zero": bounded("limits: {lease_minutes: -1}", "limits.lease_minutes: must be more than 0"),
    "endless money": bounded("budget: {day: {usd: 1e400}}", "budget.day.usd: must be at most"),
    "endless repeats": bounded(f"gate: {{canary: {{repeats: {'9' * 3_000}}}}}", "gate.canary.repeats: must be at most 100"),
    "endless time": Row(settings("run: {", "run: {timeout_seconds: 1e300, "), 3, "must be at most 86,400"),
    "a quote left open": Row(settings('agent.py"', "agent.py'\""), 3, ":8: agents[0].run.command: the command line can't be split"),
    "a setup that fails": Row(settings("run: {", "run: {setup: 'false', "), 3, "the setup 'false' failed (exit code 1)", CYCLE),
}  # fmt: skip

AGENT_ROWS = {
    "above the repository": Row(settings("dir: agents/s", "dir: ../s"), 3, ":6: agents[0].dir: '../s' leaves the repository"),
    "an absolute path": Row(settings("dir: agents/s", "dir: /etc"), 3, "leaves the repository"),
    "a path of somebody's home": Row(settings("dir: agents/s", "dir: ~/s"), 3, "leaves the repository"),
    "not there": Row(settings("dir: agents/s", "dir: agents/t"), 3, "'agents/t' is empty or not committed"),
    "a file": Row(settings("dir: agents/s", "dir: notes.txt"), 3, "is, or lies below, a file (notes.txt)"),
    "a symlink": Row(both(link("agents/t", "s"), settings("dir: agents/s", "dir: agents/t")), 3, "a symlink (agents/t)"),
    "behind a symlink": Row(both(link("bots", "agents"), settings("dir: agents/s", "dir: bots/s")), 3, "a symlink (bots)"),
    "no instructions": Row(lambda folder: (folder / INSTRUCTIONS).unlink(), 3, "agent s has no instructions.md"),
    "instructions that are a symlink": Row(link(INSTRUCTIONS, "/etc/passwd"), 8, "instructions.md is a symlink"),
    "instructions that are code": Row(settings("dir: agents/s", "dir: agents/s\n    instructions: agent.py"), 3, "'agent.py' is no text"),
    "instructions that are settings": Row(settings("dir: agents/s", "dir: .\n    instructions: .github/healbot.yml"), 3, "'healbot.yml' is no text"),
    "instructions that are cases": Row(settings("dir: agents/s", "dir: agents/s\n    instructions: cases/c.yml"), 3, "'c.yml' is no text"),
    "instructions that are a program": Row(put(INSTRUCTIONS, "#!/bin/sh\necho\n"), 3, "begin with #!"),
    "a pointer to code": Row(put(INSTRUCTIONS, "@agent.py\n"), 3, "'agent.py' is no text"),
    "a pointer outside": Row(put(INSTRUCTIONS, "@../../notes.txt\n"), 3, "leaves the agent's folder"),
    "a skill that is a symlink": Row(both(put(SKILL, ""), link(SKILL, "/etc/passwd")), 8, "SKILL.md is a symlink"),
}  # fmt: skip

CASE_ROWS = {
    "none": Row(lambda folder: (folder / CASES).unlink(), 3, "names no committed case file"),
    "an empty file": Row(put(CASES, ""), 3, "has no case in agents/s/cases"),
    "an empty list": Row(put(CASES, "[]\n"), 3, "has no case in agents/s/cases"),
    "no list": Row(put(CASES, "hello\n"), 3, f"{CASES}:1: holds no case"),
    "above the repository": Row(settings("[agents/s/cases]", "[../x]"), 3, ":7: agents[0].cases[0]: '../x' leaves"),
    "a symlink": Row(both(put("c.yml", GOOD_CASES), link(CASES, "../../../c.yml")), 3, f"{CASES} is a symlink"),
    "tabs": Row(put(CASES, "- id: a\n\tinput: x\n"), 3, f"{CASES}:2: a tab can't indent"),
    "latin 1": Row(put(CASES, b"- id: a\n# \xe4\n"), 3, f"{CASES}:2: this file is not UTF-8"),
    "a key twice": Row(put(CASES, "- id: a\n  id: b\n"), 3, ":2: the key 'id' stands here twice"),
    "an id twice": Row(put(CASES, GOOD_CASES + "- {id: hello, input: x}\n"), 3, ":15: the id 'hello' stands twice"),
    "an id of two words": Row(put(CASES, "- id: a b\n  input: x\n"), 3, ":1: id: must be a word of up to 120"),
    "a typo": Row(put(CASES, "- id: a\n  inputs: x\n"), 3, ":2: unknown key 'inputs'; did you mean 'input'?"),
    "no input": Row(put(CASES, "- id: a\n  assert: []\n"), 3, ":1: set exactly one of input, messages"),
    "an alias bomb": Row(put(CASES, BOMB), 3, "holds more than 200,000 values"),
    "50 MB": Row(put(CASES, b"- id: a\n  input: " + b"x" * 50_000_000), 3, "50,000,017 bytes"),
    "broken JSON": Row(replace("agents/s/cases/a.json", "{"), 3, "a.json:1: is no JSON"),
    "JSON of no number": Row(replace("agents/s/cases/a.json", "[NaN]"), 3, "NaN is no number"),
    "a broken line": Row(replace("agents/s/cases/a.jsonl", '{"id": "a", "input": "x"}\n{'), 3, "a.jsonl:2: is no JSON"),
    "no check": Row(put(CASES, case("")), 3, f"{CASES}:1: a: has no assert and no check", CYCLE),
    "an unknown assertion": Row(put(CASES, case("  assert: [{type: containz, value: x}]\n")), 3, "did you mean 'contains'?", CYCLE),
    "no regular expression": Row(put(CASES, case("  assert: [{type: regex, value: '(['}]\n")), 3, "the regex '([' is invalid", CYCLE),
    "a check for ever": Row(put(CASES, case("  checks: [{command: 'true', timeout_seconds: 1e300}]\n")), 3, "must be at most 86,400"),
}  # fmt: skip

TABLE = {
    f"{kind}: {name}": row
    for kind, rows in (("settings", SETTINGS_ROWS), ("agent", AGENT_ROWS), ("cases", CASE_ROWS))
    for name, row in rows.items()
}


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make the repository that every row is a copy of."""
    return make_repository(tmp_path_factory.mktemp("bad") / "template")


@pytest.mark.parametrize("name", TABLE)
def test_what_can_not_be_used_is_one_sentence_and_changes_nothing(
    name: str, template: Path, tmp_path: Path
) -> None:
    row = TABLE[name]
    folder = copy(template, tmp_path / "repo", row.spoil)
    before = look(folder)
    done = call(folder, *row.words)
    assert (done.code, done.out) == (row.code, ""), done
    assert row.says in sentence(done)
    if name != "settings: a setup that fails":  # the cycle was opened, and is recorded as given up
        assert look(folder) == before


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("- id: a\n  input: x\n", "has no assert and no check"),
        (case("  assert: [{type: containz, value: x}]\n"), "'containz' is not known"),
        (case('  checks: [{command: "a \'b"}]\n'), "can't be split into words"),
    ],
)
def test_a_case_that_can_not_be_scored_is_an_error_of_lint_and_no_pass(
    text: str, says: str, template: Path, tmp_path: Path
) -> None:
    folder = copy(template, tmp_path / "repo", put(CASES, text))
    lint, run = call(folder, *LINT), call(folder, *RUN)
    assert (lint.code, run.code) == (1, 4)
    assert says in lint.out
    assert '"none": 1' in run.out


def test_skills_that_loaders_may_pass_over_are_told_and_stop_nothing(
    template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = (
        "Greet.\n",
        "---\nname: x\ndescription: y\n---\n",
        "---\nname: [\n---\n",
        "---\na: b\n",
    )
    skills = [put(f"agents/s/skills/bad{at}/SKILL.md", one) for at, one in enumerate(texts)]
    folder = copy(template, tmp_path / "repo", both(*skills))
    hire(monkeypatch)
    done = call(folder, "cycle", "--mode", "observe", "--dry-run", "--json")
    assert done.code == 0, done.err
    for at in range(len(texts)):
        assert done.err.count(f"skills/bad{at}/SKILL.md: ") == 1, done.err


def test_a_program_that_is_not_there_is_no_failure_of_the_agent(
    template: Path, tmp_path: Path
) -> None:
    folder = copy(template, tmp_path / "repo", settings(interpreter(), "no-such-program"))
    done = call(folder, *RUN)
    assert done.code == 4
    assert "there is no program 'no-such-program' on PATH" in done.out
    deaf = copy(template, tmp_path / "deaf", running("raise SystemExit(9)\n"))
    assert call(deaf, *RUN).code == 4
