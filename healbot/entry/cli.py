"""The command line: which commands there are, in which groups, and how it is run.

Knows typer; the groups and names are fixed by the project's interface. What a command does is in
the module that its row names.
"""

import errno
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from healbot import __version__
from healbot.entry import (
    casework,
    cost,
    forget,
    looping,
    proving,
    pulls,
    report_page,
    runs,
    seam,
    starting,
    upkeep,
)
from healbot.entry.grouped import GroupedHelp
from healbot.errors import EXIT_MEANINGS, Exit, UsageError

FIRST = "First things"
START = "To look around"
LOOP = "The loop"
DATA = "Cases, runs, and the queue"
EVIDENCE = "Evidence"

COMMANDS: tuple[tuple[str, str, Callable[..., object]], ...] = (
    (FIRST, "init", starting.init),
    (FIRST, "doctor", upkeep.doctor),
    (FIRST, "cost", cost.cost),
    (FIRST, "cycle", looping.cycle),
    (FIRST, "status", looping.status),
    (FIRST, "rollback", looping.rollback),
    (LOOP, "check", looping.check),
    (LOOP, "history", looping.history),
    (LOOP, "stop", looping.stop),
    (LOOP, "start", looping.start),
    (LOOP, "audit", proving.audit),
    (DATA, "forget", forget.forget),
    (EVIDENCE, "judge", proving.judge),
    (EVIDENCE, "report", report_page.report),
    (START, "schema", starting.schema),
    (START, "demo", starting.demo),
    (START, "upgrade", upkeep.upgrade),
    (START, "uninstall", upkeep.uninstall),
)
"""Heading, name, what it does; help shows them in this order."""

GROUPS: tuple[tuple[str, str, typer.Typer], ...] = (
    (DATA, "pulls", pulls.app),
    (DATA, "cases", casework.app),
    (DATA, "runs", runs.app),
    (EVIDENCE, "seam", seam.app),
)
"""Heading, name, commands of commands."""

EPILOG = "Exit codes:\n" + "\n".join(
    f"{code.value:>4}  {text}" for code, text in EXIT_MEANINGS.items()
)

WRONG_USAGE: Any = typer.BadParameter.__bases__[0]
"""The parent of every usage error, of whichever click typer carries."""


INTERRUPTED = 130


def run_app() -> int:
    """Parse the command line and run it; returns the exit code."""
    command = typer.main.get_command(assembled())
    try:
        result = command.main(hoisted(sys.argv[1:]), prog_name="healbot", standalone_mode=False)
    except WRONG_USAGE as error:
        if type(error).__name__ == "NoArgsIsHelpError":  # asked for nothing: help is the answer
            print(error.format_message())
            return Exit.DONE
        context = getattr(error, "ctx", None)
        path = context.command_path if context else "healbot"
        raise UsageError(error.format_message(), f"See {path} --help.") from error
    except typer.Abort as error:
        raise KeyboardInterrupt from error
    except SystemExit as error:  # typer ends so where whoever reads our output went away
        if not isinstance(error.__context__, BrokenPipeError):
            raise
        raise BrokenPipeError(errno.EPIPE, "the reader went away") from error
    if result == INTERRUPTED:  # typer swallows Ctrl-C and returns this
        raise KeyboardInterrupt
    return result if isinstance(result, int) else Exit.DONE


def hoisted(words: list[str]) -> list[str]:
    """Return a command line whose leading ``--repo`` stands where its command looks for it."""
    size = 1 if words and words[0].startswith("--repo=") else 2
    if not words or words[0].partition("=")[0] != "--repo" or len(words) <= size:
        return words
    end = words.index("--") if "--" in words else len(words)
    return [*words[size:end], *words[:size], *words[end:]]


def names() -> frozenset[str]:
    """Return every word that names a command or a group."""
    inner = [one.name for _, _, group in GROUPS for one in group.registered_commands if one.name]
    outer = [name for _, name, _ in (*COMMANDS, *GROUPS)]
    return frozenset([*outer, *inner])


def assembled() -> typer.Typer:
    """Return the whole program, every command in its group."""
    app = typer.Typer(
        name="healbot",
        cls=GroupedHelp,
        help="Improves an agent's instructions from its own failures, and admits a change only on "
        "evidence.",
        epilog=EPILOG,
        no_args_is_help=True,
        add_completion=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
    )
    app.callback()(options)
    for heading, name, group in GROUPS:
        app.add_typer(group, name=name, rich_help_panel=heading)
    for heading, name, command in COMMANDS:
        app.command(name, rich_help_panel=heading)(command)
    return app


def _version(asked: bool) -> None:
    if asked:
        print(f"healbot {__version__}")
        raise typer.Exit


def options(
    version: Annotated[
        bool, typer.Option("--version", "-V", callback=_version, is_eager=True, help="The version.")
    ] = False,
    repo: Annotated[
        Path | None, typer.Option("--repo", help="The repository; also after the command.")
    ] = None,
) -> None:
    """Take the options that every command has."""
