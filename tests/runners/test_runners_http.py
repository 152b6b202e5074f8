"""The http runner against real servers on this machine."""

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import rig
from sandbox import make_repository
from telling import SETTINGS, answered, change

from healbot.errors import InputError
from healbot.records.run import Trace
from healbot.records.settings import AgentSettings, RunSettings
from healbot.runners import letters
from healbot.runners.http import HttpRunner

Answer = Callable[[BaseHTTPRequestHandler, Any], None]
TOKEN = "s3cret-token-value"


def say(handler: BaseHTTPRequestHandler, body: bytes, status: int = 200, **headers: str) -> None:
    handler.send_response(status)
    for name, value in {"content-length": str(len(body)), **headers}.items():
        handler.send_header(name, value)
    handler.end_headers()
    handler.wfile.write(body)


@contextmanager
def serving(answer: Answer) -> Iterator[str]:
    """Serve on a free port of this machine; gives the URL."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            size = int(self.headers["content-length"])
            answer(self, json.loads(self.rfile.read(size)))

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - its name there
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/answer"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def asked(
    url: str,
    place: Path,
    case: Any = None,
    environment: Mapping[str, str] | None = None,
    **more: Any,
) -> Trace:
    run = RunSettings(http=url, **more)
    agent = AgentSettings(name="support", dir="a", cases=("c",), run=(run,))
    runner = HttpRunner(run, agent, environment=environment or {})
    (place / "skills/refund").mkdir(parents=True, exist_ok=True)
    (place / "instructions.md").write_text("Be kind.\n")
    (place / "skills/refund/SKILL.md").write_text("---\nname: refund\n---\nEscalate.\n")
    return runner.attempt(rig.job(place, case))


def test_the_body_carries_the_task_and_the_texts_to_be_tried(tmp_path: Path) -> None:
    bodies: list[Any] = []

    def answer(handler: BaseHTTPRequestHandler, body: Any) -> None:
        bodies.append(body)
        reply = {"output": "escalated", "tokens": 7, "usd": 0.25, "rules_read": ["x"]}
        say(handler, json.dumps(reply).encode())

    case = rig.case(files={"orders/1.json": "{}"}, input="ünï")
    with serving(answer) as url:
        trace = asked(url, tmp_path, case)
    assert bodies == [
        {
            "input": "ünï",
            "messages": [{"role": "user", "content": "ünï"}],
            "agent": "support",
            "case_id": "secret-case-id",
            "seed": 7,
            "instructions": "Be kind.\n",
            "skills": {"refund": "---\nname: refund\n---\nEscalate.\n"},
            "files": {"orders/1.json": "{}"},
        }
    ]
    assert (trace.ended, trace.exit_code, trace.stdout) == ("exited", 0, "escalated")
    assert (trace.usage.tokens, trace.usage.usd, trace.rules_read) == (7, 0.25, ("x",))
    assert trace.duration_seconds > 0


@pytest.mark.parametrize(
    ("body", "output"),
    [
        (b"plain text", "plain text"),
        (b'{"answer": 1}', '{"answer": 1}'),
        (b'{"output": [1, 2]}', "[1, 2]"),
        (b"\xff", "�"),
        (b"", ""),
    ],
)
def test_any_other_body_is_the_output_itself(tmp_path: Path, body: bytes, output: str) -> None:
    with serving(lambda handler, _: say(handler, body)) as url:
        assert asked(url, tmp_path).stdout == output


@pytest.mark.parametrize("status", [400, 401, 404, 429, 500, 503])
def test_a_refusal_is_no_run_and_the_status_is_told(tmp_path: Path, status: int) -> None:
    with serving(lambda handler, _: say(handler, b"secret details", status)) as url:
        trace = asked(url, tmp_path)
    assert trace.ended == "not-started"
    assert trace.notes == (f"the agent's server answered {status}",)


def test_a_redirect_is_not_followed(tmp_path: Path) -> None:
    hits: list[str] = []

    def answer(handler: BaseHTTPRequestHandler, _: Any) -> None:
        hits.append(handler.path)
        say(handler, b"", 307, location="http://127.0.0.1:1/elsewhere")

    with serving(answer) as url:
        trace = asked(url, tmp_path)
    assert hits == ["/answer"]
    assert "redirect" in trace.notes[0]


def test_a_server_that_is_not_there_or_hangs_up_is_no_run(tmp_path: Path) -> None:
    with serving(lambda handler, _: handler.connection.close()) as url:
        broken = asked(url, tmp_path)
    gone = asked(url, tmp_path)
    assert (broken.ended, gone.ended) == ("not-started", "not-started")
    assert "failed" in broken.notes[0]
    assert "can't be reached" in gone.notes[0]


def test_the_time_limit_is_of_the_whole_answer_and_what_came_is_kept(tmp_path: Path) -> None:
    over = threading.Event()

    def answer(handler: BaseHTTPRequestHandler, _: Any) -> None:
        handler.send_response(200)
        handler.send_header("content-length", "1000")
        handler.end_headers()
        while not over.wait(0.05):  # a drop now and then keeps every single wait short
            handler.wfile.write(b".")

    with serving(answer) as url:
        trace = asked(url, tmp_path, timeout_seconds=0.4)
        over.set()
    assert (trace.ended, trace.duration_seconds) == ("timed-out", 0.4)
    assert set(trace.stdout) == {"."}


def test_a_long_answer_is_cut_like_a_program_s(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(letters, "OUTPUT_BYTES", 100)
    with serving(lambda handler, _: say(handler, b"x" * 500)) as url:
        trace = asked(url, tmp_path)
    assert trace.truncated
    assert "400 bytes left out" in trace.stdout


def test_a_variable_in_a_header_reaches_the_server_and_no_record(tmp_path: Path) -> None:
    seen: list[str | None] = []

    def answer(handler: BaseHTTPRequestHandler, _: Any) -> None:
        seen.append(handler.headers["authorization"])
        say(handler, json.dumps({"output": f"you sent {seen[-1]}"}).encode())

    headers = {"Authorization": "Bearer ${MY_TOKEN}"}
    with serving(answer) as url:
        trace = asked(
            url, tmp_path, environment={"MY_TOKEN": TOKEN}, headers=headers, env=("MY_TOKEN",)
        )
        unset = asked(url, tmp_path, headers=headers, env=("MY_TOKEN",))
        odd = asked(
            url,
            tmp_path,
            environment={"MY_TOKEN": TOKEN + "\n"},
            headers=headers,
            env=("MY_TOKEN",),
        )
    assert seen == [f"Bearer {TOKEN}"]
    assert trace.stdout == "you sent Bearer ${MY_TOKEN}"
    assert "MY_TOKEN" in unset.notes[0]
    assert TOKEN not in str((trace, unset, odd))
    assert odd.ended == "not-started"


def test_a_proxy_of_the_environment_is_not_used(tmp_path: Path) -> None:
    proxies = {"HTTP_PROXY": "http://127.0.0.1:1", "ALL_PROXY": "http://127.0.0.1:1"}
    with serving(lambda handler, _: say(handler, b"direct")) as url:
        assert asked(url, tmp_path, environment=proxies).stdout == "direct"


@pytest.mark.parametrize(
    ("url", "headers", "what"),
    [
        ("ftp://host/x", {}, "no URL"),
        ("host/x", {}, "no URL"),
        ("http://:80/", {}, "no URL"),
        ("https://me:pass@host/", {}, "name or password"),
        ("https://host/", {"Host": "x"}, "'Host' can't be set"),
        ("http://agent.example/", {"X-Key": "${MY_TOKEN}"}, "unencrypted to agent.example"),
    ],
)
def test_what_can_not_be_sent_safely_is_bad_input(
    tmp_path: Path, url: str, headers: dict[str, str], what: str
) -> None:
    with pytest.raises(InputError, match=what) as caught:
        asked(url, tmp_path, headers=headers, env=("MY_TOKEN",))
    assert "pass@" not in caught.value.what


def test_headers_name_listed_variables_only_and_go_with_http() -> None:
    with pytest.raises(ValueError, match="'KEY', which env does not list"):
        RunSettings(http="https://host/", headers={"a": "${KEY}"})
    with pytest.raises(ValueError, match="with http only"):
        RunSettings(command="x", headers={"a": "b"})


def test_a_case_s_workspace_folder_can_not_be_sent(tmp_path: Path) -> None:
    trace = asked("http://127.0.0.1:1/", tmp_path, rig.case(workspace="fixtures"))
    assert "workspace folder" in trace.notes[0]


def test_a_repository_s_agent_behind_a_url_is_run_with_its_own_texts(tmp_path: Path) -> None:
    folder = make_repository(tmp_path / "r")

    def answer(handler: BaseHTTPRequestHandler, body: Any) -> None:
        polite = "politely" in body["instructions"]
        say(handler, b"Hello, I escalate." if polite else b"what")

    with serving(answer) as url:
        text = (folder / SETTINGS).read_text()
        run = next(line for line in text.splitlines() if line.strip().startswith("run:"))
        change(folder, SETTINGS, run, f"    run: {{http: '{url}'}}")
        rows = answered(folder, "cases", "run")
    assert [row["pass"] for row in rows] == [1, 1, 1]
