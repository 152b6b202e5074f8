"""A promptfoo configuration is read as it stands: its tests are cases."""

from pathlib import Path

import pytest
from sandbox import make_repository
from telling import SETTINGS, answered, call, change

from healbot.errors import InputError
from healbot.records.case import Case, Split
from healbot.records.settings import AgentSettings, RunSettings
from healbot.rules.cases import read_cases
from healbot.rules.lint import lint
from healbot.rules.suites import Files

CONFIG = "evals/promptfooconfig.yaml"
AGENT = AgentSettings(
    name="support", dir="agents/support", cases=(CONFIG,), run=(RunSettings(command="x"),)
)
MIXED = """\
description: support bot
prompts:
  - "You are a polite support bot. Answer: {{question}}"
  - file://../agents/support/instructions.md
providers: [echo]
defaultTest:
  options: {provider: echo}
  assert: [{type: not-contains, value: as an AI language model}]
tests:
  - description: mentions refund window
    vars: {question: "How long? {{days}} days", days: 30}
    metadata: {split: heldout, tags: [refund]}
    assert:
      - {type: contains, value: "{{days}} days"}
      - {type: icontains, value: REFUND, metric: topic, weight: 2}
  - description: must be JSON
    vars: {question: 'Return {"ok": true}'}
    assert:
      - type: is-json
      - {type: javascript, value: output.length < 20, config: {a: 1}}
  - description: regex and threshold
    threshold: 0.5
    vars: {question: order 12345}
    assert: [{type: regex, value: "order \\\\d{5}"}, {type: equals, value: never equal}]
"""


def read(config: str, path: str = CONFIG, **more: str) -> tuple[Case, ...]:
    texts = {name.replace("__", "."): text.encode() for name, text in more.items()}
    files = {path: config.encode(), **{f"evals/{name}": text for name, text in texts.items()}}
    return read_cases({path: config}, AGENT, Files(tuple(files), files.__getitem__))


def refused(config: str, **more: str) -> str:
    with pytest.raises(InputError) as caught:
        read(config, **more)
    return caught.value.what


def test_tests_are_cases_with_defaults_merged_and_variables_filled_in() -> None:
    window, *_ = read(MIXED)
    assert (window.id, window.input) == ("mentions-refund-window", "How long? 30 days")
    assert (window.split, window.tags) == (Split.HELDOUT, ("refund",))
    assert (window.origin, window.folder) == (f"{CONFIG}:10", "evals")
    kinds = [(one.type, one.value, one.metric, one.weight) for one in window.asserts]
    assert kinds == [
        ("contains", "30 days", None, None),
        ("icontains", "REFUND", "topic", 2),
        ("not-contains", "as an AI language model", None, None),
    ]


def test_what_can_not_be_judged_stays_and_is_named_by_lint() -> None:
    said = [problem.text for problem in lint(read(MIXED)) if problem.severity == "error"]
    assert any("javascript needs a script to be run" in text for text in said)
    assert any("threshold 0.5 lets some assertions fail" in text for text in said)
    assert len(said) == 2


def test_a_threshold_that_lets_some_fail_makes_no_assertion_decide_alone() -> None:
    kinds = [one.type for one in read(MIXED)[2].asserts]
    assert kinds == ["cannot-score"]
    one = "tests: [{vars: {q: a}, threshold: 0.5, assert: [{type: contains, value: x}]}]"
    assert read(one)[0].asserts[0].type == "contains"


def test_an_assertion_template_is_looked_up() -> None:
    config = """\
tests: [{vars: {q: a}, assert: [{$ref: '#/assertionTemplates/noise'}]}]
assertionTemplates: {noise: {type: icontains, value: arrr}}
"""
    (one,) = read(config)[0].asserts
    assert (one.type, one.value) == ("icontains", "arrr")


def test_the_only_text_prompt_is_filled_in() -> None:
    default = "defaultTest: {vars: {lang: en}}"
    config = f"prompts: 'Q: {{{{ q }}}} in {{{{lang}}}}'\n{default}\ntests: [{{vars: {{q: a}}}}]"
    (case,) = read(config)
    assert (case.id, case.input) == ("evals-test-1", "Q: a in en")
    by_file = "prompts: [file://p.txt]\ntests: [{vars: {q: a}, options: {suffix: '!'}}]"
    assert read(by_file, p__txt="Say {{q}}\n")[0].input == "Say a!"


