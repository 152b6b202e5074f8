"""The card on GitHub: readable, harmless, bounded, and the same record when read back."""

import random
import re
from pathlib import Path

import pytest
from card_samples import CARDS, admitted, filled, refused
from hostile_samples import HOSTILE, OUR_TAGS, active, rendered, tags
from hypothesis import given, settings
from hypothesis import strategies as st

from healbot.errors import InputError
from healbot.records.card import Card, Tally
from healbot.records.verdict import Reason, Word
from healbot.views import card as view
from healbot.views.payload import pack, unpack

KEPT = Path(__file__).parents[1] / "data" / "cards"
EXAMPLES = {"admitted": admitted, "refused": refused}


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_kept_example_is_what_is_rendered(name: str) -> None:
    kept = (KEPT / f"{name}.md").read_text(encoding="utf-8")
    assert view.render(EXAMPLES[name]()) + "\n" == kept


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_reads_back_as_the_same_record(name: str) -> None:
    card = EXAMPLES[name]()
    assert view.parse(view.render(card)) == card


@settings(max_examples=80)
@given(CARDS)
def test_any_card_reads_back_as_the_same_record_and_is_harmless(card: Card) -> None:
    body = view.render(card)
    assert view.parse(body) == card
    page = rendered(body)
    assert tags(page) - {"!--"} <= OUR_TAGS
    assert active(page) == []


@pytest.mark.parametrize("many", [1, 2])
@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_text_in_every_field_does_nothing(text: str, many: int) -> None:
    card = filled(text, many)
    body = view.render(card)
    page = rendered(body)
    assert tags(page) - {"!--"} <= OUR_TAGS
    assert "<!-- hidden" not in page
    assert active(page) == []
    assert page.count("<details>") == page.count("</details>") == 1
    assert view.parse(body) == card
    assert view.parse(view.merge_into("Mine.\n\n" + body + "\n\nMine too.", body)) == card


def test_the_first_line_is_the_verdict_and_the_numbers() -> None:
    line = view.render(admitted()).splitlines()[1]
    assert line == (
        "**Admitted.** `refund-over-limit` 0 of 3 → 3 of 3. 8 protected cases: none worse. "
        "Canary 54 of 54 (9 cases, 6 runs each)."
    )


def test_a_refused_card_says_first_which_rule_refused_and_what_it_broke() -> None:
    line = view.render(refused()).splitlines()[1]
    assert line.startswith(
        "**Rejected: fixed its trigger but broke a protected case.** Rule `heldout-drop` on "
        "`cancel-order`: 6 of 6 → 1 of 5, a confirmed drop."
    )


@pytest.mark.parametrize("word", [Word.UNDERPOWERED, Word.NOT_EXERCISED, Word.INVALID])
def test_every_refusing_word_names_its_rule_and_waits_for_nobody(word: Word) -> None:
    body = view.render(refused().model_copy(update={"word": word, "fixed_trigger": False}))
    assert body.splitlines()[1].startswith(f"**{word.value.capitalize()}.** Rule `heldout-drop`")
    assert "Nothing was merged, and nothing waits." in body


def test_the_statements_of_what_is_not_known_are_on_the_card() -> None:
    body = view.render(admitted())
    for said in (
        "Trigger only: no sibling case improved.",
        "Not covered: the refund tool being down (no case).",
        "Could not tell: unsandboxed",
        "12 runs reported no usage: counted at the stated worst case, 0.025 USD a run.",
        "with probability 0.6 %",
        "Always-on text 1,204 → 1,272 of 8,000 characters.",
        "Undo: the Revert button, or `/healbot rollback`.",
    ):
        assert said in body


def test_a_case_that_no_run_passed_asks_to_check_the_check() -> None:
    never = admitted().rows[0].model_copy(
        update={"candidate": Tally(fails=3), "canary": Tally()}
    )  # fmt: skip
    body = view.render(admitted().model_copy(update={"rows": (never,)}))
    assert "Check the check: `refund-over-limit` passed on neither side." in body


def _tables(body: str) -> list[list[list[str]]]:
    blocks = re.findall(r"(?:^\|.*\n)+", body, re.MULTILINE)
    return [
        [[one.strip() for one in line.strip("|").split("|")] for line in block.splitlines()]
        for block in blocks
    ]


def _words(tally: Tally) -> str:
    none = f", {tally.none} no score" if tally.none else ""
    return f"{tally.passes} of {tally.scored}{none}" if tally.runs else "–"


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_runs_listed_by_repeat_number_add_up_to_the_table_and_the_first_line(
    name: str,
) -> None:
    card = EXAMPLES[name]()
    assert card.mismatches() == ()
    body = view.render(card)
    cases, runs, *_ = _tables(body)
    counted: dict[tuple[str, str, str], list[str]] = {}
    for decision, case, side, listed in runs[2:]:
        stage = decision.strip("`").split(" ")[0]
        outcomes = [one.split(" ")[1] for one in listed.split(", ")]
        counted.setdefault((stage, case, side), []).extend(outcomes)

    def tally(stage: str, case: str, side: str) -> Tally:
        got = counted.get((stage, case, side), [])
        return Tally(
            passes=got.count("pass"), fails=got.count("fail"), none=got.count("none")
        )  # fmt: skip

    total = Tally()
    for case, _, baseline, candidate, canary, _ in cases[2:]:
        assert baseline == _words(tally("gate", case, "baseline"))
        assert candidate == _words(tally("gate", case, "candidate"))
        assert canary == _words(tally("canary", case, "candidate"))
        total = total.plus(tally("canary", case, "candidate"))
    first = body.splitlines()[1]
    if total.runs:
        ran = sum("–" not in row[4] for row in cases[2:])
        assert f"Canary {total.passes} of {total.scored} ({ran} cases" in first
    trigger = card.triggers[0].case
    before, after = (tally("gate", f"`{trigger}`", side) for side in ("baseline", "candidate"))
    assert f"`{trigger}` {_words(before)} → {_words(after)}." in first
    protected = sum("protected" in row[1] for row in cases[2:])
    assert f"{protected} protected cases" in first


