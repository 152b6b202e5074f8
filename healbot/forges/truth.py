"""What git itself bears out of a pull request: whether, where and by whom it was merged.

Knows commits and trees; a record's own word that it is merged is only a claim.
"""

from collections.abc import Mapping

from healbot.ports import CommitInfo, Repo, TreeFile
from healbot.records.pull import Pull

LOOK_BACK = 500
"""How many commits back a merge made by other means is looked for."""


class Truth:
    """The base branch and the pull requests' commits, asked."""

    def __init__(self, repo: Repo) -> None:
        self._repo = repo

    def bears_out(self, pull: Pull) -> bool:
        """Whether a record that says it is merged is borne out by the base branch."""
        tip = self._repo.resolve(f"refs/heads/{pull.base_ref}")
        sha = pull.merged_sha
        if not tip or not sha or self._repo.resolve(sha) != sha:
            return False
        reached = self._repo.merge_base(tip, sha) == sha
        return reached and self._has_files(sha, self._files(pull))

    def _files(self, pull: Pull) -> Mapping[str, TreeFile | None]:
        """Return what a pull request sets each file to that it changes; None: removed."""
        if self._repo.resolve(pull.head_sha) is None:
            return {}
        (head,) = self._repo.log(pull.head_sha, limit=1)
        now = self._repo.tree(head.sha)
        was = self._repo.tree(head.parents[0]) if head.parents else {}
        return {path: now.get(path) for path in {*now, *was} if now.get(path) != was.get(path)}

    def _has_files(self, sha: str, files: Mapping[str, TreeFile | None]) -> bool:
        tree = self._repo.tree(sha)
        return bool(files) and all(tree.get(path) == file for path, file in files.items())

    def merged_elsewhere(self, pull: Pull) -> Pull | None:
        """Return the pull request as merged where git itself has merged it; else None."""
        tip = self._repo.resolve(f"refs/heads/{pull.base_ref}")
        if not tip or self._repo.resolve(pull.head_sha) is None:
            return None
        commits = self._repo.log(tip, limit=LOOK_BACK)
        if self._repo.merge_base(tip, pull.head_sha) == pull.head_sha:
            merge = next((one for one in commits if pull.head_sha in one.parents[1:]), None)
            merge = merge or next((one for one in commits if one.sha == pull.head_sha), None)
        else:
            merge = self._squashed(pull, tip)
        if merge is None:
            return None
        merged: dict[str, object] = {
            "state": "merged",
            "draft": False,
            "closed_at": merge.at,
            "closed_by": merge.author,
            "base_before_sha": merge.parents[0] if merge.parents else "",
            "merged_sha": merge.sha,
        }
        return pull.model_copy(update=merged)

    def _squashed(self, pull: Pull, tip: str) -> CommitInfo | None:
        """Return the commit of the base branch that first had all of a pull request's files."""
        files, fork = self._files(pull), self._repo.merge_base(tip, pull.head_sha)
        later: list[CommitInfo] = []
        for one in self._repo.log(tip, sorted(files), limit=LOOK_BACK) if files and fork else ():
            if one.sha == fork or self._repo.merge_base(one.sha, fork or "") != fork:
                break
            later.append(one)
        return next((one for one in reversed(later) if self._has_files(one.sha, files)), None)
