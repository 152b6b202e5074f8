"""What the loop's commands do: cycle, rollback, stop and start.

Knows the wiring; parses no command line and prints nothing. Each returns what a command shows.
"""

import getpass
import secrets
from collections.abc import Callable
from dataclasses import replace

from healbot.cycle.book import Book
from healbot.cycle.cycle import run_cycle
from healbot.cycle.execute import execute
from healbot.cycle.opening import left_for, opened, require_may_open, settled
from healbot.cycle.propose import UNANSWERED, Guard
from healbot.cycle.publish import close_intent
from healbot.cycle.purse import Purse
from healbot.cycle.reading import harness_at, settings_at
from healbot.cycle.rollback import (
    Reason,
    answers,
    find_target,
    restore_intent,
    rolled_back_body,
)
from healbot.entry.abilities import require_scorable, splits_path
from healbot.entry.settling import put_away
from healbot.entry.wiring import Shop
from healbot.errors import (
    BudgetError,
    CouldNotTellError,
    HarnessChangedError,
    InputError,
    ModelRefusedError,
    ModelSilentError,
    NotNowError,
    UsageError,
)
from healbot.forges.dry import DryForge
from healbot.forges.local import LocalForge
from healbot.ports import Voice
from healbot.records.card import Card
from healbot.records.intent import Effect, Intent, SayOnPull
from healbot.records.ledger import Body, Closed, RolledBack
from healbot.records.pull import OUTCOME
from healbot.records.settings import AgentSettings, Mode
from healbot.rules.progress import CycleState
from healbot.stores.dry import DryPermit, DryStore

SETTLINGS = 3
"""A merge may have been reverted, and the revert undone, before either was noticed."""
RANK = {Mode.OBSERVE: 0, Mode.MANUAL: 1, Mode.AUTO: 2}
"""A cycle that may do more than is wanted now is given up, not resumed."""


def cycle(
    shop: Shop,
    agent: AgentSettings,
    *,
    mode: Mode | None,
    voice: Voice,
    dry_run: Callable[[Intent], None] | None = None,
) -> tuple[CycleState, Card | None]:
    """Run one cycle, or resume the one under way; returns it with the card of what it judged.

    Args:
        shop: The repository.
        agent: Whose cycle.
        mode: Instead of the settings' mode.
        voice: Is told what goes on.
        dry_run: Where given, nothing is written, and each Intent is told to it.
    """
    shop.require_going()
    forge: LocalForge | DryForge = shop.forge
    book = shop.book(agent)
    if dry_run:
        forge = DryForge(shop.forge, dry_run)
        book = Book(
            agent.name,
            DryStore(shop.store),
            permit=DryPermit(shop.clock),
            clock=shop.clock,
            anchors=shop.anchors,
        )
    with book:
        if book.restarted:
            voice.note(
                f"A new ledger begins: {len(book.restarted.heads)} heads of an earlier one are "
                "recorded in commits, and excused; healbot audit --verify says so."
            )
        settle(shop, book)
        if book.progress.current and book.progress.current.opened.checked:
            abandon(shop, book, forge, why="a check that was cut off")
        asked = mode or shop.settings.mode
        here = None
        if book.progress.current:
            here = _resumed(shop, agent, book, forge=forge, mode=asked)
        if here is None:
            here = _open(shop, agent, book, mode=asked)
        return carry_on(here, here.agent(agent.name), book, forge=forge, voice=voice)


def settle(shop: Shop, book: Book) -> tuple[Body, ...]:
    """Record what was decided outside a cycle since: merges, closings, reverts; returns it."""
    tip = shop.repo.resolve(f"refs/heads/{shop.base_ref}") or shop.base_sha
    told: list[Body] = []
    for _ in range(SETTLINGS):
        found = settled(book, shop.forge, repo=shop.repo, tip=tip, agent=shop.agent(book.agent))
        for cycle_id, body in found:
            book.append(body, cycle=cycle_id)
        told += [body for _, body in found]
        if not found:
            break
    return tuple(told)


