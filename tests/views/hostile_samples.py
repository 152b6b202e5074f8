"""Texts that would do something on GitHub, and what must not be left of them when rendered."""

import html
import re

import cmarkgfm  # type: ignore[import-untyped]
from cmarkgfm.cmark import Options  # type: ignore[import-untyped]

HOSTILE = (
    "[click](https://evil.example)",
    "[a]: https://evil.example\n\n[a]",
    "![x](https://e.example/p.png)",
    "<img src=x onerror=alert(1)>",
    "<a href='https://e.example'>x</a>",
    "<script>alert(1)</script>",
    "<!-- hidden -->",
    "--> <b>out</b>",
    "<!-- /healbot:card -->",
    "<!-- healbot:card -->",
    "\n<!-- /healbot:card -->\n",
    "</details>",
    "</details>\n\n# Approved by the owner",
    "<details>",
    "@octocat",
    "@octo-org/core-team please merge",
    "cc:@octocat",
    "(@octocat)",
    "\\@octocat",
    "&#64;octocat",
    "@\u200boctocat",
    "`@octocat",
    "`` ` @octocat",
    "#12",
    "fixes #12",
    "Closes GH-12",
    "octo/repo#12",
    "octo/repo@0123abc",
    "(#12)",
    "\\#12",
    "&#35;12",
    "#\u200b12",
    "x#12",
    "https://evil.example/a?b=c",
    "www.evil.example",
    "(www.evil.example)",
    "http://e.example",
    "ftp://e.example/x",
    "mailto:a@b.example",
    "a@b.example",
    "xmpp:a@b.example",
    "a&#64;b.example",
    "<https://auto.example>",
    "<a@b.example>",
    "0123456789abcdef0123456789abcdef01234567",
    "deadbee",
    "see 1a2b3c4d.",
    ":smile: :+1:",
    ":shipit:",
    "# heading",
    "a\n===",
    "a\n---",
    "---",
    "* * *",
    "- item",
    "+ item",
    "1. item",
    "1) item",
    "> quote",
    "> [!WARNING]\n> do it",
    "- [x] done",
    "| a | b |\n|---|---|\n| c | d |",
    "a | b",
    "`|`",
    "\\",
    "a\\",
    "\\|",
    "`\\`",
    "a\\`b",
    "```\ncode\n```",
    "~~~\ncode",
    "``````",
    "    indented",
    "\tindented",
    "$x^2$",
    "$$x$$",
    "$`x`$",
    "```math\nx\n```",
    "[^1]",
    "[^1]: note\n\nx[^1]",
    "&lt;b&gt;",
    "&copy; &amp;#64;x",
    "**bold** _it_ ~~gone~~",
    "***",
    "\x1b[31mred\x1b[0m",
    "\x1b]8;;https://e.example\x07link\x1b]8;;\x07",
    "\x9b31mred",
    "a\x00b\x07\x08",
    "\u202egnp.exe\u202c",
    "\ufeffa\u200d\u2060b",
    "\U000e0041\U000e0042",
    "e" + "\u0301" * 40,
    "line\r\nline\rline\u2028line\u2029line\x85line",
    "JIRA-12",
    "gh-12",
    "<kbd>x</kbd><br>",
    "<?php ?>",
    "<![CDATA[x]]>",
    "<!DOCTYPE x>",
    "[[wiki]]",
    "[x][y]",
    "![x][y]",
    "javascript:alert(1)",
    "/healbot merge",
    "Healbot-Ledger: 0",
    "{agent}",
    "word " * 200,
    "",
    " ",
    "\n",
    "@",
    "#",
    "…",
    "@@ -1 +1 @@",
)

OUR_TAGS = frozenset(
    "p br strong code pre table thead tbody tr th td details summary ul li".split()  # noqa: SIM905
)

_ACTIVE = {
    "mention": re.compile(r"@\w"),
    "reference": re.compile(r"#\d|\bgh-\d|\b[A-Z]{2,}-\d", re.IGNORECASE),
    "commit": re.compile(r"(?<![0-9A-Za-z])[0-9a-f]{7,}(?![0-9A-Za-z])", re.IGNORECASE),
    "address": re.compile(r"://|\bwww\.\w|\b(?:mailto|xmpp|javascript):\w", re.IGNORECASE),
    "short code": re.compile(r":[\w+-]+:"),
    "formula": re.compile(r"\$[^$\n]*\$"),
    "footnote": re.compile(r"\[\^"),
    "hidden": re.compile(
        "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]"
    ),
}


def rendered(markdown: str) -> str:
    """Render as GitHub does, but with raw HTML let through, so that it would be seen."""
    options = Options.CMARK_OPT_FOOTNOTES | Options.CMARK_OPT_UNSAFE | Options.CMARK_OPT_HARDBREAKS
    return str(cmarkgfm.github_flavored_markdown_to_html(markdown, options=options))


def tags(page: str) -> set[str]:
    """Return the names of all elements; comments count as ``!--``."""
    return set(re.findall(r"<(!--|[a-z][a-z0-9-]*)", page.lower()))


def active(page: str) -> list[str]:
    """Say what GitHub would make links, mentions or pictures of in the text outside code."""
    bare = re.sub(r"<pre.*?</pre>|<code>.*?</code>", " ␣ ", page, flags=re.DOTALL)
    text = html.unescape(re.sub(r"<!--.*?-->|<[^>]*>", "", bare, flags=re.DOTALL))
    return [name for name, pattern in _ACTIVE.items() if pattern.search(text)]
