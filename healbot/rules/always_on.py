"""How much text is in the prompt on every run: the instructions, and each skill's listing.

Knows a harness; which limit applies is a setting, and what follows from it is the guard's.
"""

from healbot.records.harness import Harness
from healbot.rules.frontmatter import parse


def always_on_texts(harness: Harness) -> tuple[str, ...]:
    """Return the instructions' text, then each skill's name and description.

    A pointer file counts by what it points to. A skill whose front matter can't be read counts
    with its folder's name.
    """
    texts = []
    for file in harness.files:
        if file.skill is not None:
            data = parse(file.text).data
            name, description = data.get("name"), data.get("description")
            texts.append(name if isinstance(name, str) else file.skill)
            texts.append(description if isinstance(description, str) else "")
        elif file.read_only is None:
            texts.append(file.text)
    return tuple(texts)


def always_on_characters(harness: Harness) -> int:
    """Return the number of always-on characters (code points; a byte that is no UTF-8 is one)."""
    return sum(len(text) for text in always_on_texts(harness))
