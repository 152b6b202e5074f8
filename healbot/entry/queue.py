"""What a person does with the embedded forge's queue: merge, close, comment.

Knows the wiring; a merge goes through the same writer as healbot's own.
"""

from healbot.cycle.execute import execute
from healbot.cycle.opening import merged_body
from healbot.cycle.publish import close_intent, judged_files, merge_intent, trailers_of
from healbot.cycle.reading import harness_at
from healbot.entry.loop import require_no_cycle, settle, who
from healbot.entry.wiring import Shop
from healbot.errors import HarnessChangedError, InputError, RefusedError
from healbot.records.intent import Effect, SayOnPull
from healbot.records.ledger import Applied, Declined, PullOpened
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
        state = next(
            (one for one in book.progress.cycles if one.pull and one.pull.number == number), None
        )
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
        state = next(
            (one for one in book.progress.cycles if one.pull and one.pull.number == number), None
        )
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


def comment(shop: Shop, number: int, text: str) -> None:
    """Post a person's comment."""
    known(shop, number)
    if not text.strip():
        raise InputError("The comment is empty.", "Give its text.")
    at = shop.clock.now()
    intent = SayOnPull(
        key=f"say:{number}:{at.isoformat()}", number=number, marker="", body=text, at=at
    )
    execute([intent], shop.forge, lambda: None)


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
