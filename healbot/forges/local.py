"""The embedded forge: pull requests kept inside the git repository itself.

Knows refs, commits and the queue's records in the state (``pulls/<n>.json``). Record and refs move
in one swap, so a pull request is never half opened, half merged or half closed; two clones share it
through a bare remote. It has no server, no account and no network of its own. A record is data that
anyone who can push may edit: what git and the ledger know is believed before it.
"""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import NamedTuple

from healbot.errors import HarnessChangedError, InputError, RefusedError, StaleError
from healbot.forges.recording import (
    AUTHOR,
    closed_effect,
    found,
    gone,
    is_done,
    merged_effect,
    reopened,
    still_open,
    taken,
    touched,
    with_comment,
)
from healbot.forges.truth import Truth
from healbot.ports import Repo, RepoWriter, State, Store, Swap
from healbot.records.intent import (
    ClosePull,
    Effect,
    Intent,
    MergePull,
    OpenPull,
    PostCheck,
    ReopenPull,
    Restore,
    SayOnPull,
    UpdatePull,
)
from healbot.records.pull import OUTCOME, Comment, Pull
from healbot.records.record import digest_bytes

ATTEMPTS = 8
LOOK_BACK = 500
"""How many commits back a restore that was made already is looked for."""

OURS = "refs/heads/healbot/"
"""Where every branch of ours lies; no other is ever deleted."""


class Known(NamedTuple):
    """What the ledger knows of a pull request, and its record may not change."""

    base_ref: str
    branch: str
    head_sha: str


_Change = tuple[Pull | None, list[Swap], Effect]


def pull_path(number: int) -> str:
    """Return the record's path in the state."""
    return f"pulls/{number}.json"


def head_ref(number: int) -> str:
    """Return the ref that keeps a pull request's commits after its branch is gone."""
    return f"refs/healbot/pulls/{number}/head"


