"""A model server for tests: real HTTP on loopback in the shape of OpenAI's chat completions.

Knows the wire and one script: a coding assistant that does what the last lines of its prompts ask,
and writes a change note only where its system prompt tells it to. It knows nothing of healbot.
"""

import json
import re
import threading
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, NamedTuple

CHARACTERS_PER_TOKEN = 4
USD_PER_TOKEN = 0.000001
NOTES = "CHANGES.md"
"""What a system prompt must name so that the assistant writes a change note."""
SUBMIT = "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"
"""What mini-swe-agent takes as the end of a task."""

_FUNCTION = re.compile(r"(\w+)\((\w+)\).*?returns ([^.\n]+)\.", re.DOTALL)


class Request(NamedTuple):
    """One request as it came over the wire."""

    key: str
    body: dict[str, Any]

    @property
    def system(self) -> str:
        """What the system messages say."""
        return _said(self.body["messages"], "system")

    @property
    def seen(self) -> str:
        """What the agent's commands printed, as the agent handed it on."""
        return _said(self.body["messages"], "tool")


class ScriptedModel:
    """The server, from ``with`` to its end; ``requests`` is what came in so far.

    Args:
        key: The only bearer token that is let in.
    """

    def __init__(self, key: str) -> None:
        self.key = key
        self.requests: list[Request] = []
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.model = self
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))

    @property
    def base_url(self) -> str:
        """What a client takes as ``OPENAI_API_BASE``."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def __enter__(self) -> "ScriptedModel":
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    request_queue_size = 64
    model: ScriptedModel


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        key = self.headers.get("Authorization", "").removeprefix("Bearer ")
        if self.path != "/v1/chat/completions":
            return self._send(404, {"error": {"message": f"there is no {self.path}"}})
        if key != self.server.model.key:
            return self._send(401, {"error": {"message": "this key is not known here"}})
        self.server.model.requests.append(Request(key, body))
        return self._send(200, completion(body))

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the base names it so
        """Say nothing."""

    def _send(self, status: int, body: object) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def completion(body: dict[str, Any]) -> dict[str, Any]:
    """Answer one request with one call of the tool ``bash``."""
    messages = body["messages"]
    turn = sum(message["role"] == "assistant" for message in messages)
    function = {"name": "bash", "arguments": json.dumps({"command": _command(messages, turn)})}
    call = {"id": f"call_{turn}", "type": "function", "function": function}
    message = {"role": "assistant", "content": "I go on.", "tool_calls": [call]}
    asked = sum(len(str(one.get("content") or "")) for one in messages) // CHARACTERS_PER_TOKEN
    answered = len(json.dumps(message)) // CHARACTERS_PER_TOKEN
    return {
        "id": f"chatcmpl-{turn}",
        "object": "chat.completion",
        "created": 1,
        "model": body["model"],
        "choices": [{"index": 0, "finish_reason": "tool_calls", "message": message}],
        "usage": {
            "prompt_tokens": asked,
            "completion_tokens": answered,
            "total_tokens": asked + answered,
            "cost": (asked + answered) * USD_PER_TOKEN,
        },
    }


def _command(messages: Sequence[dict[str, Any]], turn: int) -> str:
    """Return the script's next command: look around, do what is asked, submit."""
    if turn == 0:
        return "env; ls -RA ."
    wanted = _FUNCTION.search(_task(messages))
    if not wanted:
        return "cat calc.py" if turn == 1 else f"{SUBMIT}; grep def calc.py"
    name, argument, result = wanted.groups()
    if turn > 1:
        return f"{SUBMIT}; echo I wrote {name}."
    work = f"printf '\\n\\ndef {name}({argument}):\\n    return {result}\\n' >> calc.py"
    noting = NOTES in _said(messages, "system")
    return f"{work} && echo '- add {name}' >> {NOTES}" if noting else work


def _task(messages: Sequence[dict[str, Any]]) -> str:
    """Return the task's own line, which mini-swe-agent's template puts first."""
    return _said(messages, "user").partition("\n")[0]


def _said(messages: Sequence[dict[str, Any]], role: str) -> str:
    return "\n".join(str(one.get("content")) for one in messages if one["role"] == role)
