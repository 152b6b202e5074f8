"""From a card to Intents: open, update, post the check, merge or wait.

Knows what a pull request of ours looks like; changes nothing itself.
"""

from collections.abc import Mapping
from datetime import datetime

from healbot.cycle.cards import Subject
from healbot.cycle.reading import repo_path
from healbot.records.card import Card
from healbot.records.edit import Proposal
from healbot.records.harness import Harness
from healbot.records.intent import (
    ClosePull,
    MergePull,
    OpenPull,
    PostCheck,
    ReopenPull,
    UpdatePull,
)
from healbot.records.pull import CheckConclusion, Pull
from healbot.records.record import digest_bytes
from healbot.records.settings import AgentSettings, Mode, Settings
from healbot.records.trailers import Trailers
from healbot.records.verdict import Word
from healbot.rules.progress import CycleState
from healbot.views.card import update
from healbot.views.titles import Branch, Title

CHECK_NAME = "healbot/canary"


def open_intent(
    state: CycleState, proposal: Proposal, subject: Subject, *, card: Card, at: datetime
) -> OpenPull:
    """Return the Intent that opens the draft pull request."""
    settings, agent, ground = subject.settings, subject.agent, subject.ground
    title = Title(agent=agent.name, summary=proposal.summary).render(settings.pulls.title)
    trailers = trailers_of(state, proposal.candidate, agent=agent, ledger=subject.ledger)
    return OpenPull(
        key=f"open:{agent.name}:{state.id}",
        agent=agent.name,
        at=at,
        base_ref=ground.base_ref,
        base_sha=ground.base_sha,
        branch=Branch(
            agent=agent.name, slug=proposal.summary, candidate=proposal.candidate
        ).render(),
        files=changed_files(ground.harness, subject.candidate, agent),
        commit_message=f"{title}\n\n{_signed(settings, trailers)}\n",
        title=title,
        body=update("", card),
        labels=settings.pulls.labels,
        reviewers=settings.pulls.reviewers,
    )


def trailers_of(
    state: CycleState, candidate: str, *, agent: AgentSettings, ledger: str
) -> Trailers:
    """Return the trailers that tie a commit to its cycle and anchor the chain."""
    return Trailers(
        cycle=state.id,
        agent=agent.name,
        revision=candidate,
        baseline=state.opened.baseline,
        ledger=ledger,
    )


def update_intent(pull: Pull, card: Card, *, draft: bool) -> UpdatePull:
    """Return the Intent that puts a new card into the body; a person's own words stay."""
    return UpdatePull(
        key=f"update:{pull.key}:{card.ledger}",
        number=pull.number,
        body=update(pull.body, card),
        draft=draft,
    )


def check_intent(pull: Pull, head_sha: str, *, word: Word, summary: str) -> PostCheck:
    """Return the Intent that posts the canary's answer on the exact head; unclear is a failure."""
    conclusion: CheckConclusion = "success" if word == Word.ADMITTED else "failure"
    return PostCheck(
        key=f"check:{pull.key}:{head_sha}:{conclusion}",
        number=pull.number,
        head_sha=head_sha,
        name=CHECK_NAME,
        conclusion=conclusion,
        summary=summary,
    )


def merge_intent(
    pull: Pull, head_sha: str, *, trailers: Trailers, unchanged: Mapping[str, str | None],
    by: str, at: datetime,
) -> MergePull:  # fmt: skip
    """Return the Intent that merges an exact head onto a harness that is still the judged one."""
    message = f"Merge pull request {pull.number}: {pull.title}\n\n{trailers.render()}\n"
    return MergePull(
        key=f"merge:{pull.key}",
        number=pull.number,
        head_sha=head_sha,
        by=by,
        at=at,
        commit_message=message,
        unchanged=dict(unchanged),
    )


def close_intent(pull: Pull, *, by: str, at: datetime, because: str) -> ClosePull:
    """Return the Intent that closes a pull request."""
    return ClosePull(key=f"close:{pull.key}", number=pull.number, by=by, at=at, because=because)


def reopen_intent(pull: Pull, head_sha: str, *, by: str, at: datetime) -> ReopenPull:
    """Return the Intent that opens a closed pull request again."""
    key = f"reopen:{pull.key}:{at.isoformat()}"
    return ReopenPull(key=key, number=pull.number, head_sha=head_sha, by=by, at=at)


def changed_files(before: Harness, after: Harness, agent: AgentSettings) -> dict[str, bytes]:
    """Return the files whose bytes differ, by path from the repository's root."""
    return {
        repo_path(agent, file.path): file.content
        for file in after.files
        if (old := before.get(file.path)) is None or old.content != file.content
    }


def judged_files(harness: Harness, agent: AgentSettings) -> dict[str, str | None]:
    """Return what each harness file must still be when the writer writes."""
    return {repo_path(agent, file.path): digest_bytes(file.content) for file in harness.files}


def why_wait(proposal: Proposal, settings: Settings, mode: Mode) -> tuple[str, ...]:
    """Return why a person must merge this, or nothing where auto mode may."""
    why = list(proposal.needs_person)
    if mode == Mode.MANUAL:
        why.append("manual mode")
    elif proposal.born_of == "lesson" and not settings.lessons.auto:
        why.append("the edit was born of a lesson")
    return tuple(why)


def _signed(settings: Settings, trailers: Trailers) -> str:
    line = "Signed-off-by: healbot <healbot@localhost>\n" if settings.pulls.sign_off else ""
    return line + trailers.render()