def _open(shop: Shop, agent: AgentSettings, book: Book, *, mode: Mode) -> Shop:
    require_may_open(book.progress, shop.settings, mode=mode, now=shop.clock.now())
    return open_cycle(shop, agent, book, mode=mode)


def open_cycle(
    shop: Shop, agent: AgentSettings, book: Book, *, mode: Mode, checked: str = ""
) -> Shop:
    """Append the entry that opens a cycle, with its forecast; ``checked``: of a person's edit."""
    shop.require_able(agent, editing=not checked)
    ground, splits = shop.ground(agent)
    require_scorable(ground.cases.values())
    cycle_id = f"{shop.clock.now():%Y%m%d}-{secrets.token_hex(4)}"
    left = left_for(shop.spent(), shop.settings, now=shop.clock.now(), state=None)
    body = opened(
        ground, book.progress, cycle=cycle_id, mode=mode, settings=shop.settings, left=left
    )
    if checked:
        body = body.model_copy(update={"checked": checked, "probes": 1, "fallbacks": 0})
    beside = {splits_path(agent): splits} if splits else {}
    book.append(body, cycle=cycle_id, beside=beside)
    return shop


def _resumed(
    shop: Shop, agent: AgentSettings, book: Book, *, forge: LocalForge | DryForge, mode: Mode
) -> Shop | None:
    """Return the shop as the cycle under way opened it; None where it had to be given up."""
    state = book.progress.current
    assert state  # noqa: S101 - asked only where there is one
    now = harness_at(
        shop.repo,
        shop.base_sha,
        agent,
        open_skills=shop.settings.limits.open_skills_with_files,
    )
    if now.revision != state.opened.baseline and not _merged(state, forge):
        abandon(shop, book, forge, why="the harness changed meanwhile")
        return None
    if RANK[mode] < RANK[state.opened.mode] and not _merged(state, forge):
        abandon(shop, book, forge, why=f"the mode is {mode} now")
        return None
    then = settings_at(shop.repo, state.opened.base_sha)
    today = ("budget", "limits", "stop", "watch", "pulls", "notify")
    settings = then.model_copy(update={name: getattr(shop.settings, name) for name in today})
    return replace(shop, base_sha=state.opened.base_sha, settings=settings)


def _merged(state: CycleState, forge: LocalForge | DryForge) -> bool:
    pull = forge.pull(state.pull.number) if state.pull else None
    return bool(pull and pull.state == "merged")


def carry_on(
    shop: Shop,
    agent: AgentSettings,
    book: Book,
    *,
    forge: LocalForge | DryForge,
    voice: Voice,
    guard: Guard | None = None,
) -> tuple[CycleState, Card | None]:
    """Carry the cycle under way to its end; ``guard`` instead of the settings' own.

    Raises:
        BudgetError, CouldNotTellError, InputError: The cycle is given up, and the ledger says so.
    """
    under_way = book.progress.current
    editing = under_way is None or under_way.proposed is None
    try:
        ground, _ = shop.ground(agent)
        shop.require_able(agent, editing=editing)
    except InputError as error:
        abandon(shop, book, forge, why=error.what)  # else it could never end
        raise
    _put_away(shop, book, forge)
    left = left_for(shop.spent(), shop.settings, now=shop.clock.now(), state=book.progress.current)
    purse = Purse(left, shop.settings.budget.unreported_run, shop.clock)
    bench = shop.bench(shop.evaluator(agent, ground, voice), purse, book.keep)
    research = shop.research(agent, ground, bench=bench, voice=voice, editing=editing)
    if guard:
        research = research._replace(guard=guard)
    delivery = shop.delivery(research, book, reader=forge, writer=forge)
    try:
        state = run_cycle(
            book,
            research,
            delivery,
            purse=purse,
            stopped=shop.require_going,
        )
    except BudgetError:
        abandon(shop, book, forge, why="the budget is spent", purse=purse)
        raise
    except (CouldNotTellError, InputError, ModelRefusedError) as error:
        unanswered = isinstance(error, (ModelRefusedError, ModelSilentError))
        why = UNANSWERED if unanswered else error.what  # a server's words stay out of the ledger
        abandon(shop, book, forge, why=why, purse=purse)
        raise
    _put_away(shop, book, forge)
    fixed = state.applied.fixed if state.applied else ()
    standings = {
        case: standing for case, standing in book.progress.standings.items() if case not in fixed
    }
    return state, delivery.card(state, standings)


