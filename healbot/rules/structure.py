"""A Markdown text's block structure by line: headings, fences, comments, as CommonMark has them.

Knows markdown-it's tokens and hides them behind plain values; judges nothing.
"""

import re
from itertools import pairwise
from typing import NamedTuple

from healbot.rules.differences import lines_of
from healbot.rules.frontmatter import parse

_BOM = "\ufeff"
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)


class Block(NamedTuple):
    """One block.

    Attributes:
        kind: markdown-it's token type, for instance ``heading_open``, ``fence``, ``html_block``.
        tag: ``h2`` for a second-level heading, and so on.
        depth: Nesting depth, 0 at the top.
        first, end: Lines it takes, 0-based, ``end`` excluded.
        content: Its text where it is a leaf.
        children: Kinds of the inline parts, for instance ``text``, ``html_inline``.
    """

    kind: str
    tag: str
    depth: int
    first: int
    end: int
    content: str
    children: tuple[str, ...]


class Heading(NamedTuple):
    """One heading: its level (1 to 6), its text, its first line, and whether it is nested."""

    level: int
    text: str
    line: int
    nested: bool


def blocks_of(text: str) -> list[Block]:
    """Return all blocks in order; front matter counts as blank lines."""
    from markdown_it import MarkdownIt  # noqa: PLC0415  # the CLI starts without it

    body = lines_of(text.removeprefix(_BOM))
    skipped = 0 if (front := parse(text)).state in {"absent", "unclosed"} else front.lines
    source = "".join(["\n"] * skipped + body[skipped:])
    blocks = []
    for token in MarkdownIt("commonmark").enable("table").parse(source):
        if token.map is not None:
            children = tuple(child.type for child in token.children or ())
            first, end = token.map
            blocks.append(
                Block(token.type, token.tag, token.level, first, end, token.content, children)
            )
    return blocks


def headings_of(blocks: list[Block]) -> list[Heading]:
    """Return the headings among blocks, in order."""
    found = []
    for block, content in pairwise(blocks):
        if block.kind == "heading_open":
            found.append(Heading(int(block.tag[1]), content.content, block.first, block.depth > 0))
    return found


def in_comment(text: str, offset: int) -> bool:
    """Return whether a place in a text lies in an HTML comment, unclosed ones included."""
    return any(match.start() < offset < match.end() for match in _COMMENT.finditer(text))
