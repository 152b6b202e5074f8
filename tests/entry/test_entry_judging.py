"""``healbot judge``: one answer a document, from a file or stdin, with the verdict's code."""

import json
from pathlib import Path
from typing import Any

import pytest
from fakes import Answer, door

P, F = "pass", "fail"


def case(role: str, baseline: str, candidate: str, name: str = "") -> dict[str, Any]:
    """Return a case whose outcomes repeat a word each."""
    sides = {"baseline": [baseline] * 30, "candidate": [candidate] * 30}
    return {"id": name or role, "role": role, "history": [P] * 6, **sides}


GOOD = {"cases": [case("train", F, P), case("heldout", P, P), case("corpus", P, P)]}
HARM = {"cases": [case("train", F, P), case("heldout", P, F)]}
NOTHING = {"cases": [case("train", F, P)]}


def judge(*documents: object, more: tuple[str, ...] = ()) -> Answer:
    text = "\n".join(json.dumps(one) for one in documents)
    return door("judge", "--outcomes", "-", *more, stdin=text)


@pytest.mark.parametrize(
    ("document", "verdict", "code"),
    [(GOOD, "admitted", 0), (HARM, "rejected", 1), (NOTHING, "underpowered", 4)],
)
def test_a_document_is_answered_with_verdict_reasons_and_what_was_used(
    document: dict[str, Any], verdict: str, code: int
) -> None:
    done = judge(document)
    answer = json.loads(done.out)
    assert (done.code, done.err, answer["verdict"]) == (code, "", verdict)
    assert set(answer) == {"verdict", "reasons", "used"}
    assert answer["reasons"]
    assert set(answer["used"]) == {one["id"] for one in document["cases"]}


def test_many_lines_are_answered_a_line_each_and_a_no_outranks_the_rest() -> None:
    done = judge(GOOD, NOTHING, HARM, GOOD)
    verdicts = [json.loads(line)["verdict"] for line in done.out.splitlines()]
    assert verdicts == ["admitted", "underpowered", "rejected", "admitted"]
    assert done.code == 1
    assert judge(GOOD, NOTHING).code == 4


def test_a_file_is_read_and_the_json_flag_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "outcomes.json"
    path.write_text(json.dumps(GOOD, indent=2))
    done = door("judge", "--outcomes", str(path), "--policy", "fixed", "--json")
    assert (done.code, json.loads(done.out)["verdict"]) == (0, "admitted")
    assert done.out == judge(GOOD).out


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"cases": []}', '{"cases": [{"id": "a"}]}', "{}\n{]"]
)
def test_what_can_t_be_judged_exits_with_3_and_nothing_on_stdout(text: str) -> None:
    done = door("judge", "--outcomes", "-", stdin=text)
    assert (done.code, done.out) == (3, "")
    assert "healbot: " in done.err


def test_a_file_that_is_not_there_exits_with_3(tmp_path: Path) -> None:
    assert door("judge", "--outcomes", str(tmp_path / "none")).code == 3
