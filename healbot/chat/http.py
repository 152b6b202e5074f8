"""A chat model behind a server: one question, as many requests as it takes, one answer.

Knows how to ask again, what a server does not take, the deadline and the key; what differs between
APIs is in its ``Wire``. Nothing is streamed: an answer is whole or it is none.
"""

import random
from collections.abc import Callable, Mapping
from functools import cached_property
from http import HTTPStatus
from typing import Any, NamedTuple

from healbot.chat import retries, trouble
from healbot.chat.address import is_here, server_of, url_of
from healbot.chat.prices import cost_usd
from healbot.chat.secrecy import Secret
from healbot.chat.sending import Lost, Reply, Route, send, tls_of
from healbot.chat.wire import UnreadableError, Wire, body_of
from healbot.errors import InputError
from healbot.ports import Clock
from healbot.records.chat import Answer, Ask
from healbot.records.record import digest_of
from healbot.records.settings import ModelSettings

_SHOWN = ("text", "calls", "refusal", "model", "request_id", "native")
"""What of an answer is the server's own words."""


class Means(NamedTuple):
    """What a chat may use of the machine.

    Attributes:
        environment: The real variables; only those that the settings name are read, and
            SSL_CERT_FILE and SSL_CERT_DIR.
        pause: Waits so many seconds.
    """

    environment: Mapping[str, str]
    clock: Clock
    pause: Callable[[float], None]


class HttpChat:
    """``Chat`` over HTTP; safe to use from many threads, not from inside an event loop.

    Args:
        part: Which part the model plays in the settings (editor, judge …), for messages.

    Raises:
        InputError: The base URL can't be used, or a variable that the settings name is not set.
    """

    def __init__(self, settings: ModelSettings, wire: Wire, *, means: Means, part: str) -> None:
        self._settings = settings
        self._wire = wire
        self._means = means
        self._url = url_of(settings, wire, part)
        secret = Secret(settings.key_env, means.environment, f"models.{part}.key_env")
        if not settings.key_env and not settings.base_url:
            raise InputError(
                f"models.{part} has no key_env, and {server_of(self._url)} needs a key.",
                f"Name the variable that holds it: models.{part}.key_env.",
            )
        self._place = trouble.Place(part, server_of(self._url), settings.name, secret)
        self._proxy = Secret(settings.proxy_env, means.environment, f"models.{part}.proxy_env")
        self._refused = wire.refused.get(server_of(self._url), frozenset())

    @cached_property
    def digest(self) -> str:
        """Names API, model, server with its path, and the settings' sampling; no key."""
        return digest_of(
            {
                "api": self._settings.api,
                "model": self._settings.name,
                "url": self._url,
                "max_tokens": self._settings.max_tokens or self._wire.most_tokens,
                "temperature": self._settings.temperature,
            }
        )

    def ask(self, ask: Ask) -> Answer:
        """See ``Chat.ask``; what the server does not take is left out and named in the answer."""
        ask = self._with_defaults(ask)
        clock = self._means.clock
        until = clock.monotonic() + self._settings.deadline_seconds
        dice = random.Random(f"{clock.now()} {clock.monotonic()}")  # noqa: S311 - no secret
        tries = failures = 0
        while True:
            body, left_out = body_of(
                self._wire, ask, model=self._settings.name, refused=self._refused
            )
            got = self._sent(body, until - clock.monotonic())
            tries += 1
            if isinstance(got, Reply) and _is_success(got.status):
                return self._answer(got, ask).model_copy(
                    update={"left_out": left_out, "tries": tries}
                )
            if untaken := self._untaken(got, body):
                self._refused |= untaken
                continue
            failures += 1
            wait = self._wait(got, failures, left_seconds=until - clock.monotonic(), dice=dice)
            if wait is None:
                raise trouble.error_of(got, tries, self._place)
            self._means.pause(wait)

    def _with_defaults(self, ask: Ask) -> Ask:
        settings = self._settings
        tokens = ask.max_tokens or settings.max_tokens or self._wire.most_tokens
        warmth = settings.temperature if ask.temperature is None else ask.temperature
        return ask.model_copy(update={"max_tokens": tokens, "temperature": warmth})

    def _sent(self, body: dict[str, Any], left_seconds: float) -> Reply | Lost:
        if left_seconds <= 0:
            return Lost("the time for it is over", again=False)
        return send(self._route, body, left_seconds)

    @cached_property
    def _route(self) -> Route:
        key = self._place.secret.reveal()
        headers = {**self._wire.headers, **(self._wire.key_headers(key) if key else {})}
        proxy = None if is_here(self._url) else self._proxy.reveal() or None
        problem = ""
        try:
            tls = tls_of(self._means.environment)
        except OSError as error:
            problem = type(error).__name__
        if problem:
            raise InputError(
                f"The certificates of SSL_CERT_FILE or SSL_CERT_DIR can't be read ({problem}).",
                "Correct those variables.",
            )
        return Route(self._url, headers, proxy, tls)

    def _untaken(self, got: Reply | Lost, body: Mapping[str, Any]) -> frozenset[str]:
        if isinstance(got, Lost):
            return frozenset()
        names = {name for one in self._wire.fields.values() for name in one}
        return trouble.untaken(got, frozenset((names - self._wire.needed) & body.keys()))

    def _wait(
        self, got: Reply | Lost, failures: int, *, left_seconds: float, dice: random.Random
    ) -> float | None:
        """Return the wait before the next try; None: give up."""
        asked = None
        if isinstance(got, Lost):
            again = got.again
        else:
            code = trouble.fault_of(trouble.json_of(got)).code
            again = retries.may_repeat(got.status, got.headers, code)
            asked = retries.asked_seconds(got.headers, self._means.clock.now())
        if not again:
            return None
        return retries.wait_seconds(failures, asked, left_seconds=left_seconds, dice=dice)

    def _answer(self, reply: Reply, ask: Ask) -> Answer:
        secret = self._place.secret
        value = trouble.json_of(reply)
        why = trouble.why_unread(reply, value, secret)
        try:
            answer = self._clean(self._wire.parse(value if isinstance(value, dict) else {}))
        except UnreadableError as unreadable:
            why = why or str(unreadable)
        except (RecursionError, ValueError):
            why = why or "it holds what no answer holds"
        if why:
            raise trouble.no_answer(reply, why, self._place)
        usd = cost_usd(
            self._settings,
            answer.tokens,
            url=self._url,
            models=tuple(dict.fromkeys(filter(None, (answer.model, self._settings.name)))),
            at=self._means.clock.now(),
        )
        named = trouble.request_id_of(reply.headers)
        known = {"usd": usd, "request_id": secret.excerpt(named or answer.request_id)}
        return _ended(answer, ask.stop).model_copy(update=known)

    def _clean(self, answer: Answer) -> Answer:
        """Return an answer in which the key does not stand, whatever the server repeated."""
        plain = answer.model_dump()
        said = {name: self._place.secret.without(plain[name]) for name in _SHOWN}
        return Answer.model_validate({**plain, **said})


def _is_success(status: int) -> bool:
    return HTTPStatus.OK <= status < HTTPStatus.MULTIPLE_CHOICES


def _ended(answer: Answer, stops: tuple[str, ...]) -> Answer:
    """Return an answer that ends before its first stop text, also where the server has no stops."""
    ends = [place for stop in stops if (place := answer.text.find(stop)) >= 0]
    if not ends:
        return answer
    return answer.model_copy(update={"text": answer.text[: min(ends)], "stop": "end"})
