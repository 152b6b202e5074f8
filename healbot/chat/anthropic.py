"""Anthropic's Messages API.

Knows the wire's JSON both ways; no network. Source: the API reference of Messages (version
2023-06-01, the newest that still has ``temperature``, and the one that compatible servers speak),
and the pages on stop reasons and on handing thinking blocks back.
"""

from collections.abc import Mapping
from typing import Any

from healbot.chat.wire import (
    UnreadableError,
    Wire,
    count_of,
    object_of,
    objects_of,
    said_stop,
    text_of,
    texts_of,
)
from healbot.records.chat import Answer, Ask, Call, Message, Stop, Tokens, ToolSpec

API = "anthropic"
VERSION = "2023-06-01"
MOST_TOKENS = 16_000
"""The limit of an answer where nobody gave one: room for thinking, which counts, and an edit."""
STOPS: Mapping[str, Stop] = {
    "end_turn": "end",
    "stop_sequence": "end",
    "tool_use": "tools",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "refused",
}
READ = frozenset({"text", "tool_use"})
"""The kinds of block that are understood; a turn with others is handed back word for word."""


def render(ask: Ask, model: str) -> dict[str, Any]:
    """Return the body of a request, without the fields of sampling."""
    system = "".join(one.text for one in ask.messages if one.role == "system")
    body: dict[str, Any] = {"model": model, "messages": _turns(ask.messages)}
    if system:
        body["system"] = system
    if ask.tools:
        body["tools"] = [_tool(one) for one in ask.tools]
    return body


def _turns(messages: tuple[Message, ...]) -> list[dict[str, Any]]:
    """Return turns of two roles; results of tools are a user's, all of one round in one turn."""
    turns: list[dict[str, Any]] = []
    for message in messages:
        role = "assistant" if message.role == "assistant" else "user"
        blocks = [] if message.role == "system" else _blocks(message)
        if not blocks:
            continue
        if turns and turns[-1]["role"] == role:
            turns[-1]["content"].extend(blocks)
        else:
            turns.append({"role": role, "content": blocks})
    return turns


def _blocks(message: Message) -> list[dict[str, Any]]:
    kept = objects_of(message.native.get(API))
    if kept:
        return list(kept)
    if message.answers:
        result = {"type": "tool_result", "tool_use_id": message.answers, "content": message.text}
        return [{**result, "is_error": True} if message.failed else result]
    text = [{"type": "text", "text": message.text}] if message.text else []
    return text + [
        {"type": "tool_use", "id": one.id, "name": one.name, "input": one.args}
        for one in message.calls
    ]


def _tool(tool: ToolSpec) -> dict[str, Any]:
    said = {"description": tool.description} if tool.description else {}
    return {"name": tool.name, **said, "input_schema": tool.parameters}


def parse(body: Mapping[str, Any]) -> Answer:
    """Return the answer of a body.

    Raises:
        UnreadableError: It has no content.
    """
    if not isinstance(body.get("content"), list):
        raise UnreadableError("it has no content")
    blocks = objects_of(body["content"])
    calls = tuple(
        _called(one, number)
        for number, one in enumerate((b for b in blocks if b.get("type") == "tool_use"), 1)
    )
    stop = said_stop(STOPS, body.get("stop_reason"), calls)
    return Answer(
        text=texts_of(blocks),
        calls=calls,
        stop=stop,
        refusal=text_of(object_of(body.get("stop_details")).get("explanation")),
        tokens=_tokens(object_of(body.get("usage"))),
        model=text_of(body.get("model")),
        request_id=text_of(body.get("id")),
        native={} if all(one.get("type") in READ for one in blocks) else {API: blocks},
    )


def _called(block: Mapping[str, Any], number: int) -> Call:
    given = block.get("input", {})
    is_object = isinstance(given, dict)
    return Call(
        id=text_of(block.get("id")) or f"call_{number}",
        name=text_of(block.get("name")),
        args=given if is_object else {},
        broken="" if is_object else str(given),
    )


def _tokens(usage: Mapping[str, Any]) -> Tokens:
    """Return the counts; the API's ``input_tokens`` are only those that no cache had part in."""
    fresh, read, written = (
        count_of(usage.get(name))
        for name in ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    )
    return Tokens(
        sent=None if fresh is None else fresh + (read or 0) + (written or 0),
        made=count_of(usage.get("output_tokens")),
        cached=read,
        cache_written=written,
    )


def _api_key(key: str) -> dict[str, str]:
    return {"x-api-key": key}


WIRE = Wire(
    base_url="https://api.anthropic.com",
    path="/v1/messages",
    key_headers=_api_key,
    headers={"anthropic-version": VERSION},
    render=render,
    parse=parse,
    fields={
        "max_tokens": ("max_tokens",),
        "temperature": ("temperature",),
        "seed": (),
        "stop": ("stop_sequences",),
    },
    needed=frozenset({"max_tokens"}),
    most_tokens=MOST_TOKENS,
)
