"""The command: words in, a report out, and its exit code; the same behind every door.

Knows no file system, clock or terminal: a door hands them in. 0 no alert, 1 an axis alert, 2 a gate
block or RECERTIFY, 3 anything unusable, wrong usage included.
"""

import gc
from argparse import ArgumentParser
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from healbot.seam.certify import Signature, baseline, check_signature, latest_outcomes
from healbot.seam.explain import explained, intervals_of
from healbot.seam.faults import SeamError
from healbot.seam.floor import NO_FLOOR
from healbot.seam.formats import harmless, in_format
from healbot.seam.options import Options, options_of, parse_config, parser
from healbot.seam.reading import Opener, Reader, read_material
from healbot.seam.report import ALERT, OK, Material, Report, report_of, rounded
from healbot.seam.window import Window

UNUSABLE = 3


@dataclass(frozen=True)
class Door:
    """What the command may do to the world.

    Attributes:
        opener: Opens a file for reading.
        save: Writes a text into a file as a whole. Raises OSError.
        write: Takes the answer.
        tell: Takes a sentence for the person, beside the answer.
        today: The date, ISO 8601; empty where the door has no clock.
    """

    opener: Opener
    save: Callable[[str, str], None]
    write: Callable[[str], object]
    tell: Callable[[str], object]
    today: str = ""


def run(words: Sequence[str], door: Door, *, prog: str = "healbot seam") -> int:
    """Do what the words say; returns the exit code."""
    try:
        with _uncollected():
            if words and words[0] == "certify":
                return _certify(words[1:], door, f"{prog} certify")
            return _grade(words, door, prog)
    except SeamError as error:
        door.tell(f"seam: {harmless(error.what)}\n")
        if error.next_step:
            door.tell(f"  next: {harmless(error.next_step)}\n")
        return UNUSABLE


@contextmanager
def _uncollected() -> Iterator[None]:
    """Keep Python from looking for circles: a million records hold none, and the search is long."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _grade(words: Sequence[str], door: Door, prog: str) -> int:
    made = parser(prog)
    given = vars(made.parse_args(list(words)))
    if given.pop("help"):
        door.write(made.format_help())
        return OK
    options = _options(given, door)
    with ExitStack() as stack:
        reader = Reader(options, door.opener, stack, [])
        material, windows = read_material(reader)
        found = report_of(material, windows[0] if windows else None, limits=options.limits)
        door.write(in_format(_document(found, material, windows, options=options), options.form,
                             options.limits))  # fmt: skip
    return found.exit_code


def _options(given: dict[str, object], door: Door) -> Options:
    path = given.pop("config")
    config: dict[str, object] = {}
    if isinstance(path, str):
        try:
            with door.opener(path) as file:
                config = parse_config(file.read().decode(), path)
        except (OSError, UnicodeDecodeError) as error:
            raise SeamError(f"{path} can't be read: {error}.", "Name a TOML file.") from error
    return options_of(given, config)


def _document(
    found: Report, material: Material, windows: Sequence[Window], *, options: Options
) -> dict[str, object]:
    document = found.document()
    if "composite" in options.switches:
        document["composite"] = rounded(found.composite)
    if "intervals" in options.switches:
        document["intervals"] = intervals_of(found, material.taken_off, options.limits)
    if material.floor != NO_FLOOR:
        document["floor"] = {**material.floor.document(), "subtracted": material.subtracts}
    if options.by:
        document["by"] = [
            _part(report_of(material, window, number, limits=options.limits))
            for number, window in enumerate(windows[1:], start=1)
        ]
    if "explain" in options.switches:
        document["explain"] = explained(found, options.most)
    return document


def _part(found: Report) -> dict[str, object]:
    axes = {name: rounded(value) for name, value in found.axes.items()}
    return {
        "window": found.document()["window"],
        "heals": found.heals,
        **axes,
        "alerts": list(found.alerts),
        "recertify_due": found.aftermath.recertify_due,
    }


def _certify(words: Sequence[str], door: Door, prog: str) -> int:
    made = certifier(prog)
    given = vars(made.parse_args(list(words)))
    if given.pop("help"):
        door.write(made.format_help())
        return OK
    signature = Signature(
        given.pop("owner") or "", given.pop("date") or door.today, given.pop("force") or False,
        given.pop("why") or "",
    )  # fmt: skip
    check_signature(signature)
    out = given.pop("out")
    if not out:
        raise SeamError("Where should the baseline be written?", "Give --out certified.json.")
    options = _options(given, door)
    if "surface" not in options.files:
        raise SeamError("There is nothing to certify.", "Give --surface surface.jsonl.")
    with ExitStack() as stack:
        material, windows = read_material(Reader(options, door.opener, stack, []))
        found = report_of(material, windows[0] if windows else None, limits=options.limits)
    if found.alerts and not signature.is_forced:
        door.tell(
            f"seam: not certified: {', '.join(found.alerts)}.\n"
            "  next: Roll back or mend what alerts, or give --force --why TEXT.\n"
        )
        return ALERT
    text = baseline(latest_outcomes(material.surface or {}, found), found, signature)
    try:
        door.save(out, text)
    except OSError as error:
        raise SeamError(f"{out} can't be written: {error.strerror}.", "Name another.") from error
    door.write(f"{harmless(out)}: certified by {harmless(signature.owner)} on {signature.on}.\n")
    return OK


def certifier(prog: str) -> ArgumentParser:
    """Return the parser of ``certify``: the report's words, and who signs."""
    made = parser(prog)
    made.usage = f"{prog} --heals FILE --surface FILE --owner NAME --out certified.json [options]"
    made.description = (
        "Sign the surface's latest outcomes as the certified baseline. Refused while an axis "
        "alerts,\nunless it is forced with a reason. Before the first heal, give an empty file of "
        "heals."
    )
    made.epilog = "Exit codes: 0 certified, 1 refused, 3 unusable."
    signed = made.add_argument_group("signature")
    signed.add_argument("--owner", metavar="NAME", help="Who signs.")
    signed.add_argument("--date", metavar="DATE", help="When, YYYY-MM-DD.")
    signed.add_argument("--out", metavar="FILE", help="Where the baseline is written.")
    signed.add_argument("--force", action="store_true", default=None, help="Sign over an alert.")
    signed.add_argument("--why", metavar="TEXT", help="The reason, with --force.")
    return made
