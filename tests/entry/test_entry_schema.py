"""The schema says of a settings file what the reader says of it."""

import json
from typing import Any

import jsonschema
import pytest
from fakes import door

from healbot.entry.schema import settings_schema
from healbot.entry.starter import starter
from healbot.records.settings import SETTINGS_PATH, Settings
from healbot.rules.yamls import parse_yaml

AGENT = {"dir": "a", "cases": ["a/cases"], "run": [{"command": "x"}]}


def _accepts(data: object) -> bool:
    return jsonschema.Draft202012Validator(settings_schema()).is_valid(data)


def test_the_schema_is_one_and_accepts_what_init_writes() -> None:
    jsonschema.Draft202012Validator.check_schema(settings_schema())
    assert _accepts(parse_yaml(starter("a", name="b")[SETTINGS_PATH], "x.yml").data)


@pytest.mark.parametrize(
    ("more", "right"),
    [
        ({}, True),
        ({"agents": [{**AGENT, "run": {"command": "x"}, "cases": "a/cases"}]}, True),
        ({"gate": {"canary": "strict"}}, True),
        ({"gate": {"canary": {"repeats": 6}}}, True),
        ({"gate": {"canary": "strictt"}}, False),
        ({"editors": ["lessons", {"scripted": "x.yml"}]}, True),
        ({"editors": ["lesson"]}, False),
        ({"mod": "auto"}, False),
        ({"agents": []}, False),
        ({"version": 2}, False),
    ],
)
def test_schema_and_reader_agree(more: dict[str, Any], right: bool) -> None:
    data = {"version": 1, "agents": [AGENT], **more}
    assert _accepts(data) is right
    try:
        Settings.model_validate(data)
        read = True
    except ValueError:
        read = False
    assert read is right


def test_schema_takes_json_as_every_listing_does_and_offers_nothing_that_is_refused() -> None:
    answer = door("schema", "--json")
    assert answer.code == 0
    assert json.loads(answer.out) == settings_schema() == json.loads(door("schema").out)
    privacy = settings_schema()["$defs"]["PrivacySettings"]["properties"]
    assert "not in this version" in privacy["state"]["description"]
    assert "private repository" not in privacy["publish"]["description"]