def test_without_a_single_text_prompt_one_variable_is_the_input() -> None:
    for prompts in ("[a, b]", "file://chat.json", "file://p.py:make", "[]"):
        config = f"prompts: {prompts}\nproviders: [x]\ntests: [{{vars: {{query: a, other: b}}}}]"
        assert read(config)[0].input == "a"
    assert read("providers: [x]\ntests: [{vars: {anything: 5}}]")[0].input == "5"
    own = "prompts: [file://../agents/support/instructions.md]\ntests: [{vars: {x: a}}]"
    files = {CONFIG: own.encode(), "agents/support/instructions.md": b"Be kind."}
    (case,) = read_cases({CONFIG: own}, AGENT, Files(tuple(files), files.__getitem__))
    assert case.input == "a"


def test_a_list_of_values_is_a_case_each() -> None:
    cases = read("prompts: ['{{a}}-{{b}}']\ntests: [{description: X y, vars: {a: [1, 2], b: z}}]")
    assert [(case.id, case.input) for case in cases] == [("x-y", "1-z"), ("x-y-2", "2-z")]


def test_tests_of_other_files_are_read_and_know_their_lines() -> None:
    config = (
        "prompts: ['{{q}}']\ntests: [file://t*.yaml, file://rows.csv]\ndefaultTest: file://d.yaml"
    )
    table = (
        "q,__expected1,__expected2,__description,__metric,__metadata:split,__metadata:tags[]\n"
        '"two\nlines",contains: 4,"contains-any: a, b",One,sum,heldout,"x,y"\n'
        "second,Paris,similar(0.9):France,,,,\n"
        "third,python:file://grade.py,,,,,\n"
    )
    more = {"t1__yaml": "- vars: {q: a}\n- vars: {q: b}\n", "rows__csv": table}
    cases = read(config, d__yaml="assert: [{type: contains, value: z}]", **more)
    assert [case.origin for case in cases] == [
        "evals/t1.yaml:1", "evals/t1.yaml:2",
        "evals/rows.csv:2", "evals/rows.csv:4", "evals/rows.csv:5",
    ]  # fmt: skip
    assert set(cases[0].sources) == {CONFIG, "evals/t1.yaml", "evals/rows.csv", "evals/d.yaml"}
    one, two, three = ([(a.type, a.value, a.threshold) for a in case.asserts] for case in cases[2:])
    assert one == [
        ("contains", "4", None),
        ("contains-any", ["a", "b"], None),
        ("contains", "z", None),
    ]
    assert two[:2] == [("equals", "Paris", None), ("similar", "France", 0.9)]
    assert three[0] == ("python", "file://grade.py", None)
    assert (cases[2].id, cases[2].split, cases[2].tags) == ("one", Split.HELDOUT, ("x", "y"))
    assert cases[2].asserts[0].metric == "sum"


def test_a_file_that_a_configuration_refers_to_is_no_case_file_of_its_own() -> None:
    texts = {
        CONFIG: "prompts: ['{{q}}']\ntests: file://more/*.yaml\nproviders: file://providers.yaml",
        "evals/more/a.yaml": "- vars: {q: a}",
        "evals/providers.yaml": "- id: x",
        "evals/own.yaml": "id: own\ninput: b",
    }
    assert [case.input for case in read_cases(texts, AGENT)] == ["b", "a"]


