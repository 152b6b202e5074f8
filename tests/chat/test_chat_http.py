"""The chat client against a server that misbehaves in every way that is named here."""

import logging
import traceback
from typing import Any

import pytest
import server
from server import KEY, Step, say, serving
from talking import BOTH, HELLO, Waits, chat_to

from healbot.chat import retries, sending
from healbot.errors import HealbotError, ModelRefusedError, ModelSilentError
from healbot.records.chat import Answer, Call, Tokens
from healbot.records.settings import ModelSettings

GOOD = Answer(
    text="Hello.",
    stop="end",
    tokens=Tokens(sent=10, made=4, cached=6),
    model="some-model-2026",
    request_id="msg-1",
)
BODIES = {"openai": server.openai_body, "anthropic": server.anthropic_body}


def good(api: str = "openai", **headers: str) -> Step:
    return say(BODIES[api](GOOD), 200, **headers)


def failed(*steps: Step, api: str = "openai", waits: Waits | None = None, **more: Any) -> Any:
    """Ask, expect an error, and hand it over."""
    with serving(*steps) as running, pytest.raises(HealbotError) as caught:
        chat_to(running.url, api, waits=waits, **more).ask(HELLO)
    return caught.value


@pytest.mark.parametrize("api", BOTH)
def test_an_answer_comes_with_its_counts_and_names(api: str) -> None:
    with serving(good(api, x_request_id="req-7")) as running:
        answer = chat_to(running.url, api).ask(HELLO)
    left = {"left_out", "native", "request_id"}
    assert answer.model_dump(exclude=left) == GOOD.model_dump(exclude=left)
    assert answer.request_id == "req-7"


@pytest.mark.parametrize(
    ("api", "path", "headers"),
    [
        ("openai", "/chat/completions", {"authorization": f"Bearer {KEY}"}),
        ("anthropic", "/v1/messages", {"x-api-key": KEY, "anthropic-version": "2023-06-01"}),
    ],
)
def test_the_key_and_version_go_where_the_api_wants_them(
    api: str, path: str, headers: dict[str, str]
) -> None:
    with serving(good(api)) as running:
        chat_to(running.url, api).ask(HELLO)
    request = running.requests[0]
    assert request.path == path
    assert request.headers.items() >= headers.items()
    assert "stream" not in request.body


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504, 529])
@pytest.mark.parametrize("api", BOTH)
def test_a_server_that_is_busy_is_asked_again(api: str, status: int) -> None:
    waits = Waits()
    busy = say({"error": {"message": "Overloaded", "type": "overloaded_error"}}, status)
    with serving(busy, busy, good(api)) as running:
        answer = chat_to(running.url, api, waits=waits).ask(HELLO)
    assert (answer.text, answer.tries, len(waits)) == ("Hello.", 3, 2)


@pytest.mark.parametrize("bad", [server.hang_up, server.cut_short])
def test_a_connection_that_breaks_is_tried_again(bad: Step) -> None:
    with serving(bad, good()) as running:
        assert chat_to(running.url).ask(HELLO).tries == 2


@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 408, 409, 413, 422, 451])
def test_any_other_refusal_is_final_and_told_with_its_request(status: int) -> None:
    waits = Waits()
    no = say({"error": {"message": "No\nsuch\x1b[31m luck"}}, status, request_id="req-9")
    error = failed(no, waits=waits)
    assert isinstance(error, ModelRefusedError)
    assert (error.exit_code, error.status, error.request_id) == (7, status, "req-9")
    assert f"{status}" in error.what
    assert "No such�[31m luck (request req-9)." in error.what
    assert not waits
    assert error.next_step


def test_a_server_that_stays_busy_is_given_up_after_so_many_tries() -> None:
    waits = Waits()
    busy = say({"error": {"message": "Slow down"}}, 429)
    with serving(busy) as running, pytest.raises(ModelSilentError) as caught:
        chat_to(running.url, waits=waits).ask(HELLO)
    assert len(running.requests) == retries.MOST_TRIES
    assert len(waits) == retries.MOST_TRIES - 1
    assert caught.value.exit_code == 4
    assert "429 (Too Many Requests) in 5 tries: Slow down" in caught.value.what


def test_the_wait_is_what_the_server_asks_for() -> None:
    waits = Waits()
    with serving(say({}, 429, retry_after="17"), good()) as running:
        chat_to(running.url, waits=waits).ask(HELLO)
    assert 17 <= waits[0] <= 17 + retries.FIRST_WAIT_SECONDS


def test_a_longer_wait_than_the_longest_is_not_begun() -> None:
    waits = Waits()
    assert failed(say({}, 429, retry_after="3600"), waits=waits).status == 429
    assert not waits


