"""Which base URLs are taken, where requests go, and what of wrong settings is told."""

from typing import Any

import pytest
from talking import Waits, chat_to

from healbot.chat.address import url_of
from healbot.chat.http import Means
from healbot.chat.table import WIRES, chat_of
from healbot.errors import InputError
from healbot.records.settings import ModelSettings


def url(base: str | None, api: str = "openai", **more: Any) -> str:
    settings = ModelSettings.model_validate({"name": "m", "base_url": base, "api": api, **more})
    return url_of(settings, WIRES[api], "editor")


@pytest.mark.parametrize(
    ("api", "base", "expected"),
    [
        ("openai", None, "https://api.openai.com/v1/chat/completions"),
        ("openai", "https://host/v1/", "https://host/v1/chat/completions"),
        ("openai", "https://host/v1/chat/completions", "https://host/v1/chat/completions"),
        ("openai", "http://127.0.0.1:8080", "http://127.0.0.1:8080/chat/completions"),
        ("openai", "http://[::1]:8080/v1", "http://[::1]:8080/v1/chat/completions"),
        ("openai", "http://localhost/v1", "http://localhost/v1/chat/completions"),
        ("anthropic", None, "https://api.anthropic.com/v1/messages"),
        ("anthropic", "https://host/v1", "https://host/v1/messages"),
        ("anthropic", "https://host/x", "https://host/x/v1/messages"),
        ("anthropic", "https://host/v1/messages", "https://host/v1/messages"),
    ],
)
def test_a_base_may_end_early_or_late(api: str, base: str | None, expected: str) -> None:
    assert url(base, api) == expected


@pytest.mark.parametrize(
    "base",
    ["host/v1", "ftp://host", "https://", "https://a b", "https://hö.st", "https://h:99999",
     "https://user:pw@host", "https://host/?api-version=1", "https://host/#x", "https://h\n"],
)  # fmt: skip
def test_a_base_that_is_no_server_is_told(base: str) -> None:
    with pytest.raises(InputError, match=r"models\.editor\.base_url"):
        url(base)


def test_nothing_travels_unencrypted_unless_the_settings_say_so() -> None:
    with pytest.raises(InputError, match="unencrypted to host"):
        url("http://host/v1")
    with pytest.raises(InputError, match="unencrypted"):
        url("http://localhost.example.com/v1")
    assert url("http://host/v1", plain_http=True) == "http://host/v1/chat/completions"


@pytest.mark.parametrize("key", ["", "   ", "two words", "sk-\x00bad", "sk-ünsent"])
def test_a_key_that_is_missing_or_can_not_be_sent_is_told_by_name_only(key: str) -> None:
    with pytest.raises(InputError, match="MODEL_KEY") as caught:
        chat_to("https://host/v1", key=key)
    assert not key.strip() or key not in f"{caught.value!r} {caught.value.next_step}"


def test_a_vendors_own_server_needs_a_key_and_a_server_of_yours_does_not() -> None:
    waits = Waits()
    means = Means({}, waits, waits.pause)
    with pytest.raises(InputError, match=r"models\.judge has no key_env"):
        chat_of(ModelSettings(name="m"), means, part="judge")
    chat_of(ModelSettings(name="m", base_url="http://127.0.0.1:1"), means, part="judge")


def test_a_proxy_is_used_only_where_the_settings_name_its_variable() -> None:
    with pytest.raises(InputError, match=r"models\.editor\.proxy_env"):
        chat_to("https://host/v1", proxy_env="HTTPS_PROXY")
