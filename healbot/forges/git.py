"""The one door to git: reads trees, makes commits, moves refs by compare-and-swap.

Knows git (through GitPython) and nothing of harnesses, ledgers or pull requests. It works on the
user's own repository, never in a folder that an agent touched. Commits are made with plumbing, so
no work tree, index or hook of the user's takes part; the same arguments give the same commit.
With a remote, the remote is the truth: it is moved first, atomically and with leases, and what it
holds is mirrored under ``refs/healbot/remote/``.
"""

import io
import tempfile
import threading
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from pathlib import Path

import git
from gitdb import IStream  # type: ignore[import-untyped]  # ships no types

from healbot.errors import InputError, RefusedError, StaleError
from healbot.forges import speech
from healbot.forges.checkout import Checkouts
from healbot.forges.erasing import Erasing
from healbot.forges.rewriting import Rewriting
from healbot.ports import CommitInfo, Swap, TreeFile

IDENTITY = ("healbot", "healbot@localhost")
MIRROR = "refs/healbot/remote/"
ZERO = "0" * 40
FETCHES = 5
"""How often a fetch is tried that runs into another one of the same clone."""


class _Git(git.Git):
    def __init__(self, working_dir: str | None = None) -> None:
        super().__init__(working_dir)
        self._working_dir = working_dir  # a dollar in a path is a dollar, and no variable


class _Clone(git.Repo):
    GitCommandWrapperType = _Git  # type: ignore[assignment]  # typed as the class that it replaces


