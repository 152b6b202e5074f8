"""Case files are found and read, or refused with both places."""

import json

import pytest

from healbot.errors import InputError
from healbot.records.settings import AgentSettings, RunSettings
from healbot.rules.cases import match_paths, read_cases

AGENT = AgentSettings(
    name="support",
    dir="agents/support",
    cases=("agents/support/cases",),
    run=(RunSettings(command="python agent.py"),),
)
ONE = "id: a\ninput: Hello\nassert: [{type: contains, value: x}]\n"


def _refused(texts: dict[str, str | bytes]) -> str:
    with pytest.raises(InputError) as caught:
        read_cases(texts, AGENT)
    assert caught.value.next_step
    return caught.value.what


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("c/a.yml", ONE),
        ("c/a.yaml", "- " + ONE.replace("\n", "\n  ").rstrip()),
        ("c/a.yml", "cases:\n- " + ONE.replace("\n", "\n  ").rstrip()),
        ("c/a.json", json.dumps({"id": "a", "input": "Hello"})),
        ("c/a.json", json.dumps([{"id": "a", "input": "Hello"}])),
        ("c/a.jsonl", json.dumps({"id": "a", "input": "Hello"}) + "\n"),
    ],
)
def test_one_case_a_list_and_a_mapping_of_cases_are_read_alike(path: str, text: str) -> None:
    (case,) = read_cases({path: text}, AGENT)
    assert (case.id, case.input, case.folder) == ("a", "Hello", "c")
    assert case.origin.startswith(f"{path}:")


def test_each_case_knows_the_line_where_it_stands() -> None:
    cases = read_cases({"c/a.yml": "- id: a\n  input: x\n\n- id: b\n  input: y\n"}, AGENT)
    assert [case.origin for case in cases] == ["c/a.yml:1", "c/a.yml:4"]


def test_every_check_of_the_published_example_is_read() -> None:
    text = """
- id: refund-over-limit
  split: train
  messages: [{user: Refund order 1001.}, {simulate: Give the number only if asked.}]
  tools: {lookup_order: {total: 61.20}, refund: {error: forbidden}}
  files: {orders/1001.json: '{"total": 61.20}'}
  assert:
    - {type: not-icontains, value: refunded}
  checks:
    - command: python checks/refund.py
    - tests: {add: hidden/, run: python -m pytest -q, protect: ['tests/**']}
    - python: checks.refund:escalated
    - tool-called: {name: escalate, args: {order: 1001}}
    - not-tool-called: refund
  safety: true
  tags: [refund]
"""
    (case,) = read_cases({"c/a.yml": text}, AGENT)
    kinds = [check.kind for check in case.checks]
    assert kinds == ["command", "tests", "python", "tool-called", "not-tool-called"]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("id: a\ninptu: x\n", "c/a.yml:2: unknown key 'inptu'; did you mean 'input'? (case 'a')"),
        ("id: a\ninput: x\nasserts: []\n",
         "c/a.yml:3: unknown key 'asserts'; did you mean 'assert'?"),
        ("id: a\ninput: x\norigin: b\n", "c/a.yml:3: unknown key 'origin'"),
        ("id: a\ninput: x\nassert:\n- {value: y}\n",
         "c/a.yml:4: assert[0]: the key 'type' is missing."),
        ("id: a\ninput: x\nassert:\n- {typ: contains}\n",
         "c/a.yml:4: assert[0]: unknown key 'typ'; did you mean 'type'?"),
        ("id: a\ninput: x\nchecks:\n- {comand: y}\n",
         "c/a.yml:4: checks[0]: unknown key 'comand'; did you mean 'command'?"),
        ("id: a\ninput: x\nchecks:\n- {command: y, python: z}\n", "set exactly one of command"),
        ("id: a\ninput: x\nsplit: held-out\n", "did you mean 'heldout'?"),
        ("id: a\n", "c/a.yml:1: set exactly one of input, messages."),
        ("id: 5\ninput: x\n", "c/a.yml:1: id: text is expected; write it in quotes."),
        ("- just a word\n", "c/a.yml:1: a case is a mapping"),
        ("just a word\n", "c/a.yml:1: holds no case"),
        ("caes: []\ncases: []\n", "c/a.yml:1: unknown key 'caes'; did you mean 'cases'?"),
        ("id: [\n", "c/a.yml:1: is no YAML"),
        ("# nothing\n", "has no case in agents/support/cases."),
    ],
)  # fmt: skip
def test_a_mistake_is_named_with_file_and_line(text: str, what: str) -> None:
    assert what in _refused({"c/a.yml": text})


def test_an_id_that_stands_twice_is_refused_with_both_places() -> None:
    what = _refused({"c/a.yml": ONE, "c/b.yml": "# one\n" + ONE})
    assert what.startswith("c/b.yml:2: the id 'a' stands twice, first at c/a.yml:1;")


def test_mistakes_of_several_files_are_listed_together() -> None:
    what = _refused({"c/a.yml": "id: a\nx: 1\ninput: b\n", "c/b.yml": b"\xff"})
    assert [line.split(" ")[0] for line in what.splitlines()] == ["c/a.yml:2:", "c/b.yml:1:"]


PATHS = (
    "a/cases/one.yml", "a/cases/deep/two.json", "a/cases/fixtures/orders.json",
    "a/cases/hidden/x.yaml", "a/cases/.cache/y.yml", "a/cases/checks/c.py", "a/instructions.md",
    "b/cases/three.jsonl",
)  # fmt: skip


@pytest.mark.parametrize(
    ("patterns", "found"),
    [
        (["a/cases"], {"a/cases/one.yml", "a/cases/deep/two.json"}),
        (["./a/cases/"], {"a/cases/one.yml", "a/cases/deep/two.json"}),
        (["a/cases/one.yml"], {"a/cases/one.yml"}),
        (["*/cases/*.yml", "b/cases"], {"a/cases/one.yml", "b/cases/three.jsonl"}),
        (["a/cases/**/*.json"], {"a/cases/deep/two.json", "a/cases/fixtures/orders.json"}),
        (["."], {"a/cases/one.yml", "a/cases/deep/two.json", "b/cases/three.jsonl"}),
    ],
)
def test_folders_files_and_globs_name_case_files(patterns: list[str], found: set[str]) -> None:
    assert set(match_paths(PATHS, patterns)) == found


@pytest.mark.parametrize("pattern", ["a/casse", "a/instructions.md", "nothing", "../a", "/a"])
def test_a_pattern_that_names_no_case_is_refused(pattern: str) -> None:
    with pytest.raises(InputError) as caught:
        match_paths(PATHS, [pattern])
    assert repr(pattern) in caught.value.what


def test_a_mistyped_folder_gets_the_nearest_one() -> None:
    with pytest.raises(InputError, match="did you mean 'a/cases'"):
        match_paths(PATHS, ["a/casse"])
