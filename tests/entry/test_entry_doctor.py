"""The doctor names what is wrong, how bad it is and what to do, and never stops half-way."""

import json
import os
from pathlib import Path

import pytest
from sandbox import INSTRUCTIONS, STARTS_VARIABLE, commit_all, git, make_repository, settings_text

from healbot.entry.doctor import diagnose
from healbot.entry.init import write_starter

PATH = {"PATH": os.environ["PATH"], STARTS_VARIABLE: "x", "SANDBOX_PAUSE": "0"}
SETTINGS = ".github/healbot.yml"
SKILL = "---\nname: a\ndescription: b\n---\n"
PROMPTED = """\
prompts: [file://../texts/ask.txt]
tests:
  - vars: {question: how long}
    assert: [{type: contains, value: days}]
"""
Rows = list[tuple[str, str, str]]


def seen(folder: Path, capsys: pytest.CaptureFixture[str], *, live: bool = False) -> Rows:
    code = diagnose(folder, PATH, live=live, as_document=True)
    said = json.loads(capsys.readouterr().out)
    assert code == (1 if said["errors"] else 0)
    for one in said["findings"]:
        assert one["fix"] or one["severity"] == "ok", one
    return [(one["severity"], one["topic"], one["text"]) for one in said["findings"]]


def bad(rows: Rows) -> list[str]:
    return [text for severity, topic, text in rows if severity != "ok" and topic != "machine"]


def test_a_repository_in_order_has_no_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = make_repository(tmp_path / "one")
    rows = seen(folder, capsys, live=True)
    assert bad(rows) == []
    (live,) = [text for _, topic, text in rows if topic == "live"]
    assert "ran refund-over" in live
    assert "there is something to heal" in live
    assert "refs/healbot" not in git(folder, "for-each-ref")


def test_a_configuration_of_cases_may_name_a_prompt_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    git(tmp_path, "init", "--quiet", "--initial-branch=main")
    files = {
        "AGENTS.md": "# A\n", "agent.py": "",
        "cases/promptfooconfig.yaml": PROMPTED, "texts/ask.txt": "Answer shortly: {{question}}",
    }  # fmt: skip
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text)
    write_starter(tmp_path, dry_run=False)
    told = capsys.readouterr().out
    assert "kept   cases (cases are there already)" in told
    assert "starter.yml" not in told
    for _ in ("uncommitted", "committed"):
        rows = seen(tmp_path, capsys)
        assert ("ok", "1 cases, 0 of them held out") in [(row[0], row[2]) for row in rows]
        assert not any("ask.txt" in text for text in bad(rows))
        commit_all(tmp_path, "Begin") if git(tmp_path, "status", "--short") else None


def test_what_init_leaves_to_do_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    git(tmp_path, "init", "--quiet", "--initial-branch=main")
    assert any(f"there is no {SETTINGS}" in text for text in bad(seen(tmp_path, capsys)))
    (tmp_path / "AGENTS.md").write_text("# A\n\nRun `make ship`, see [x](docs/x.md).\n")
    write_starter(tmp_path, dry_run=False)
    capsys.readouterr()
    told = bad(seen(tmp_path, capsys))
    assert any("no commit yet" in text for text in told)
    assert any("is not committed" in text for text in told)
    commit_all(tmp_path, "Begin")
    told = bad(seen(tmp_path, capsys))
    assert any("run.command is still to be filled in" in text for text in told)
    assert any("still holds the starter cases" in text for text in told)
    assert any("AGENTS.md:3: make ship leads nowhere" in text for text in told)
    assert any("AGENTS.md:3: docs/x.md leads nowhere" in text for text in told)


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({SETTINGS: "version: 1\nmode: automatic\nagents: []\n"}, "healbot.yml:2: mode: must be"),
        ({INSTRUCTIONS: None}, "has no instructions.md"),
        ({INSTRUCTIONS: "# A\n" + "word " * 2000}, "no edit that adds text will pass"),
        ({"agents/s/skills/a/SKILL.md": "no front matter\n"}, "the front matter is absent"),
        ({"agents/s/skills/a/cases.yml": "[]\n", "agents/s/skills/a/SKILL.md": SKILL,
          SETTINGS: settings_text("auto").replace("cases]", "cases, agents/s/skills/a]")},
         "lies among the agent's skills"),
        ({"agents/s/agent.py": None}, "agent.py is not in the agent's folder"),
        ({"agents/s/cases/c.yml": "- {id: a, input: b}\n"}, "has no assert and no check"),
        ({"agents/s/cases/c.yml": "[]\n"}, "has no case in"),
        ({"agents/s/cases/c.yml": "- {id: a, split: train, input: b, assert: "
          "[{type: contains, value: c}]}\n"}, "no case is held out"),
    ],
)  # fmt: skip
def test_each_mistake_gets_its_line(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    files: dict[str, str | None],
    expected: str,
) -> None:
    folder = make_repository(tmp_path / "one")
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        if text is None:
            (folder / path).unlink()
        else:
            (folder / path).write_text(text)
    commit_all(folder, "Change")
    told = bad(seen(folder, capsys))
    assert any(expected in text for text in told), told


def test_settings_are_held_against_the_machine(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    more = "protect: ['## Nowhere']\nstop: true\nmodels: {judge: {name: m, key_env: NO_KEY}}\n"
    folder = make_repository(tmp_path / "one", more=more)
    settings = (folder / SETTINGS).read_text()
    (folder / SETTINGS).write_text(
        settings.replace("env: [", "setup: no-such-tool x, env: [GONE, ")
    )
    commit_all(folder, "Change")
    (folder / "notes.txt").write_text("changed\n")
    git(folder, "update-ref", "refs/healbot/lease/s", "HEAD")
    told = " | ".join(bad(seen(folder, capsys)))
    for text in (
        "'## Nowhere' matches no heading",
        "'no-such-tool' was not found",
        "run.env names GONE",
        "the key NO_KEY, which is not set",
        "uncommitted changes (notes.txt)",
        "stopped by stop: true",
        "the lease of 's', whose holder is gone",
    ):
        assert text in told


def test_instructions_that_a_tool_would_cut_off_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = make_repository(tmp_path / "one", more="limits: {always_on_characters: 90000}\n")
    git(folder, "mv", INSTRUCTIONS, "agents/s/AGENTS.md")
    settings = (folder / SETTINGS).read_text()
    settings = settings.replace("dir: agents/s", "dir: agents/s\n    instructions: AGENTS.md")
    (folder / SETTINGS).write_text(settings)
    (folder / "AGENTS.md").write_text("x" * 33_000)
    commit_all(folder, "Change")
    assert any("Codex reads 32,768" in text for text in bad(seen(folder, capsys)))


def test_links_broken_ledgers_and_a_detached_head_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = make_repository(tmp_path / "one")
    git(folder, "mv", INSTRUCTIONS, "agents/s/real.md")
    (folder / INSTRUCTIONS).symlink_to("real.md")
    commit_all(folder, "Link")
    git(folder, "switch", "--quiet", "--detach")
    told = " | ".join(bad(seen(folder, capsys)))
    assert "instructions.md is a symlink" in told
    assert "HEAD is detached" in told
    git(folder, "switch", "--quiet", "--orphan", "healbot/state")
    audit = folder / "agents/s/audit/2026-01.jsonl"
    audit.parent.mkdir(parents=True)
    audit.write_text("{}\n")
    commit_all(folder, "State")
    git(folder, "switch", "--quiet", "main")
    assert "the ledger does not hold" in " | ".join(bad(seen(folder, capsys)))
