"""A simple lessons folder: one Markdown file a lesson, read at a commit.

Knows the repository port and the file's shape: front matter with ``key``, ``seen_count`` and the
like, and the statement as the body. A bad file is named and passed over, never fatal.
"""

from datetime import UTC, date, datetime

from healbot.errors import HealbotError
from healbot.ports import Repo
from healbot.records.lesson import Lesson
from healbot.rules.differences import lines_of
from healbot.rules.frontmatter import parse
from healbot.rules.mistakes import did_you_mean

LONGEST_LESSON = 500
KEYS = (
    "key", "scope", "tags", "trigger", "seen_count", "first_seen_at", "last_seen_at", "helped",
    "hurt", "source",
)  # fmt: skip


class LessonsFolder:
    """``Lessons`` in a folder of one commit."""

    def __init__(self, repo: Repo, sha: str, folder: str) -> None:
        self._repo = repo
        self._sha = sha
        self._folder = folder.strip("/")

    def read(self) -> tuple[tuple[Lesson, ...], tuple[str, ...]]:
        """Return lessons by path, and a sentence for each file that could not be read."""
        lessons, problems = [], []
        for path, file in sorted(self._repo.tree(self._sha, self._folder).items()):
            if not path.endswith(".md") or path.lower().endswith("readme.md"):
                continue
            try:
                lessons.append(read_lesson(self._repo.blob(file.blob), path))
            except (HealbotError, ValueError) as error:
                problems.append(f"{path} is no lesson: {str(error).splitlines()[0]}")
        return tuple(lessons), tuple(problems)


def read_lesson(content: bytes, path: str) -> Lesson:
    """Read one lesson file.

    Raises:
        HealbotError, ValueError: It is no lesson; says why.
    """
    text = content.decode()
    front = parse(text)
    if front.state != "valid":
        raise ValueError(f"its front matter is {front.state} {front.problem}".strip())
    data = front.data
    for key in data:
        if key not in KEYS:
            raise ValueError(
                f"it has an unknown key {key!r}; {did_you_mean(str(key), KEYS)}".rstrip("; ")
            )
    value = " ".join("".join(lines_of(text.removeprefix("\ufeff"))[front.lines :]).split())
    if not value or len(value) > LONGEST_LESSON:
        raise ValueError(f"its statement must have 1 to {LONGEST_LESSON} characters")
    count = data.get("seen_count", 1)
    if not isinstance(count, int) or isinstance(count, bool) or count < 0:
        raise ValueError("seen_count is no whole number")
    tags = data.get("tags", [])
    return Lesson(
        key=str(data.get("key") or path.rsplit("/", 1)[-1].removesuffix(".md")),
        value=value,
        scope=str(data.get("scope", "global")),
        tags=tuple(str(tag) for tag in tags) if isinstance(tags, list) else (str(tags),),
        trigger=str(data.get("trigger", "")),
        seen_count=count,
        first_seen_at=_instant(data.get("first_seen_at")),
        last_seen_at=_instant(data.get("last_seen_at")),
        helped=_votes(data.get("helped")),
        hurt=_votes(data.get("hurt")),
        source=str(data.get("source", "")),
        path=path,
    )


def _votes(value: object) -> int:
    return value if isinstance(value, int) and value > 0 else 0


def _instant(value: object) -> datetime | None:
    """Read an instant; a day alone is its beginning, in UTC."""
    if isinstance(value, datetime):
        return value if value.tzinfo else value.replace(tzinfo=UTC)
    if isinstance(value, date):
        return datetime(value.year, value.month, value.day, tzinfo=UTC)
    if not isinstance(value, str) or not value:
        return None
    read = datetime.fromisoformat(value)
    return read if read.tzinfo else read.replace(tzinfo=UTC)
