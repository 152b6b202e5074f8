"""OpenAI's chat completions, as the many servers speak them that call themselves compatible.

Knows the wire's JSON both ways; no network. Source: the API reference of chat completions, and what
compatible servers are seen to leave out (ids and ``content`` of tool calls, ``usage``, a reason of
the end), to add (reasoning that they want back when tools are called) and to do otherwise
(arguments as an object, content as a list of parts).
"""

import json
from collections.abc import Mapping
from typing import Any

from healbot.chat.wire import (
    UnreadableError,
    Wire,
    count_of,
    decoded,
    object_of,
    objects_of,
    said_stop,
    text_of,
    texts_of,
)
from healbot.records.chat import Answer, Ask, Call, Message, Stop, Tokens, ToolSpec

API = "openai"
STOPS: Mapping[str, Stop] = {
    "stop": "end",
    "length": "length",
    "tool_calls": "tools",
    "function_call": "tools",
    "content_filter": "filtered",
    "refusal": "refused",
}
REASONING = ("reasoning_content", "reasoning_details")
"""What a server wants back with a turn that calls tools; on other turns some refuse it."""


def render(ask: Ask, model: str) -> dict[str, Any]:
    """Return the body of a request, without the fields of sampling."""
    body: dict[str, Any] = {"model": model, "messages": [_turn(one) for one in ask.messages]}
    if ask.tools:
        body["tools"] = [_tool(one) for one in ask.tools]
    return body


def _turn(message: Message) -> dict[str, Any]:
    turn: dict[str, Any] = {"role": message.role, "content": message.text}
    if message.answers:
        turn["tool_call_id"] = message.answers
    if message.calls:
        turn["tool_calls"] = [_call(one) for one in message.calls]
        turn |= object_of(message.native.get(API))
    return turn


def _call(call: Call) -> dict[str, Any]:
    function = {"name": call.name, "arguments": json.dumps(call.args)}
    native = object_of(call.native.get(API))
    return {"id": call.id, "type": "function", "function": function, **native}


def _tool(tool: ToolSpec) -> dict[str, Any]:
    function = {"name": tool.name, "parameters": tool.parameters}
    if tool.description:
        function["description"] = tool.description
    return {"type": "function", "function": function}


def parse(body: Mapping[str, Any]) -> Answer:
    """Return the first choice of an answer.

    Raises:
        UnreadableError: There is none.
    """
    choice = next(iter(objects_of(body.get("choices"))), None)
    if choice is None:
        raise UnreadableError("it has no choices")
    message = choice.get("message")
    if not isinstance(message, dict):
        raise UnreadableError("its choice has no message")
    calls = tuple(
        _called(one, number) for number, one in enumerate(objects_of(message.get("tool_calls")), 1)
    )
    refusal = text_of(message.get("refusal"))
    stop = said_stop(STOPS, choice.get("finish_reason"), calls)
    return Answer(
        text=_content(message.get("content")),
        calls=calls,
        stop="refused" if refusal else stop,
        refusal=refusal,
        tokens=_tokens(object_of(body.get("usage"))),
        model=text_of(body.get("model")),
        request_id=text_of(body.get("id")),
        native=_native(message) if calls else {},
    )


def _content(value: object) -> str:
    return value if isinstance(value, str) else texts_of(objects_of(value))


def _called(call: Mapping[str, Any], number: int) -> Call:
    function = object_of(call.get("function"))
    given = function.get("arguments")
    args = decoded(given or "{}") if isinstance(given, str) else given or {}
    is_object = isinstance(args, dict)
    extra = call.get("extra_content")
    return Call(
        id=text_of(call.get("id")) or f"call_{number}",
        name=text_of(function.get("name")),
        args=args if is_object else {},
        broken="" if is_object else given if isinstance(given, str) else json.dumps(given),
        native={API: {"extra_content": extra}} if extra else {},
    )


def _native(message: Mapping[str, Any]) -> dict[str, Any]:
    kept = {name: message[name] for name in REASONING if message.get(name)}
    return {API: kept} if kept else {}


def _tokens(usage: Mapping[str, Any]) -> Tokens:
    details = object_of(usage.get("prompt_tokens_details"))
    cached = details.get("cached_tokens", usage.get("prompt_cache_hit_tokens"))
    return Tokens(
        sent=count_of(usage.get("prompt_tokens")),
        made=count_of(usage.get("completion_tokens")),
        cached=count_of(cached),
    )


def _bearer(key: str) -> dict[str, str]:
    return {"authorization": f"Bearer {key}"}


WIRE = Wire(
    base_url="https://api.openai.com/v1",
    path="/chat/completions",
    key_headers=_bearer,
    headers={},
    render=render,
    parse=parse,
    fields={
        "max_tokens": ("max_tokens", "max_completion_tokens"),
        "temperature": ("temperature",),
        "seed": ("seed",),
        "stop": ("stop",),
    },
    refused={"api.openai.com": frozenset({"max_tokens"})},
)
