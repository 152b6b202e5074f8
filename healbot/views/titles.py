"""Titles and branch names of healbot's pull requests, each a type with render and parse.

Knows that a title is no Markdown (an escape would show) and becomes a commit's first line, where
GitHub makes links; so what is active there is taken apart by plain spaces. Knows git's rules for
names of refs.
"""

import re
import unicodedata

from pydantic import field_validator

from healbot.records.record import Record
from healbot.records.settings import PullsSettings
from healbot.views.plain import CUT, one_line

TITLE_LIMIT = 72
"""Characters of a whole title."""

SUMMARY_LEAST = 24
"""Characters that a summary gets, however long template and agent are."""

SUMMARY_LIMIT = 200
AGENT_LIMIT = 64
SLUG_LIMIT = 40
SHORT_DIGITS = 8
PREFIX = "healbot"

TEMPLATE = PullsSettings.model_fields["title"].default

_DEFUSED = (
    (re.compile("`"), "'"),
    (re.compile(r"@(?=\S)"), "@ "),
    (re.compile(r"#(?=\w)"), "# "),
    (re.compile(r"://"), ": //"),
    (re.compile(r"\bwww\.(?=\S)", re.IGNORECASE), "www. "),
    (re.compile(r"\b(mailto|xmpp|javascript):(?=\S)", re.IGNORECASE), r"\1: "),
    (re.compile(r":(?=[\w+-]+:)"), ": "),
    (re.compile(r"\b((?i:gh)|[A-Z]{2,})-(?=[0-9])"), r"\1 "),
    (re.compile(r"(?<![0-9A-Za-z])([0-9a-fA-F]{6})[0-9a-fA-F]+(?![0-9A-Za-z])"), r"\1" + CUT),
)
_HOLES = re.compile(r"\{(agent|summary)\}")


def title_text(text: str, limit: int) -> str:
    """Return foreign text as one line without link, mention, reference, code or short code."""
    before, line = "", one_line(text, limit)
    while line != before:  # a cut may bring a new end to light; each round only takes apart
        before = line
        for pattern, instead in _DEFUSED:
            line = pattern.sub(instead, line)
        line = _cut(line, limit)
    return line


class Title(Record):
    """A pull request's title. Both texts are made harmless when the title is made."""

    agent: str
    summary: str

    @field_validator("agent")
    @classmethod
    def _agent(cls, value: str) -> str:
        return re.sub(r"[^\w.-]+", "-", one_line(value, AGENT_LIMIT)) or "agent"

    @field_validator("summary")
    @classmethod
    def _summary(cls, value: str) -> str:
        return title_text(value, SUMMARY_LIMIT) or "an edit"

    def fitted(self, template: str = TEMPLATE) -> "Title":
        """Return it with the summary cut so that the whole has about ``TITLE_LIMIT`` characters."""
        frame = len(_fill(template, self.agent, ""))
        room = max(SUMMARY_LEAST, TITLE_LIMIT - frame)
        return Title(agent=self.agent, summary=_cut(self.summary, room))

    def render(self, template: str = TEMPLATE) -> str:
        """Fill the settings' template; other braces in it stay as they are."""
        fitted = self.fitted(template)
        return _fill(template, fitted.agent, fitted.summary)

    @classmethod
    def parse(cls, text: str, template: str = TEMPLATE) -> "Title | None":
        """Read a title back (as ``fitted``), or None where it doesn't follow the template.

        A template without a hole for agent or summary can't be read back: None.
        """
        if {match[1] for match in _HOLES.finditer(template)} != {"agent", "summary"}:
            return None
        pattern, seen = "", set[str]()
        for index, part in enumerate(_HOLES.split(template)):
            if index % 2 == 0:
                pattern += re.escape(part)
            elif part in seen:
                pattern += f"(?P={part})"
            else:
                pattern += rf"(?P<{part}>{'[^ ]+?' if part == 'agent' else '.+?'})"
                seen.add(part)
        match = re.fullmatch(pattern, text.strip())
        return cls(agent=match["agent"], summary=match["summary"]) if match else None


class Branch(Record):
    """A pull request's branch: ``healbot/<agent>/<slug>-<8 digits of the candidate>``.

    Attributes:
        slug: Made of whatever text is given: lower-case ASCII words joined by hyphens.
        candidate: Made of the revision: its first eight digits.
    """

    agent: str
    slug: str
    candidate: str

    @field_validator("agent")
    @classmethod
    def _agent(cls, value: str) -> str:
        kept = re.sub(r"[^\w.-]+", "-", value)[:AGENT_LIMIT]
        kept = re.sub(r"\.{2,}", ".", kept).strip(".-")
        return re.sub(r"\.(?=lock$)", "-", kept) or "agent"

    @field_validator("slug")
    @classmethod
    def _slug(cls, value: str) -> str:
        ascii_only = unicodedata.normalize("NFKD", value).encode("ascii", "ignore").decode()
        words = re.sub(r"[^a-z0-9]+", "-", ascii_only.lower()).strip("-")
        if len(words) > SLUG_LIMIT:
            head = words[: SLUG_LIMIT + 1]
            words = (head.rsplit("-", 1)[0] if "-" in head else head[:SLUG_LIMIT]).strip("-")
        return words or "edit"

    @field_validator("candidate")
    @classmethod
    def _candidate(cls, value: str) -> str:
        if not re.match(rf"[0-9a-f]{{{SHORT_DIGITS}}}", value):
            raise ValueError("a candidate is named by hexadecimal digits, eight or more")
        return value[:SHORT_DIGITS]

    def render(self) -> str:
        """Return the short branch name."""
        return f"{PREFIX}/{self.agent}/{self.slug}-{self.candidate}"

    @classmethod
    def parse(cls, name: str) -> "Branch | None":
        """Read a branch name back (``refs/heads/`` in front does no harm), or None: not ours."""
        match = re.fullmatch(
            rf"(?:refs/heads/)?{PREFIX}/(?P<agent>[\w.-]+)/(?P<slug>[a-z0-9-]+)"
            rf"-(?P<candidate>[0-9a-f]{{{SHORT_DIGITS}}})",
            name,
        )
        return cls(**match.groupdict()) if match else None


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1].rstrip() + CUT


def _fill(template: str, agent: str, summary: str) -> str:
    values = {"agent": agent, "summary": summary}
    return _HOLES.sub(lambda match: values[match[1]], template)
