"""What tests of runners share: a repository in memory, records made short, real processes."""

import hashlib
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from healbot.ports import CommitInfo, TreeFile
from healbot.records.case import Case
from healbot.records.harness import Harness, HarnessFile
from healbot.records.run import Job
from healbot.records.settings import AgentSettings, RunSettings

Content = str | bytes | tuple[str, str | bytes]
PLAIN = "100644"


class MemoryRepo:
    """A Repo of commits given as path to content (text, bytes, or mode and bytes)."""

    def __init__(self, **commits: Mapping[str, Content]) -> None:
        self.reads = 0
        self._blobs: dict[str, bytes] = {}
        self._trees = {
            sha: {path: self._keep(content) for path, content in files.items()}
            for sha, files in commits.items()
        }

    def _keep(self, content: Content) -> TreeFile:
        mode, data = content if isinstance(content, tuple) else (PLAIN, content)
        raw = data.encode() if isinstance(data, str) else data
        blob = hashlib.sha1(raw, usedforsecurity=False).hexdigest()
        self._blobs[blob] = raw
        return TreeFile(mode, blob)

    def resolve(self, ref: str) -> str | None:
        return ref if ref in self._trees else None

    def refs(self, prefix: str) -> Mapping[str, str]:
        return {sha: sha for sha in self._trees if sha.startswith(prefix)}

    def tree(self, sha: str, prefix: str = "") -> Mapping[str, TreeFile]:
        start = prefix.strip("/") + "/" if prefix else ""
        return {p: file for p, file in self._trees[sha].items() if p.startswith(start)}

    def blob(self, blob: str) -> bytes:
        self.reads += 1
        return self._blobs[blob]

    def log(
        self,
        sha: str,
        paths: Sequence[str] = (),
        limit: int = 1000,
        *,
        first_parent: bool = False,
    ) -> Sequence[CommitInfo]:
        return ()

    def checked_out(self, ref: str) -> Path | None:
        raise NotImplementedError(ref)

    def merge_base(self, one: str, other: str) -> str | None:
        return None


def agent(folder: str = "agents/support", **run: Any) -> AgentSettings:
    words = RunSettings(**{"command": "true", **run})
    return AgentSettings(name="support", dir=folder, cases=("cases",), run=(words,))


def case(**fields: Any) -> Case:
    return Case(**{"id": "secret-case-id", "input": "hello", **fields})


def harness(**files: str) -> Harness:
    texts = files or {"instructions.md": "candidate\n"}
    return Harness(
        files=tuple(HarnessFile(path=path, content=text.encode()) for path, text in texts.items())
    )


def job(root: Path, one: Case | None = None, *, folder: str = "", seed: int = 7) -> Job:
    return Job(case=one or case(), root=root, folder=root / folder, seed=seed)


def environment(**more: str) -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", **more}
