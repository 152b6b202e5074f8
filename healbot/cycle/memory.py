"""What was refused before, by content: no means no, also in other words, until there is more.

Knows the ledger's noes, and reads what they said from git, where every clone has it, or from this
machine's journal. Says what is new since; runs nothing.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from pydantic import ValidationError

from healbot.cycle.reading import harness_at, rows_of, settings_at, written_at
from healbot.errors import HealbotError
from healbot.ports import Journal, Repo
from healbot.records.brief import Brief
from healbot.records.case import Case
from healbot.records.edit import Earlier, Edit, Proposal
from healbot.records.harness import Harness
from healbot.records.ledger import ProposalNote
from healbot.records.settings import AgentSettings
from healbot.records.verdict import Reason
from healbot.rules.edits import attempt
from healbot.rules.likeness import Change, change_between, recurs
from healbot.rules.noes import OPEN, WHAT, No, new_among, noes
from healbot.rules.progress import Progress
from healbot.rules.recurrence import kinds_of

MOST_NAMED = 3
"""How many earlier noes a card names, the latest ones."""

SeenSince = Callable[[datetime], Mapping[str, int]]
"""Kinds of failures that recurred in use since an instant, each with its number of sessions."""


CasesOf = Callable[[No], Sequence[Case]]
"""The cases that ran in a refused cycle, as they were written then."""


def nothing_seen(_: datetime) -> Mapping[str, int]:
    """Stand for an observe store that is not there."""
    return {}


def none_kept(_: No) -> Sequence[Case]:
    """Stand for a repository that is not there."""
    return ()


class Answer(NamedTuple):
    """What is remembered of an edit: the rule that refuses it, or the noes that it overcame."""

    refused: str | None = None
    numbers: tuple[int, ...] = ()
    earlier: tuple[Earlier, ...] = ()


class Memory(NamedTuple):
    """Refused and open edits of one agent, with what they say where that can be read here."""

    refused: Sequence[tuple[No, Change | None]] = ()
    open: Sequence[tuple[int, str, Change | None]] = ()
    seen_since: SeenSince = nothing_seen
    cases_of: CasesOf = none_kept

    @property
    def told(self) -> tuple[str, ...]:
        """What refused edits said, where that is known, each with what became of it."""
        return tuple(
            "\n".join(
                [f"{WHAT[no.rule]}:"]
                + [f"+ {line}" for line in said.added]
                + [f"- {line}" for line in said.removed]
            )
            for no, said in self.refused
            if said
        )

    def ask(self, edit: Edit, candidate: Harness, *, brief: Brief, claims: Sequence[str]) -> Answer:
        """Say whether an edit may be proposed, and what was said to it before.

        New evidence is a failing case that ran in no refused cycle, nor a near-duplicate of it, or
        a failure of the same kind seen in use since. Only cases count that the edit claims, where
        it claims any. Nothing overcomes a pull request that is still open.
        """
        change = change_between(brief.harness, candidate)
        waiting = [
            number
            for number, revision, said in self.open
            if revision == candidate.revision or (said and recurs(said, change))
        ]
        if waiting:
            return Answer(OPEN, tuple(waiting))
        said_no = [
            no
            for no, said in self.refused
            if no.edit == edit.digest or (said and recurs(said, change))
        ]
        if not said_no:
            return Answer()
        numbers = tuple(dict.fromkeys(no.number for no in said_no if no.number))
        new = self._new_since(said_no, brief, claims)
        if not new:
            return Answer(_strongest(said_no), numbers)
        return Answer(None, numbers, tuple(_earlier(no, new) for no in said_no[-MOST_NAMED:]))

    def _new_since(
        self, said_no: Sequence[No], brief: Brief, claims: Sequence[str]
    ) -> tuple[str, ...]:
        then = {case.digest: case for no in said_no for case in self.cases_of(no)}
        seen = self.seen_since(max(no.at for no in said_no))
        mine = [one for one in brief.failed if not claims or one.case.id in claims]
        new = new_among([one.case for one in mine], said_no, tuple(then.values()))
        cases = [f"case {case.id}" for case in new]
        used: list[str] = []
        for signature in dict.fromkeys(one.finding.signature for one in mine):
            count = max((seen.get(kind, 0) for kind in kinds_of(signature)), default=0)
            used += [f"{signature} seen in use, in {count} sessions"] if count else []
        return (*cases, *used)


def nothing_remembered(_: Progress) -> Memory:
    """Remember nothing."""
    return Memory()


def remember(
    progress: Progress,
    *,
    repo: Repo,
    agent: AgentSettings,
    journal: Journal,
    seen_since: SeenSince = nothing_seen,
) -> Memory:
    """Read what an agent's refused and open edits say."""
    mine = progress.current.id if progress.current else ""
    waiting = [one for one in progress.waiting() if one.id != mine and one.pull]
    return Memory(
        refused=[(no, _said(no, repo, agent, journal=journal)) for no in noes(progress)],
        open=[
            (
                one.pull.number,
                one.pull.candidate,
                _between(repo, agent, base_sha=one.opened.base_sha, head_sha=one.pull.head_sha),
            )
            for one in waiting
            if one.pull
        ],
        seen_since=seen_since,
        cases_of=lambda no: _cases(no, repo, agent),
    )


