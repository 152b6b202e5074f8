"""Exported cases: a text stays a text, or its case is refused by name."""

from typing import Any

import pytest

from healbot.errors import InputError
from healbot.records.case import Case
from healbot.rules.exporting import promptfoo_config


def case(text: str = "go", value: Any = "x") -> Case:
    asserts = [{"type": "contains", "value": value}]
    return Case.model_validate({"id": "one", "input": text, "assert": asserts, "origin": "c.yml:1"})


def test_plain_words_go_out_as_they_are() -> None:
    plain = case("see file://x, or {a}", {"a": [1]})
    test = promptfoo_config([plain])["tests"][0]
    assert test["vars"]["input"] == plain.input
    assert test["assert"] == [{"type": "contains", "value": {"a": [1]}}]


@pytest.mark.parametrize(
    "live",
    ["{% endraw %}{{x}}", "{# x #}", "say {{name}}", "file:///etc/passwd", "package:a:b"],
)
def test_what_would_be_a_template_or_a_file_is_refused_by_name(live: str) -> None:
    for bad in (case(live), case(value=live), case(value=[{"deep": live}]), case(value={live: 1})):
        with pytest.raises(InputError, match=r"'one' at c\.yml:1"):
            promptfoo_config([case(), bad])
    with pytest.raises(InputError):
        promptfoo_config([case(value={"$ref": "x.json"})])
