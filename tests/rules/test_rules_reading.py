"""The settings file is read whole, or refused with file, line, key and remedy."""

import pytest

from healbot.errors import Exit, InputError
from healbot.records.settings import Mode
from healbot.rules.reading import parse, read_settings

PLAIN = """version: 1
mode: manual
agents:
  - dir: agents/support
    cases: [agents/support/cases]
    run: {command: python agent.py}
"""
AT = ".github/healbot.yml"


def _refused(text: str) -> InputError:
    with pytest.raises(InputError) as caught:
        read_settings(text)
    assert caught.value.exit_code == Exit.INPUT
    assert caught.value.next_step
    return caught.value


def test_the_shortest_file_is_read_with_every_default() -> None:
    settings = read_settings(PLAIN.encode())
    assert settings.mode is Mode.MANUAL
    assert settings.agents[0].name == "support"
    assert settings.gate.repeats == 3


def test_a_file_without_a_mode_is_auto() -> None:
    assert read_settings(PLAIN.replace("mode: manual\n", "")).mode is Mode.AUTO


@pytest.mark.parametrize(
    ("right", "wrong", "what"),
    [
        ("command", "comand", "6: agents[0].run: unknown key 'comand'; did you mean 'command'?"),
        ("mode", "mod", "2: unknown key 'mod'; did you mean 'mode'?"),
        ("dir:", "dirr:", "4: agents[0]: unknown key 'dirr'; did you mean 'dir'?"),
        (": manual", ": manul",
         "2: mode: must be 'observe', 'manual' or 'auto' (found 'manul'); did you mean 'manual'?"),
        ("[agents/support/cases]", "[]", "5: agents[0].cases: at least one is needed."),
        ("python agent.py}", "a, http: b}",
         "6: agents[0].run: set exactly one of command, preset, http, python, agent (found 2)."),
        ("agents/support/cases", "../cases",
         ("5: agents[0].cases[0]: '../cases' leaves the repository; write a path inside it, with "
          "forward slashes.")),
        ("dir: agents/support", "dir: /agents",
         ("4: agents[0].dir: '/agents' leaves the repository; write a path inside it, with forward "
          "slashes.")),
        ("version: 1", "version: 2",
         "1: version 2 is newer than this healbot, which reads version 1."),
    ],
)  # fmt: skip
def test_one_mistake_gives_one_sentence(right: str, wrong: str, what: str) -> None:
    assert _refused(PLAIN.replace(right, wrong)).what == f"{AT}:{what}"


@pytest.mark.parametrize(
    ("more", "what"),
    [
        ("gate: {canary: {pases: 3}}", "gate.canary: unknown key 'pases'; did you mean 'passes'?"),
        ("editors: [lessons, invarient]", ("editors[1]: must be 'lessons', 'invariant' or 'domain' "
          "(found 'invarient'); did you mean 'invariant'?")),
        ("editors: [{script: x}]", "editors[0]: unknown key 'script'; did you mean 'scripted'?"),
        ("gate: {repeats: 0}",
         "gate.repeats: must be at least 1 (found 0)."),
        ("protect: x", "protect: a list is expected (found 'x')."),
        ("watch: 3", "watch: a mapping is expected (found 3)."),
        ("models: {editor: {name: x, api_key: y}}",
         ("models.editor: unknown key 'api_key'; name the "
          "variable that holds the key in key_env.")),
    ],
)  # fmt: skip
def test_a_mistake_further_down_is_found_at_its_level(more: str, what: str) -> None:
    assert _refused(PLAIN + more).what == f"{AT}:7: {what}"


def test_several_mistakes_are_listed_a_line_each_and_the_rest_is_counted() -> None:
    text = PLAIN + "a1: 1\na2: 1\na3: 1\na4: 1\na5: 1\na6: 1\n"
    lines = _refused(text).what.splitlines()
    assert [line.split(":")[1] for line in lines[:-1]] == ["7", "8", "9", "10", "11"]
    assert lines[-1] == "and 1 more."


@pytest.mark.parametrize(
    "key", ["sk-abcdef0123456789", "ghp_abcdefghij0123456789", "a b", "Ab3" * 9]
)
@pytest.mark.parametrize(
    "more",
    ["models: {editor: {name: x, key_env: KEY}}", "notify: {webhook_env: KEY}",
     "models: {editor: {name: x, api_key: KEY}}"],
)  # fmt: skip
def test_a_pasted_secret_is_refused_without_being_shown(more: str, key: str) -> None:
    error = _refused(PLAIN + more.replace("KEY", key))
    assert key not in error.what + error.next_step + repr(error)


def test_a_secret_on_a_command_line_is_refused_without_being_shown() -> None:
    error = _refused(PLAIN.replace("agent.py", "agent.py --key sk-abcdef0123456789"))
    assert error.what.startswith(f"{AT}:6: agents[0].run.command holds what looks like a secret")
    assert "abcdef" not in error.what


def test_two_agents_with_one_instructions_file_are_refused() -> None:
    again = PLAIN.split("agents:\n")[1].replace("- dir", "- name: other\n    dir")
    assert (
        "agents[1]: 'other' has the same instructions file as 'support'"
        in _refused(PLAIN + again).what
    )


@pytest.mark.parametrize("text", ["", "# nothing", "[1]", "just words"])
def test_a_file_without_settings_says_so(text: str) -> None:
    assert "healbot init" in _refused(text).next_step


def test_a_name_decides_how_a_text_is_read() -> None:
    assert parse("{\n\t}", "x.json").data == {}
    assert parse("1\n2", "x.jsonl").data == [1, 2]
    assert parse("a: 1", "x.yaml").data == {"a": 1}
