"""The command: the source's shape, its exit codes, its errors, the same words at each door."""

import json
from typing import Any

import pytest
from seam.samples import Desk, event, lines

from healbot.seam.defaults import DEFAULTS, NAMES

KEYS = [
    "window", "S", "E", "A", "M", "alerts", "gate_blocks", "budget_elevated", "contamination",
    "recertify_due", "notes",
]  # fmt: skip
SURFACE = [{"id": f"c{n}", "result": "pass", "safety": n == 0} for n in range(20)]
PASSED = {f"c{n}": "pass" for n in range(20)}
GAP: dict[str, Any] = {
    "visible_before": 0.70,
    "visible_after": 0.95,
    "holdout_before": 0.70,
    "holdout_after": 0.74,
}


def test_the_report_has_the_keys_of_the_source_in_order_and_notes() -> None:
    report = Desk().grade([event()], failures=[], surface=SURFACE, pre=PASSED, certified=PASSED)
    assert list(report) == KEYS
    assert report["window"] == "2026-05-26 .. 2026-06-02"
    assert (report["S"], report["E"], report["A"], report["M"]) == (1, 1, 1, 1)
    assert report["recertify_due"] is False


def test_a_healthy_window_exits_with_0() -> None:
    desk = Desk()
    desk.grade([event()])
    assert desk.code == 0


def test_an_axis_alert_exits_with_1() -> None:
    desk = Desk()
    assert desk.grade([event(**GAP)])["alerts"] == ["E<0.80"]
    assert desk.code == 1


def test_recertify_exits_with_2_and_wins_over_an_alert() -> None:
    desk = Desk()
    drifted = {f"c{n}": "fail" if n < 4 else "pass" for n in range(20)}
    report = desk.grade([event(**GAP)], surface=SURFACE, pre=PASSED, certified=drifted)
    assert report["recertify_due"] is True
    assert report["alerts"]
    assert desk.code == 2


def test_a_gate_block_exits_with_2() -> None:
    desk = Desk()
    change = {"before_text": "never refund\nx", "after_text": "x"}
    report = desk.grade([event(change=change), event("h2")], protected=["never refund"])
    assert report["gate_blocks"] == 1
    assert desk.code == 2


def test_a_half_written_last_line_is_a_note() -> None:
    desk = Desk()
    desk.put("h", lines(event()) + '{"heal_id": "h2", "ts": "2026-06-0')
    assert desk.run("--heals", "h") == 0
    assert any("line 2: cut off in mid-write" in note for note in json.loads(desk.out)["notes"])


@pytest.mark.parametrize(
    ("line", "field"),
    [
        ("{nope}", "no JSON"),
        ("[]", "heal event"),
        (lines(event(heal_id=...))[:-1], "heal_id"),
        (lines(event(ts="yesterday"))[:-1], "ts"),
        (lines(event(trigger={}))[:-1], "trigger"),
        (lines(event(trigger={"failure_signature": 3}))[:-1], "trigger.failure_signature"),
        (lines(event(cycle=-1))[:-1], "cycle"),
        (lines(event(cycle=True))[:-1], "cycle"),
        (lines(event(visible_after=1.5))[:-1], "visible_after"),
        (lines(event(visible_after=float("nan")))[:-1], "visible_after: has to be a number"),
        (lines(event(holdout_before=float("inf")))[:-1], "holdout_before"),
        (lines(event(score=-0.1))[:-1], "score"),
        (lines(event(score="0.5"))[:-1], "score"),
        (lines(event(score=True))[:-1], "score"),
        (lines(event(tokens_spent=-1))[:-1], "tokens_spent"),
        (lines(event(tokens_spent=10**400))[:-1], "tokens_spent"),
        (lines(event(level=4))[:-1], "level"),
        (lines(event(was_real_failure="yes"))[:-1], "was_real_failure"),
        (lines(event(change={"after_text": 3}))[:-1], "change.after_text"),
        (lines(event(ts="0001-01-01T00:00:00+14:00"))[:-1], "ts"),
        ("[" * 100_000, "nested too deep"),
    ],
)
def test_a_bad_line_is_an_error_with_file_line_and_field(line: str, field: str) -> None:
    desk = Desk()
    desk.put("h.jsonl", lines(event("first")) + line + "\n" + lines(event("last")))
    assert desk.run("--heals", "h.jsonl") == 3
    assert "h.jsonl, line 2" in desk.told
    assert field in desk.told
    assert "next:" in desk.told
    assert not desk.out


