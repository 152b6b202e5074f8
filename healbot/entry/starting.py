"""Commands for setting up and looking around: init, schema, demo.

Knows their options only; the work is done elsewhere.
"""

import json
from pathlib import Path
from typing import Annotated

import typer

from healbot.entry.environment import shed
from healbot.entry.options import HERE, JsonOption, RepoOption


def init(
    repo: RepoOption = HERE,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what it would write.")] = False,
    as_document: JsonOption = False,
) -> None:
    """Write settings that work, and two starter cases."""
    from healbot.entry.init import write_starter  # noqa: PLC0415 - only this command needs it

    write_starter(repo, dry_run=dry_run, as_document=as_document)


def schema(as_document: JsonOption = True) -> None:  # noqa: ARG001 - it prints JSON anyway
    """Print the settings file's JSON schema."""
    from healbot.entry.schema import settings_schema  # noqa: PLC0415 - only here

    print(json.dumps(settings_schema(), indent=2))


def demo(
    seed: Annotated[int, typer.Option(help="Another story.", min=0)] = 0,
    keep: Annotated[Path | None, typer.Option(help="Leave the sandbox in this folder.")] = None,
) -> None:
    """Show the whole loop in a sandbox: no account, key or network."""
    from healbot.entry.demo import play  # noqa: PLC0415 - only here

    play(dict(shed()), seed=seed, keep=keep)