class LocalForge:
    """``ForgeReader`` and ``ForgeWriter`` inside one repository."""

    def __init__(
        self,
        repo: Repo,
        writer: RepoWriter,
        store: Store,
        *,
        known: Callable[[State], Mapping[int, Known]] = lambda _: {},
    ) -> None:
        """Open the queue; ``known`` reads what the ledger of a state has of each number."""
        self._repo = repo
        self._writer = writer
        self._store = store
        self._truth = Truth(repo)
        self._read_known = known
        self._known: tuple[str | None, Mapping[int, Known]] = (None, {})

    def pulls(self) -> tuple[Pull, ...]:
        """Return all pull requests, oldest first, heads as they stand now."""
        return self._pulls(self._store.load())

    def pull(self, number: int) -> Pull | None:
        """Return one, or None."""
        state = self._store.load()
        return self._one(state, number) if pull_path(number) in state.files else None

    def find(self, intent: Intent) -> Effect | None:
        """Return the effect where it is there already."""
        if isinstance(intent, Restore):
            return self._find_restore(intent)
        state = self._store.load()
        if isinstance(intent, OpenPull):
            same = [one for one in self._pulls(state) if one.key == intent.key]
            return self._found_open(intent, same[0].number) if same else None
        pull = self._one(state, intent.number)
        return found(intent, pull) if is_done(intent, pull) else None

    def _found_open(self, intent: OpenPull, number: int) -> Effect:
        """Say what was opened: its own commit, whatever somebody pushed to the branch since."""
        sha = self._repo.resolve(head_ref(number)) or ""
        return Effect(key=intent.key, found=True, number=number, sha=sha, base_ref=intent.base_ref)

    def perform(self, intent: Intent) -> Effect:
        """Bring the effect about, all of it or nothing; see ``ports.ForgeWriter``."""
        change = self._change_for(intent)
        for _ in range(ATTEMPTS):
            state = self._store.load()
            pull, swaps, effect = change(state)
            try:
                if pull is None:
                    self._writer.swap(swaps)
                else:
                    self._save(state, pull, swaps=swaps, intent=intent)
            except StaleError:
                done = self.find(intent)
                if done:
                    return done
                continue
            return effect
        raise RefusedError("The queue keeps moving.", "Run the command again in a minute.")

    def _change_for(self, intent: Intent) -> Callable[[State], _Change]:
        match intent:
            case OpenPull():
                return lambda state: self._open(state, intent)
            case MergePull():
                return lambda state: self._merge(state, intent)
            case Restore():
                return lambda _: self._restore(intent)
            case ClosePull():
                return lambda state: self._close(state, intent)
            case ReopenPull():
                return lambda state: self._reopen(state, intent)
            case UpdatePull() | SayOnPull() | PostCheck():
                return lambda state: touched(self._one(state, intent.number), intent)

    def _save(self, state: State, pull: Pull, *, swaps: list[Swap], intent: Intent) -> None:
        at: datetime = getattr(intent, "at", pull.opened_at)
        self._store.save(
            state,
            {pull_path(pull.number): (pull.model_dump_json(indent=1) + "\n").encode()},
            message=f"{intent.kind} {pull.number}",
            at=at,
            also=swaps,
        )

    def _pulls(self, state: State) -> tuple[Pull, ...]:
        numbers = sorted(
            int(path.removeprefix("pulls/").removesuffix(".json"))
            for path in state.files
            if path.startswith("pulls/") and path.removeprefix("pulls/")[:-5].isdigit()
        )
        return tuple(self._one(state, number) for number in numbers)

    def _one(self, state: State, number: int) -> Pull:
        raw = self._store.read(state, pull_path(number))
        if raw is None:
            raise InputError(f"There is no pull request {number}.", "See healbot pulls list.")
        try:
            pull = Pull.model_validate_json(raw)
        except ValueError as error:
            raise InputError(
                f"{pull_path(number)} on healbot/state is no pull request record.",
                "Restore it from the branch's history with git, then run the command again.",
            ) from error
        known = self._known_of(state).get(number)
        if known:
            pull = pull.model_copy(update={**known._asdict(), "number": number})
        if pull.state == "closed" or (pull.state == "merged" and self._truth.bears_out(pull)):
            return pull
        head = self._repo.resolve(f"refs/heads/{pull.branch}")
        open_: dict[str, object] = {"state": "open", "merged_sha": "", "base_before_sha": ""}
        pull = pull.model_copy(update=open_ | ({"head_sha": head} if head else {}))
        return self._truth.merged_elsewhere(pull) or pull

    def _known_of(self, state: State) -> Mapping[int, Known]:
        if self._known[0] is None or self._known[0] != state.sha:
            self._known = (state.sha, self._read_known(state))
        return self._known[1]

    def _open(self, state: State, intent: OpenPull) -> _Change:
        kept = self._repo.refs("refs/healbot/pulls/")  # these outlive a lost state branch
        used = [one.number for one in self._pulls(state)]
        used += [int(part) for ref in kept if (part := ref.split("/")[3]).isdecimal()]
        used += self._known_of(state)  # a number is never used again, whatever was deleted
        number = max(used, default=0) + 1
        base = self._repo.resolve(f"refs/heads/{intent.base_ref}")
        if base is None:
            raise RefusedError(
                f"The branch {intent.base_ref!r} is gone.", "Name the branch in forge.base."
            )
        sha = self._writer.commit(
            dict(intent.files),
            base=intent.base_sha,
            parents=(intent.base_sha,),
            message=intent.commit_message,
            at=intent.at,
        )
        ref = f"refs/heads/{intent.branch}"
        there = self._repo.resolve(ref)
        swaps = [Swap(head_ref(number), None, sha)]
        if there != sha:
            swaps.append(Swap(ref, there, sha) if there is None else taken(intent.branch))
        pull = Pull(
            number=number,
            key=intent.key,
            agent=intent.agent,
            title=intent.title,
            body=intent.body,
            branch=intent.branch,
            head_sha=sha,
            base_ref=intent.base_ref,
            labels=intent.labels,
            reviewers=intent.reviewers,
            opened_at=intent.at,
        )
        return pull, swaps, Effect(key=intent.key, number=number, sha=sha, base_ref=intent.base_ref)

    def _merge(self, state: State, intent: MergePull) -> _Change:
        pull = still_open(self._one(state, intent.number))
        ref = f"refs/heads/{pull.base_ref}"
        tip = self._repo.resolve(ref)
        if tip is None:
            raise RefusedError(f"The branch {pull.base_ref!r} is gone.", "Restore it with git.")
        if pull.head_sha != intent.head_sha:
            raise HarnessChangedError(
                f"Pull request {pull.number} has a commit that was not judged.",
                "Close it, or put its branch back to the judged commit.",
            )
        self._require_unchanged(tip, intent)
        sha = self._writer.merge(
            tip, intent.head_sha, message=intent.commit_message, at=intent.at, by=intent.by
        )
        if sha is None:
            raise HarnessChangedError(
                f"Pull request {pull.number} conflicts with {pull.base_ref!r}.",
                "Close it; the next cycle starts from the branch as it is.",
            )
        merged = pull.model_copy(
            update={
                "state": "merged",
                "draft": False,
                "closed_at": intent.at,
                "closed_by": intent.by,
                "base_before_sha": tip,
                "merged_sha": sha,
            }
        )
        drop, note = self._branch_away(state, pull, pull.head_sha)
        effect = merged_effect(intent, merged).model_copy(update=gone(drop, note))
        return merged, [Swap(ref, tip, sha), *drop], effect

    def _branch_away(
        self, state: State, pull: Pull, expected: str | None
    ) -> tuple[list[Swap], str]:
        """Return the deletion of a pull request's branch, or why it is left."""
        ref = f"refs/heads/{pull.branch}"
        there = self._repo.resolve(ref)
        if there is None:
            return [], ""
        left = f"the branch {pull.branch} was left: "
        known = self._known_of(state).get(pull.number)
        if not known or known.branch != pull.branch or not ref.startswith(OURS):
            return [], f"{left}the ledger does not know it as healbot's"
        where = self._repo.checked_out(ref)
        if where:
            return [], f"{left}it is checked out in {where}"
        if there != expected:
            return [], f"{left}it holds commits that are not healbot's"
        return [Swap(ref, there, None)], ""

    def _require_unchanged(self, tip: str, intent: MergePull) -> None:
        files = self._repo.tree(tip)
        for path, digest in intent.unchanged.items():
            here = files.get(path)
            now = digest_bytes(self._repo.blob(here.blob)) if here else None
            if now != digest:
                raise HarnessChangedError(
                    f"{path} changed since the cycle read it.",
                    "Close the pull request; the next cycle judges the file as it is now.",
                )

    def _close(self, state: State, intent: ClosePull) -> _Change:
        pull = still_open(self._one(state, intent.number))
        said = Comment(author=AUTHOR, at=intent.at, body=intent.because, marker=OUTCOME)
        closed = pull.model_copy(
            update={
                "state": "closed",
                "closed_at": intent.at,
                "closed_by": intent.by,
                "comments": with_comment(pull, said) if intent.because else pull.comments,
            }
        )
        known = self._known_of(state).get(pull.number)
        drop, note = self._branch_away(state, pull, known.head_sha if known else None)
        return closed, drop, closed_effect(intent, closed).model_copy(update=gone(drop, note))

    def _reopen(self, state: State, intent: ReopenPull) -> _Change:
        pull = reopened(self._one(state, intent.number))
        if self._repo.resolve(f"refs/heads/{pull.base_ref}") is None:
            raise RefusedError(f"The branch {pull.base_ref!r} is gone.", "Restore it with git.")
        if not intent.head_sha or self._repo.resolve(intent.head_sha) is None:
            raise RefusedError(
                f"The commit of pull request {pull.number} is not in this clone.",
                "Fetch it with git, then run the command again.",
            )
        ref = f"refs/heads/{pull.branch}"
        there = self._repo.resolve(ref)
        if there not in (None, intent.head_sha):
            taken(pull.branch)
        back = [] if there else [Swap(ref, None, intent.head_sha)]
        effect = Effect(
            key=intent.key, number=pull.number, sha=intent.head_sha, base_ref=pull.base_ref
        )
        return pull.model_copy(update={"head_sha": intent.head_sha}), back, effect

    def _restore(self, intent: Restore) -> _Change:
        ref = f"refs/heads/{intent.base_ref}"
        tip = self._repo.resolve(ref)
        if tip != intent.expect:
            raise HarnessChangedError(
                f"{intent.base_ref!r} moved meanwhile.", "Run the rollback again."
            )
        sha, note = self._true_revert(tip, intent), ""
        if sha is None:
            sha = self._writer.commit(
                dict(intent.files),
                base=tip,
                parents=(tip,),
                message=intent.commit_message,
                at=intent.at,
                by=intent.by,
            )
            if intent.reverts_sha:
                note = (
                    "later edits stood in the way of a plain revert; the saved files were restored"
                )
        effect = Effect(
            key=intent.key, sha=sha, before_sha=tip, note=note, base_ref=intent.base_ref
        )
        return None, [Swap(ref, tip, sha)], effect

    def _true_revert(self, tip: str, intent: Restore) -> str | None:
        """Revert the merge itself where that yields exactly the saved bytes; else None."""
        if not intent.reverts_sha:
            return None
        sha = self._writer.revert(
            tip, intent.reverts_sha, message=intent.commit_message, at=intent.at, by=intent.by
        )
        if sha is None:
            return None
        files = self._repo.tree(sha)
        for path, content in intent.files.items():
            here = files.get(path)
            if (self._repo.blob(here.blob) if here else None) != content:
                return None
        return sha

    def _find_restore(self, intent: Restore) -> Effect | None:
        tip = self._repo.resolve(f"refs/heads/{intent.base_ref}")
        made = (intent.expect,), intent.commit_message.strip()
        for one in self._repo.log(tip, limit=LOOK_BACK) if tip else ():
            if (one.parents, one.message.strip()) == made:
                return Effect(key=intent.key, found=True, sha=one.sha, before_sha=intent.expect)
        return None
