"""YAML front matter: where it is, what it says, and whether an edit made it worse.

Knows the shape that skill loaders expect (name like the folder, a description); no other content.
"""

import re
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

import yaml

from healbot.rules.differences import lines_of

DESCRIPTION_CHARACTERS = 1024
"""The longest description that the Agent Skills format allows."""
MUTABLE_KEYS = frozenset({"name", "description"})
"""What an edit may change; every other key grants tools, picks models or steers loading."""

_DELIMITER = re.compile(r"---[ \t]*")
_BOM = "\ufeff"


class FrontMatter(NamedTuple):
    """What stands between the first two ``---`` lines.

    Attributes:
        state: ``absent``, ``unclosed`` (no second ``---``), ``invalid`` (no plain YAML mapping
            with each key once and no aliases), or ``valid``.
        data: The mapping where valid, else empty.
        lines: How many lines it takes, delimiters included; 0 where absent.
        raw: The text between the delimiters; all that follows the first where unclosed.
        problem: Why it is invalid, in a few words.
    """

    state: Literal["absent", "unclosed", "invalid", "valid"]
    data: Mapping[str, Any] = {}
    lines: int = 0
    raw: str = ""
    problem: str = ""


def parse(text: str) -> FrontMatter:
    """Find and read a text's front matter; a leading byte order mark does not count."""
    lines = lines_of(text.removeprefix(_BOM))
    if not lines or not _DELIMITER.fullmatch(lines[0].rstrip("\r\n")):
        return FrontMatter("absent")
    for number, line in enumerate(lines[1:], 2):
        if _DELIMITER.fullmatch(line.rstrip("\r\n")):
            return _read("".join(lines[1 : number - 1]), number)
    return FrontMatter("unclosed", lines=len(lines), raw="".join(lines[1:]))


def _read(raw: str, lines: int) -> FrontMatter:
    def bad(problem: str) -> FrontMatter:
        return FrontMatter("invalid", lines=lines, raw=raw, problem=problem)

    loader = None
    try:
        loader = yaml.SafeLoader(raw)
        node = loader.get_single_node()
        if not isinstance(node, yaml.MappingNode):
            return bad("it is no mapping")
        if any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(raw, yaml.SafeLoader)):
            return bad("it holds an alias")
        keys = [key.value for key, _ in node.value]
        twice = next((key for key in keys if keys.count(key) > 1), None)
        if twice is not None:
            return bad(f"it has {twice!r} twice")
        return FrontMatter("valid", dict(loader.construct_document(node)), lines, raw)
    except yaml.MarkedYAMLError as error:
        where = f" in line {error.problem_mark.line + 2}" if error.problem_mark else ""
        return bad(f"{error.problem or 'it can not be read'}{where}")
    except (yaml.YAMLError, ValueError, TypeError, RecursionError) as error:
        return bad(f"it can not be read ({type(error).__name__})")
    finally:
        if loader is not None:
            loader.dispose()


def skill_problems(text: str, folder: str) -> dict[str, str]:
    """Return what a skill loader would object to, by a stable word; empty where all is well."""
    front = parse(text)
    if front.state != "valid":
        why = f" ({front.problem})" if front.problem else ""
        sentence = f"the front matter is {front.state}{why}"
        return dict.fromkeys(("readable", "name", "folder", "description", "length"), sentence)
    name, description = front.data.get("name"), front.data.get("description")
    found = {}
    if not isinstance(name, str) or not name.strip():
        found["name"] = found["folder"] = "the front matter has no name"
    elif name != folder:
        found["folder"] = f"the name {name!r} is not the folder's, {folder!r}"
    if not isinstance(description, str) or not description.strip():
        found["description"] = "the front matter has no description"
    elif len(description) > DESCRIPTION_CHARACTERS:
        found["length"] = (
            f"the description has {len(description)} characters of {DESCRIPTION_CHARACTERS}"
        )
    return found


def worsened(before: str, after: str, skill: str | None) -> str | None:
    """Return how an edit made a file's front matter worse, or None.

    A valid one stays valid, and only ``name`` and ``description`` may change in it. An invalid one
    stays as it is or becomes valid, and none may bring in any other key.
    """
    was, now = parse(before), parse(after)
    if was.state == "valid" and now.state != "valid":
        why = f" ({now.problem})" if now.problem else ""
        return f"the front matter was valid and would be {now.state}{why}"
    if was.state == "invalid" and now.state != "valid" and now.raw != was.raw:
        return "the front matter is invalid already, and an edit may only repair it"
    if was.state == "absent" and now.state in {"unclosed", "invalid"}:
        return f"the edit opens front matter that is {now.state}"
    key = _other_key(was.data, now.data)
    if key:
        return f"the edit changes {key!r} in the front matter; only name and description may change"
    if skill is not None:
        objections = skill_problems(before, skill)
        fresh = [
            text for word, text in skill_problems(after, skill).items() if word not in objections
        ]
        return fresh[0] if fresh else None
    return None


def _other_key(was: Mapping[str, Any], now: Mapping[str, Any]) -> str | None:
    missing = object()
    for key in [*was, *now]:
        if key not in MUTABLE_KEYS and repr(was.get(key, missing)) != repr(now.get(key, missing)):
            return str(key)
    return None
