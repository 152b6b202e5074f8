"""Whether two edits say the same: by what they add and take away, not by where or how it is put.

Pure, and of texts alone. Order, case, punctuation, list marks, inflection and a few plain synonyms
make no difference; a negation, a number, a name in backticks, or a word such as *before* or *above*
with what it governs makes one. The order of clauses is free.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from rapidfuzz.fuzz import ratio

from healbot.records.harness import Harness
from healbot.rules.differences import changed_lines

SHARED_AT_LEAST = 0.8
"""Of all content words of two texts, how many both must have (Jaccard)."""
SPELLED_ALIKE = 83.0
"""From this similarity (rapidfuzz ratio, 0 to 100) on two words count as spellings of one."""
SPELLED_FROM = 6
"""Shorter words are never taken for misspellings of each other."""
SPELLED_FIRST = 3
"""Letters that they open with alike, so that *available* is not *unavailable*."""

_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_LIST_MARK = re.compile(r"^\s*(?:>\s*)*(?:#{1,6}\s+|[-*+]\s+|\d{1,9}[.)]\s+)?(?:\[[ xX]\]\s+)?")
_SENTENCE = re.compile(r"(?<=[.!?;])\s+|\n+")
_NAMED = re.compile(r"`([^`\n]+)`")
_TOKEN = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+(?:['\u2019][^\W\d_]+)?|[,:;.!?]")  # fmt: skip
_NAME = "\ue000{}\ue001"
_PHRASES = tuple(
    (re.compile(rf"\b(?:{words})\b", re.IGNORECASE), plain)
    for words, plain in (
        (r"prior to|ahead of", "before"),
        (r"(?:more|greater|higher|larger) than|in excess of|exceed(?:s|ing)?", "above"),
        (r"(?:less|lower|fewer|smaller) than", "below"),
        (r"make sure(?: that| to)?|ensures?(?: that)?|be sure to", ""),
        (r"can ?not|can['\u2019]t|won['\u2019]t|must not|mustn['\u2019]t", "not"),
        (r"(?:do|does|is|are|was|should|would|did|has|have)n['\u2019]t", "not"),
        (r"at no time|under no circumstances", "never"),
        (r"no longer|not any ?more", "not"),
    )
)
_NEGATIONS = frozenset((
    "not", "never", "no", "nor", "neither", "without", "avoid", "none", "nobody", "nothing"
))  # fmt: skip
_MARKERS: Mapping[str, str] = {
    **dict.fromkeys(_NEGATIONS, "not"),
    "without": "without",
    **dict.fromkeys(("above", "over", "beyond"), "above"),
    **dict.fromkeys(("below", "under"), "below"),
    **dict.fromkeys(("unless", "except"), "unless"),
    **{word: word for word in ("before", "after", "until", "only", "instead", "least", "most")},
}
"""Words that turn a sentence round, each read together with the content word that follows it."""
_PLACING = frozenset(("before", "after", "until", "above", "below"))
"""Turning words that may govern nothing of their own: *above it, escalate*, *compare before*."""
_BACK = frozenset(("it", "them"))
_JOINTS = frozenset(("and", "then"))
_OR = frozenset(("or",))
_PERMITS = {"may": "may", "can": "may", "might": "may", "optional": "may", "optionally": "may"}
_PLAIN = frozenset((
    "a", "an", "the", "this", "that", "these", "those", "it", "its", "they", "them", "their",
    "there", "you", "your", "we", "our", "i", "he", "she", "his", "her", "is", "are", "be",
    "been", "being", "was", "were", "am", "do", "does", "did", "has", "have", "had", "will",
    "would", "shall", "should", "must", "always", "please", "to", "of", "in", "on", "at", "by",
    "for", "from", "with", "as", "and", "or", "but", "so", "then", "than", "if", "when",
    "whenever", "while", "which", "who", "whom", "whose", "what", "also", "too", "very", "just",
    "into", "onto", "up", "out", "about", "any", "each", "every", "all", "both", "need",
    "needs", "needed", "make", "sure", "ever", "such", "via", "per"
))  # fmt: skip
"""Words that say nothing of their own here; *must* and *always* say what a rule says anyway."""
_NUMBERS = {
    "zero": "0", "one": "1", "two": "2", "three": "3", "four": "4", "five": "5", "six": "6",
    "seven": "7", "eight": "8", "nine": "9", "ten": "10", "eleven": "11", "twelve": "12",
    "once": "1", "twice": "2",
}  # fmt: skip
_IRREGULAR = {
    "paid": "pay", "sent": "send", "told": "tell", "given": "give", "gave": "give", "made": "make",
    "said": "say", "written": "write", "wrote": "write", "found": "find", "kept": "keep",
    "shown": "show", "taken": "take", "took": "take", "done": "do", "ran": "run", "left": "leave",
}  # fmt: skip
_SYNONYMS = (
    "check verify", "customer client", "answer reply respond", "ask request", "use utilise utilize",
    "tell inform notify", "delete remove", "show display", "begin start", "end finish",
    "purchase buy", "amount sum", "mistake error", "fix repair", "choose select", "quickly fast",
    "compare match", "given provided", "big large", "wrong incorrect", "right correct",
)  # fmt: skip
"""Words that say the same in instructions to an agent; each group counts as its first."""


class Change(NamedTuple):
    """What an edit adds and takes away, as sentences; what it only moves is in neither."""

    added: tuple[str, ...]
    removed: tuple[str, ...]


class Place(NamedTuple):
    """A word such as *before* or *above*, and what it governs.

    Attributes:
        turn: The word.
        governed: The stem that it stands before; empty where it points back or at nothing.
        deeper: The next stem where ``governed`` is a form in *-ing*: *before issuing a refund*.
        clause: The stems of its clause, and of the next where it opens the sentence.
    """

    turn: str
    governed: str
    deeper: str
    clause: frozenset[str]


class Meaning(NamedTuple):
    """What of a text is compared.

    Attributes:
        words: Stems of its content words.
        exact: What must be equal: numbers, names in backticks, permissions, and each other turning
            word with the stem that follows it.
        places: What must be matched on either side.
    """

    words: frozenset[str]
    exact: frozenset[str]
    places: frozenset[Place]


def change_between(before: Harness, after: Harness) -> Change:
    """Return what one revision says that another did not, and the other way round."""
    added: list[str] = []
    removed: list[str] = []
    for path in dict.fromkeys([file.path for file in (*before.files, *after.files)]):
        was, now = before.get(path), after.get(path)
        lines = changed_lines(was.content if was else b"", now.content if now else b"")
        added += sentences("\n".join(lines.added))
        removed += sentences("\n".join(lines.removed))
    gone = [_normal(one) for one in removed]
    come = [_normal(one) for one in added]
    return Change(
        tuple(one for one in added if _normal(one) not in gone),
        tuple(one for one in removed if _normal(one) not in come),
    )


def recurs(refused: Change, candidate: Change) -> bool:
    """Whether a candidate brings back what was refused: as a whole, or as one rule among others."""
    if not any((*refused, *candidate)):
        return True  # both only move text about
    if not any(refused) or not any(candidate):
        return False
    if alike(refused.added, candidate.added) and alike(refused.removed, candidate.removed):
        return True
    return not refused.removed and any(alike(refused.added, (one,)) for one in candidate.added)


def alike(one: Sequence[str], other: Sequence[str]) -> bool:
    """Whether two texts, each as sentences, say the same."""
    mine, yours = meaning_of(one), meaning_of(other)
    if mine.exact != yours.exact:
        return False
    only_mine, only_yours = mine.words - yours.words, yours.words - mine.words
    spelled = {left: right for left in only_mine for right in only_yours if _misspelt(left, right)}
    only_mine, only_yours = only_mine - set(spelled), only_yours - set(spelled.values())
    shared = len(mine.words & yours.words) + len(spelled)
    every = shared + len(only_mine) + len(only_yours)
    exchanged = bool(only_mine and only_yours)  # another word in a word's place is another rule
    if exchanged or shared < SHARED_AT_LEAST * every:
        return False
    return _placed_alike(mine, yours) and _placed_alike(yours, mine)


def _placed_alike(mine: Meaning, yours: Meaning) -> bool:
    """Whether each place of one text has its like in the other."""
    whole = mine.words == yours.words
    return all(
        any(
            _same_place(one, other, (mine.words, yours.words), whole=whole)
            for other in yours.places
        )
        for one in mine.places
    )


def _same_place(
    one: Place, other: Place, words: tuple[frozenset[str], frozenset[str]], *, whole: bool
) -> bool:
    if one.turn != other.turn:
        return False
    if one.governed and other.governed:
        light = one.deeper == other.governed and one.governed not in words[1]
        light |= other.deeper == one.governed and other.governed not in words[0]
        return one.governed == other.governed or light or _misspelt(one.governed, other.governed)
    if not one.governed and not other.governed:
        return one.clause <= other.clause or other.clause <= one.clause
    bare, full = (other, one) if one.governed else (one, other)
    return whole and bare.clause <= full.clause


def meaning_of(texts: Iterable[str]) -> Meaning:
    """Return what of a text is compared."""
    words: set[str] = set()
    exact: set[str] = set()
    places: set[Place] = set()
    for text in texts:
        for sentence in sentences(text):
            plain = _plain(sentence)
            exact.update(f"`{name.strip()}`" for name in _NAMED.findall(sentence))
            _read(plain, words, exact)
            places.update(_places(plain))
    return Meaning(frozenset(words), frozenset(exact), frozenset(places))


def sentences(text: str) -> list[str]:
    """Split a text into sentences, without comments, list marks and headings' marks."""
    lines = [_LIST_MARK.sub("", line) for line in _COMMENT.sub(" ", text).splitlines()]
    parts = (part.strip() for part in _SENTENCE.split("\n".join(lines)))
    return [part for part in parts if any(sign.isalnum() for sign in part)]


