"""What a server's refusals and broken answers mean, as one sentence and one next step.

Knows HTTP statuses and how servers word errors; no network.
"""

import json
import re
from collections.abc import Mapping
from http import HTTPStatus
from typing import NamedTuple

from healbot.chat import retries
from healbot.chat.secrecy import Secret
from healbot.chat.sending import Lost, Reply
from healbot.chat.wire import decoded, object_of, text_of
from healbot.errors import ModelRefusedError, ModelSilentError

REQUEST_IDS = ("x-request-id", "request-id", "x-litellm-call-id", "cf-ray")
"""Headers that name a request: OpenAI's, Anthropic's, and two that stand in front of others."""
READ_BYTES = 65_536
"""How much of an error's body is searched for what it says."""
UNTAKEN = re.compile(
    r"unsupported|not supported|unrecogni[sz]ed|unknown|unexpected|deprecated|no longer|extra|"
    r"not permitted|not allowed|does not support|doesn.t support|only the default|invalid argument",
    re.IGNORECASE,
)
"""Words which say that a field itself is not taken, rather than its value."""


class Fault(NamedTuple):
    """An error as a server words it: its message, and its code and type."""

    message: str
    code: str


class Place(NamedTuple):
    """Whom the request went to, for messages."""

    part: str
    server: str
    model: str
    secret: Secret


def json_of(reply: Reply) -> object:
    """Return a reply's JSON; None where it is none."""
    return decoded(reply.body.decode("utf-8-sig", "replace"))


def fault_of(value: object) -> Fault:
    """Return what an error's JSON says, in the shapes that servers use."""
    body = object_of(value)
    error = body.get("error", body)
    inner = object_of(error)
    message = inner.get("message") or inner.get("detail") or body.get("message")
    if not message:
        message = error if isinstance(error, str) else ""
    if not isinstance(message, str):
        message = json.dumps(message, ensure_ascii=False)
    details = object_of(inner.get("details"))
    codes = (inner.get("code"), inner.get("type"), details.get("error_code"))
    return Fault(message, " ".join(text_of(one) for one in codes if text_of(one)))


def request_id_of(headers: Mapping[str, str]) -> str:
    """Return the server's name of a request, or nothing."""
    return next((headers[name] for name in REQUEST_IDS if headers.get(name)), "")


def untaken(reply: Reply, sent: frozenset[str]) -> frozenset[str]:
    """Return those of the fields sent which an answer says the server does not take."""
    if reply.status not in {HTTPStatus.BAD_REQUEST, HTTPStatus.UNPROCESSABLE_ENTITY}:
        return frozenset()
    value = json_of(reply)
    param = object_of(object_of(value).get("error")).get("param")
    text = reply.body[:READ_BYTES].decode("utf-8", "replace")
    if not UNTAKEN.search(text):
        return frozenset()
    if isinstance(param, str) and param in sent:
        return frozenset({param})
    named = [(found.start(), name) for name in sent if (found := _word(name).search(text))]
    return frozenset({min(named)[1]}) if named else frozenset()


def _word(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![A-Za-z0-9_]){re.escape(name)}(?![A-Za-z0-9_])")


def no_answer(reply: Reply, why: str, place: Place) -> ModelSilentError:
    """Say that a server's answer of success can't be read."""
    request = place.secret.excerpt(request_id_of(reply.headers))
    return ModelSilentError(
        f"{place.server} answered {reply.status}, but {why}{_named(request)}.",
        f"See that models.{place.part}.base_url is the API of a chat model, or try again.",
        status=reply.status,
        request_id=request,
    )


def why_unread(reply: Reply, value: object, secret: Secret) -> str:
    """Say why a body is no JSON object of an answer, or nothing where it is one."""
    kind = secret.excerpt(reply.headers.get("content-type", "").split(";")[0].strip())
    start = reply.body[:READ_BYTES].lstrip()[:15].lower()
    if start.startswith((b"<!doctype", b"<html")):
        return "the body is a web page, no JSON"
    if kind == "text/event-stream":
        return "it streams, which was not asked for"
    if not isinstance(value, dict):
        return f"the body is no JSON object ({kind or 'no content type'}, {len(reply.body)} bytes)"
    if value.get("error"):
        fault = fault_of(value)
        return f"it is an error: {secret.excerpt(fault.message or fault.code) or 'no message'}"
    return ""


def error_of(got: Reply | Lost, tries: int, place: Place) -> ModelRefusedError | ModelSilentError:
    """Return the error of a request that came to nothing."""
    if isinstance(got, Lost):
        return ModelSilentError(
            f"No answer came from {place.server}{_tried(tries)}: {got.why}.",
            f"Try again later, or see models.{place.part} in the settings.",
        )
    value = json_of(got)
    fault = fault_of(value)
    request = place.secret.excerpt(request_id_of(got.headers) or _body_id(value))
    said = place.secret.excerpt(fault.message or fault.code)
    told = f"{place.server} answered {_status(got.status)}"
    more = f": {said}" if said else ""
    if retries.may_repeat(got.status, got.headers, fault.code):
        return ModelSilentError(
            f"{told}{_tried(tries)}{more}{_named(request)}.",
            "Try again later.",
            status=got.status,
            request_id=request,
        )
    return ModelRefusedError(
        f"{told}{more}{_named(request)}.",
        _step(got, place),
        status=got.status,
        request_id=request,
    )


def _body_id(value: object) -> str:
    return text_of(object_of(value).get("request_id"))


def _status(status: int) -> str:
    try:
        return f"{status} ({HTTPStatus(status).phrase})"
    except ValueError:
        return str(status)


def _tried(tries: int) -> str:
    return f" in {tries} tries" if tries > 1 else ""


def _named(request: str) -> str:
    return f" (request {request})" if request else ""


def _step(reply: Reply, place: Place) -> str:
    """Return what to do about a refusal."""
    where = f"models.{place.part}"
    if HTTPStatus.MULTIPLE_CHOICES <= reply.status < HTTPStatus.BAD_REQUEST:
        return f"Redirects are not followed; write the address it leads to into {where}.base_url."
    if reply.status in {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}:
        held = f"the key in {place.secret.name}" if place.secret.name else f"{where}.key_env"
        return f"See {held}, and whether it is of this server."
    if reply.status == HTTPStatus.NOT_FOUND:
        return f"See {where}: the model {place.model!r} or the base_url is unknown there."
    if reply.status in {HTTPStatus.PAYMENT_REQUIRED, HTTPStatus.TOO_MANY_REQUESTS}:
        return "The account's money or quota is spent; add to it, or wait for the next period."
    return f"See models.{place.part} in the settings; the server's words say what it does not take."