class GitRepo:
    """``Repo`` and ``RepoWriter`` over one clone, and its remote where one is named."""

    def __init__(
        self,
        folder: Path,
        *,
        remote: str | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """Open a repository; of ``environment`` only what git needs for a remote is used."""
        try:
            self._repo = _Clone(
                folder.absolute(), search_parent_directories=True, expand_vars=False
            )
        except (git.InvalidGitRepositoryError, git.NoSuchPathError) as error:
            raise InputError(
                f"{folder} is no git repository.", "Run git init there, or name one with --repo."
            ) from error
        self.folder = Path(self._repo.working_tree_dir or self._repo.common_dir)
        self.private = Path(self._repo.common_dir) / "healbot"
        self._remote = remote
        self._environment = {
            name: value
            for name, value in (environment or {}).items()
            if speech.REMOTE_NEEDS.match(name)
        }
        self._lock = threading.Lock()
        self._checkouts = Checkouts(self._git)
        self.rewriting = Rewriting(self._git)
        self.erasing = Erasing(self._git, Path(self._repo.common_dir))
        self._tree = lru_cache(maxsize=256)(self._read_tree)
        if remote and remote not in self.remotes():
            raise InputError(
                f"The settings name the remote {remote!r}, and this clone has none of that name.",
                "Add it with git remote add, or change forge.remote.",
            )

    @classmethod
    def create(
        cls, folder: Path, files: Mapping[str, bytes], *, message: str, at: datetime
    ) -> "GitRepo":
        """Make a repository with one commit on ``main``, checked out.

        Raises:
            InputError: The folder is inside a repository, or not empty.
        """
        if folder.exists() and any(folder.iterdir()):
            raise InputError(f"{folder} is not empty.", "Name a new folder.")
        git.Repo.init(
            folder.absolute(), mkdir=True, expand_vars=False, initial_branch="main"
        ).close()
        made = cls(folder)
        sha = made.commit(files, base=None, parents=(), message=message, at=at)
        made.swap([Swap("refs/heads/main", None, sha)])
        made._do("read-tree", "-u", "--reset", sha)
        return made

    # Reading

    def resolve(self, ref: str) -> str | None:
        """Return the object a ref or name stands at, or None."""
        name = self._seen(ref)
        code, out, _ = self._git("rev-parse", "--verify", "--quiet", f"{name}^{{object}}")
        return out.decode().strip() if code == 0 else None

    def refs(self, prefix: str) -> Mapping[str, str]:
        """Return every ref under a prefix with its object id."""
        seen = self._seen(prefix)
        out = self._do("for-each-ref", "--format=%(objectname) %(refname)", seen)
        pairs = (
            line.split(" ", 1)
            for line in out.decode("utf-8", "surrogateescape").split("\n")
            if line
        )
        return {prefix + name[len(seen) :]: sha for sha, name in pairs}

    def tree(self, sha: str, prefix: str = "") -> Mapping[str, TreeFile]:
        """Return the files of a commit below a folder, by path from the root."""
        return self._tree(sha, prefix.strip("/"))

    def blob(self, blob: str) -> bytes:
        """Return a blob's exact bytes; InputError where it is missing or damaged."""
        with self._lock, speech.whole(blob):
            stream = self._repo.odb.stream(bytes.fromhex(blob))
            data: bytes = stream.read()
            if len(data) != stream.size:
                raise EOFError
        return data

    def log(
        self, sha: str, paths: Sequence[str] = (), limit: int = 1000, *, first_parent: bool = False
    ) -> Sequence[CommitInfo]:
        """Return commits reachable from one, newest first; see ``ports.Repo``."""
        words = speech.log(sha, paths, limit, first_parent=first_parent)
        out = self._do(*words).decode("utf-8", "replace")
        return [speech.commit(one) for one in out.split("\0") if one]

    def merge_base(self, one: str, other: str) -> str | None:
        """Return the best common ancestor."""
        code, out, _ = self._git("merge-base", one, other)
        return out.decode().strip() if code == 0 else None

    def checked_out(self, ref: str) -> Path | None:
        """Return the work tree in which a branch that ``swap`` moves is checked out, or None."""
        return None if self._remote else self._checkouts.of(ref)

    def person(self) -> str:
        """Return the name that git's own settings give whoever works here, or nothing."""
        return self._setting("user.name")

    def _setting(self, name: str) -> str:
        code, out, _ = self._git("config", "--get", name)
        return out.decode("utf-8", "replace").strip() if code == 0 else ""

    def worktrees(self) -> tuple[Path, ...]:
        """Return every work tree of the repository, this one and those beside it."""
        return tuple(dict.fromkeys((self.folder, *self._checkouts.folders())))

    def current_branch(self) -> str | None:
        """Return the short name of the checked-out branch, or None where HEAD is detached."""
        code, out, _ = self._git("symbolic-ref", "--quiet", "--short", "HEAD")
        return speech.branch(out) if code == 0 else None

    def version(self) -> tuple[int, ...]:
        """Return the version of the git program."""
        return self._repo.git.version_info

    def remotes(self) -> tuple[str, ...]:
        """Return the names of the remotes that this clone has."""
        return tuple(one.name for one in self._repo.remotes)

    def changed(self) -> tuple[str, ...]:
        """Return the tracked files that differ from HEAD, by path from the work tree's root."""
        out = self._do(
            "--no-optional-locks", "-C", str(self.folder), "diff", "HEAD", "--name-only", "-z", "--"
        )
        return tuple(part.decode("utf-8", "surrogateescape") for part in out.split(b"\0") if part)

    # Writing

    def commit(
        self,
        changes: Mapping[str, bytes | None],
        *,
        base: str | None,
        parents: Sequence[str],
        message: str,
        at: datetime,
        by: str = "",
    ) -> str:
        """Make a commit of ``base``'s tree with files set; see ``ports.RepoWriter``."""
        modes = self.tree(base) if base else {}
        lines = []
        for path, content in sorted(changes.items()):
            if content is None:
                lines.append(f"0 {ZERO}\t{path}")
            else:
                mode = modes[path].mode if path in modes else "100644"
                lines.append(f"{mode} {self._store(content)}\t{path}")
        with tempfile.TemporaryDirectory(prefix="healbot-index-") as folder:
            env = {"GIT_INDEX_FILE": str(Path(folder) / "index")}
            self._do("read-tree", base or "--empty", env=env)
            self._do("update-index", "-z", "--index-info", stdin=speech.records(lines), env=env)
            tree = self._do("write-tree", env=env).decode().strip()
        return self._commit_tree(tree, parents, message=message, at=at, by=by)

    def merge(
        self, onto: str, head: str, *, message: str, at: datetime, by: str = ""
    ) -> str | None:
        """Make a merge commit of two commits, first parent ``onto``; None on a conflict."""
        tree = self._merged_tree(onto, head)
        if tree is None:
            return None
        return self._commit_tree(tree, (onto, head), message=message, at=at, by=by)

    def revert(
        self, onto: str, merged: str, *, message: str, at: datetime, by: str = ""
    ) -> str | None:
        """Make a commit on ``onto`` that undoes ``merged``; None on a conflict.

        Its first parent's tree, laid on top of it as a child, makes git's own three-way merge
        (base ``merged``) the revert; so merge commits and plain ones go alike.
        """
        before = self._do("rev-parse", f"{merged}^1^{{tree}}").decode().strip()
        undone = self._commit_tree(before, (merged,), message="undo", at=at)
        tree = self._merged_tree(onto, undone)
        if tree is None:
            return None
        return self._commit_tree(tree, (onto,), message=message, at=at, by=by)

    def swap(self, swaps: Sequence[Swap]) -> None:
        """Move refs, all or none; see ``ports.RepoWriter``."""
        if self._remote:
            self._checkouts.note(swaps)
            self._push(swaps)
            try:
                self._update([one._replace(ref=self._seen(one.ref)) for one in swaps], force=True)
            except StaleError:
                self.fetch()  # the push stands; another git of this clone moves the mirror as well
            self._checkouts.catch_up(f"{MIRROR}heads/")
            return
        moved: list[tuple[Path, str, str]] = []
        for one in swaps:
            where = self._checkouts.of(one.ref)
            if where and one.before and one.after:
                self._checkouts.move(where, one.before, one.after)
                moved.append((where, one.after, one.before))
        try:
            self._update(swaps)
        except StaleError:
            for back in moved:
                self._checkouts.move(*back)
            raise

    def fetch(self) -> None:
        """Mirror the remote's refs here; does nothing where there is no remote."""
        if not self._remote:
            return
        spec = (f"+refs/heads/*:{MIRROR}heads/*", f"+refs/healbot/*:{MIRROR}healbot/*")
        for _ in range(FETCHES):
            code, _, err = self._git(
                "fetch", "--quiet", "--prune", "--no-tags", self._remote, *spec
            )
            if not code or not speech.RACE_FETCH.search(err):
                break
        if code:
            raise RefusedError(
                f"The remote {self._remote!r} could not be read: {speech.last(err)}",
                "Check the address and your access, then run the command again.",
            )
        self._checkouts.catch_up(f"{MIRROR}heads/")

    # What the above is made of

    def _git(
        self, *words: str, stdin: bytes = b"", env: Mapping[str, str] | None = None, where: str = ""
    ) -> tuple[int, bytes, str]:
        command = ["git", *speech.OPTIONS, *(("-C", where) if where else ()), *words]
        with tempfile.TemporaryFile() as feed:
            feed.write(stdin)
            feed.seek(0)
            try:
                code, out, err = self._repo.git.execute(
                    command,
                    istream=feed,
                    with_extended_output=True,
                    with_exceptions=False,
                    stdout_as_string=False,
                    strip_newline_in_stdout=False,
                    env={
                        **self._environment,
                        "LC_ALL": "C",
                        "GIT_TERMINAL_PROMPT": "0",
                        **(env or {}),
                    },
                )
            except git.GitCommandNotFound as error:
                raise InputError(
                    f"git could not be started in {self.folder}.",
                    "See that git is on PATH and the folder still there, then run this again.",
                ) from error
        return int(code), speech.raw(out), speech.raw(err).decode("utf-8", "replace")

    def _do(self, *words: str, stdin: bytes = b"", env: Mapping[str, str] | None = None) -> bytes:
        code, out, err = self._git(*words, stdin=stdin, env=env)
        if code:
            raise RefusedError(
                f"git {words[0]} failed: {speech.last(err)}", "See git's own words above."
            )
        return out

    def _seen(self, ref: str) -> str:
        """Where a ref is read here: its mirror where a remote is the truth."""
        if self._remote and ref.startswith(("refs/heads/", "refs/healbot/")):
            return ref if ref.startswith(MIRROR) else MIRROR + ref.removeprefix("refs/")
        return ref

    def _read_tree(self, sha: str, prefix: str) -> Mapping[str, TreeFile]:
        only = ("--", prefix) if prefix else ("--",)
        out = self._do("ls-tree", "-r", "-z", "--full-tree", sha, *only)
        return speech.tree(out)

    def _store(self, content: bytes) -> str:
        with self._lock:
            kept = self._repo.odb.store(IStream(b"blob", len(content), io.BytesIO(content)))
        sha: str = kept.hexsha.decode()
        return sha

    def _author(self, by: str) -> tuple[str, str]:
        """Return the author's name and address: a person's own where git's settings know them."""
        name, mail = IDENTITY
        if not by or by == name:
            return IDENTITY
        return by, (self._setting("user.email") if by == self.person() else "") or mail

    def _commit_tree(
        self, tree: str, parents: Sequence[str], *, message: str, at: datetime, by: str = ""
    ) -> str:
        when = f"{int(at.timestamp())} +0000"
        people = {"AUTHOR": self._author(by), "COMMITTER": IDENTITY}
        env = {
            **{f"GIT_{who}_NAME": name for who, (name, _) in people.items()},
            **{f"GIT_{who}_EMAIL": mail for who, (_, mail) in people.items()},
            **{f"GIT_{who}_DATE": when for who in ("AUTHOR", "COMMITTER")},
        }
        words = [word for parent in parents for word in ("-p", parent)]
        text = message.encode("utf-8", "replace")
        return self._do("commit-tree", tree, *words, stdin=text, env=env).decode().strip()

    def _merged_tree(self, onto: str, head: str) -> str | None:
        code, out, err = self._git("merge-tree", "--write-tree", onto, head)
        if code > 1 and "unrelated histories" in err:
            raise RefusedError(
                "The pull request and its base branch have no common history.",
                "Close it, or put the base branch back to the history that it was cut from.",
            )
        if code > 1:
            raise RefusedError(
                f"git merge-tree failed: {speech.last(err)}", "git 2.38 or later is needed."
            )
        return out.decode("utf-8", "replace").split("\n", 1)[0].strip() if code == 0 else None

    def _update(self, swaps: Sequence[Swap], *, force: bool = False) -> None:
        lines = ["start"]
        for ref, before, after in swaps:
            guard = "" if force else f" {before or ZERO}"
            lines.append(f"update {ref} {after}{guard}" if after else f"delete {ref}{guard}")
        lines += ["prepare", "commit", ""]
        code, _, err = self._git("update-ref", "--stdin", stdin="\n".join(lines).encode())
        if code and (speech.RACE.search(err) or ".lock" in err):
            raise StaleError(f"A ref moved meanwhile: {speech.last(err)}", "Run the command again.")
        if code:
            raise RefusedError(
                f"git update-ref failed: {speech.last(err)}", "See git's own words above."
            )

    def _push(self, swaps: Sequence[Swap]) -> None:
        assert self._remote  # noqa: S101 - callers asked
        leases = [f"--force-with-lease={ref}:{before or ''}" for ref, before, _ in swaps]
        specs = [f"{after or ''}:{ref}" for ref, _, after in swaps]
        code, out, err = self._git(
            "push", "--porcelain", "--atomic", "--no-verify", *leases, self._remote, *specs
        )
        if not code:
            return
        said = out.decode("utf-8", "replace") + err
        if speech.RACE_PUSH.search(said):
            raise StaleError("The remote moved meanwhile.", "Run the command again.")
        raise RefusedError(
            f"The remote {self._remote!r} refused the push: {speech.last(said)}",
            "Check your access and the rules that protect its branches.",
        )