@pytest.mark.parametrize(
    "fault",
    [
        {"message": "You exceeded your current quota", "code": "insufficient_quota"},
        {"message": "x", "type": "rate_limit_error",
         "details": {"error_code": "enforced_spend_limit_reached"}},
    ],
)  # fmt: skip
def test_spent_money_is_no_reason_to_wait(fault: dict[str, Any]) -> None:
    waits = Waits()
    error = failed(say({"error": fault}, 429), waits=waits)
    assert isinstance(error, ModelRefusedError)
    assert "money or quota is spent" in error.next_step
    assert not waits


def test_a_server_that_says_not_to_retry_is_not_asked_again() -> None:
    assert isinstance(failed(say({}, 503, x_should_retry="false")), ModelRefusedError)


def test_nothing_is_waited_for_past_the_deadline() -> None:
    waits = Waits()
    busy = say({}, 503, retry_after="8")
    failed(busy, waits=waits, deadline_seconds=20)
    assert sum(waits) < 20


@pytest.mark.parametrize(
    ("step", "why"),
    [
        (say(b"{oh"), "no JSON object (application/json, 3 bytes)"),
        (say(b""), "no JSON object"),
        (say(b"[1]"), "no JSON object"),
        (say(b'{"choices": [NaN]}'), "no JSON object"),
        (say(b"[" * 100_000), "no JSON object"),
        (say(b"<!DOCTYPE html><p>Sign in</p>", content_type="text/html"), "a web page"),
        (say(b"data: {}", content_type="text/event-stream"), "it streams"),
        (say(b"\x89PNG", content_type="image/png"), "image/png"),
        (say({}), "no choices"),
        (say({"choices": []}), "no choices"),
        (say({"choices": None}), "no choices"),
        (say({"choices": [{"finish_reason": "stop"}]}), "no message"),
        (say({"error": {"message": "Upstream died", "code": 502}}), "an error: Upstream died"),
        (say({"error": "gone"}), "an error: gone"),
    ],
)
def test_an_answer_that_is_none_is_told_in_one_sentence(step: Step, why: str) -> None:
    waits = Waits()
    error = failed(step, waits=waits)
    assert isinstance(error, ModelSilentError)
    assert why in error.what
    assert (error.status, error.exit_code, "\n" in error.what) == (200, 4, False)
    assert not waits


@pytest.mark.parametrize("body", [{}, {"content": None}, {"content": "text"}, {"type": "error"}])
def test_a_message_without_content_is_no_answer(body: Any) -> None:
    assert "no content" in failed(say(body), api="anthropic").what


@pytest.mark.parametrize("depth", [100, 400, 900, 5000])
def test_deep_nesting_ends_in_an_answer_or_a_sentence(depth: int) -> None:
    deep = b'{"content": [{"type": "x", "x": ' + b"[" * depth + b"]" * depth + b"}]}"
    with serving(say(deep)) as running:
        chat = chat_to(running.url, "anthropic")
        try:
            said: str = chat.ask(HELLO).stop
        except ModelSilentError as error:
            said = error.what
    assert "unknown" in said or "holds what no answer holds" in said or "no JSON object" in said


def test_a_hundred_megabytes_are_not_read() -> None:
    error = failed(server.flood)
    assert f"longer than {sending.BODY_BYTES:,} bytes" in error.what


def test_a_slow_drip_ends_at_the_deadline() -> None:
    waits = Waits()
    error = failed(server.drip, waits=waits, deadline_seconds=0.15)
    assert "its answer was not whole within" in error.what
    assert not waits


def test_silence_is_told_with_the_time_that_was_waited() -> None:
    error = failed(server.silence, deadline_seconds=0.1)
    assert "it did not answer within 0.1 seconds" in error.what


def test_a_server_that_is_not_there_is_said() -> None:
    error = failed(good(), base_url="http://127.0.0.1:9/v1")
    assert "No answer came from 127.0.0.1:9 in 5 tries: it can't be reached." in error.what


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_no_redirect_is_followed(status: int) -> None:
    with serving(good()) as other:
        error = failed(say({}, status, location=other.url))
    assert "Redirects are not followed" in error.next_step
    assert not other.requests


@pytest.mark.parametrize(
    ("status", "message", "left"),
    [
        (400, "'max_tokens' is not supported. Use 'max_completion_tokens' instead.", ()),
        (400, "Unsupported value: 'temperature' does not support 0.5 with this model.",
         ("temperature",)),
        (422, [{"loc": ["body", "seed"], "msg": "Extra inputs are not permitted"}], ("seed",)),
        (400, "Unrecognized request argument supplied: stop", ("stop",)),
    ],
)  # fmt: skip
def test_a_field_that_a_server_does_not_take_is_left_out_and_said(
    status: int, message: object, left: tuple[str, ...]
) -> None:
    waits = Waits()
    fields = {"max_tokens": 9, "temperature": 0.5, "seed": 3, "stop": ("END",)}
    ask = HELLO.model_copy(update=fields)
    with serving(say({"error": {"message": message}}, status), good()) as running:
        chat = chat_to(running.url, waits=waits)
        answers = [chat.ask(ask), chat.ask(ask)]
    assert [one.left_out for one in answers] == [left, left]
    assert [one.tries for one in answers] == [2, 1]
    assert not waits
    last = running.requests[-1].body
    assert not set(left) & set(last)
    assert last.get("max_completion_tokens", last.get("max_tokens")) == 9


