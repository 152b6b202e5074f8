"""The phases that change the world: open, decide, close. They run no agent, check or model.

Knows the card, the forge and the one executor; whatever they write is computed afresh from the
ledger and the edit, and refused where the harness is no longer the one that was judged.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from healbot.cycle.cards import Subject, card_of, final_verdict
from healbot.cycle.execute import execute
from healbot.cycle.memory import why_refused
from healbot.cycle.opening import merged_body
from healbot.cycle.propose import Guard
from healbot.cycle.publish import (
    check_intent,
    close_intent,
    judged_files,
    merge_intent,
    open_intent,
    trailers_of,
    update_intent,
    why_wait,
)
from healbot.cycle.reading import Ground
from healbot.cycle.research import candidate_of
from healbot.errors import HarnessChangedError, InTheWayError
from healbot.ports import Clock, ForgeReader, ForgeWriter, Journal, Voice
from healbot.records.card import Card, Merging, Way
from healbot.records.case import Standing
from healbot.records.edit import Proposal
from healbot.records.intent import Effect, Intent
from healbot.records.ledger import Body, Closed, Declined, PullOpened, Queued
from healbot.records.lesson import Lesson
from healbot.records.pull import OUTCOME, Pull
from healbot.records.settings import AgentSettings, Settings
from healbot.records.verdict import Word
from healbot.rules.order import Phase
from healbot.rules.progress import CycleState, Progress

BY = "healbot"


class Delivery(NamedTuple):
    """What the writing phases of one cycle work with.

    Attributes:
        before: Asked ahead of each Intent: the lease is renewed, the kill switch looked at.
        head: The ledger's head now.
        live: The revision that the base branch holds now.
        null_pass: How likely a useless edit would have passed what was drawn; None: not computed.
    """

    agent: AgentSettings
    settings: Settings
    ground: Ground
    lessons: Sequence[Lesson]
    guard: Guard
    journal: Journal
    reader: ForgeReader
    writer: ForgeWriter
    clock: Clock
    voice: Voice
    before: Callable[[], None]
    head: Callable[[], str]
    live: Callable[[], str]
    null_pass: Callable[[CycleState], float | None]
    unsandboxed: bool

    def perform(self, phase: Phase, state: CycleState, progress: Progress) -> Body:
        """Carry out one phase; returns the entry that ends it."""
        if phase == Phase.OPEN:
            return self._open(state, progress.standings)
        if phase == Phase.DECIDE:
            return self._decide(state, progress.standings)
        return self._close(state, progress.standings)

    def card(self, state: CycleState, standings: Mapping[str, Standing]) -> Card | None:
        """Return the card of the candidate that was judged last, admitted or refused."""
        if not state.gated:
            return None
        proposal, subject = self._subject(state, standings, draft=False)
        return card_of(state, proposal, subject)

    def _open(self, state: CycleState, standings: Mapping[str, Standing]) -> Body:
        proposal, subject = self._subject(state, standings, draft=True)
        card = card_of(state, proposal, subject)
        intent = open_intent(state, proposal, subject, card=card, at=state.opened_at)
        (effect,) = self._do([intent])
        return PullOpened(
            number=effect.number or 0,
            branch=intent.branch,
            head_sha=effect.sha,
            proposal=proposal.digest,
            candidate=proposal.candidate,
        )

    def _decide(self, state: CycleState, standings: Mapping[str, Standing]) -> Body:
        pull = self._pull(state)
        if pull.state == "closed" and pull.closed_by == BY:
            # We closed it, and were cut off before we could say so: no person's no.
            said = [one.body for one in pull.comments if one.marker == OUTCOME]
            return Closed(outcome="abandoned", note="".join(said[-1:])[:300])
        if pull.state == "closed":
            return Declined(number=pull.number, by=pull.closed_by, candidate=_head(state).candidate)
        proposal, subject = self._subject(state, standings, draft=False)
        card = card_of(state, proposal, subject)
        if pull.state == "open":
            self._do(_news(pull, card, state, draft=False))
        waits = why_wait(proposal, self.settings, state.opened.mode)
        if waits and pull.state == "open":
            return Queued(number=pull.number, because="; ".join(waits))
        return self._merge(state, self._pull(state), proposal)

    def _merge(self, state: CycleState, pull: Pull, proposal: Proposal) -> Body:
        intent = merge_intent(
            pull,
            _head(state).head_sha,
            trailers=trailers_of(state, proposal.candidate, agent=self.agent, ledger=self.head()),
            unchanged=judged_files(self.ground.harness, self.agent),
            by=BY,
            at=self.clock.now(),
        )
        try:
            self._require_live(pull, state)
            self._do([intent])
        except InTheWayError:
            raise  # the person's own uncommitted work; once it is out of the way this goes on
        except HarnessChangedError as error:
            because = f"{error.what} {error.next_step}"
            self._do([close_intent(pull, by=BY, at=self.clock.now(), because=because)])
            return Closed(outcome="abandoned", note=because[:300])
        return merged_body(state, self._pull(state))

    def _require_live(self, pull: Pull, state: CycleState) -> None:
        """The branch must still hold the judged harness, no file more and none less."""
        if pull.state == "open" and self.live() != state.opened.baseline:
            raise HarnessChangedError(
                f"The harness of {self.agent.name!r} changed since the cycle read it.",
                "The next cycle judges it as it is now.",
            )

    def _close(self, state: CycleState, standings: Mapping[str, Standing]) -> Body:
        if state.applied:
            return Closed(verdict=Word.MERGED, outcome="merged")
        if state.queued:
            return Closed(verdict=Word.QUEUED, outcome="queued", note=state.queued.because)
        if state.declined:
            return Closed(verdict=Word.REJECTED, outcome="declined", note="closed by a person")
        if not state.gated:
            return _nothing_to_judge(state)
        verdict = final_verdict(state)
        if state.pull:
            self._refuse(state, standings)
        if verdict.word == Word.ADMITTED:
            note = "a person's edit" if state.opened.checked else "observe mode writes nothing"
            return Closed(verdict=verdict.word, outcome="observed", note=note)
        note = verdict.reasons[0].text if verdict.reasons else ""
        return Closed(verdict=verdict.word, outcome="refused", note=note[:300])

    def _refuse(self, state: CycleState, standings: Mapping[str, Standing]) -> None:
        pull = self._pull(state)
        if pull.state != "open":
            return
        proposal, subject = self._subject(state, standings, draft=True)
        card = card_of(state, proposal, subject)
        close = close_intent(pull, by=BY, at=self.clock.now(), because="the canary refused it")
        self._do([*_news(pull, card, state, draft=True), close])

    def _subject(
        self, state: CycleState, standings: Mapping[str, Standing], *, draft: bool
    ) -> tuple[Proposal, Subject]:
        proposal, candidate = candidate_of(self.journal, state.gated[-1].proposal, self.guard)
        number = state.pull.number if state.pull else None
        return proposal, Subject(
            agent=self.agent,
            settings=self.settings,
            ground=self.ground,
            candidate=candidate,
            standings=standings,
            lessons=self.lessons,
            unsandboxed=self.unsandboxed,
            null_pass=self.null_pass(state),
            merging=_merging(state, why_wait(proposal, self.settings, state.opened.mode), draft),
            undo=Way(command=f"healbot rollback{f' --to {number}' if number else ''} --why …"),
            ledger=self.head(),
        )

    def _pull(self, state: CycleState) -> Pull:
        pull = self.reader.pull(_head(state).number)
        if pull is None:
            raise HarnessChangedError(
                f"Pull request {_head(state).number} is gone.",
                "Nothing was merged; run the cycle again.",
            )
        return pull

    def _do(self, intents: Sequence[Intent]) -> tuple[Effect, ...]:
        return execute(intents, self.writer, self.before)


def _news(pull: Pull, card: Card, state: CycleState, *, draft: bool) -> list[Intent]:
    verdict = final_verdict(state)
    said = verdict.reasons[0].text if verdict.reasons else str(verdict.word)
    return [
        update_intent(pull, card, draft=draft),
        check_intent(pull, _head(state).head_sha, word=verdict.word, summary=said[:1000]),
    ]


def _head(state: CycleState) -> PullOpened:
    assert state.pull  # noqa: S101 - asked only once it was opened
    return state.pull


def _merging(state: CycleState, waits: Sequence[str], draft: bool) -> Merging:
    mode = state.opened.mode
    number = state.pull.number if state.pull else None
    if state.applied:
        return Merging(mode=mode, done=True)
    if draft:
        return Merging(mode=mode, waits_for="the canary", why=tuple(waits))
    if waits:
        way = Way(command=f"healbot pulls merge {number}")
        return Merging(mode=mode, waits_for="a person", why=tuple(waits), way=way)
    return Merging(mode=mode)


def _nothing_to_judge(state: CycleState) -> Closed:
    if state.measured and not state.measured.failing:
        if state.measured.unscored:
            text = f"could not tell of {', '.join(state.measured.unscored)}"
            return Closed(outcome="could-not-tell", note=text[:300])
        return Closed(outcome="healthy", note="every training case passes")
    if state.diagnosed and not state.proposed:
        real = [one for one in state.diagnosed.findings if one.was_real is None]
        if real:
            return Closed(outcome="could-not-tell", note="the plain retry could not be scored")
        return Closed(outcome="healthy", note="every failure was a flake: its plain retry passed")
    return _nothing_proposed(state)


def _nothing_proposed(state: CycleState) -> Closed:
    if state.probed:
        note = "no proposal helped in the probes"
        return Closed(verdict=Word.REJECTED, outcome="refused", note=note)
    notes = state.proposed.proposals if state.proposed else ()
    if notes:
        rules = "; ".join(sorted({why_refused(note) for note in notes}))
        text = f"refused unspent: {rules}"[:300]
        return Closed(verdict=Word.INVALID, outcome="refused", note=text)
    return Closed(outcome="no-proposal", note=state.proposed.note if state.proposed else "")
