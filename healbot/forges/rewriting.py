"""A branch's history made again without some lines of some files; everything else stays as it was.

Knows git's words through whoever runs them; moves no branch. Author, committer, time and message of
every commit stay, so the same history and the same lines give the same commits each time.
"""

import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from healbot.errors import RefusedError

WORKING_REF = "refs/healbot/rewriting"
"""Where the new history hangs while it is made; gone afterwards."""
FOLLOWING = ("refs/heads/healbot/", "refs/healbot/")
BATCH = 64
"""How many files or commits are held in memory at a time."""
_FORMAT = "%x01%H%x1f%an <%ae> %ad%x1f%cn <%ce> %cd%x1f%B%x1f"
_RAW = re.compile(rb":(\d+) (\d+) ([0-9a-f]+) ([0-9a-f]+) ([A-Z])\d*$")

Run = Callable[..., tuple[int, bytes, str]]
"""Runs git (words, and ``stdin``); returns its exit code, its answer and its complaint."""
Purge = Callable[[str, bytes], bytes]
"""Returns what stays of a file, by path and content; empty: the file goes."""


class Touch(NamedTuple):
    """What a commit does to one file; ``blob`` is None where it removes it."""

    path: str
    mode: str
    blob: str | None


class Commit(NamedTuple):
    """A commit as it is made again."""

    sha: str
    author: str
    committer: str
    message: bytes
    touches: tuple[Touch, ...]


class Rewritten(NamedTuple):
    """The new commit of each that changed, oldest first, and the blobs that are no longer in it."""

    moved: Mapping[str, str]
    blobs: tuple[str, ...]


