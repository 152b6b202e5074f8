"""Which files of an agent's folder are its harness, and which of them an edit may touch.

Knows paths, git modes and contents that it is handed; reads nothing itself.
"""

import posixpath
import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from healbot.errors import HarnessChangedError, InputError
from healbot.records.harness import Harness, HarnessFile
from healbot.records.settings import AgentSettings
from healbot.rules.frontmatter import skill_problems

SKILL_FILE = "SKILL.md"
PLAIN_MODES = frozenset({"100644", "100755", "100664"})
"""Modes of plain files, as git writes them (the last one by very old versions)."""

TEXT_ENDINGS = (
    *(".md", ".mdc", ".markdown", ".txt", ".text", ".rst", ".adoc", ".org", ".prompt"),
    *(".j2", ".jinja", ".jinja2", ".hbs", ".mustache"),
)
"""What a file of instructions may end in: no edit reaches code, settings or data."""
TEXT_NAMES = frozenset({".cursorrules", ".windsurfrules", ".clinerules", ".goosehints"})
BUILD_NAMES = frozenset({"makefile", "dockerfile", "jenkinsfile", "procfile", "codeowners"})

_SPECIAL = {"120000": "a symlink", "160000": "a submodule"}
_HARMLESS = re.compile(r"(?:un)?licen[cs]e|copying|read[-_]?me", re.IGNORECASE)
_POINTER = re.compile(r"@(\S+)")
_SETTINGS_STEP = "Correct the agent's entry in the settings file."


class Folder(NamedTuple):
    """An agent's folder: git modes of all its files by relative path, and a way to read one."""

    modes: Mapping[str, str]
    read: Callable[[str], bytes]


def harness_of(
    modes: Mapping[str, str],
    read: Callable[[str], bytes],
    agent: AgentSettings,
    *,
    open_skills_with_files: bool = False,
) -> Harness:
    """Return the harness: the instructions, what points to them, and each skill's SKILL.md.

    Args:
        modes: Every file of the agent's folder by path relative to it, with its git mode.
        read: Returns a file's exact bytes by the same path.
        agent: Names the instructions file and the skills folder.
        open_skills_with_files: Lets edits touch a SKILL.md with siblings; they wait for a person.

    Raises:
        InputError: A path leaves the folder, the instructions are missing, or a pointer leads
            nowhere.
        HarnessChangedError: A harness path is a symlink or a submodule.
    """
    folder = Folder(modes, read)
    skills = _inside(agent.skills, f"the skills folder of agent {agent.name}", _SETTINGS_STEP)
    _refuse_special(modes, skills)
    files = _skill_files(folder, skills, open_skills_with_files=open_skills_with_files)
    files += _instruction_files(folder, agent)
    for file in files:
        _refuse_shared(file, files, agent)
    return Harness(files=tuple(sorted(files, key=lambda file: file.path)))


def instructions_path(harness: Harness, agent: AgentSettings) -> str:
    """Return the path of the instructions themselves, where pointers lead to.

    Raises:
        InputError: The harness has none.
    """
    for file in harness.files:
        if file.skill is None and file.read_only is None:
            return file.path
    raise _missing(agent.instructions, agent)


def skill_doubts(harness: Harness) -> tuple[str, ...]:
    """Say of each skill that a loader may pass over why, a sentence each."""
    found = (
        (file.path, next(iter(skill_problems(file.text, file.skill).values()), ""))
        for file in harness.files
        if file.skill is not None
    )
    return tuple(
        f"{at}: {text}, so a loader may pass the skill over." for at, text in found if text
    )


def not_text(path: str) -> str:
    """Say why a path can't be a file of instructions, by its name; empty where it can."""
    name = posixpath.basename(path.rstrip("/"))
    stem, ending = posixpath.splitext(name.lower())
    is_text = ending in TEXT_ENDINGS if ending else stem not in BUILD_NAMES and stem[:1] != "."
    if is_text or name in TEXT_NAMES:
        return ""
    return (
        f"{name!r} is no text of instructions by its name (such as .md, .txt, or no ending), and "
        "healbot edits no code, settings or data"
    )


def no_folder(modes: Mapping[str, str], folder: str) -> tuple[str, str]:
    """Say why a commit has no such folder, and what to do.

    Args:
        modes: Every path of the commit with its git mode.
        folder: From the root.
    """
    parts = folder.strip("/").split("/")
    for size in range(1, len(parts) + 1):
        part = "/".join(parts[:size])
        mode = modes.get(part)
        if mode in _SPECIAL:
            what = f"The agent folder {folder!r} is, or lies behind, {_SPECIAL[mode]} ({part})"
            step = "Run healbot in that repository" if mode == "160000" else "Name the real folder"
            return f"{what}, which is not followed.", f"{step}, with settings that say so."
        if mode is not None:
            return (
                f"The agent folder {folder!r} is, or lies below, a file ({part}).",
                _SETTINGS_STEP,
            )
    what = f"The agent folder {folder!r} is empty or not committed."
    return what, "Commit it, or correct agents.dir in the settings file."


