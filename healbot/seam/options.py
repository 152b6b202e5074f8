"""The words of the command: flags, their keys in ``seam.toml``, and what each may be.

Knows argparse and TOML text; opens nothing. A flag wins over the file, the file over the default.
"""

import argparse
import difflib
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import NoReturn

from healbot.seam.defaults import COUNTS, DAY, DEFAULTS, HELP, NAMES, RANGES, Limits, is_allowed
from healbot.seam.faults import FieldError, SeamError
from healbot.seam.fields import instant, shown
from healbot.seam.formats import FORMATS
from healbot.seam.window import PARTS, parse_length

SEE = "See --help."
FILES = {
    "heals": "Heal events, one JSON object a line; - reads standard input.",
    "failures": "Log of real failures: {failure_signature, ts, revision?} a line.",
    "surface": "The surface after the heals: {id, result: pass|fail, safety?, heal_id?} a line.",
    "pre": "Outcomes before the heal: {id: pass|fail}, or one such object a heal id.",
    "certified": "The certified baseline: {id: pass|fail}, as certify writes it.",
    "holdout": "Held-out cases, one a line; may name their failure_signatures.",
    "protected": "A JSON list of exact text blocks that no heal may touch.",
    "floor": "The measured A/A floor: {gap, regression, churn}.",
    "embeddings": "Optional vectors for returns: {heal_id, vector} a line.",
}
WORDS = {
    "window": "Length up to the end: 7d, 36h, 2w or all (default 7d).",
    "until": "End of the window, ISO 8601; a date means its last instant (default: last heal).",
    "by": "Also each day or week of the whole log.",
    "format": "How it is shown (default json).",
}
SWITCHES = {
    "explain": "Also the evidence: heals, cases, signatures, loops.",
    "intervals": "Also bootstrap intervals; they never alert.",
    "subtract_floor": "Take the A/A floor off gap, regression and churn.",
    "composite": "Also the minimum of the four; never gate on it.",
}
CHOICES = {"by": tuple(PARTS), "format": FORMATS}
MOST = 20
_END_OF_DAY = DAY - 1e-6


@dataclass(frozen=True)
class Options:
    """One call, checked.

    Attributes:
        files: Paths by their word.
        length: The window, in seconds.
        until: Seconds since 1970, or None for the last heal.
    """

    files: Mapping[str, str]
    length: float
    until: float | None
    by: str | None
    form: str
    switches: frozenset[str]
    most: int
    limits: Limits


class Parser(argparse.ArgumentParser):
    """An argument parser that raises instead of ending the program."""

    def error(self, message: str) -> NoReturn:
        """Raise what is wrong with the words."""
        wrong = next((word for word in message.split() if word.startswith("--")), "")
        near = difflib.get_close_matches(wrong, self._option_string_actions, n=1)
        is_unknown = wrong.rstrip(":") not in self._option_string_actions
        hint = f"Did you mean {near[0]}? {SEE}" if near and is_unknown else SEE
        raise SeamError(f"{message[:1].upper()}{message[1:]}.", hint)


def parser(prog: str) -> Parser:
    """Return the parser of a report; every default is a flag."""
    made = Parser(
        prog=prog,
        add_help=False,
        allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        usage=f"{prog} --heals FILE [options]\n       {prog} certify --help",
        description="Grade heals: Signal, Efficacy, Aftermath, Monotonicity, each from 0 to 1.",
        epilog="Exit codes: 0 no alert, 1 an axis alert, 2 a gate block or RECERTIFY, 3 unusable.",
    )
    made.add_argument("-h", "--help", action="store_true", help="Show this.")
    files = made.add_argument_group("files")
    for name, text in FILES.items():
        files.add_argument(_flag(name), metavar="FILE", help=text)
    made.add_argument("--config", metavar="FILE", help="seam.toml: the same words; a flag wins.")
    for name, text in WORDS.items():
        choices = CHOICES.get(name)
        made.add_argument(_flag(name), choices=choices, metavar=_meta(name, choices), help=text)
    for name, text in SWITCHES.items():
        made.add_argument(_flag(name), action="store_true", default=None, help=text)
    made.add_argument("--most", metavar="N", help=f"Entries a list of --explain ({MOST}).")
    numbers = made.add_argument_group("numbers")
    for name in NAMES:
        text = f"{HELP[name]} ({getattr(DEFAULTS, name):g})".replace("%", "%%")
        numbers.add_argument(_flag(name), metavar="X", help=text)
    return made


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _meta(name: str, choices: Sequence[str] | None) -> str:
    return "|".join(choices) if choices else {"window": "LENGTH", "until": "TS"}[name]


