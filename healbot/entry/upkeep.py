"""Commands that look after the set-up itself: doctor, upgrade, uninstall.

Knows their options only; the work is done elsewhere.
"""

import sys
from typing import Annotated

import typer

from healbot.entry.environment import shed
from healbot.entry.options import HERE, JsonOption, RepoOption
from healbot.errors import UsageError


def doctor(
    repo: RepoOption = HERE,
    live: Annotated[
        bool, typer.Option("--live", help="Make one real run per agent; it is no evidence.")
    ] = False,
    as_document: JsonOption = False,
) -> int:
    """Say what is wrong, and how to fix it.

    Exits with 1 where there is an error.
    """
    from healbot.entry.doctor import diagnose  # noqa: PLC0415 - heavy, only here

    return diagnose(repo, shed(), live=live, as_document=as_document)


def upgrade(
    repo: RepoOption = HERE,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what it would mend.")] = False,
    as_document: JsonOption = False,
) -> None:
    """Bring templates and state up to date; mend what was interrupted."""
    from healbot.entry.upgrade import bring_up  # noqa: PLC0415 - heavy, only here

    bring_up(repo, shed(), dry_run=dry_run, as_document=as_document)


def uninstall(
    repo: RepoOption = HERE,
    *,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what it would remove.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    cases: Annotated[
        bool, typer.Option("--cases", help="Remove starter cases that were changed, too.")
    ] = False,
    as_document: JsonOption = False,
) -> None:
    """Remove every trace; name what only you can remove."""
    from healbot.entry.uninstall import Wishes  # noqa: PLC0415 - heavy, only here
    from healbot.entry.uninstall import uninstall as remove  # noqa: PLC0415

    def agreed() -> bool:
        if yes:
            return True
        if not sys.stdin.isatty() or as_document:
            raise UsageError(
                "Nobody is here to agree, so nothing was removed.",
                "--yes removes it; --dry-run shows what.",
            )
        return typer.confirm("Remove all of it?", err=True)

    remove(repo, shed(), wishes=Wishes(dry_run, cases, as_document, yes), agreed=agreed)
