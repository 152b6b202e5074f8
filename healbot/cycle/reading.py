"""What a cycle stands on: harness, cases and settings as they are at one commit of the base branch.

Knows how to read them through the repository port; never reads a work tree, so what a cycle judges
is what was committed.
"""

from collections.abc import Mapping
from typing import NamedTuple

from healbot.errors import InputError
from healbot.ports import Repo
from healbot.records.case import Case, Split
from healbot.records.harness import Harness
from healbot.records.record import digest_of
from healbot.records.settings import SETTINGS_PATH, AgentSettings, Settings
from healbot.rules.cases import match_paths, read_cases
from healbot.rules.layout import harness_of, no_folder
from healbot.rules.reading import read_settings
from healbot.rules.splits import assign
from healbot.rules.suites import Files

SYMLINK = "120000"


class Ground(NamedTuple):
    """What was read at one commit.

    Attributes:
        cases: By id, each with its split.
        recorded: The splits by near-duplicate cluster, those newly given included.
    """

    base_ref: str
    base_sha: str
    harness: Harness
    cases: Mapping[str, Case]
    recorded: Mapping[str, Split]

    def of(self, *splits: Split) -> tuple[Case, ...]:
        """Return the cases of some splits, by id."""
        return tuple(case for _, case in sorted(self.cases.items()) if case.split in splits)

    @property
    def cases_digest(self) -> str:
        """Names all cases with their splits."""
        return digest_of([[case.digest, case.split] for case in self.of(*Split)])


def settings_at(repo: Repo, sha: str) -> Settings:
    """Read the settings file of a commit.

    Raises:
        InputError: It is missing or wrong; says where.
    """
    file = repo.tree(sha, SETTINGS_PATH).get(SETTINGS_PATH)
    if file is None:
        raise InputError(
            f"{SETTINGS_PATH} is not committed on this branch.",
            "Run healbot init, look at the file, and commit it.",
        )
    if file.mode == SYMLINK:
        raise InputError(
            f"{SETTINGS_PATH} is a symlink, which is not followed.",
            "Put the settings file itself there, and commit it.",
        )
    return read_settings(repo.blob(file.blob), SETTINGS_PATH)


def harness_at(repo: Repo, sha: str, agent: AgentSettings, *, open_skills: bool) -> Harness:
    """Read an agent's harness at a commit."""
    folder = "" if agent.dir in (".", "./") else agent.dir.strip("/") + "/"
    files = {
        path.removeprefix(folder): file
        for path, file in repo.tree(sha, folder).items()
        if path.startswith(folder)
    }
    if not files:
        modes = {path: file.mode for path, file in repo.tree(sha).items()}
        raise InputError(*no_folder(modes, agent.dir))
    return harness_of(
        {path: file.mode for path, file in files.items()},
        lambda path: repo.blob(files[path].blob),
        agent,
        open_skills_with_files=open_skills,
    )


def written_at(repo: Repo, sha: str, agent: AgentSettings) -> tuple[Case, ...]:
    """Read an agent's cases at a commit as they are written, splits not yet given."""
    tree = repo.tree(sha)
    paths = match_paths(tuple(tree), agent.cases)
    for path in paths:
        if tree[path].mode == SYMLINK:
            raise InputError(
                f"The case file {path} is a symlink, which is not followed.",
                "Put the file itself there, or name the one it leads to in the settings.",
            )
    plain = tuple(path for path, file in tree.items() if file.mode != SYMLINK)
    files = Files(plain, lambda path: repo.blob(tree[path].blob))
    return read_cases({path: files.read(path) for path in paths}, agent, files)


def cases_at(
    repo: Repo, sha: str, agent: AgentSettings, *, recorded: Mapping[str, Split]
) -> tuple[Mapping[str, Case], Mapping[str, Split]]:
    """Read an agent's cases at a commit, each with its split, and the splits to record."""
    assigned = assign(written_at(repo, sha, agent), recorded)
    return {case.id: case for case in assigned.cases}, assigned.recorded


def ground_at(
    repo: Repo, base_ref: str, sha: str, *, agent: AgentSettings, settings: Settings,
    recorded: Mapping[str, Split],
) -> Ground:  # fmt: skip
    """Read all of it."""
    harness = harness_at(repo, sha, agent, open_skills=settings.limits.open_skills_with_files)
    cases, now = cases_at(repo, sha, agent, recorded=recorded)
    return Ground(base_ref, sha, harness, rows_of(cases, agent), now)


def rows_of(cases: Mapping[str, Case], agent: AgentSettings) -> Mapping[str, Case]:
    """Return each case once for each way of running: an edit must pass on every one.

    Where there is one way only, the cases are the rows.
    """
    if len(agent.run) == 1:
        return cases
    return {row.id: row for case in cases.values() for row in map(case.by, agent.ways)}


def repo_path(agent: AgentSettings, path: str) -> str:
    """Return a harness path as the repository has it."""
    return path if agent.dir in (".", "./") else f"{agent.dir.strip('/')}/{path}"
