"""The chat client against servers that others wrote: `python -m tests.measure.chat`.

Starts, on this machine, llama.cpp's server (``xllamacpp``, with a chat model of yours: ``--gguf
FILE``) and LiteLLM's proxy (``litellm[proxy]``, answering without a model), asks both in both APIs,
and prints what came. ``--python PATH`` names the interpreter that has them; a server that is not
installed there is skipped, and said.
"""

import argparse
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple
from urllib.error import HTTPError, URLError
from urllib.request import urlopen

from healbot.chat.http import Means
from healbot.chat.table import chat_of
from healbot.entry.clock import SystemClock
from healbot.errors import HealbotError
from healbot.ports import Chat
from healbot.records.chat import Ask, Message, ToolSpec
from healbot.records.settings import ModelSettings

START_SECONDS = 90.0
KEY = "sk-measured-0123456789"
LLAMA = """
import sys, time
import xllamacpp
p = xllamacpp.CommonParams()
p.model.path = sys.argv[3]
p.port, p.hostnames, p.n_ctx, p.n_parallel = int(sys.argv[1]), ["127.0.0.1"], 4096, 1
p.use_jinja, p.api_keys = True, [sys.argv[2]]
server = xllamacpp.Server(p)
time.sleep(600)
"""
LITELLM = f"""
model_list:
  - model_name: m
    litellm_params: {{model: openai/m, api_key: none, mock_response: "Hello from the proxy."}}
general_settings: {{master_key: {KEY}}}
"""
NEEDS = {"llama.cpp": ("xllamacpp",), "litellm": ("litellm", "websockets")}


class Probe(NamedTuple):
    """One question: what is asked, with which changes of the settings, what has to come."""

    what: str
    ask: Ask
    settings: dict[str, object]
    expect: Callable[[str], bool]


def _ask(text: str, **more: object) -> Ask:
    turns = [{"role": "system", "text": "Be brief."}, {"role": "user", "text": text}]
    return Ask.model_validate({"messages": turns, "max_tokens": 24, "temperature": 0, **more})


TOOL = ToolSpec(
    name="read_file",
    description="Read a file.",
    parameters={"type": "object", "properties": {"path": {"type": "string"}}},
)
CALLED = (
    *_ask("Read a.txt.").messages,
    Message.model_validate(
        {
            "role": "assistant",
            "calls": [{"id": "call_1", "name": "read_file", "args": {"path": "a"}}],
        }
    ),
    Message(role="tool", answers="call_1", text="contents"),
)
ANSWERED = ("end", "length", "tools")


def _answers(said: str) -> bool:
    return said.startswith(ANSWERED)


PROBES = [
    Probe("a plain answer", _ask("Say hello."), {}, _answers),
    Probe("with a seed and a stop text", _ask("Say hello.", seed=7, stop=("zzz",)), {}, _answers),
    Probe("with a tool", _ask("Read a.txt.", tools=(TOOL,)), {}, _answers),
    Probe(
        "after a tool's result", Ask(messages=CALLED, tools=(TOOL,), max_tokens=24), {}, _answers
    ),
]
REFUSED = {
    "llama.cpp": Probe(
        "a wrong key", _ask("Hi"), {"key_env": "WRONG"}, lambda said: "exit 7" in said
    ),
    "litellm": Probe("no such model", _ask("Hi"), {"name": "no"}, lambda said: "exit 7" in said),
}


@contextmanager
def _started(name: str, python: str, folder: Path, *, model: str) -> Iterator[str]:
    """Start a server and wait until it listens; gives its base URL."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    config = folder / "proxy.yaml"
    config.write_text(LITELLM, encoding="utf-8")
    proxy = str(Path(python).parent / "litellm")
    argv = {
        "llama.cpp": [python, "-c", LLAMA, port, KEY, model],
        "litellm": [proxy, "--config", str(config), "--port", port, "--host", "127.0.0.1"],
    }[name]
    log = (folder / f"{name}.log").open("wb")
    running = subprocess.Popen(argv, stdout=log, stderr=log, cwd=folder, env={**os.environ})
    try:
        base = f"http://127.0.0.1:{port}"
        if not _listens(base, running):
            end = Path(log.name).read_text(errors="replace")[-1000:]
            raise SystemExit(f"{name} did not start in {START_SECONDS:.0f} seconds:\n{end}")
        yield base
    finally:
        running.kill()
        running.wait()
        log.close()


def _listens(base: str, running: subprocess.Popen[bytes]) -> bool:
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until and running.poll() is None:
        try:
            urlopen(f"{base}/v1/models", timeout=2).close()  # noqa: S310 - of this machine
        except HTTPError:
            return True
        except (URLError, OSError):
            pass
        else:
            return True
        time.sleep(0.5)
    return False


def _chat(base: str, api: str, **more: object) -> Chat:
    fields = {"name": "m", "key_env": "RIGHT", "base_url": f"{base}/v1", "api": api, **more}
    clock = SystemClock()
    means = Means({"RIGHT": KEY, "WRONG": "sk-wrong-0123456789"}, clock, clock.pause)
    return chat_of(ModelSettings.model_validate(fields), means, part="editor")


def _said(chat: Chat, ask: Ask) -> str:
    """Return what came, in one line."""
    try:
        got = chat.ask(ask)
    except HealbotError as error:
        return f"exit {int(error.exit_code)}: {error.what}"
    tokens = f"{got.tokens.sent}+{got.tokens.made} tokens"
    left = f", without {', '.join(got.left_out)}" if got.left_out else ""
    return f"{got.stop}, {tokens}, {len(got.calls)} calls{left}: {got.text[:40]!r}"


def _skipped(name: str, python: str, *, model: str) -> str:
    if name == "llama.cpp" and not Path(model).is_file():
        return f"{name}: skipped, no model is named with --gguf"
    for module in NEEDS[name]:
        code = f"import importlib.util, sys; sys.exit(not importlib.util.find_spec({module!r}))"
        if subprocess.run([python, "-c", code], check=False).returncode:
            return f"{name}: skipped, {module} is not installed for {Path(python).name}"
    return ""


def main() -> int:
    """Print one line for each question; 1 where an answer was not what it had to be."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", default=sys.executable, help="the interpreter with the servers")
    parser.add_argument("--gguf", default="", help="a chat model for llama.cpp")
    named = parser.parse_args()
    python, model = named.python, named.gguf
    good = asked = 0
    for name in NEEDS:
        if why := _skipped(name, python, model=model):
            sys.stdout.write(f"{why}\n")
            continue
        with (
            tempfile.TemporaryDirectory() as place,
            _started(name, python, Path(place), model=model) as base,
        ):
            for api in ("openai", "anthropic"):
                for probe in (*PROBES, REFUSED[name]):
                    begun = time.perf_counter()
                    said = _said(_chat(base, api, **probe.settings), probe.ask)
                    took = time.perf_counter() - begun
                    fits = probe.expect(said) and KEY not in said
                    asked, good = asked + 1, good + fits
                    mark = "ok " if fits else "BAD"
                    told = f"{name} {api} {probe.what}: {said}"
                    sys.stdout.write(f"{mark} {took:6.2f} s  {told}\n")
    sys.stdout.write(f"{good} of {asked} as expected\n")
    return int(good != asked)


if __name__ == "__main__":
    sys.exit(main())