def _normal(sentence: str) -> str:
    return " ".join(_TOKEN.findall(sentence.lower())).strip(" .,;:!?")


def _plain(sentence: str) -> list[str]:
    plain = _NAMED.sub(lambda found: f" {found[1]} ", sentence)
    for pattern, word in _PHRASES:
        plain = pattern.sub(f" {word} ", plain)
    return _TOKEN.findall(plain.lower())


def _places(tokens: Iterable[str]) -> Iterator[Place]:
    """Yield the words of a sentence that place something before, after, above or below it."""
    clauses: list[list[tuple[str, str]]] = [[]]
    for token in tokens:
        if token in _JOINTS or not token[0].isalnum():
            clauses.append([])
        elif token in _PLACING or _MARKERS.get(token) in _PLACING:
            clauses[-1].append((_MARKERS[token], "turn"))
        elif token in _BACK:
            clauses[-1].append(("", "back"))
        elif token not in _PLAIN and token not in _MARKERS and token not in _PERMITS:
            clauses[-1].append((_stem(token), "ing" if token.endswith("ing") else ""))
    kept = [clause for clause in clauses if clause]
    for at, clause in enumerate(kept):
        for index, (turn, kind) in enumerate(clause):
            if kind == "turn":
                said = clause if index or at + 1 == len(kept) else [*clause, *kept[at + 1]]
                yield _place(turn, clause[index + 1 :], said)