def _refuse_shared(file: HarnessFile, files: list[HarnessFile], agent: AgentSettings) -> None:
    """Refuse instructions that lie in a skill's folder, where they would be a skill's files."""
    if file.skill is not None:
        return
    for other in files:
        if other.skill is not None and other.path == file.path:
            what = f"{file.path} is both the instructions of agent {agent.name} and a skill of it"
            raise InputError(what, "Let the instructions be a file of their own.")
        if other.skill is not None and file.path.startswith(posixpath.dirname(other.path) + "/"):
            what = f"{file.path}, instructions of agent {agent.name}, lies in the skill folder "
            raise InputError(what + posixpath.dirname(other.path), "Keep it outside of skills.")


def _inside(path: str, what: str, step: str) -> str:
    """Return a path in its plain form, '' for the folder itself; refuse one that leaves it."""
    plain = posixpath.normpath(path) if path else "."
    drive = re.match(r"[A-Za-z]:", path)
    if plain.startswith(("/", "~")) or plain.split("/")[0] == ".." or "\\" in path or drive:
        raise InputError(f"{what} is {path!r}, which leaves the agent's folder", step)
    return "" if plain == "." else plain


def _refuse_special(modes: Mapping[str, str], path: str) -> None:
    """Refuse a path that is, or runs through, something else than plain files and folders."""
    parts = path.split("/")
    for size in range(1, len(parts) + 1):
        part = "/".join(parts[:size])
        mode = modes.get(part)
        if mode is not None and mode not in PLAIN_MODES:
            raise HarnessChangedError(
                f"{part} is {_SPECIAL.get(mode, f'of mode {mode}')}, and a harness holds plain "
                "files only",
                "Put a plain file in its place, or name the file it leads to in the settings.",
            )


def _skill_files(folder: Folder, skills: str, *, open_skills_with_files: bool) -> list[HarnessFile]:
    prefix = f"{skills}/" if skills else ""
    siblings: dict[str, list[str]] = {}
    for path in sorted(folder.modes):
        name, slash, rest = path.removeprefix(prefix).partition("/")
        if not path.startswith(prefix):
            continue
        if rest == SKILL_FILE or (not slash and skills):
            _refuse_special(folder.modes, path)
        if slash:
            siblings.setdefault(name, []).append(rest)
    return [
        _skill_file(folder, f"{prefix}{name}", rests, opened=open_skills_with_files)
        for name, rests in siblings.items()
        if SKILL_FILE in rests
    ]


def _skill_file(folder: Folder, where: str, rests: list[str], *, opened: bool) -> HarnessFile:
    others = [
        rest
        for rest in rests
        if rest != SKILL_FILE
        and not (
            _HARMLESS.match(posixpath.basename(rest))
            and folder.modes[f"{where}/{rest}"] in PLAIN_MODES
        )
    ]
    reason = f"{where} holds other files than {SKILL_FILE} ({others[0]})" if others else None
    path = f"{where}/{SKILL_FILE}"
    return HarnessFile(
        path=path,
        content=folder.read(path),
        skill=posixpath.basename(where),
        read_only=None if opened else reason,
        needs_person=opened and bool(others),
    )


def _instruction_files(folder: Folder, agent: AgentSettings) -> list[HarnessFile]:
    """Follow pointers from the named file to the instructions; pointers come out read-only."""
    path = _inside(agent.instructions, f"the instructions of agent {agent.name}", _SETTINGS_STEP)
    files: list[HarnessFile] = []
    pointer = ""
    while True:
        if any(file.path == path for file in files):
            raise InputError(
                f"{pointer} points to {path}, and so in a circle back to itself",
                "Let one of these files hold the instructions.",
            )
        if path not in folder.modes:
            _refuse_special(folder.modes, path)
            raise _astray(pointer, path) if pointer else _missing(path, agent)
        _refuse_special(folder.modes, path)
        if not_text(path):
            raise InputError(
                f"the instructions of agent {agent.name}: {not_text(path)}", _SETTINGS_STEP
            )
        content = folder.read(path)
        if content.startswith(b"#!"):
            raise InputError(
                f"the instructions of agent {agent.name}, {path}, begin with #!, so they are a "
                "program, and healbot edits no code",
                _SETTINGS_STEP,
            )
        target = pointer_target(content)
        if target is None:
            return [*files, HarnessFile(path=path, content=content)]
        files.append(
            HarnessFile(path=path, content=content, read_only=f"{path} only points to {target}")
        )
        pointer, path = path, _followed(path, target)


def pointer_target(content: bytes) -> str | None:
    """Return what a one-line pointer file (``@AGENTS.md``) names, or None where it is none."""
    match = _POINTER.fullmatch(content.decode("utf-8", "surrogateescape").lstrip("\ufeff").strip())
    return match[1] if match else None


def _followed(pointer: str, target: str) -> str:
    step = "Point to a file in the agent's folder, or name another instructions file."
    if target.startswith(("/", "~")):
        return _inside(target, f"the file that {pointer} points to", step)
    joined = posixpath.join(posixpath.dirname(pointer), target)
    return _inside(joined, f"the file that {pointer} points to", step)


def _astray(pointer: str, path: str) -> InputError:
    return InputError(
        f"{pointer} points to {path}, which is not there",
        "Correct the pointer, or name another instructions file in the settings.",
    )


def _missing(path: str, agent: AgentSettings) -> InputError:
    return InputError(
        f"agent {agent.name} has no {path} in {agent.dir}",
        f"Write it, or set instructions: to the file that {agent.name} reads.",
    )
