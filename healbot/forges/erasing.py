"""Objects taken out of one clone's object database, loose and packed, that nothing holds any more.

Knows git's words through whoever runs them, and where git keeps its objects. It takes only what it
was asked to take: what a ref, a reflog, a stash, an index or another work tree still holds stays,
and so does everything else that hangs loose.
"""

import mmap
import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from healbot.errors import RefusedError
from healbot.forges.rewriting import Rewriting, Run
from healbot.forges.speech import last

KEPT_PACK = (".keep", ".promisor")
"""Packs beside which one of these lies are left alone, as git itself leaves them."""
_OURS = ("refs/heads/healbot/", "refs/healbot/")
_LARGEST_LOOSE_BYTES = 64 * 1024 * 1024
_STATE_COMMIT = (b"\ncommitter healbot <healbot@localhost> ", b" [skip ci]")
"""What every commit of the state branch holds."""
_ROOTS = ("--all", "--reflog", "--indexed-objects")
_WALK = ("rev-list", "--objects", "--no-object-names", *_ROOTS)
_FANOUT = 8
_TABLE = _FANOUT + 256 * 4
"""Where the sorted names of a pack's index (version 2) begin."""


class Erased(NamedTuple):
    """What came of it.

    Attributes:
        removed: How many objects went.
        held: Which something still holds.
        left: Which nothing holds, and could not be taken: in a pack that is kept, or an alternate.
    """

    removed: int
    held: frozenset[str]
    left: frozenset[str]