def test_a_value_that_is_wrong_is_told_and_not_left_out() -> None:
    error = failed(
        say({"error": {"message": "temperature must be at most 1"}}, 400), temperature=1.5
    )
    assert "temperature must be at most 1" in error.what


def test_a_stop_text_ends_the_answer_where_the_server_has_none() -> None:
    long = say(server.openai_body(GOOD.model_copy(update={"text": "one END two"})))
    with serving(long) as running:
        answer = chat_to(running.url).ask(HELLO.model_copy(update={"stop": ("END",)}))
    assert (answer.text, answer.stop) == ("one ", "end")


def test_an_api_without_seeds_says_so() -> None:
    with serving(good("anthropic")) as running:
        answer = chat_to(running.url, "anthropic").ask(HELLO.model_copy(update={"seed": 1}))
    assert answer.left_out == ("seed",)
    assert running.requests[0].body["max_tokens"] > 0


ECHOES: list[Step] = [
    server.echo(401, lambda key: {"error": {"message": f"Incorrect API key provided: {key}."}}),
    server.echo(400, lambda key: {"detail": {"headers": [key]}}),
    server.echo(500, lambda key: {"error": key}),
    server.echo(200, lambda key: {"error": {"message": f"bad {key}"}}),
    server.echo(403, lambda key: f"<p>{key}</p>".encode()),
    server.hang_up,
]


@pytest.mark.parametrize("step", ECHOES)
@pytest.mark.parametrize("api", BOTH)
def test_the_key_is_in_nothing_that_is_raised_printed_or_logged(
    api: str, step: Step, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    with serving(step) as running:
        chat = chat_to(running.url, api)
        with pytest.raises(HealbotError) as caught:
            chat.ask(HELLO)
    error = caught.value
    seen = [repr(chat), str(vars(error)), repr(error), *traceback.format_exception(error)]
    assert (error.__cause__, error.__context__) == (None, None)
    printed = capfd.readouterr()
    assert KEY not in "".join([*seen, caplog.text, printed.out, printed.err, chat.digest])


def test_the_key_is_in_no_answer_that_repeats_it() -> None:
    def body(key: str) -> object:
        call = Call(id=f"c-{key}", name="f", args={key: [key]})
        update = {"text": f"It is {key}.", "calls": (call,), "model": key}
        return server.openai_body(GOOD.model_copy(update=update))

    with serving(server.echo(200, body)) as running:
        answer = chat_to(running.url).ask(HELLO)
    assert answer.text == "It is ${MODEL_KEY}."
    assert KEY not in answer.model_dump_json() + answer.turn.model_dump_json()


def test_prices_of_the_settings_give_the_cost_and_unknown_ones_give_none() -> None:
    prices: dict[str, Any] = {"price_in_usd_per_million": 2, "price_out_usd_per_million": 10}
    with serving(good()) as running:
        assert chat_to(running.url, **prices).ask(HELLO).usd == pytest.approx(60e-6)
        assert chat_to(running.url).ask(HELLO).usd is None
    silent = {**server.openai_body(GOOD), "usage": None}
    with serving(say(silent)) as running:
        answer = chat_to(running.url, **prices).ask(HELLO)
    assert (answer.usd, answer.tokens) == (None, Tokens())


def test_a_digest_names_model_server_and_sampling_and_nothing_else() -> None:
    def digest(url: str = "http://127.0.0.1:1/v1", **more: Any) -> str:
        return chat_to(url, **more).digest

    assert digest() == digest(key="another-key", deadline_seconds=1)
    others = [
        digest("http://127.0.0.1:2/v1"), digest(name="x"), digest(api="anthropic"),
        digest(temperature=0), digest(max_tokens=5),
    ]  # fmt: skip
    assert len({digest(), *others}) == 6


def test_half_a_character_in_an_answer_or_a_question_does_no_harm() -> None:
    body = server.openai_body(GOOD.model_copy(update={"text": "half "}))
    body["choices"][0]["message"]["content"] += "\ud83d"
    with serving(say(body)) as running:
        chat = chat_to(running.url)
        ask = HELLO.model_copy(update={"messages": (*HELLO.messages, chat.ask(HELLO).turn)})
        assert chat.ask(ask).text == "half ?"


def test_one_price_without_the_other_is_a_slip() -> None:
    with pytest.raises(ValueError, match="give both"):
        ModelSettings(name="m", price_in_usd_per_million=1)
