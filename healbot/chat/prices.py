"""What an answer cost, where that is known.

Knows the prices that the settings give, and those of the ``genai-prices`` package where it is
installed (the extra ``prices``): data on this machine, nothing is fetched. A price is never taken
from a model's name alone, because the same model costs differently at another vendor.
"""

import math
from datetime import datetime

from healbot.records.chat import Tokens
from healbot.records.settings import ModelSettings

MILLION = 1_000_000


def cost_usd(
    settings: ModelSettings, tokens: Tokens, *, url: str, models: tuple[str, ...], at: datetime
) -> float | None:
    """Return US dollars; None where tokens or prices are unknown.

    Prices of the settings come first and stand for every token alike, cached or not. ``models`` are
    the model's names, the most exact one first; ``at`` is when it was asked, since prices change.
    """
    if tokens.sent is None or tokens.made is None:
        return None
    given_in, given_out = settings.price_in_usd_per_million, settings.price_out_usd_per_million
    if given_in is not None and given_out is not None:
        return (tokens.sent * given_in + tokens.made * given_out) / MILLION
    return next(
        (usd for model in models if (usd := _listed(tokens, model, url=url, at=at)) is not None),
        None,
    )


def _listed(tokens: Tokens, model: str, *, url: str, at: datetime) -> float | None:
    """Return what the list of prices says, where there is one and it knows server and model."""
    try:
        from genai_prices import Usage, calc_price  # noqa: PLC0415 - an extra, and slow to load
    except ImportError:
        return None
    usage = Usage(
        input_tokens=tokens.sent,
        output_tokens=tokens.made,
        cache_read_tokens=tokens.cached,
        cache_write_tokens=tokens.cache_written,
    )
    try:
        price = calc_price(usage, model, provider_api_url=url, genai_request_timestamp=at)
    except (LookupError, ValueError, TypeError):
        return None
    usd = float(price.total_price)
    return usd if math.isfinite(usd) and usd >= 0 else None
