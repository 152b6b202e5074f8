"""The embedded forge: pull requests kept inside the git repository itself.

Knows refs, commits and the queue's records in the state (``pulls/<n>.json``). Record and refs move
in one swap, so a pull request is never half opened, half merged or half closed; two clones share it
through a bare remote. It has no server, no account and no network of its own.
"""

from collections.abc import Callable
from datetime import datetime

from healbot.errors import HarnessChangedError, InputError, RefusedError, StaleError
from healbot.ports import Repo, RepoWriter, State, Store, Swap
from healbot.records.intent import (
    ClosePull,
    Effect,
    Intent,
    MergePull,
    OpenPull,
    PostCheck,
    Restore,
    SayOnPull,
    UpdatePull,
)
from healbot.records.pull import OUTCOME, Comment, Pull, PullCheck
from healbot.records.record import digest_bytes

ATTEMPTS = 8
AUTHOR = "healbot"
LOOK_BACK = 500
"""How many commits back a restore that was made already is looked for."""

_Change = tuple[Pull | None, list[Swap], Effect]


def pull_path(number: int) -> str:
    """Return the record's path in the state."""
    return f"pulls/{number}.json"


def head_ref(number: int) -> str:
    """Return the ref that keeps a pull request's commits after its branch is gone."""
    return f"refs/healbot/pulls/{number}/head"


