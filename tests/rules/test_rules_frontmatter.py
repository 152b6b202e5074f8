"""Front matter: read strictly, and never made worse."""

import pytest

from healbot.rules.frontmatter import parse, skill_problems, worsened

GOOD = "---\nname: refund\ndescription: Refunds.\nallowed-tools: Read\n---\n# Body\n"


@pytest.mark.parametrize(
    ("text", "state"),
    [
        (GOOD, "valid"),
        ("\ufeff" + GOOD.replace("\n", "\r\n"), "valid"),
        (GOOD.replace("\n", "\r"), "valid"),
        ("# Body\n---\nname: x\n---\n", "absent"),
        ("", "absent"),
        ("---\nname: x\n# Body\n", "unclosed"),
        ("---\n- a list\n---\n", "invalid"),
        ("---\n---\n", "invalid"),
        ("---\nname: [\n---\n", "invalid"),
        ("---\nname: a\nname: b\n---\n", "invalid"),
        ("---\na: &x [1]\nb: *x\n---\n", "invalid"),
        ("---\nd: 2024-99-99\n---\n", "invalid"),
        ("---\n{a: b}: c\n---\n", "invalid"),
        ("---\nname: \udcff\n---\n", "invalid"),
        ("---\nname: !!python/name:os.system\n---\n", "invalid"),
        ("---\na: " + "[" * 1200 + "\n---\n", "invalid"),
    ],
)
def test_the_state_says_what_a_loader_would_make_of_it(text: str, state: str) -> None:
    assert parse(text).state == state


def test_a_valid_one_gives_its_data_and_how_many_lines_it_takes() -> None:
    front = parse(GOOD)
    assert front.data == {"name": "refund", "description": "Refunds.", "allowed-tools": "Read"}
    assert front.lines == 5


@pytest.mark.parametrize(
    ("front", "words"),
    [
        ("name: refund\ndescription: Refunds.", set()),
        ("name: Refund\ndescription: Refunds.", {"folder"}),
        ("name: refund\ndescription: ''", {"description"}),
        ("description: Refunds.", {"name", "folder"}),
        ("name: refund\ndescription: " + "x" * 1025, {"length"}),
        ("name: [", {"readable", "name", "folder", "description", "length"}),
    ],
)
def test_what_a_skill_loader_would_object_to(front: str, words: set[str]) -> None:
    assert set(skill_problems(f"---\n{front}\n---\n", "refund")) == words


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (GOOD, GOOD.replace("Refunds.", "Refunds and returns.")),
        (GOOD, GOOD + "More.\n"),
        (GOOD.replace("name: refund\n", ""), GOOD),
        (GOOD.replace("refund", "other"), GOOD.replace("refund", "other") + "More.\n"),
        ("---\nname: [\n---\nBody\n", "---\nname: [\n---\nBody, more\n"),
        ("---\nname: [\n---\nBody\n", "---\nname: refund\ndescription: x\n---\nBody\n"),
        ("---\nname: refund\n# Body\n", "---\nname: refund\n# Body\nmore\n"),
        ("# Body\n", "# Body\n\n---\n"),
    ],
)
def test_what_stays_as_good_or_gets_better_passes(before: str, after: str) -> None:
    assert worsened(before, after, "refund") is None


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (GOOD, GOOD.replace("---\n#", "#"), "would be unclosed"),
        (GOOD, GOOD[4:], "would be absent"),
        (GOOD, GOOD.replace("Refunds.", "[").replace("\n---\n", "\n---\n"), "would be invalid"),
        (GOOD, GOOD.replace("Refunds.", "''"), "no description"),
        (GOOD, GOOD.replace("name: refund", "name: repay"), "not the folder's"),
        (GOOD, GOOD.replace("Refunds.", "x" * 1025), "1025 characters of 1024"),
        (GOOD, GOOD.replace("Read", "Read, Bash"), "changes 'allowed-tools'"),
        (GOOD, GOOD.replace("allowed-tools: Read\n", ""), "changes 'allowed-tools'"),
        (GOOD, GOOD.replace("allowed", "model: big\nallowed"), "changes 'model'"),
        ("# Body\n", "---\nallowed-tools: Bash\n---\n# Body\n", "changes 'allowed-tools'"),
        ("# Body\n", "---\nname: x\n# Body\n", "opens front matter that is unclosed"),
        ("---\nname: [\n---\n", "---\nname: [[\n---\n", "only repair it"),
        ("---\nmodel: a\n# Body\n", "---\nmodel: a\n---\n# Body\n", "changes 'model'"),
    ],
)
def test_what_makes_it_worse_or_grants_something_is_named(
    before: str, after: str, said: str
) -> None:
    assert said in (worsened(before, after, "refund") or "")


def test_instructions_need_no_name_but_keep_what_they_have() -> None:
    assert (
        worsened("---\nalwaysApply: true\n---\nx\n", "---\nalwaysApply: true\n---\ny\n", None)
        is None
    )
    assert worsened("---\nalwaysApply: true\n---\nx\n", "---\nalwaysApply: 1\n---\nx\n", None)