class Erasing:
    """Erases objects from one clone."""

    def __init__(self, run: Run, folder: Path) -> None:
        """Work on the object database below a git directory."""
        self._run = run
        self._objects = folder / "objects"
        self._read = Rewriting(run)

    def forget_reflogs(self) -> None:
        """Drop what reflogs of healbot's own refs say of commits that the refs hold no more."""
        listed = self._say("for-each-ref", "--format=%(refname)")
        for ref in listed.splitlines():
            if ref.startswith(_OURS) or (ref.startswith("refs/remotes/") and "/healbot/" in ref):
                self._run(
                    "reflog", "expire", "--expire=never", "--expire-unreachable=all", "--rewrite",
                    ref,
                )  # fmt: skip

    def require_whole(self) -> None:
        """Walk all that refs, reflogs and indexes hold, before anything is changed.

        Raises:
            RefusedError: git can't tell what is held, so nothing may be taken out.
        """
        self._say(*_WALK)

    def holders(self, commit: str) -> tuple[str, ...]:
        """Return the refs from which a commit can be reached."""
        if not self._present((commit,)):
            return ()
        out = self._say("for-each-ref", "--format=%(refname)", f"--contains={commit}")
        return tuple(out.splitlines())

    def only_below(self, tips: Sequence[str]) -> tuple[str, ...]:
        """Return what these commits hold and refs do not, as far as git tells without a full walk.

        It tells too much rather than too little; ``erase`` looks closely.
        """
        here = self._present(tips)
        if not here:
            return ()
        out = self._say("rev-list", "--objects", *here, "--not", *_ROOTS)
        return tuple(line.split(" ", 1)[0] for line in out.splitlines())

    def lost_commits(self) -> tuple[str, ...]:
        """Return loose commits of the state branch's kind: a write that lost a race left some."""
        return self._loose("commit", lambda text: all(one in text for one in _STATE_COMMIT))

    def loose_with(self, mark: bytes) -> tuple[str, ...]:
        """Return loose files' contents that hold a mark: a write that was cut off left some."""
        return self._loose("blob", lambda content: mark in content)

    def _loose(self, kind: str, wanted: Callable[[bytes], bool]) -> tuple[str, ...]:
        names = [path.parent.name + path.name for path in self._objects.glob("[0-9a-f][0-9a-f]/*")]
        listed = "\n".join(name for name in names if _is_name(name)).encode() + b"\n"
        form = "--batch-check=%(objectname) %(objecttype) %(objectsize)"
        found = self._say("cat-file", form, stdin=listed).split("\n")
        rows = [line.split(" ") for line in found if line.count(" ") == 2]  # noqa: PLR2004 - fields
        right = [
            name
            for name, its_kind, size in rows
            if its_kind == kind and int(size) <= _LARGEST_LOOSE_BYTES
        ]
        return tuple(name for name, text in self._read.contents(right) if wanted(text))

    def erase(self, names: Iterable[str]) -> Erased:
        """Take objects out, as far as nothing holds them now."""
        wanted = self._present(tuple(names))
        held = self._reachable(set(wanted)) if wanted else set()
        doomed = {name for name in wanted if name not in held}
        for name in doomed:
            with suppress(FileNotFoundError):
                (self._objects / name[:2] / name[2:]).unlink()
        self._repack({bytes.fromhex(name) for name in doomed})
        left = set(self._present(tuple(doomed)))
        return Erased(len(doomed) - len(left), frozenset(held), frozenset(left))

    def _present(self, names: Sequence[str]) -> tuple[str, ...]:
        listed = "\n".join(dict.fromkeys(names)).encode() + b"\n"
        out = self._say("cat-file", "--batch-check=%(objectname)", stdin=listed)
        return tuple(line for line in out.splitlines() if _is_name(line))

    def _reachable(self, wanted: set[str]) -> set[str]:
        out = self._say(*_WALK)
        return wanted & set(out.splitlines())

    def _repack(self, doomed: set[bytes]) -> None:
        """Replace each pack that holds a doomed object by one without."""
        gone = False
        for index in sorted((self._objects / "pack").glob("pack-*.idx")):
            if any(index.with_suffix(end).exists() for end in KEPT_PACK):
                continue
            names = _names(index)
            if doomed.isdisjoint(names):
                continue
            kept = [name for name in names if name not in doomed]
            if kept and not self._packed(kept):
                continue
            gone = True
            for end in (".rev", ".bitmap", ".mtimes", ".pack", ".idx"):
                index.with_suffix(end).unlink(missing_ok=True)
        if gone:
            self._refresh()

    def _packed(self, names: Sequence[bytes]) -> bool:
        """Write a pack of objects and say whether it holds them all."""
        listed = "\n".join(name.hex() for name in names).encode() + b"\n"
        prefix = str(self._objects / "pack/pack")
        code, out, _ = self._run(
            "pack-objects", "--quiet", "--delta-base-offset", prefix, stdin=listed
        )
        made = Path(f"{prefix}-{out.decode().strip()}.idx")
        return code == 0 and made.exists() and set(_names(made)) >= set(names)

    def _refresh(self) -> None:
        """Make git's own caches over packs and commits again, where there were any."""
        multi = [*(self._objects / "pack").glob("multi-pack-index*")]
        for path in multi:
            path.unlink(missing_ok=True)
        if multi:
            self._run("multi-pack-index", "write")

    def forget_graph(self) -> None:
        """Make the commit graph again, where there is one: it names commits that went."""
        info = self._objects / "info"
        paths = [info / "commit-graph", *(info / "commit-graphs").glob("*")]
        found = [path for path in paths if path.exists()]
        for path in found:
            path.unlink(missing_ok=True)
        if found:
            self._run("commit-graph", "write", "--reachable")

    def _say(self, *words: str, stdin: bytes = b"") -> str:
        code, out, err = self._run(*words, stdin=stdin)
        if code:
            raise RefusedError(
                f"git {words[0]} can't tell what is held here: {last(err)}",
                "Run git fsck, mend or delete what it names, then run this again; no object went.",
            )
        return out.decode("utf-8", "surrogateescape")


def _names(index: Path) -> list[bytes]:
    """Return the names of a pack's objects, from its index."""
    with index.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        (count,) = struct.unpack(">I", data[_TABLE - 4 : _TABLE])
        width = 32 if len(index.stem.removeprefix("pack-")) == 64 else 20  # noqa: PLR2004 - sha256
        return list(_cut(data[_TABLE : _TABLE + count * width], width))


def _cut(data: bytes, width: int) -> Iterator[bytes]:
    return (data[place : place + width] for place in range(0, len(data), width))


def _is_name(text: str) -> bool:
    return len(text) in (40, 64) and all(one in "0123456789abcdef" for one in text)
