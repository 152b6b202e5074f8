"""Which of a repository's paths an agent's workspace must not hold, because they are the test.

Knows settings, cases and a listing of paths; copies nothing. What a case brings itself (``files``,
``workspace``) is laid over the workspace afterwards by whoever prepares it.
"""

import shlex
from collections.abc import Iterator, Sequence

from healbot.records.case import Case
from healbot.records.settings import SETTINGS_PATH, AgentSettings, ScriptedEditor, Settings
from healbot.rules.cases import is_case_file
from healbot.rules.globs import is_glob, join, matches, tidy

CHECK_FOLDERS = frozenset({"checks", "hidden"})
"""A check's script in a folder of such a name takes the whole folder with it."""


def excluded_paths(
    paths: Sequence[str], *, settings: Settings, cases: Sequence[Case]
) -> frozenset[str]:
    """Return the paths of a listing that no agent may find in its workspace.

    They are: the settings file; the lessons folder; a scripted editor's answers; every agent's
    cases (the whole folder where ``cases`` names one that holds no agent); and what ``cases`` refer
    to: scripts of command and python checks, hidden tests' ``add`` folders, ``workspace`` folders.
    Instructions and skills of an agent are never among them.
    """
    listing = frozenset(paths)
    folders = {tidy(settings.lessons.dir), *_case_folders(settings), *_brought(cases)}
    files = {SETTINGS_PATH, *_scripted(settings)}
    files |= {tidy(one) for agent in settings.agents for one in agent.cases if not is_glob(one)}
    roots = {tidy(agent.dir) for agent in settings.agents}
    for script in scripts_of(cases, paths, roots=sorted(roots)):
        folder = script.rpartition("/")[0]
        files.add(script)
        if folder.rpartition("/")[2] in CHECK_FOLDERS:
            folders.add(folder)
    folders = {one for one in folders if one and not _holds_agent(one, roots)}
    globs = [one for agent in settings.agents for one in agent.cases if is_glob(one)]
    hidden = {path for path in listing if path in files or _is_below(path, folders)}
    hidden |= {path for path in listing for glob in globs if matches(path, glob)}
    hidden |= {tidy(case.origin.rpartition(":")[0]) for case in cases} & listing
    hidden |= {tidy(path) for case in cases for path in case.sources} & listing
    return frozenset(path for path in hidden if not _is_harness(path, settings))


def scripts_of(cases: Sequence[Case], paths: Sequence[str], *, roots: Sequence[str]) -> set[str]:
    """Return the scripts that checks name, as far as a listing of paths holds them.

    A path in a check is looked for from the case file's folder, the agents' folders (``roots``) and
    the repository's root.
    """
    listing = frozenset(paths)
    found = set()
    for case in cases:
        for word in _words_of(case):
            for base in (case.folder, *roots, ""):
                path = join(base, word)
                if path in listing:
                    found.add(path)
    return found


def _words_of(case: Case) -> Iterator[str]:
    for check in case.checks:
        if check.command:
            yield from _command_words(check.command)
        if check.python:
            yield from _module_paths(check.python.partition(":")[0])


def _command_words(command: str) -> Iterator[str]:
    try:
        words = shlex.split(command)
    except ValueError:
        words = command.split()
    for before, word in zip(["", *words], words, strict=False):
        yield from _module_paths(word) if before == "-m" else (word,)


def _module_paths(module: str) -> Iterator[str]:
    path = module.removesuffix(".py").replace(".", "/")
    yield from (f"{path}.py", f"{path}/__init__.py", f"{path}/__main__.py")


def _case_folders(settings: Settings) -> Iterator[str]:
    for agent in settings.agents:
        yield from (tidy(one) for one in agent.cases if not is_glob(one) and not is_case_file(one))


def _brought(cases: Sequence[Case]) -> Iterator[str]:
    for case in cases:
        hidden = [check.tests.add for check in case.checks if check.tests]
        for place in [*hidden, *([case.workspace] if case.workspace else [])]:
            path = join(case.folder, place)
            if path:
                yield path


def _scripted(settings: Settings) -> Iterator[str]:
    for editor in settings.editors:
        if isinstance(editor, ScriptedEditor):
            yield tidy(editor.scripted)


def _holds_agent(folder: str, roots: set[str]) -> bool:
    return any(root == folder or root.startswith(folder + "/") for root in roots)


def _is_below(path: str, folders: set[str]) -> bool:
    return any(path.startswith(folder + "/") for folder in folders)


def _is_harness(path: str, settings: Settings) -> bool:
    return any(_is_of(path, agent) for agent in settings.agents)


def _is_of(path: str, agent: AgentSettings) -> bool:
    skills = join(agent.dir, agent.skills)
    is_skill = bool(skills) and path.startswith(f"{skills}/")
    return path == join(agent.dir, agent.instructions) or is_skill