@pytest.mark.parametrize(
    ("config", "what"),
    [
        (
            "prompts: ['{{q | upper}}']\ntests: []",
            "promptfooconfig.yaml:1: the prompt holds '{{q | up",
        ),
        ("prompts: ['{% if q %}x{% endif %}']\ntests: []", "holds '{% if q %}'"),
        ("prompts: ['{{q}}']\ntests:\n- vars: {p: a}", ":3: the prompt asks for 'q'"),
        ("tests:\n- vars: {a: 1, b: 2}", "no variable is the agent's input"),
        ("tests: file://make.py:all", "'file://make.py:all' is not read here"),
        ("tests: huggingface://datasets/x", "lies outside the repository"),
        ("tests: file://../../t.yaml", "leaves the repository"),
        ("tests: file://gone.csv", "names no committed file"),
        ("tests: [{path: file://make.js, config: {}}]", "is not read here"),
        ("tests:\n- vars: {q: a}\n  asert: []", ":3: unknown key 'asert'; did you mean 'assert'?"),
        ("tests:\n- vars: {q: a}\n  assert: [{type: contains, valeu: x}]", "'valeu'; did you mean"),
        ("tests:\n- vars: {q: a}\n  assert: [text]", ":3: assert[0]: a mapping is expected"),
        ("tests:\n- vars: {q: a}\n  metadata: {split: held}", ":3: metadata.split must be"),
        ("tests: [{vars: {q: file://picture.png}}]", "'file://picture.png' is not read here"),
        ("scenarios: []\ntests: []", "scenarios are not read here"),
        ("tests: [{vars: {q: a}, options: {}, vars: {}}]", "stands here twice"),
    ],
)
def test_what_can_not_be_read_is_told_in_a_sentence(config: str, what: str) -> None:
    assert what in refused(config)


def test_scripts_of_a_test_and_templates_in_an_assertion_are_named_by_lint() -> None:
    config = """\
prompts: ['{{q}}']
tests:
- vars: {q: a}
  assertScoringFunction: file://s.js
  options: {transform: output.x}
  assert: [{type: contains, value: x}]
- vars: {q: b}
  assert: [{type: equals, value: '{{ q | upper }}'}, {$ref: '#/x'}, {type: assert-set, assert: []}]
"""
    said = "\n".join(problem.text for problem in lint(read(config)))
    for words in ("assertScoringFunction", "transform", "template", "$ref", "assert-set needs"):
        assert words in said


def test_a_configuration_is_listed_linted_and_run_as_a_case_file(tmp_path: Path) -> None:
    folder = make_repository(tmp_path / "r")
    change(
        folder,
        "agents/s/evals/promptfooconfig.yaml",
        "",
        "prompts: ['please {{ask}}']\nproviders: [echo]\ntests: file://tests.csv\n",
    )
    table = (
        "ask,__expected,__description,__metadata:split\n"
        "refund order 7,contains: escalate,Refund,train\n"
        "say hello to me,icontains: hello,Greeting,heldout\n"
        "tell a joke,javascript: output.length > 3,Joke,heldout\n"
    )
    change(folder, "agents/s/evals/tests.csv", "", table)
    change(folder, SETTINGS, "agents/s/cases]", "agents/s/evals/promptfooconfig.yaml]")
    rows = {row["id"]: row for row in answered(folder, "cases", "list")}
    assert (rows["refund"]["split"], rows["greeting"]["split"]) == ("train", "heldout")
    assert rows["joke"]["origin"] == "agents/s/evals/tests.csv:4"
    linted = call(folder, "cases", "lint")
    assert linted.code == 1
    assert "tests.csv:4: error: joke: assert javascript: javascript needs a script" in linted.out
    ran = {row["id"]: row for row in answered(folder, "cases", "run", code=1)}
    counts = {name: (row["pass"], row["fail"], row["none"]) for name, row in ran.items()}
    assert counts == {"refund": (0, 1, 0), "greeting": (1, 0, 0), "joke": (0, 0, 1)}


def test_a_python_agent_s_workspace_holds_no_file_that_its_cases_came_from(tmp_path: Path) -> None:
    folder = make_repository(tmp_path / "r")
    program = "import os\ndef answer(task): return ' '.join(sorted(os.listdir('.')))\n"
    change(folder, "agents/s/listing.py", "", program)
    config = "tests: file://table.csv\nprompts: ['{{ask}}']\n"
    change(folder, "agents/s/promptfooconfig.yaml", "", config)
    change(folder, "agents/s/table.csv", "", "ask,__expected\nwhat,contains: listing.py\n")
    change(folder, SETTINGS, "agents/s/cases]", "agents/s/promptfooconfig.yaml]")
    text = (folder / SETTINGS).read_text()
    run = next(line for line in text.splitlines() if line.strip().startswith("run:"))
    change(folder, SETTINGS, run, "    run: {python: listing:answer}")
    (row,) = answered(folder, "cases", "run")
    assert row["pass"] == 1, row
    change(folder, "agents/s/table.csv", "listing.py", "table.csv")
    (row,) = answered(folder, "cases", "run", code=1)
    assert row["fail"] == 1, row
