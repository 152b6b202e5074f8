"""Protected blocks: found by marker and heading, and left alone or the edit is refused."""

import pytest

from healbot.records.harness import Harness, HarnessFile
from healbot.rules.protect import disturbed, protected_spans, unprotected

MARKED = """# Agent

Hello.

<!-- healbot:protect -->
Never refund above 50.
<!-- /healbot:protect -->

Goodbye.
"""
HEADED = """# Agent

Hello.

## Safety

Never refund above 50.

### Detail

Ask first.

## Style

Be kind.
"""
PROTECT = ("## Safety",)


def protected(text: str, *protect: str) -> list[str]:
    return [text[span.start : span.end] for span in protected_spans(text, protect)]


def test_markers_protect_what_is_between_them_and_themselves() -> None:
    assert protected(MARKED) == [MARKED[MARKED.index("<!--") : MARKED.index("\n\nGoodbye")]]


def test_a_marker_never_closed_protects_to_the_end() -> None:
    text = "a\n<!--healbot:protect-->\nb\n```\n"
    assert protected(text) == [text[2:]]
    nested = "<!-- healbot:protect -->a<!-- healbot:protect -->b<!-- /healbot:protect -->c\n"
    assert protected(nested) == [nested]
    assert protected("<!-- /healbot:protect -->\nfree\n") == []


def test_a_heading_protects_its_section_with_its_subsections() -> None:
    section = HEADED[HEADED.index("## Safety") : HEADED.index("## Style")]
    assert protected(HEADED, "## Safety") == [section]
    assert protected(HEADED, "safety") == [section]
    assert protected(HEADED, "# Safety") == []
    assert protected(HEADED.replace("\n", "\r\n"), "## Safety") == [section.replace("\n", "\r\n")]
    assert protected(HEADED.replace("\n", "\r"), "## Safety") == [section.replace("\n", "\r")]


def test_a_heading_in_a_fence_is_no_heading() -> None:
    fenced = "````md\n```\n## Safety\n```\n## Safety\n````\n\n"
    real = "Safety\n------\nreal\n\n```\n## Other\n```\n"
    assert protected(fenced + real, "## Safety") == [real]


def test_a_heading_in_front_matter_is_no_heading() -> None:
    text = "---\n# Safety\nname: x\n---\n# Safety\nreal\n"
    assert protected(text, "# Safety") == ["# Safety\nreal\n"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (MARKED, MARKED.replace("Hello.", "Hello there.\n\nMore.")),
        (MARKED, MARKED + "- More.\n"),
        (HEADED, HEADED.replace("Hello.", "Hello.\n\n```\n## Safety\n```")),
        (HEADED, HEADED.replace("Be kind.", "Be brief.\n\n<!-- a note -->")),
        (HEADED, HEADED.replace("## Style", "## Manner")),
    ],
)
def test_an_edit_elsewhere_passes(before: str, after: str) -> None:
    assert disturbed(before, after, PROTECT) is None


@pytest.mark.parametrize(
    "after",
    [
        MARKED.replace("50", "500"),
        MARKED.replace("<!-- healbot:protect -->\n", ""),
        MARKED.replace("<!-- /healbot:protect -->\n", ""),
        MARKED.replace("Goodbye.", "<!-- healbot:protect -->"),
        MARKED.replace("Hello.", "```").replace("Goodbye.", "```"),
        MARKED.replace("Hello.", "~~~~"),
        MARKED.replace("Hello.\n\n", "<!-- old:\n"),
        MARKED.replace("Hello.\n\n", "Hello <!--\n"),
        MARKED.replace("Hello.\n\n", "<script>\n"),
        MARKED.replace("Hello.\n\n", "> Quoted:\n> ```\n").replace("\n<!-- heal", "\n> <!-- heal"),
        MARKED.replace("Hello.", "## No longer in force"),
        MARKED[: MARKED.index("<!--")] + "Goodbye.\n",
    ],
)
def test_an_edit_that_changes_or_disables_a_marked_block_is_named(after: str) -> None:
    assert after != MARKED
    assert disturbed(MARKED, after) is not None


@pytest.mark.parametrize(
    "after",
    [
        HEADED.replace("50", "500"),
        HEADED.replace("Ask first.\n", "Ask first.\nOr do not.\n"),
        HEADED.replace("## Safety", "## Old safety"),
        HEADED.replace("## Safety", "### Safety"),
        HEADED.replace("## Style\n\n", ""),
        HEADED.replace("Be kind.", "Be kind.\n\n## Safety\n\nNothing."),
        HEADED.replace("Hello.", "```"),
        HEADED.replace("Hello.", "<!--"),
        HEADED.replace("Hello.\n\n", "<pre>\n"),
        HEADED.replace("Hello.", "# Archive of rules that no longer apply"),
        HEADED.replace("### Detail", "#### Detail"),
        HEADED.replace("Be kind.", "Be kind.\n").replace("Ask first.", "Ask  first."),
    ],
)
def test_an_edit_that_changes_or_disables_a_section_is_named(after: str) -> None:
    assert after != HEADED
    assert disturbed(HEADED, after, PROTECT) is not None


def test_an_entry_that_matches_no_heading_is_told() -> None:
    harness = Harness(files=(HarnessFile(path="instructions.md", content=b"## Safety\n\n- x\n"),))
    assert unprotected(harness, ["## Safety"]) == ()
    (told,) = unprotected(harness, ["## Saftey"])
    assert "protects nothing" in told
