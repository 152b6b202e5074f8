"""The settings file: text to ``Settings``, or one sentence on what is wrong with it and where.

Knows the settings' shape and what pydantic can't say of it; opens no file. A secret that was pasted
into the file is refused without being shown.
"""

import re
import shlex

from pydantic import ValidationError

from healbot.errors import InputError
from healbot.records.settings import SETTINGS_PATH, SETTINGS_VERSION, Settings
from healbot.rules.documents import Document, Step
from healbot.rules.globs import is_inside
from healbot.rules.jsons import parse_json, parse_jsonl
from healbot.rules.layout import not_text
from healbot.rules.mistakes import explain, key_of, listed, secrets
from healbot.rules.yamls import parse_yaml

NEXT_STEP = "Correct the file; healbot schema prints every key that it may hold."

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_RANDOM = re.compile(
    r"(?=.*[0-9])(?=.*[a-z])(?=.*[A-Z])[A-Za-z0-9]{20,}|[0-9a-f]{32,}|[0-9A-F]{32,}"
)
_PLACES = ("dir", "instructions", "skills", "scripted")


def parse(text: str | bytes, name: str) -> Document:
    """Read a text by its name's ending: ``.json``, ``.jsonl``, else YAML.

    Raises:
        InputError: It can't be read; one sentence with file and line.
    """
    ending = name.rsplit(".", 1)[-1].lower()
    parser = {"json": parse_json, "jsonl": parse_jsonl}.get(ending, parse_yaml)
    return parser(text, name)


def read_settings(text: str | bytes, name: str = SETTINGS_PATH) -> Settings:
    """Read a settings file.

    Raises:
        InputError: Up to five mistakes, one a line, each with file, line, key and remedy.
    """
    document = parse(text, name)
    if not isinstance(document.data, dict):
        what = "is empty" if document.data is None else "holds no settings (key: value)"
        raise InputError(f"{name}:{document.root.line}: {what}.", "Run healbot init to write one.")
    _check_version(document)
    mistakes = _secret_mistakes(document)
    if mistakes:
        raise InputError(listed(mistakes), "Remove it, and revoke the key if it was committed.")
    try:
        settings = Settings.model_validate(document.data)
    except ValidationError as error:
        raise InputError(listed(explain(error, document, model=Settings)), NEXT_STEP) from error
    mistakes = [
        *_place_mistakes(document),
        *_text_mistakes(document, settings),
        *_command_mistakes(document, settings),
        *_twin_mistakes(document, settings),
    ]
    if mistakes:
        raise InputError(listed(mistakes), NEXT_STEP)
    return settings


def _check_version(document: Document) -> None:
    version = document.data.get("version", SETTINGS_VERSION)
    if isinstance(version, int) and version > SETTINGS_VERSION:
        line = document.line(("version",))
        raise InputError(
            f"{document.name}:{line}: version {version} is newer than this healbot, which reads "
            f"version {SETTINGS_VERSION}.",
            "Upgrade healbot.",
        )


def _secret_mistakes(document: Document) -> list[str]:
    paths = dict.fromkeys(secrets(document.data), "holds what looks like a secret")
    for path, value in _leaves(document.data):
        names = [step for step in path if isinstance(step, str)]
        if not isinstance(value, str) or not names:
            continue
        if names[-1].endswith("_env") or (names[-1] == "env" and isinstance(path[-1], int)):
            if _RANDOM.fullmatch(value):
                paths[path] = "holds what looks like a secret"
            elif not _VARIABLE.fullmatch(value):
                paths.setdefault(path, "is no variable's name")
    return [
        f"{document.name}:{document.line(path)}: {key_of(path)} {what} (not shown); "
        "name the environment variable that holds it."
        for path, what in sorted(paths.items(), key=lambda pair: document.line(pair[0]))
    ]


def _place_mistakes(document: Document) -> list[str]:
    mistakes = []
    for path, value in _leaves(document.data):
        names = [step for step in path if isinstance(step, str)]
        is_place = names[-1] in _PLACES or (names[0] == "agents" and names[-1] == "cases")
        if is_place and isinstance(value, str) and not is_inside(value):
            mistakes.append(
                f"{document.name}:{document.line(path)}: {key_of(path)}: {value!r} leaves the "
                "repository; write a path inside it, with forward slashes."
            )
    return mistakes


def _text_mistakes(document: Document, settings: Settings) -> list[str]:
    return [
        f"{document.name}:{document.line(('agents', index, 'instructions'))}: "
        f"agents[{index}].instructions: {not_text(agent.instructions)}."
        for index, agent in enumerate(settings.agents)
        if not_text(agent.instructions)
    ]


def _command_mistakes(document: Document, settings: Settings) -> list[str]:
    """A command line is split into words as a shell would, so its quotes must be closed."""
    mistakes = []
    for index, agent in enumerate(settings.agents):
        for place, run in enumerate(agent.run):
            for key in ("command", "setup"):
                why = _unsplittable(getattr(run, key))
                if why:
                    line = document.line(("agents", index, "run", place, key))
                    if line == document.line(("agents", index, "run")):  # one way, no list
                        line = document.line(("agents", index, "run", key))
                    mistakes.append(f"{document.name}:{line}: agents[{index}].run.{key}: {why}.")
    return mistakes


def _unsplittable(command: str | None) -> str:
    """Say why a command line can't be split into words, or nothing."""
    if command is None:
        return ""
    try:
        return "" if shlex.split(command) else "the command line is empty"
    except ValueError as error:
        return f"the command line can't be split into words ({str(error).lower()})"


def _twin_mistakes(document: Document, settings: Settings) -> list[str]:
    seen: dict[tuple[str, str], str] = {}
    mistakes = []
    for index, agent in enumerate(settings.agents):
        place = (agent.dir.strip("/").removeprefix("./"), agent.instructions)
        if place in seen:
            line = document.line(("agents", index, "dir"))
            mistakes.append(
                f"{document.name}:{line}: agents[{index}]: {agent.name!r} has the same "
                f"instructions file as {seen[place]!r}; one agent per file."
            )
        seen.setdefault(place, agent.name)
    return mistakes


def _leaves(value: object, path: tuple[Step, ...] = ()) -> list[tuple[tuple[Step, ...], object]]:
    if isinstance(value, dict):
        return [leaf for key, inner in value.items() for leaf in _leaves(inner, (*path, key))]
    if isinstance(value, list):
        return [leaf for i, inner in enumerate(value) for leaf in _leaves(inner, (*path, i))]
    return [(path, value)]
