"""A model's server on this machine that speaks both APIs and misbehaves as it is told.

Knows the wire from the server's side, written apart from the client: it reads requests back into
Asks, and writes Answers as each API does.
"""

import json
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

from healbot.records.chat import Answer, Ask, Call, Message, ToolSpec

KEY = "sk-test/not+a+real=key-0123456789abcdef"


class Request(NamedTuple):
    """What came in."""

    path: str
    headers: dict[str, str]
    body: Any


Step = Callable[[BaseHTTPRequestHandler, Request], None]


class Server:
    """A running server: its base URL, what it was sent, and what it does next."""

    def __init__(self, steps: Sequence[Step]) -> None:
        self.url = ""
        self.requests: list[Request] = []
        self._steps = list(steps)

    def step(self) -> Step:
        return self._steps.pop(0) if len(self._steps) > 1 else self._steps[0]


@contextmanager
def serving(*steps: Step) -> Iterator[Server]:
    """Serve on a free port; each step answers one request, the last one all that follow."""
    server = Server(steps)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            data = self.rfile.read(int(self.headers["content-length"]))
            headers = {name.lower(): value for name, value in self.headers.items()}
            request = Request(self.path, headers, json.loads(data))
            server.requests.append(request)
            try:
                server.step()(self, request)
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - its name there
            """Say nothing."""

    behind = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    behind.daemon_threads = True
    behind.block_on_close = False
    thread = threading.Thread(target=behind.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    server.url = f"http://127.0.0.1:{behind.server_address[1]}"
    try:
        yield server
    finally:
        behind.shutdown()
        thread.join()
        behind.server_close()


def say(body: object, status: int = 200, **headers: str) -> Step:
    """Answer with JSON, or with bytes as they are."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    named = {name.replace("_", "-"): value for name, value in headers.items()}

    def step(handler: BaseHTTPRequestHandler, request: Request) -> None:
        handler.send_response(status)
        kind = {"content-type": "application/json", "content-length": str(len(data))}
        for name, value in {**kind, **named}.items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(data)

    return step


def echo(status: int, wrap: Callable[[str], object]) -> Step:
    """Answer with the key that came in, as some servers do to a wrong one."""

    def step(handler: BaseHTTPRequestHandler, request: Request) -> None:
        key = request.headers.get("x-api-key") or request.headers["authorization"].split()[1]
        say(wrap(key), status, x_request_id=f"req-{key}")(handler, request)

    return step


def hang_up(handler: BaseHTTPRequestHandler, request: Request) -> None:
    """Close the connection without a word."""
    handler.close_connection = True


def cut_short(handler: BaseHTTPRequestHandler, request: Request) -> None:
    """Promise more than comes."""
    handler.send_response(200)
    handler.send_header("content-length", "1000")
    handler.end_headers()
    handler.wfile.write(b'{"choices": [')
    handler.close_connection = True


def drip(handler: BaseHTTPRequestHandler, request: Request) -> None:
    """Send one byte after another, for longer than anybody waits."""
    handler.send_response(200)
    handler.send_header("content-length", "100000")
    handler.end_headers()
    for _ in range(200):
        handler.wfile.write(b" ")
        handler.wfile.flush()
        time.sleep(0.02)


def silence(handler: BaseHTTPRequestHandler, request: Request) -> None:
    """Say nothing for longer than the tests wait."""
    time.sleep(0.2)
    handler.close_connection = True


def flood(handler: BaseHTTPRequestHandler, request: Request) -> None:
    """Send a hundred million bytes."""
    handler.send_response(200)
    handler.send_header("content-length", "100000000")
    handler.end_headers()
    for _ in range(100):
        handler.wfile.write(b" " * 1_000_000)


def openai_body(answer: Answer, **more: object) -> dict[str, Any]:
    """Return an answer as chat completions write it."""
    words = {"end": "stop", "tools": "tool_calls", "filtered": "content_filter"}
    message: dict[str, Any] = {"role": "assistant", "content": answer.text or None}
    if answer.calls:
        message["tool_calls"] = [
            {
                "id": one.id,
                "type": "function",
                "function": {"name": one.name, "arguments": one.broken or json.dumps(one.args)},
            }
            for one in answer.calls
        ]
    if answer.stop == "refused":
        message["refusal"] = answer.refusal
    tokens = answer.tokens
    usage = {"prompt_tokens": tokens.sent, "completion_tokens": tokens.made}
    choice = {"index": 0, "message": message, "finish_reason": words.get(answer.stop, answer.stop)}
    return {
        "id": answer.request_id,
        "object": "chat.completion",
        "model": answer.model,
        "choices": [choice],
        "usage": {**usage, "prompt_tokens_details": {"cached_tokens": tokens.cached}},
        **more,
    }


def anthropic_body(answer: Answer, **more: object) -> dict[str, Any]:
    """Return an answer as Messages writes it."""
    words = {"end": "end_turn", "tools": "tool_use", "length": "max_tokens", "refused": "refusal"}
    blocks: list[dict[str, Any]] = [{"type": "text", "text": answer.text}] if answer.text else []
    blocks += [
        {"type": "tool_use", "id": one.id, "name": one.name, "input": one.args}
        for one in answer.calls
    ]
    tokens = answer.tokens
    cached = (tokens.cached or 0) + (tokens.cache_written or 0)
    return {
        "id": answer.request_id,
        "type": "message",
        "role": "assistant",
        "model": answer.model,
        "content": blocks,
        "stop_reason": words.get(answer.stop, answer.stop),
        "stop_details": {"explanation": answer.refusal} if answer.refusal else None,
        "usage": {
            "input_tokens": None if tokens.sent is None else tokens.sent - cached,
            "cache_read_input_tokens": tokens.cached,
            "cache_creation_input_tokens": tokens.cache_written,
            "output_tokens": tokens.made,
        },
        **more,
    }


def openai_ask(body: dict[str, Any]) -> Ask:
    """Read a request of chat completions."""
    turns = [
        Message(
            role=one["role"],
            text=one["content"],
            answers=one.get("tool_call_id", ""),
            calls=tuple(
                Call(
                    id=call["id"],
                    name=call["function"]["name"],
                    args=json.loads(call["function"]["arguments"]),
                )
                for call in one.get("tool_calls", ())
            ),
        )
        for one in body["messages"]
    ]
    tools = [one["function"] for one in body.get("tools", ())]
    return _ask(body, turns, tools, "parameters", "stop")


def anthropic_ask(body: dict[str, Any]) -> Ask:
    """Read a request of Messages; every block is a turn of its own."""
    turns = [Message(role="system", text=body["system"])] if "system" in body else []
    for one in body["messages"]:
        blocks = one["content"]
        assert blocks
        if one["role"] == "assistant":
            text = "".join(block["text"] for block in blocks if block["type"] == "text")
            calls = tuple(
                Call(id=block["id"], name=block["name"], args=block["input"])
                for block in blocks
                if block["type"] == "tool_use"
            )
            turns.append(Message(role="assistant", text=text, calls=calls))
            continue
        for block in blocks:
            if block["type"] == "text":
                turns.append(Message(role="user", text=block["text"]))
            else:
                failed, answers = block.get("is_error", False), block["tool_use_id"]
                text = block["content"]
                turns.append(Message(role="tool", text=text, answers=answers, failed=failed))
    return _ask(body, turns, list(body.get("tools", ())), "input_schema", "stop_sequences")


def _ask(
    body: dict[str, Any], turns: list[Message], tools: list[dict[str, Any]], schema: str, stop: str
) -> Ask:
    specs = [
        ToolSpec(name=one["name"], description=one.get("description", ""), parameters=one[schema])
        for one in tools
    ]
    return Ask(
        messages=tuple(turns),
        tools=tuple(specs),
        max_tokens=body.get("max_tokens", body.get("max_completion_tokens")),
        temperature=body.get("temperature"),
        seed=body.get("seed"),
        stop=tuple(body.get(stop, ())),
    )
