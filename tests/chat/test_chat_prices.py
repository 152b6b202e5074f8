"""What an answer cost, and that nothing is guessed."""

from datetime import UTC, datetime
from importlib.util import find_spec

import pytest

from healbot.chat.prices import cost_usd
from healbot.records.chat import Tokens
from healbot.records.settings import ModelSettings

AT = datetime(2026, 3, 1, tzinfo=UTC)
TOKENS = Tokens(sent=1_000_000, made=100_000)
OPENAI = "https://api.openai.com/v1/chat/completions"


def cost(
    tokens: Tokens = TOKENS, url: str = OPENAI, model: str = "gpt-4o", **given: float
) -> object:
    settings = ModelSettings.model_validate({"name": model, **given})
    return cost_usd(settings, tokens, url=url, models=("unheard-of", model), at=AT)


def test_the_settings_prices_come_first() -> None:
    assert cost(price_in_usd_per_million=1, price_out_usd_per_million=20) == 3
    assert cost(price_in_usd_per_million=0, price_out_usd_per_million=0) == 0


def test_unknown_tokens_have_no_price() -> None:
    assert cost(Tokens(sent=5), price_in_usd_per_million=1, price_out_usd_per_million=1) is None


@pytest.mark.skipif(not find_spec("genai_prices"), reason="the extra 'prices' is not installed")
def test_a_listed_price_is_of_the_vendor_and_never_of_a_name_alone() -> None:
    assert cost() == pytest.approx(3.5)
    assert cost(url="http://127.0.0.1:1/v1/chat/completions") is None
    assert cost(url="https://gateway.example.com/v1/chat/completions") is None
    assert cost(model="no-such-model") is None
    assert cost(Tokens(sent=1, made=1, cached=2)) is None


def test_without_the_list_a_price_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "genai_prices", None)
    assert cost() is None