def why_refused(note: ProposalNote) -> str:
    """Name the rule that refused a proposal unspent, and the pull requests that it names."""
    named = ", ".join(str(number) for number in note.earlier)
    return f"{note.refused}, pull request {named}" if named else note.refused or ""


def skips(notes: Iterable[ProposalNote]) -> tuple[str, ...]:
    """Return a line for each proposal that was refused unspent; alike ones are said once."""
    lines = (f"refused unspent: {why_refused(one)}" for one in notes if one.refused)
    return tuple(dict.fromkeys(lines))


def _said(no: No, repo: Repo, agent: AgentSettings, *, journal: Journal) -> Change | None:
    if no.head_sha:
        return _between(repo, agent, base_sha=no.base_sha, head_sha=no.head_sha)
    before = _harness(repo, agent, no.base_sha)
    raw = journal.load(no.proposal)
    if before is None or raw is None:
        return None
    try:
        proposal = Proposal.model_validate_json(raw)
    except ValidationError:
        return None
    applied = attempt(before, proposal.edit)
    return None if isinstance(applied, Reason) else change_between(before, applied.harness)


def _cases(no: No, repo: Repo, agent: AgentSettings) -> tuple[Case, ...]:
    """Return what ran in a refused cycle; nothing where this clone can't read it any more."""
    if repo.resolve(no.base_sha) is None:
        return ()
    try:
        agents = settings_at(repo, no.base_sha).agents
        was = next((one for one in agents if one.name == agent.name), agent)
        written = written_at(repo, no.base_sha, was)
    except HealbotError:
        return ()
    rows = rows_of({case.id: case for case in written}, was).values()
    return tuple(row for row in rows if row.digest in no.cases or row.id in no.case_ids)


def _between(repo: Repo, agent: AgentSettings, *, base_sha: str, head_sha: str) -> Change | None:
    before, after = (_harness(repo, agent, sha) for sha in (base_sha, head_sha))
    return change_between(before, after) if before and after else None


def _harness(repo: Repo, agent: AgentSettings, sha: str) -> Harness | None:
    """Return a harness; None where this clone lacks the commit, or the folder was another then."""
    if repo.resolve(sha) is None:
        return None
    try:
        return harness_at(repo, sha, agent, open_skills=False)
    except HealbotError:
        return None


def _strongest(said_no: Sequence[No]) -> str:
    """A person's no is named before a verdict."""
    return next((no.rule for no in reversed(said_no) if no.number and no.by != "healbot"),
                said_no[-1].rule)  # fmt: skip


def _earlier(no: No, new: tuple[str, ...]) -> Earlier:
    return Earlier(number=no.number, what=WHAT[no.rule], by=no.by, on=no.at.date(), new_since=new)
