"""What tests of the embedded forge share: Intents made short, and a forge over a repository."""

from datetime import UTC, datetime
from pathlib import Path

from sandbox import git

from healbot.forges.git import GitRepo
from healbot.forges.local import Known, LocalForge
from healbot.ports import State
from healbot.records.intent import MergePull, OpenPull
from healbot.records.record import digest_bytes
from healbot.stores.state import StateBranch

AT = datetime(2026, 1, 1, tzinfo=UTC)
OLD, NEW = b"- Answer politely.\n", b"- Answer politely.\n- Escalate.\n"
BRANCH = "healbot/s/escalate"
PATH = "agents/s/instructions.md"


def forge(folder: Path) -> LocalForge:
    repo = GitRepo(folder)

    def known(_: State) -> dict[int, Known]:
        refs = repo.refs("refs/healbot/pulls/")
        heads = {int(ref.split("/")[3]): sha for ref, sha in refs.items()}
        return {number: Known("main", BRANCH, sha) for number, sha in heads.items()}

    return LocalForge(repo, repo, StateBranch(repo, repo), known=known)


def tip(folder: Path, ref: str = "main") -> str:
    return git(folder, "rev-parse", ref)


def opening(folder: Path, key: str = "open:1", branch: str = BRANCH) -> OpenPull:
    return OpenPull(
        key=key, agent="s", at=AT, base_ref="main", base_sha=tip(folder), branch=branch,
        files={PATH: NEW}, commit_message="fix(s): escalate\n", title="fix(s): escalate",
        body="card", labels=("healbot",),
    )  # fmt: skip


def merging(number: int, head: str, unchanged: bytes | None = OLD) -> MergePull:
    digest = None if unchanged is None else digest_bytes(unchanged)
    return MergePull(
        key="merge:1", number=number, head_sha=head, by="Ada", at=AT,
        commit_message="Merge pull request 1\n", unchanged={PATH: digest},
    )  # fmt: skip