def abandon(
    shop: Shop,
    book: Book,
    forge: LocalForge | DryForge,
    *,
    why: str,
    purse: Purse | None = None,
) -> None:
    """Give up the cycle under way: close what it opened, and say so in the ledger."""
    state = book.progress.current
    if state is None:
        return
    pull = forge.pull(state.pull.number) if state.pull else None
    if pull and pull.state == "open":
        intent = close_intent(pull, by="healbot", at=shop.clock.now(), because=why)
        execute([intent], forge, book.keep)
    spent = purse.take() if purse else None
    book.append(Closed(outcome="abandoned", note=why[:300]), cycle=state.id, spent=spent)
    _put_away(shop, book, forge)


def _put_away(shop: Shop, book: Book, forge: LocalForge | DryForge) -> None:
    """Tidy the clone's journal; a dry run leaves it alone: what it closes is not closed."""
    if isinstance(forge, LocalForge):
        put_away(shop, book)


def rollback(shop: Shop, agent: AgentSettings, *, to: str, why: str) -> RolledBack:
    """Put a saved revision back by a new commit; returns the ledger's entry of it."""
    if not why.strip():
        raise UsageError("A rollback needs a reason.", "Give one with --why.")
    with shop.book(agent) as book:
        done = [body for body in settle(shop, book) if answers(body, to)]
        if done and isinstance(done[-1], RolledBack):
            return done[-1]  # made already, by hand or by a call that was cut off
        abandon(shop, book, shop.forge, why="a rollback was asked for")
        tip = shop.repo.resolve(f"refs/heads/{shop.base_ref}") or shop.base_sha
        now = harness_at(shop.repo, tip, agent, open_skills=False)
        target = find_target(book.progress, to, repo=shop.repo, agent=agent, tip=tip)
        reason = Reason(why.strip(), who(shop), shop.clock.now(), book.head)
        intent = restore_intent(
            target, now, agent=agent, base_ref=shop.base_ref, tip=tip, reason=reason
        )
        (effect,) = execute([intent], shop.forge, book.keep)
        _verify_restored(shop, agent, effect, revision=target.harness.revision)
        body = rolled_back_body(target, now, effect, reason=reason)
        book.append(body, cycle=None)
        note = f" ({effect.note})" if effect.note else ""
        say_on(shop, target.number, f"Rolled back by {reason.by}: {reason.why}{note}")
        return body


def _verify_restored(shop: Shop, agent: AgentSettings, effect: Effect, *, revision: str) -> None:
    after = harness_at(shop.repo, effect.sha, agent, open_skills=False)
    if after.revision != revision:
        raise HarnessChangedError(
            f"The commit {effect.sha[:12]} does not hold the saved revision.",
            "Look at it with git show; run healbot rollback --to REVISION once more.",
        )


def require_no_cycle(book: Book) -> None:
    """Refuse while a cycle is unfinished."""
    current = book.progress.current
    if current:
        raise NotNowError(
            f"The cycle {current.id} is not finished.", "Run healbot cycle, which resumes it."
        )


def say_on(shop: Shop, number: int | None, text: str) -> None:
    """Say what became of a pull request, in one comment that is edited in place."""
    if number is None:
        return
    at = shop.clock.now()
    intent = SayOnPull(key=f"note:{number}", number=number, marker=OUTCOME, body=text, at=at)
    execute([intent], shop.forge, lambda: None)


def who(shop: Shop | None = None) -> str:
    """Return the name of whoever runs this, as git's settings have it, else the system."""
    named = shop.repo.person() if shop else ""
    if named:
        return named
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "someone"
