"""The settings file's JSON schema, for editors that complete and check YAML.

Knows the settings' shape and the short forms that they accept beside it; prints nothing.
"""

from typing import Any

from healbot.records.settings import Settings

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def settings_schema() -> dict[str, Any]:
    """Return the JSON schema (2020-12) of ``.github/healbot.yml``."""
    schema = Settings.model_json_schema(by_alias=True)
    parts = schema["$defs"]
    agent = parts["AgentSettings"]["properties"]
    agent["run"] = _one_or_many(agent["run"])
    agent["cases"] = _one_or_many(agent["cases"])
    canary = parts["GateSettings"]["properties"]["canary"]
    reference = {"$ref": canary.pop("$ref")}
    parts["GateSettings"]["properties"]["canary"] = {
        **canary,
        "anyOf": [reference, {"const": "strict"}],
    }
    return {"$schema": DIALECT, **schema, "title": "healbot settings"}


def _one_or_many(many: dict[str, Any]) -> dict[str, Any]:
    """Let one item stand where a list of them may."""
    told = {key: value for key, value in many.items() if key in ("title", "description", "default")}
    rest = {key: value for key, value in many.items() if key not in told}
    return {**told, "anyOf": [many["items"], rest]}