def test_a_last_line_that_is_whole_json_but_no_heal_event_is_an_error() -> None:
    desk = Desk()
    desk.put("h", '{"heal_id": "x"}')
    assert desk.run("--heals", "h") == 3


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["--nope"],
        ["stray"],
        ["--heals"],
        ["--heals", "absent.jsonl"],
        ["--heals", "h", "--window", "soon"],
        ["--heals", "h", "--window", "0d"],
        ["--heals", "h", "--gap-max", "nan"],
        ["--heals", "h", "--gap-max", "0"],
        ["--heals", "h", "--trend-cycles", "5.5"],
        ["--heals", "h", "--alert-s", "high"],
        ["--heals", "h", "--format", "yaml"],
        ["--heals", "h", "--until", "now"],
        ["--heals", "h", "--config", "absent.toml"],
        ["--heals", "h", "--most", "0"],
        ["--heals", "-", "--failures", "-"],
        ["certify"],
    ],
)
def test_wrong_usage_exits_with_3_and_says_what_next(words: list[str]) -> None:
    desk = Desk()
    desk.put("h", lines(event()))
    assert desk.run(*words) == 3
    assert desk.told.startswith("seam: ")
    assert "next:" in desk.told


def test_help_names_every_default() -> None:
    desk = Desk()
    assert desk.run("--help") == 0
    for name in NAMES:
        assert f"--{name.replace('_', '-')} " in desk.out


@pytest.mark.parametrize(
    ("name", "bad"),
    [
        ("failures", '{"ts": "2026-06-01"}\n'),
        ("surface", '{"id": "a", "result": "maybe"}\n'),
        ("pre", '{"a": 1}'),
        ("certified", "[]"),
        ("holdout", "3\n"),
        ("protected", '[""]'),
        ("floor", '{"gap": 2}'),
        ("embeddings", '{"heal_id": "h1", "vector": []}\n'),
    ],
)
def test_a_bad_fixture_is_an_error_that_names_it(name: str, bad: str) -> None:
    desk = Desk()
    desk.put("h", lines(event()))
    desk.put(f"bad-{name}", bad)
    assert desk.run("--heals", "h", f"--{name}", f"bad-{name}") == 3
    assert f"bad-{name}" in desk.told


def test_times_without_a_zone_are_utc_and_zones_are_kept_apart() -> None:
    desk = Desk()
    heals = [event("a", ts="2026-06-02T12:00:00"), event("b", ts="2026-06-02T12:00:00+02:00")]
    failure = {"failure_signature": "timeout:fetch:checkout", "ts": "2026-06-02T13:00:00+03:00"}
    report = desk.grade(heals, "--explain", failures=[failure])
    assert any("1 times name no zone" in note for note in report["notes"])
    assert report["explain"]["S"]["recurrence"] == 0  # 10:00 UTC, the instant of the second heal


def test_order_does_not_matter_and_a_repeated_event_counts_once() -> None:
    first, second = event("a"), event("b", days=1, **GAP)
    straight = Desk().grade([first, second])
    turned = Desk().grade([second, first, second])
    assert any("1 events stand there twice" in note for note in turned.pop("notes"))
    straight.pop("notes")
    assert straight == turned


def test_two_different_heals_of_one_name_are_an_error() -> None:
    desk = Desk()
    desk.put("h", lines(event("a"), event("b"), event("a", **GAP)))
    assert desk.run("--heals", "h") == 3
    assert "line 3, field heal_id" in desk.told


@pytest.mark.parametrize("content", ["", "\n\n"])
def test_no_event_gives_null_with_a_note(content: str) -> None:
    desk = Desk()
    desk.put("h", content)
    assert desk.run("--heals", "h") == 0
    report = json.loads(desk.out)
    assert [report[axis] for axis in "SEAM"] == [None] * 4
    assert report["window"] is None
    assert "No heal event" in report["notes"][0]


def test_an_empty_window_gives_null_with_a_note() -> None:
    report = Desk().grade([event()], "--until", "2026-09-01", failures=[])
    assert [report[axis] for axis in "SEAM"] == [None] * 4
    assert any("No heal in the window" in note for note in report["notes"])


def test_the_window_holds_its_ends_and_nothing_else() -> None:
    heals = [event("a", days=-8, **GAP), event("b", days=-7), event("c")]
    assert Desk().grade(heals)["E"] == 1
    assert Desk().grade(heals, "--window", "all")["E"] == pytest.approx((0.16 + 2) / 3)
    early = Desk().grade(heals, "--until", "2026-05-25")
    assert early["E"] == 0.16
    assert any("2 heals after the window's end" in note for note in early["notes"])


SETTINGS: dict[str, Any] = {
    "gap_max": 0.5, "regress_max": 0.5, "drift_max": 0.01, "recurrence_days": 1, "similarity": 0.99,
    "revisit_cycles": 4, "trend_cycles": 100, "trend_z": 9, "free_dips": 9, "depth_cycles": 9,
    "dip_penalty": 0.1, "revisit_penalty": 0.1, "cap_penalty": 0.9, "f1_weight": 0.1,
    "recurrence_weight": 0.1, "contamination_words": 30, "alert_s": 0.01, "alert_e": 0.99,
    "alert_a": 0.99, "alert_m": 0.99, "alert_contamination": 0.9, "budget_elevated": 1,
    "budget_escalate": 2, "confidence": 0.6, "resamples": 20, "seed": 3,
}  # fmt: skip


