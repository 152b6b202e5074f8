"""Reads JSON a line from bytes: where each line begins, and what a cut-off last line means.

Knows no record and opens nothing: whoever calls hands over the stream.
"""

import json
from collections.abc import Iterator, Sequence
from typing import BinaryIO

from healbot.seam.faults import SeamError

BOM = b"\xef\xbb\xbf"
DECODER = json.JSONDecoder()
BATCH_BYTES = 1 << 13
"""Lines are decoded together up to this size: short ones are read a good deal faster."""
MARK = "@@@@"
_MARKED = f'"{MARK}"'.encode()
_BETWEEN = b"," + _MARKED + b","
_MARK_ESCAPED = b"\\u0040"

Line = tuple[int, int, bytes, object]
"""A decoded line: its number from 1, the bytes before it, itself as it was read, its value."""


def read_lines(stream: BinaryIO, name: str, notes: list[str]) -> Iterator[Line]:
    """Decode every line that is not blank; a last line cut off in mid-write becomes a note.

    Raises:
        SeamError: A whole line is no JSON; names file and line.
    """
    offset, number = 0, 0
    while batch := stream.readlines(BATCH_BYTES):
        values = decode_together(batch)
        if values is None:  # something is odd: line by line, and the odd one is named
            yield from _one_by_one(batch, (number, offset), name=name, notes=notes)
            number += len(batch)
            offset += sum(map(len, batch))
            continue
        for raw, value in zip(batch, values, strict=True):
            number += 1
            yield number, offset, raw, value
            offset += len(raw)


def _one_by_one(
    batch: Sequence[bytes], before: tuple[int, int], *, name: str, notes: list[str]
) -> Iterator[Line]:
    number, offset = before
    for raw in batch:
        number += 1
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
            yield number, offset, raw, value
        offset += len(raw)


def decode_together(batch: Sequence[bytes]) -> list[object] | None:
    """Decode lines as one array; None unless each of them is surely one JSON value of its own.

    A mark stands between any two lines. No line can spell it, so where all marks come back as
    entries of the array, one between any two values, no value reaches over a line's end.
    """
    joined = _BETWEEN.join(batch)
    if joined.count(_MARKED) != len(batch) - 1 or _MARK_ESCAPED in joined:
        return None
    try:
        text = f"[{joined.decode()}]"
        found, end = DECODER.raw_decode(text)
    except (ValueError, RecursionError):
        return None
    is_whole = end == len(text) and len(found) == 2 * len(batch) - 1
    if not is_whole or found[1::2].count(MARK) != len(batch) - 1:
        return None
    values: list[object] = found[::2]
    return values


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