class Rewriting:
    """Rewrites the history of one branch of one clone."""

    def __init__(self, run: Run) -> None:
        self._run = run

    def commits(self, tip: str) -> tuple[Commit, ...]:
        """Return a branch's commits, oldest first, each against its first parent."""
        listed = self._do("rev-list", "--reverse", "--first-parent", tip)
        words = ("--stdin", "--root", "-m", "--first-parent", "-r", "-z", "--raw", "--no-abbrev")
        out = self._do(
            "diff-tree", *words, "--no-renames", "--always", "--date=raw",
            f"--format={_FORMAT}", stdin=listed,
        )  # fmt: skip
        return tuple(_commit(part) for part in out.split(b"\x01")[1:])

    def contents(self, blobs: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """Return blobs' bytes, each once; those that are not here are passed over."""
        wanted = list(dict.fromkeys(blobs))
        for start in range(0, len(wanted), BATCH):
            names = "\n".join(wanted[start : start + BATCH]).encode() + b"\n"
            yield from _batch(self._do("cat-file", "--batch", stdin=names))

    def without(self, tip: str, purge: Purge, concerns: Callable[[str], bool]) -> Rewritten:
        """Make a branch's history again.

        Args:
            tip: The branch's newest commit.
            purge: What stays of a file.
            concerns: Which paths it is asked about.
        """
        commits = self.commits(tip)
        places = {
            (touch.blob, touch.path)
            for commit in commits
            for touch in commit.touches
            if touch.blob and concerns(touch.path)
        }
        paths: dict[str, list[str]] = {}
        for blob, path in sorted(places):
            paths.setdefault(blob, []).append(path)
        changed: dict[tuple[str, str], str | None] = {}
        for blob, content in self.contents(paths):
            for path in paths[blob]:
                left = purge(path, content)
                if left != content:
                    changed[blob, path] = self._store(left) if left else None
        blobs = tuple(dict.fromkeys(blob for blob, _ in changed))
        return Rewritten(self._made_again(commits, changed), blobs)

    def follow(self, moved: Mapping[str, str]) -> None:
        """Let what this clone itself keeps of the branch, beside a remote's, follow it."""
        listed = self._do("for-each-ref", "--format=%(objectname) %(refname)", *FOLLOWING)
        for sha, ref in (line.split(" ", 1) for line in listed.decode().splitlines()):
            if sha in moved:
                self._do("update-ref", ref, moved[sha], sha)

    def _made_again(
        self, commits: Sequence[Commit], changed: Mapping[tuple[str, str], str | None]
    ) -> dict[str, str]:
        first = next(
            (
                place
                for place, commit in enumerate(commits)
                if any((touch.blob, touch.path) in changed for touch in commit.touches)
            ),
            len(commits),
        )
        moved: dict[str, str] = {}
        parent = commits[first - 1].sha if first else ""
        for start in range(first, len(commits), BATCH):
            batch = commits[start : start + BATCH]
            made = self._import(batch, changed, parent)
            moved |= dict(zip([one.sha for one in batch], made, strict=True))
            parent = made[-1]
        if moved:
            self._do("update-ref", "-d", WORKING_REF)
        return moved

    def _import(
        self,
        batch: Sequence[Commit],
        changed: Mapping[tuple[str, str], str | None],
        parent: str,
    ) -> list[str]:
        lines: list[bytes] = []
        for mark, commit in enumerate(batch, start=1):
            onto = f":{mark - 1}" if mark > 1 else parent
            lines += _order(commit, changed, mark=mark, onto=onto)
        with tempfile.TemporaryDirectory(prefix="healbot-marks-") as folder:
            marks = Path(folder) / "marks"
            self._do(
                "fast-import", "--quiet", "--force", f"--export-marks={marks}",
                stdin=b"".join(lines),
            )  # fmt: skip
            pairs = dict(line.split(" ") for line in marks.read_text().splitlines())
        return [pairs[f":{mark}"] for mark in range(1, len(batch) + 1)]

    def _store(self, content: bytes) -> str:
        return self._do("hash-object", "-w", "--stdin", stdin=content).decode().strip()

    def _do(self, *words: str, stdin: bytes = b"") -> bytes:
        code, out, err = self._run(*words, stdin=stdin)
        if code:
            said = " ".join(err.split())[:300]
            raise RefusedError(f"git {words[0]} failed: {said}", "Nothing was moved by it.")
        return out


def _commit(part: bytes) -> Commit:
    sha, author, committer, message, rest = part.split(b"\x1f", 4)
    fields = rest.strip(b"\n\0").split(b"\0")
    touches = []
    for meta, path in zip(fields[::2], fields[1::2], strict=False):
        found = _RAW.search(meta.strip(b"\n"))
        if found:
            gone = found[5] == b"D"
            blob = None if gone else found[4].decode()
            touches.append(Touch(path.decode("utf-8", "surrogateescape"), found[2].decode(), blob))
    return Commit(sha.decode(), author.decode(), committer.decode(), message, tuple(touches))


def _order(
    commit: Commit,
    changed: Mapping[tuple[str, str], str | None],
    *,
    mark: int,
    onto: str,
) -> Iterator[bytes]:
    """Return the lines by which fast-import makes a commit again."""
    message = commit.message
    yield f"commit {WORKING_REF}\nmark :{mark}\n".encode()
    yield f"author {commit.author}\ncommitter {commit.committer}\n".encode()
    yield f"data {len(message)}\n".encode() + message + b"\n"
    if onto:
        yield f"from {onto}\n".encode()
    for touch in commit.touches:
        blob = changed.get((touch.blob or "", touch.path), touch.blob)
        path = _quoted(touch.path)
        yield (b"D " + path if blob is None else f"M {touch.mode} {blob} ".encode() + path) + b"\n"
    yield b"\n"


def _quoted(path: str) -> bytes:
    raw = path.encode("utf-8", "surrogateescape")
    for plain, escaped in ((b"\\", b"\\\\"), (b'"', b'\\"'), (b"\n", b"\\n")):
        raw = raw.replace(plain, escaped)
    return b'"' + raw + b'"'


def _batch(out: bytes) -> Iterator[tuple[str, bytes]]:
    """Take apart what ``git cat-file --batch`` answers."""
    place = 0
    while place < len(out):
        end = out.index(b"\n", place)
        words = out[place:end].decode().split(" ")
        place = end + 1
        if words[-1] == "missing":
            continue
        size = int(words[2])
        yield words[0], out[place : place + size]
        place += size + 1
