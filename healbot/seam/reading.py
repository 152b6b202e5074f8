"""Reads the files of one call into material; every fault names file, line and field.

Knows how files are opened only through the opener that it is handed. The heal events stay open:
texts that Monotonicity needs are read again, so that a million events fit in memory.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import BinaryIO, TypeVar

from healbot.seam import fields
from healbot.seam.blocks import Block, changed_block
from healbot.seam.embeddings import alike_by, parse_vector, unit_vectors
from healbot.seam.failures import Failure, parse_failure
from healbot.seam.faults import FieldError, SeamError, at_line
from healbot.seam.floor import NO_FLOOR, parse_floor
from healbot.seam.gather import last_window, sighted
from healbot.seam.heals import Heal, Intake
from healbot.seam.heldout import HeldOut, held_out
from healbot.seam.lines import BOM, decode, decode_line, read_lines
from healbot.seam.options import Options
from healbot.seam.quick import quick_heal
from healbot.seam.report import Material
from healbot.seam.schema import parse_change, parse_event
from healbot.seam.surface import SurfaceRun, add_line, read_snapshot, read_snapshots
from healbot.seam.window import Window, partition

Opener = Callable[[str], BinaryIO]
"""Opens a file for reading, seekable; ``-`` is standard input. Raises OSError."""
T = TypeVar("T")


@dataclass
class Reader:
    """Reads one call's files; what can't be told becomes a note."""

    options: Options
    opener: Opener
    stack: ExitStack
    notes: list[str]

    def open(self, path: str) -> BinaryIO:
        """Open a file until the call ends.

        Raises:
            SeamError: It can't be opened.
        """
        try:
            return self.stack.enter_context(self.opener(path))
        except OSError as error:
            why = error.strerror or str(error)
            raise SeamError(
                f"{path} can't be read: {why}.", "Name a file that is there."
            ) from error
        except ValueError as error:  # a path with a NUL in it
            raise SeamError(f"{path!r} can't be read: {error}.", "Name a file.") from error

    def path(self, word: str) -> str | None:
        """Return the file behind a word, where it was given."""
        return self.options.files.get(word)

    def parsed(self, path: str, parse: Callable[[object], T]) -> Iterator[T]:
        """Read a file of lines.

        Raises:
            SeamError: A line can't be used.
        """
        for number, _, _, decoded in read_lines(self.open(path), path, self.notes):
            try:
                value = parse(decoded)
            except FieldError as error:
                raise at_line(error, path, number) from error
            yield value

    def document(self, word: str, parse: Callable[[object], T]) -> T | None:
        """Read a file of one document; None where it was not given.

        Raises:
            SeamError: It can't be used.
        """
        path = self.path(word)
        if path is None:
            return None
        try:
            return parse(decode(self.open(path).read(), path))
        except FieldError as error:
            raise at_line(error, path, 0) from error


def read_material(reader: Reader) -> tuple[Material, list[Window]]:
    """Read everything; returns it with the windows to report, the asked one first.

    Raises:
        SeamError: A file can't be used.
    """
    options = reader.options
    path = reader.path("heals")
    if path is None:
        raise SeamError("No heal events were given.", "Give --heals heal_events.jsonl.")
    protected = reader.document("protected", parse_protected)
    holdout = _holdout(reader)
    stream = reader.open(path)
    heals = read_heals(stream, path, Intake(protected, holdout), notes=reader.notes)
    span = last_window(heals, options.length, until=options.until)
    windows = [span, *_parts(heals, options)] if span else []
    beyond = sum(heal.at > span.end for heal in heals) if span else 0
    if beyond:
        reader.notes.append(f"{beyond} heals after the window's end are not in it.")
    material = Material(
        heals=heals,
        texts=_texts(stream, path),
        sightings=sighted(heals, _failures(reader), windows, is_open=options.until is None),
        surface=_surface(reader, heals),
        certified=reader.document("certified", lambda one: read_snapshot(one, field_name="file")),
        holdout=holdout,
        is_guarded=protected is not None,
        floor=reader.document("floor", parse_floor) or NO_FLOOR,
        subtracts="subtract_floor" in options.switches,
    )
    pre = reader.document("pre", read_snapshots)
    if pre is not None:
        material = replace(material, pre=pre[0], pre_by_heal=pre[1])
    vectors = reader.path("embeddings")
    if vectors is not None:
        found = unit_vectors(reader.parsed(vectors, parse_vector))
        material = replace(material, alike=alike_by(found, options.limits.similarity))
    return replace(material, notes=tuple(reader.notes)), windows


def read_heals(stream: BinaryIO, name: str, intake: Intake, *, notes: list[str]) -> list[Heal]:
    """Read heal events, in the order of time; repeated events count once.

    Raises:
        SeamError: A line is no heal event, or two different ones share a ``heal_id``.
    """
    heals: dict[str, Heal] = {}
    twice: list[tuple[Heal, int, bytes]] = []
    zoneless = 0
    for number, offset, raw, value in read_lines(stream, name, notes):
        try:
            heal, is_zoned = quick_heal(intake, value, offset) or _heal(intake, value, offset)
        except FieldError as error:
            raise at_line(error, name, number) from error
        earlier = heals.setdefault(heal.heal_id, heal)
        if earlier is not heal:
            twice.append((earlier, number, raw.strip()))
        zoneless += not is_zoned
    _check_twice(stream, name, twice)
    if twice:
        notes.append(f"{name}: {len(twice)} events stand there twice, word for word; counted once.")
    if zoneless:
        notes.append(f"{name}: {zoneless} times name no zone; read as UTC.")
    return sorted(heals.values(), key=lambda one: one.at)


def _heal(intake: Intake, value: object, place: int) -> tuple[Heal, bool]:
    heal = intake.take(parse_event(value), place)
    return heal, fields.instant(fields.mapping(value, "heal event").get("ts"), "ts")[1]


def _check_twice(stream: BinaryIO, name: str, twice: Sequence[tuple[Heal, int, bytes]]) -> None:
    for earlier, number, raw in twice:
        if raw != (first := _line_at(stream, earlier)) and json.loads(raw) != json.loads(first):
            raise SeamError(
                f"{name}, line {number}, field heal_id: {earlier.heal_id!r} is another heal on an "
                "earlier line.",
                "Give each heal its own heal_id, or take one of them out.",
            )


def _line_at(stream: BinaryIO, heal: Heal) -> bytes:
    stream.seek(heal.place)
    return stream.readline().removeprefix(BOM).strip()


def _texts(stream: BinaryIO, name: str) -> Callable[[Heal], Block | None]:
    def texts(heal: Heal) -> Block | None:
        try:
            return _block_at(_line_at(stream, heal))
        except ValueError as error:
            raise SeamError(f"{name} changed while it was read.", "Run it again.") from error

    return texts


def _block_at(raw: bytes) -> Block | None:
    event = decode_line(raw)
    return changed_block(parse_change(event.get("change") if isinstance(event, dict) else None))


def parse_protected(value: object) -> list[str]:
    """Read a list of text blocks.

    Raises:
        FieldError: It is none, or a block is empty.
    """
    if not isinstance(value, list):
        raise FieldError("file", f"has to be a list of texts, is {fields.shown(value)}")
    for place, one in enumerate(value):
        if not isinstance(one, str) or not one:
            told = f"has to be a text that is not empty, is {fields.shown(one)}"
            raise FieldError(f"[{place}]", told)
    return value


def _holdout(reader: Reader) -> HeldOut | None:
    path = reader.path("holdout")
    if path is None:
        return None
    try:
        cases = list(reader.parsed(path, lambda one: fields.mapping(one, "held-out case")))
        return held_out(cases, int(reader.options.limits.contamination_words))
    except FieldError as error:
        raise at_line(error, path, 0) from error


def _failures(reader: Reader) -> Iterator[Failure] | None:
    path = reader.path("failures")
    return None if path is None else _counted(reader, path)


def _counted(reader: Reader, path: str) -> Iterator[Failure]:
    zoneless = 0
    for failure in reader.parsed(path, parse_failure):
        zoneless += not failure.zoned
        yield failure
    if zoneless:
        reader.notes.append(f"{path}: {zoneless} times name no zone; read as UTC.")


def _surface(reader: Reader, heals: Sequence[Heal]) -> dict[str, SurfaceRun] | None:
    path = reader.path("surface")
    if path is None:
        return None
    runs: dict[str, SurfaceRun] = {}
    for _ in reader.parsed(path, lambda one: add_line(runs, one)):
        pass
    strange = sorted({name for name in runs if name} - {heal.heal_id for heal in heals})
    if strange:
        reader.notes.append(
            f"{path}: {len(strange)} runs name a heal that is not in the log, {strange[0]} first; "
            "skipped."
        )
    return runs


def _parts(heals: Sequence[Heal], options: Options) -> list[Window]:
    if options.by is None:
        return []
    until = heals[-1].at if options.until is None else options.until
    inside = (heal.at for heal in heals if heal.at <= until)
    return sorted({partition(at, options.by) for at in inside})
