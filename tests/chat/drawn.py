"""Asks and answers drawn at random, for the round trips of both wires."""

from typing import Any

from hypothesis import strategies as st

from healbot.records.chat import Answer, Ask, Call, Message, Tokens, ToolSpec

text = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
word = st.text("abc_-1", min_size=1, max_size=6)
count = st.none() | st.integers(0, 10**9)
plain = st.recursive(
    st.none() | st.booleans() | st.integers() | text,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(text, inner, max_size=2),
    max_leaves=4,
)
args = st.dictionaries(text, plain, max_size=2)
calls = st.lists(st.builds(Call, id=word, name=word, args=args), max_size=2).map(tuple)


@st.composite
def asks(draw: st.DrawFn, *, failures: bool) -> Ask:
    """Draw a conversation; an API without a word for a failed call is given none."""
    tool = st.builds(
        Message,
        role=st.just("tool"),
        text=text,
        answers=word,
        failed=st.booleans() if failures else st.just(False),
    )
    turn = st.one_of(
        st.builds(Message, role=st.just("user"), text=text.filter(bool)),
        st.builds(Message, role=st.just("assistant"), text=text, calls=calls),
        tool,
    )
    first: list[Message] = draw(
        st.lists(st.builds(Message, role=st.just("system"), text=text), max_size=1)
    )
    turns = [Message(role="user", text="go"), *draw(st.lists(turn, max_size=4))]
    tools: Any = st.lists(
        st.builds(ToolSpec, name=word, description=text, parameters=args), max_size=2
    )
    return Ask(
        messages=(*first, *turns),
        tools=tuple(draw(tools)),
        max_tokens=draw(st.none() | st.integers(1, 10**6)),
        temperature=draw(st.none() | st.floats(0, 2)),
        seed=draw(st.none() | st.integers(0, 2**31)),
        stop=tuple(draw(st.lists(text.filter(bool), max_size=3))),
    )


@st.composite
def answers(draw: st.DrawFn, *, written: bool) -> Answer:
    """Draw an answer that a server could give; ``written``: its API counts writes to a cache."""
    called = draw(calls)
    stop = "tools" if called else draw(st.sampled_from(["end", "length", "refused"]))
    cached, wrote = draw(count), draw(count) if written else None
    sent = draw(count)
    if sent is not None:
        sent += (cached or 0) + (wrote or 0)
    return Answer(
        text=draw(text),
        calls=called,
        stop=stop,
        refusal=draw(text.filter(bool)) if stop == "refused" else "",
        tokens=Tokens(sent=sent, made=draw(count), cached=cached, cache_written=wrote),
        model=draw(text),
        request_id=draw(text),
    )


def flat(ask: Ask) -> Any:
    """Return an Ask with no empty turn, and following turns of the model's made one."""
    joined: list[Message] = []
    for one in ask.messages:
        if not (one.text or one.calls or one.answers):
            continue
        last = joined[-1] if joined else None
        if last is not None and one.role == last.role == "assistant":
            more = {"text": last.text + one.text, "calls": (*last.calls, *one.calls)}
            joined[-1] = last.model_copy(update=more)
        else:
            joined.append(one)
    return ask.model_copy(update={"messages": tuple(joined)})