def _place(turn: str, rest: list[tuple[str, str]], clause: list[tuple[str, str]]) -> Place:
    governed, kind = rest[0] if rest else ("", "")
    governed = "" if kind == "turn" else governed
    deeper = rest[1][0] if kind == "ing" and len(rest) > 1 else ""
    stems = frozenset(stem for stem, sort in clause if stem and sort != "turn")
    return Place(turn, governed, deeper, stems)


def _read(tokens: Iterable[str], words: set[str], exact: set[str]) -> None:
    waiting: list[str] = []
    joined = ""  # the turning word that an "or" carries on
    for token in tokens:
        stem = _stem(token)
        if _MARKERS.get(token) in _PLACING:
            joined = ""
        elif token in _MARKERS:
            waiting.append(_MARKERS[token])
            joined = ""
        elif token in _PERMITS:
            exact.add(_PERMITS[token])
        elif token in _OR and joined:
            waiting.append(joined)
        elif not token[0].isalnum():
            joined = ""
        elif stem and token not in _PLAIN:
            (exact if token[0].isdigit() or token in _NUMBERS else words).add(stem)
            exact.update(f"{turn} {stem}" for turn in waiting)
            joined = "not" if "not" in waiting else ""
            waiting = []
    exact.update(waiting)


def _stem(token: str) -> str:
    """Return a number in one form, or a word without its ending, roughly; exact for no language."""
    if token[0].isdigit():
        number = token.replace(",", "")
        return number.rstrip("0").rstrip(".") if "." in number else number
    word = _NUMBERS.get(token, token).replace("\u2019", "'").removesuffix("'s")
    return _GROUP.get(_ending_off(word), _ending_off(word))


def _ending_off(word: str) -> str:
    word = _IRREGULAR.get(word, word)
    for ending, least, put in (
        ("ies", 2, "y"), ("ied", 2, "y"), ("sses", 2, "ss"), ("ing", 3, ""),
        ("ed", 3, ""), ("ion", 4, ""), ("es", 3, ""), ("s", 2, ""), ("ly", 4, ""),
    ):  # fmt: skip
        if word.endswith(ending) and len(word) - len(ending) >= least and not word.endswith("ss"):
            word = word[: -len(ending)] + put
            break
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "sl":  # noqa: PLR2004  # stopp
        word = word[:-1]
    return word.removesuffix("e") if len(word) > 3 else word  # noqa: PLR2004  # use, but compar


_GROUP = {
    _ending_off(word): _ending_off(group.split()[0])
    for group in _SYNONYMS
    for word in group.split()
}


def _misspelt(one: str, other: str) -> bool:
    long_enough = min(len(one), len(other)) >= SPELLED_FROM
    opens_alike = one[:SPELLED_FIRST] == other[:SPELLED_FIRST]
    return long_enough and opens_alike and ratio(one, other) >= SPELLED_ALIKE
