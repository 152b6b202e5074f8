"""The kill switch in the state: thrown and released, also while a cycle holds the ledger.

Knows the wiring. The variable and the settings' own switch stay apart.
"""

from contextlib import suppress

from healbot.cycle.book import late_path
from healbot.entry.loop import who
from healbot.entry.wiring import STOP_PATH, Shop
from healbot.errors import HealbotError, NotNowError, StaleError
from healbot.records.ledger import Switched
from healbot.records.record import canonical

ATTEMPTS = 8
"""How often a state that somebody else moves is tried again."""


def switch(shop: Shop, *, stopped: bool, why: str) -> None:
    """Throw or release the kill switch in the state; the variable and the settings stay apart."""
    for _ in range(ATTEMPTS):
        state = shop.store.load()
        content = f"{why or 'stopped'}\n".encode() if stopped else None
        if (STOP_PATH in state.files) == stopped:
            break
        word = "stop" if stopped else "start"
        with suppress(StaleError):
            shop.store.save(state, {STOP_PATH: content}, message=word, at=shop.clock.now())
    else:
        raise NotNowError("The state branch keeps moving.", "Run the command again in a minute.")
    body = Switched(stopped=stopped, by=who(shop), why=why)
    for agent in shop.settings.agents:
        try:
            with shop.book(agent) as book:
                book.append(body, cycle=None)
        except HealbotError:  # a cycle under way holds the lease; it reads the switch itself
            _record_later(shop, agent.name, body)


def _record_later(shop: Shop, agent: str, body: Switched) -> None:
    """Leave a switch for the agent's next command to record, as its ledger is not free."""
    late = body.model_copy(update={"made_at": shop.clock.now()})
    line = canonical(late.model_dump(mode="json")).encode() + b"\n"
    path = late_path(agent)
    for _ in range(ATTEMPTS):
        state = shop.store.load()
        lines = (shop.store.read(state, path) or b"") + line
        with suppress(StaleError):
            shop.store.save(state, {path: lines}, message="switch", at=shop.clock.now())
            return
