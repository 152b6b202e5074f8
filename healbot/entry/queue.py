"""What a person does with the embedded forge's queue: merge, close, reopen, comment.

Knows the wiring; a merge goes through the same writer as healbot's own.
"""

from healbot.cycle.book import Book
from healbot.cycle.execute import execute
from healbot.cycle.opening import merged_body
from healbot.cycle.publish import (
    close_intent,
    judged_files,
    merge_intent,
    reopen_intent,
    trailers_of,
)
from healbot.cycle.reading import harness_at
from healbot.entry.loop import require_no_cycle, say_on, settle, who
from healbot.entry.wiring import Shop
from healbot.errors import HarnessChangedError, InputError, NotNowError, RefusedError
from healbot.records.intent import Effect, SayOnPull
from healbot.records.ledger import Applied, Declined, PullOpened, TakenBack
from healbot.records.pull import Pull
from healbot.records.settings import AgentSettings
from healbot.rules.progress import CycleState


def merge(shop: Shop, number: int) -> Effect:
    """Merge a pull request as a person, through the same writer."""
    shop.require_going()
    agent = shop.agent(known(shop, number).agent)
    with shop.book(agent) as book:
        for body in settle(shop, book):
            if isinstance(body, Applied) and body.number == number:
                # Merged already, by another door or by a call that was cut off.
                return Effect(key=f"merge:{number}", found=True, number=number, sha=body.sha)
        require_no_cycle(book)
        pull = known(shop, number)
        state = _cycle_of(book, number)
        if state is None or state.pull is None:
            raise InputError(
                f"No cycle of {agent.name!r} opened pull request {number}.", "See healbot history."
            )
        if pull.state != "open" or pull.draft:
            what = "still a draft: its canary has not passed" if pull.draft else pull.state
            raise RefusedError(f"Pull request {number} is {what}.", "See healbot pulls show.")
        _require_live(shop, agent, state)
        _require_judged(shop, agent, state.pull)
        intent = merge_intent(
            pull,
            state.pull.head_sha,
            trailers=trailers_of(state, state.pull.candidate, agent=agent, ledger=book.head),
            unchanged=judged_files(shop.live(agent), agent),
            by=who(shop),
            at=shop.clock.now(),
        )
        (effect,) = execute([intent], shop.forge, book.keep)
        book.append(merged_body(state, known(shop, number)), cycle=state.id)
        return effect


def close(shop: Shop, number: int, because: str) -> Effect:
    """Close a pull request as a person: a no, which is remembered; returns the forge's answer."""
    pull = known(shop, number)
    with shop.book(shop.agent(pull.agent)) as book:
        settle(shop, book)
        state = _cycle_of(book, number)
        if state != book.progress.current:
            require_no_cycle(
                book
            )  # its own unfinished cycle ends by this no; another must not wait
        by, at = who(shop), shop.clock.now()
        intent = close_intent(pull, by=by, at=at, because=because)
        (effect,) = execute([intent], shop.forge, book.keep)
        if state and state.pull and not state.declined:
            body = Declined(number=number, by=by, candidate=state.pull.candidate, made_at=at)
            book.append(body, cycle=state.id)
        return effect


def reopen(shop: Shop, number: int, because: str) -> Effect:
    """Take a person's no back: the pull request waits again, on the head that was judged.

    Raises:
        RefusedError: It was not closed by a person, was never ready, or can't be had any more.
        NotNowError: As many as ``pulls.open`` allows wait already.
    """
    with shop.book(shop.agent(known(shop, number).agent)) as book:
        settle(shop, book)
        require_no_cycle(book)
        pull, state = known(shop, number), _cycle_of(book, number)
        if pull.state == "open":
            return Effect(key=f"reopen:{number}", found=True, number=number, sha=pull.head_sha)
        opened = _require_declined(pull, state)
        _require_room(shop, book)
        by, at = who(shop), shop.clock.now()
        intent = reopen_intent(pull, opened.head_sha, by=by, at=at)
        (effect,) = execute([intent], shop.forge, book.keep)
        body = TakenBack(number=number, by=by, after=opened.candidate, made_at=at)
        book.append(body, cycle=state.id if state else None)
        say_on(shop, number, f"Reopened by {by}" + (f": {because}" if because else ""))
        return effect


def _require_declined(pull: Pull, state: CycleState | None) -> PullOpened:
    if state is None or state.pull is None or not state.declined:
        raise RefusedError(
            f"Pull request {pull.number} is {pull.state}, and not by a person's no.",
            "See healbot history; the next cycle proposes what still helps.",
        )
    if pull.draft:
        raise RefusedError(
            f"Pull request {pull.number} was closed before its canary had passed.",
            "Run healbot cycle once there is more evidence; a draft can't be merged.",
        )
    return state.pull


def _require_room(shop: Shop, book: Book) -> None:
    waiting = [one.pull.number for one in book.progress.waiting() if one.pull]
    if len(waiting) >= shop.settings.pulls.open:
        numbers = ", ".join(map(str, waiting))
        raise NotNowError(
            f"Pull request {numbers} waits already, and pulls.open is {shop.settings.pulls.open}.",
            "Merge or close it, or raise pulls.open.",
        )


def _cycle_of(book: Book, number: int) -> CycleState | None:
    cycles = book.progress.cycles
    return next((one for one in cycles if one.pull and one.pull.number == number), None)


def comment(shop: Shop, number: int, text: str) -> Effect:
    """Post a person's comment; returns the forge's answer."""
    known(shop, number)
    if not text.strip():
        raise InputError("The comment is empty.", "Give its text.")
    at = shop.clock.now()
    intent = SayOnPull(
        key=f"say:{number}:{at.isoformat()}", number=number, marker="", body=text, at=at
    )
    (effect,) = execute([intent], shop.forge, lambda: None)
    return effect


def known(shop: Shop, number: int) -> Pull:
    """Return a pull request.

    Raises:
        InputError: There is none of that number.
    """
    pull = shop.forge.pull(number)
    if pull is None:
        raise InputError(f"There is no pull request {number}.", "See healbot pulls list.")
    return pull


def _require_live(shop: Shop, agent: AgentSettings, state: CycleState) -> None:
    """The branch must still hold the harness that the cycle read, no file more and none less."""
    if shop.live(agent).revision != state.opened.baseline:
        raise HarnessChangedError(
            f"The harness of {agent.name!r} changed since the cycle read it.",
            "Close the pull request; the next cycle judges the harness as it is now.",
        )


def _require_judged(shop: Shop, agent: AgentSettings, opened: PullOpened) -> None:
    """The head must hold, byte for byte, the harness that guard, gate and canary saw."""
    harness = harness_at(
        shop.repo,
        opened.head_sha,
        agent,
        open_skills=shop.settings.limits.open_skills_with_files,
    )
    if harness.revision != opened.candidate:
        raise HarnessChangedError(
            f"Pull request {opened.number} does not hold the revision that was judged.",
            "Close it; the next cycle starts from the branch as it is.",
        )
    refused = shop.reasons_against(shop.live(agent), harness)
    if refused:
        raise HarnessChangedError(
            f"Pull request {opened.number} may not be merged any more: {refused[0]}.",
            "Close it; the settings or the guard have changed since it was proposed.",
        )
