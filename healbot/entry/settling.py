"""Tidying the clone's journal: runs of closed cycles lose their secrets, old ones go.

Knows the wiring and the order; decides nothing about a run.
"""

from datetime import timedelta

from healbot.cycle.book import Book
from healbot.entry.wiring import Shop
from healbot.rules.progress import replay
from healbot.rules.settling import is_behind_us


def put_away(shop: Shop, book: Book) -> None:
    """Redact the runs of an agent's closed cycles, and drop all runs that were kept long enough.

    What a cycle under way may have made is not dropped, whichever agent's it is.
    """
    shop.journal.settle(is_behind_us(book.progress))
    limit = shop.clock.now() - timedelta(days=shop.settings.privacy.keep_days)
    chains = (shop.chain(one) for one in shop.settings.agents)
    under_way = [replay(one.entries).current for one in chains if not one.broken]
    shop.journal.drop_before(min([limit, *(one.opened_at for one in under_way if one)]))