def options_of(given: Mapping[str, object], config: Mapping[str, object]) -> Options:
    """Check flags (texts, None where left out) and the file's values, and join them.

    Raises:
        SeamError: One of them can't be used; names the word.
    """
    joined = dict(config)
    joined |= {name: value for name, value in given.items() if value is not None}
    try:
        return _checked(joined)
    except FieldError as error:
        raise SeamError(f"{_flag(error.field)} {error.what}.", SEE) from error


def _checked(joined: Mapping[str, object]) -> Options:
    words = {name: _word(joined, name) for name in WORDS}
    files = {name: value for name in FILES if (value := _word(joined, name)) is not None}
    if sum(path == "-" for path in files.values()) > 1:
        raise SeamError("Only one file can be read from standard input.", SEE)
    most = _number(joined.get("most", MOST), "most")
    if not (1 <= most <= 10**6 and most.is_integer()):
        raise FieldError("most", f"has to be a whole number from 1, is {shown(most)}")
    limits = {name: _limit(joined[name], name) for name in NAMES if name in joined}
    return Options(
        files,
        parse_length(words["window"] or "7d"),
        _until(words["until"]),
        words["by"],
        words["format"] or "json",
        frozenset(name for name in SWITCHES if _switch(joined.get(name), name)),
        int(most),
        replace(DEFAULTS, **limits),
    )


def _until(text: str | None) -> float | None:
    if text is None:
        return None
    at = instant(text, "until")[0].timestamp()
    return at + _END_OF_DAY if "T" not in text and ":" not in text and " " not in text else at


def _word(joined: Mapping[str, object], name: str) -> str | None:
    value = joined.get(name)
    if value is not None and not (isinstance(value, str) and value):
        raise FieldError(name, f"has to be a text, is {shown(value)}")
    choices = CHOICES.get(name)
    if value is not None and choices and value not in choices:
        raise FieldError(name, f"has to be {' or '.join(choices)}, is {shown(value)}")
    return value


def _switch(value: object, name: str) -> bool:
    if value is None or isinstance(value, bool):
        return bool(value)
    raise FieldError(name, f"has to be true or false, is {shown(value)}")


def _limit(value: object, name: str) -> float:
    number = _number(value, name)
    if not is_allowed(name, number):
        low, high = RANGES[name]
        kind = "a whole number" if name in COUNTS else "a number"
        raise FieldError(name, f"has to be {kind} from {low:g} to {high:g}, is {shown(value)}")
    return number


def _number(value: object, name: str) -> float:
    if not isinstance(value, bool) and isinstance(value, str | int | float):
        try:
            return float(value)
        except (ValueError, OverflowError):
            pass
    raise FieldError(name, f"has to be a number, is {shown(value)}")


def parse_config(text: str, path: str) -> dict[str, object]:
    """Read ``seam.toml``: the flags' words, at the top or under ``[seam]``.

    Paths in it are taken from the file's own folder.

    Raises:
        SeamError: It is no TOML, or holds a word that does not exist.
    """
    try:
        data = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise SeamError(f"{path}: no TOML ({error}).", "Correct that file.") from error
    table = data.pop("seam", {})
    if not isinstance(table, dict):
        raise SeamError(f"{path}, field seam: has to be a table.", "Correct that file.")
    known = {*FILES, *WORDS, *SWITCHES, *NAMES, "most"}
    found: dict[str, object] = {}
    for key, value in {**data, **table}.items():
        name = key.replace("-", "_")
        if name not in known:
            near = difflib.get_close_matches(name, sorted(known), n=1)
            hint = f"Did you mean {near[0]}?" if near else "The words are those of the flags."
            raise SeamError(f"{path}, field {key}: there is no such word.", hint)
        is_path = name in FILES and isinstance(value, str) and value not in {"", "-"}
        found[name] = str(PurePath(path).parent / str(value)) if is_path else value
    _check_file(found, path)
    return found


def _check_file(found: Mapping[str, object], path: str) -> None:
    try:
        _checked(found)
    except FieldError as error:
        raise SeamError(f"{path}, field {error.field}: {error.what}.", "Correct it.") from error