@pytest.mark.parametrize("budget", [view.BODY_BUDGET, view.LEAST_BUDGET])
@pytest.mark.parametrize("text", ["plain words " * 60, "😀" * 700, "`@ " * 300, "``` " * 200])
@pytest.mark.parametrize("many", [7, 40])
def test_a_card_keeps_its_budget_however_large_the_cycle(text: str, many: int, budget: int) -> None:
    card = filled(text, many)
    body = view.render(card, budget)
    assert view.size(body) <= budget < view.BODY_LIMIT
    read = view.parse(body)
    assert read is not None
    for anchor in ("cycle", "ledger", "baseline", "candidate", "agent", "word"):
        assert getattr(read, anchor) == getattr(card, anchor)
    if many > 7:
        assert "more" in body


def _noise(seed: int, characters: int) -> str:
    chars = random.Random(seed)  # noqa: S311 - noise for a test
    return "".join(chr(chars.randrange(0x4E00, 0x9FFF)) for _ in range(characters))


def test_a_payload_that_grows_too_large_drops_details_first_and_says_so() -> None:
    card = admitted()
    runs = tuple(
        one.model_copy(update={"case": _noise(index, 40)})
        for index in range(600)
        for one in card.runs[:1]
    )
    large = card.model_copy(update={"runs": runs})
    read = view.parse(view.render(large))
    assert read == large.model_copy(update={"runs": (), "complete": False})


def test_the_smallest_payload_fits_the_least_budget() -> None:
    names = ("agent", "cycle", "baseline", "candidate", "ledger")
    noisy = filled(_noise(0, 3_000), 3)
    reasons = tuple(
        Reason(rule=_noise(index, 400), text=_noise(index + 9, 400), case=_noise(index + 18, 400))
        for index in range(1, 9)
    )
    anchors = {name: _noise(index + 90, 128) for index, name in enumerate(names)}
    noisy = noisy.model_copy(update={"reasons": reasons, **anchors})
    room = int(view.LEAST_BUDGET * view.PAYLOAD_SHARE)
    text = pack(noisy, room)
    assert len(text) <= room
    read = unpack(text)
    assert read is not None
    assert not read.complete
    assert read.word == noisy.word
    assert {name: getattr(read, name) for name in names} == anchors


def test_what_was_cut_is_said_in_its_place() -> None:
    card = admitted().model_copy(update={"rows": admitted().rows * 300})
    body = view.render(card)
    assert re.search(r"Cut to fit: [\d,]+ more cases not shown\.", body)


@pytest.mark.parametrize("ends", ["\r\n", " \n", "\t\r\n"])
def test_the_web_forms_line_ends_and_trailing_space_do_no_harm(ends: str) -> None:
    body = view.render(admitted()).replace("\n", ends)
    assert view.parse(body) == admitted()
    merged = view.merge_into("Hello." + ends + body + ends + "Bye.", view.render(refused()))
    assert view.parse(merged) == refused()
    assert merged.startswith("Hello." + ends)
    assert merged.endswith("Bye.")


_person = st.text(st.sampled_from("ab \n\r#<!->"), max_size=30)


@settings(max_examples=80)
@given(_person, _person)
def test_a_persons_words_around_the_card_are_kept_byte_for_byte(before: str, after: str) -> None:
    old, new = view.render(admitted()), view.render(refused())
    body = f"{before}\n{old}\n{after}"
    merged = view.merge_into(body, new)
    assert merged == f"{before}\n{new}\n{after}"
    assert view.merge_into(merged, new) == merged
    assert view.parse(merged) == refused()


def test_a_card_joins_a_body_without_one_below_the_words() -> None:
    card = view.render(admitted())
    assert view.merge_into("", card) == card
    assert view.merge_into("Why we do this.\n", card) == f"Why we do this.\n\n{card}"


def test_a_broken_frame_is_replaced_and_not_doubled() -> None:
    card = view.render(admitted())
    for broken in (card.replace(view.CLOSE, ""), card.replace(view.OPEN, "")):
        merged = view.merge_into(f"Mine.\n\n{broken}\n\nMine too.", card)
        assert view.parse(merged) == admitted()
        assert merged.count("healbot:payload") == 1
        assert merged.startswith("Mine.")
        assert "Mine too." in merged


def test_a_long_description_leaves_the_card_less_room() -> None:
    words = "x" * 30_000
    body = view.update(words, admitted())
    assert view.size(body) <= view.BODY_LIMIT
    assert body.startswith(words)
    assert view.parse(body) == admitted()
    with pytest.raises(InputError, match="no room"):
        view.update("x" * 60_000, admitted())


def test_a_text_that_is_no_card_parses_to_nothing() -> None:
    card = view.render(admitted())
    payload = re.search(r"payload 1 (\S+)", card)
    assert payload
    for body in (
        "",
        "no card",
        card.replace(payload[1], payload[1][:-20]),
        card.replace(payload[1], "AAAA"),
        card.replace(payload[1], payload[1][:400] + "AAAA" + payload[1][404:]),
        f"{view.OPEN}\n{view.CLOSE}",
    ):
        assert view.parse(body) is None


def test_text_that_was_no_utf8_does_not_stop_a_card() -> None:
    card = admitted().model_copy(update={})
    odd = Card(**{**dict(card), "title": "a\udcffb"})
    assert odd.title == "a?b"
    assert view.parse(view.render(odd)) == odd