TEXTS = [
    "zebra crossing", "quiet river", "always ask for orders and one more thing", "jump", "mango",
    "look at the price list twice!", "blue", "ask", "look at the price list twice?", "12345",
]  # fmt: skip


def _rich(desk: Desk, *words: str) -> dict[str, Any]:
    heals = [
        event(
            f"h{n}", days=n / 2, loop_id=f"loop{n // 5}", cycle=n % 5 + 1, signature=f"s{n % 3}",
            score=[0.5, 0.4, 0.6, 0.3, 0.7][n % 5], visible_after=0.5 + n / 40, holdout_after=0.5,
            was_real_failure=n % 3 != 1, tokens_spent=100 * n, task_tokens=100,
            change={"after_text": TEXTS[n]},
        )
        for n in range(10)
    ]  # fmt: skip
    return desk.grade(
        heals, "--explain", "--intervals", *words,
        failures=[{"failure_signature": "s0", "ts": heals[3]["ts"].replace("T00", "T01")},
                  {"failure_signature": "other", "ts": heals[1]["ts"]},
                  {"failure_signature": "s2", "ts": "2026-06-09T00:00:00Z"}],
        surface=[{"id": f"c{n}", "result": "fail" if n == 1 else "pass"} for n in range(40)],
        pre={f"c{n}": "pass" for n in range(40)},
        certified={f"c{n}": "pass" for n in range(40)},
        holdout=[{"text": "ALWAYS ask, for orders: and one more thing"}],
    )  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_every_default_can_be_set_by_flag_and_by_file_and_the_flag_wins(name: str) -> None:
    desk = Desk()
    flag = f"--{name.replace('_', '-')}"
    plain = _rich(desk)
    by_flag = _rich(desk, flag, str(SETTINGS[name]))
    desk.put("seam.toml", f"[seam]\n{name} = {SETTINGS[name]}\n")
    by_file = _rich(desk, "--config", "seam.toml")
    default = f"{getattr(DEFAULTS, name):g}"
    assert by_flag == by_file
    assert _rich(desk, "--config", "seam.toml", flag, default) == plain
    assert by_flag != plain


def test_the_files_words_and_switches_may_stand_in_the_settings_file() -> None:
    desk = Desk()
    desk.put("conf/h", lines(event()))
    desk.put("conf/seam.toml", 'heals = "h"\nwindow = "2d"\nexplain = true\nalert-e = 0.5\n')
    assert desk.run("--config", "conf/seam.toml") == 0
    assert "explain" in json.loads(desk.out)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("gap_mx = 1", "Did you mean gap_max?"),
        ("gap_max = 9", "field gap_max"),
        ("gap_max = true", "field gap_max"),
        ("explain = 1", "field explain"),
        ("window = 7", "field window"),
        ("a = ", "no TOML"),
        ("seam = 1", "field seam"),
    ],
)
def test_a_bad_settings_file_is_an_error_that_names_the_field(text: str, told: str) -> None:
    desk = Desk()
    desk.put("h", lines(event()))
    desk.put("seam.toml", text)
    assert desk.run("--heals", "h", "--config", "seam.toml") == 3
    assert told in desk.told


def test_by_week_adds_the_trend_and_judges_only_the_window() -> None:
    desk = Desk()
    heals = [event("a", days=-14, **GAP), event("b", days=-13), event("c")]
    report = desk.grade(heals, "--by", "week")
    assert desk.code == 0
    assert [(one["window"], one["heals"], one["E"]) for one in report["by"]] == [
        ("2026-05-18 .. 2026-05-24", 2, 0.58),
        ("2026-06-01 .. 2026-06-07", 1, 1.0),
    ]


def test_the_composite_is_the_minimum_and_only_on_request() -> None:
    report = Desk().grade([event(**GAP)], "--composite", surface=SURFACE, pre=PASSED)
    assert report["composite"] == 0.16
    assert Desk().grade([event(**GAP)], "--composite")["composite"] is None


def test_intervals_are_seeded_and_alert_nothing() -> None:
    heals = [event(f"h{n}", days=n / 9, **(GAP if n < 1 else {})) for n in range(9)]
    desk = Desk()
    first = desk.grade(heals, "--intervals")
    assert first == Desk().grade(heals, "--intervals")
    low, high = first["intervals"]["E"]
    assert low < 0.8 < first["E"] <= high
    assert desk.code == 0


@pytest.mark.parametrize("form", ["table", "markdown"])
def test_other_formats_show_the_same_and_nothing_acts(form: str) -> None:
    desk = Desk()
    odd = "x\x1b[31m`` @team <b>\n|"
    desk.put("h", lines(event(odd, signature=odd, tokens_spent=9, task_tokens=1, **GAP)))
    assert desk.run("--heals", "h", "--format", form, "--explain") == 1
    assert "0.16" in desk.out
    assert "ALERT" in desk.out
    assert "\x1b" not in desk.out
    if form == "markdown":
        prose = [line for line in desk.out.split("\n") if not line.startswith("    ")]
        assert all("```" in line for line in prose if "@team" in line)
