"""One cycle: a fold over the ledger. Each phase ends by appending one entry.

Knows the order only; what a phase does is ``research`` (agents, checks, editors) or ``delivery``
(the world). A first run and a resume are this same loop: "what next" is asked of the ledger.
"""

from collections.abc import Callable

from healbot.cycle.book import Book
from healbot.cycle.delivery import Delivery
from healbot.cycle.purse import Purse
from healbot.cycle.research import Research
from healbot.records.ledger import Body
from healbot.rules.order import GUARDED_BY_STOP, Phase, next_phase
from healbot.rules.progress import CycleState

WRITING = frozenset({Phase.OPEN, Phase.DECIDE, Phase.CLOSE})


def run_cycle(
    book: Book,
    research: Research,
    delivery: Delivery,
    *,
    purse: Purse,
    stopped: Callable[[], None],
) -> CycleState:
    """Carry the cycle under way to its end and return it.

    Args:
        book: The agent's ledger, its lease held.
        research: The phases that run agents, checks and editors.
        delivery: The phases that change the world.
        purse: Counts what the phases spend.
        stopped: Raises where the kill switch is on.

    Raises:
        HealbotError: A phase could not go on; the ledger stands at the phase before it.
    """
    while state := book.progress.current:
        phase = next_phase(state, fallbacks=state.opened.fallbacks)
        if phase in GUARDED_BY_STOP:
            stopped()
        worker = delivery if phase in WRITING else research
        body: Body = worker.perform(phase, state, book.progress)
        book.append(body, cycle=state.id, spent=purse.take())
    return book.progress.cycles[-1]