class LocalForge:
    """``ForgeReader`` and ``ForgeWriter`` inside one repository."""

    def __init__(self, repo: Repo, writer: RepoWriter, store: Store) -> None:
        self._repo = repo
        self._writer = writer
        self._store = store

    def pulls(self) -> tuple[Pull, ...]:
        """Return all pull requests, oldest first, heads as they stand now."""
        return self._pulls(self._store.load())

    def pull(self, number: int) -> Pull | None:
        """Return one, or None."""
        return next((one for one in self.pulls() if one.number == number), None)

    def find(self, intent: Intent) -> Effect | None:
        """Return the effect where it is there already."""
        if isinstance(intent, Restore):
            return self._find_restore(intent)
        state = self._store.load()
        if isinstance(intent, OpenPull):
            same = [one for one in self._pulls(state) if one.key == intent.key]
            return self._found_open(intent, same[0].number) if same else None
        pull = self._one(state, intent.number)
        return _found(intent, pull) if _is_done(intent, pull) else None

    def _found_open(self, intent: OpenPull, number: int) -> Effect:
        """Say what was opened: its own commit, whatever somebody pushed to the branch since."""
        sha = self._repo.resolve(head_ref(number)) or ""
        return Effect(key=intent.key, found=True, number=number, sha=sha)

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
            case UpdatePull() | SayOnPull() | PostCheck():
                return lambda state: _touched(self._one(state, intent.number), intent)

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
        if pull.state != "open":
            return pull
        head = self._repo.resolve(f"refs/heads/{pull.branch}")
        pull = pull.model_copy(update={"head_sha": head}) if head else pull
        return self._merged_elsewhere(pull) or pull

    def _merged_elsewhere(self, pull: Pull) -> Pull | None:
        """Return the pull request as merged where git itself has merged it; else None."""
        tip = self._repo.resolve(f"refs/heads/{pull.base_ref}")
        if not tip or self._repo.merge_base(tip, pull.head_sha) != pull.head_sha:
            return None
        commits = self._repo.log(tip, limit=LOOK_BACK)
        merge = next((one for one in commits if pull.head_sha in one.parents[1:]), None)
        merge = merge or next((one for one in commits if one.sha == pull.head_sha), None)
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

    def _open(self, state: State, intent: OpenPull) -> _Change:
        kept = self._repo.refs("refs/healbot/pulls/")  # these outlive a lost state branch
        taken = [one.number for one in self._pulls(state)]
        taken += [int(part) for ref in kept if (part := ref.split("/")[3]).isdecimal()]
        number = max(taken, default=0) + 1
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
            swaps.append(Swap(ref, there, sha) if there is None else _taken(intent.branch))
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
        return pull, swaps, Effect(key=intent.key, number=number, sha=sha)

    def _merge(self, state: State, intent: MergePull) -> _Change:
        pull = _still_open(self._one(state, intent.number))
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
        sha = self._writer.merge(tip, intent.head_sha, message=intent.commit_message, at=intent.at)
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
        swaps = [Swap(ref, tip, sha)]
        if self._repo.resolve(f"refs/heads/{pull.branch}"):
            swaps.append(Swap(f"refs/heads/{pull.branch}", pull.head_sha, None))
        return merged, swaps, _merged(intent, merged)

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
        pull = _still_open(self._one(state, intent.number))
        said = Comment(author=AUTHOR, at=intent.at, body=intent.because, marker=OUTCOME)
        closed = pull.model_copy(
            update={
                "state": "closed",
                "closed_at": intent.at,
                "closed_by": intent.by,
                "comments": _with_comment(pull, said) if intent.because else pull.comments,
            }
        )
        branch = self._repo.resolve(f"refs/heads/{pull.branch}")
        judged = self._repo.resolve(head_ref(pull.number))
        ours = branch is not None and branch == judged  # a person's own commits stay
        swaps = [Swap(f"refs/heads/{pull.branch}", branch, None)] if ours else []
        return closed, swaps, _closed(intent, closed)

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
            )
            if intent.reverts_sha:
                note = (
                    "later edits stood in the way of a plain revert; the saved files were restored"
                )
        effect = Effect(key=intent.key, sha=sha, before_sha=tip, note=note)
        return None, [Swap(ref, tip, sha)], effect

    def _true_revert(self, tip: str, intent: Restore) -> str | None:
        """Revert the merge itself where that yields exactly the saved bytes; else None."""
        if not intent.reverts_sha:
            return None
        sha = self._writer.revert(
            tip, intent.reverts_sha, message=intent.commit_message, at=intent.at
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


def _touched(
    pull: Pull, intent: UpdatePull | SayOnPull | PostCheck
) -> tuple[Pull, list[Swap], Effect]:
    """Return the record with a body, comment or check set; a comment of ours is edited in place."""
    effect = Effect(key=intent.key, number=pull.number)
    if isinstance(intent, UpdatePull):
        _still_open(pull)
        return pull.model_copy(update={"body": intent.body, "draft": intent.draft}), [], effect
    if isinstance(intent, PostCheck):
        kept = [one for one in pull.checks if (one.name, one.head_sha) != _place(intent)]
        check = PullCheck(
            name=intent.name,
            head_sha=intent.head_sha,
            conclusion=intent.conclusion,
            summary=intent.summary,
        )
        return pull.model_copy(update={"checks": (*kept, check)}), [], effect
    comment = Comment(author=AUTHOR, at=intent.at, body=intent.body, marker=intent.marker)
    return pull.model_copy(update={"comments": _with_comment(pull, comment)}), [], effect


def _with_comment(pull: Pull, comment: Comment) -> tuple[Comment, ...]:
    """Return the comments with one more, or with the one of the same marker replaced in place."""
    mark = comment.marker
    others = [one for one in pull.comments if not mark or one.marker != mark]
    place = next(
        (n for n, one in enumerate(pull.comments) if mark and one.marker == mark), len(others)
    )
    others.insert(place, comment)
    return tuple(others)


def _is_done(intent: Intent, pull: Pull) -> bool:
    match intent:
        case UpdatePull():
            return pull.body == intent.body and pull.draft == intent.draft
        case SayOnPull():
            return any(
                (one.marker, one.body) == (intent.marker, intent.body) for one in pull.comments
            )
        case PostCheck():
            said = (intent.conclusion, intent.summary)
            return any(
                (one.name, one.head_sha) == _place(intent) and (one.conclusion, one.summary) == said
                for one in pull.checks
            )
        case MergePull():
            return pull.state == "merged"
        case ClosePull():
            return pull.state == "closed"
        case _:
            return False


def _place(intent: PostCheck) -> tuple[str, str]:
    return intent.name, intent.head_sha


def _found(intent: Intent, pull: Pull) -> Effect:
    sha = pull.merged_sha if isinstance(intent, MergePull) else pull.head_sha
    return Effect(
        key=intent.key, found=True, number=pull.number, sha=sha, before_sha=pull.base_before_sha
    )


def _merged(intent: MergePull, pull: Pull) -> Effect:
    return Effect(
        key=intent.key, number=pull.number, sha=pull.merged_sha, before_sha=pull.base_before_sha
    )


def _closed(intent: ClosePull, pull: Pull) -> Effect:
    return Effect(key=intent.key, number=pull.number)


def _still_open(pull: Pull) -> Pull:
    if pull.state != "open":
        raise RefusedError(
            f"Pull request {pull.number} is {pull.state} already.", "See healbot pulls show."
        )
    return pull


def _taken(branch: str) -> Swap:
    raise RefusedError(
        f"The branch {branch!r} is there already, with other commits.",
        "Delete or rename it, then run the cycle again.",
    )
