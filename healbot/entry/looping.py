"""Commands of the loop: cycle, status, rollback, history, stop, start.

Knows their options and how their answers are printed; the work is done elsewhere.
"""

import sys
from typing import Annotated

import typer

from healbot.entry.clock import SystemClock
from healbot.entry.facts import history as history_rows
from healbot.entry.facts import status as status_facts
from healbot.entry.options import HERE, AgentArgument, JsonOption, RepoOption, opened
from healbot.entry.printing import as_json, table
from healbot.entry.voice import voice
from healbot.errors import Exit, StoppedError, UsageError
from healbot.records.record import shown
from healbot.records.settings import Mode


def cycle(  # noqa: PLR0913 - options of a command, each named when given
    agent: AgentArgument = None,
    *,
    repo: RepoOption = HERE,
    mode: Annotated[Mode | None, typer.Option(help="Instead of the settings' mode.")] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Make the runs, write nothing, print each Intent.")
    ] = False,
    exit_code: Annotated[
        bool, typer.Option("--exit-code", help="1 refused, 4 could not tell; 0 otherwise.")
    ] = False,
    every: Annotated[
        str | None,
        typer.Option("--watch", help="Again and again, so long apart: 30m, 1h, 1d."),
    ] = None,
    as_document: JsonOption = False,
) -> int:
    """Run one cycle, or resume the one under way."""
    from healbot.entry.report import cycle_report  # noqa: PLC0415 - heavy, only here

    def once() -> int:
        with opened(repo) as shop:
            return cycle_report(
                shop,
                shop.agent(agent),
                mode=mode,
                dry_run=dry_run,
                told=voice(),
                show=(as_document, exit_code),
            )

    if every is None:
        return once()
    from healbot.entry import watching  # noqa: PLC0415 - only here

    if dry_run or exit_code:
        raise UsageError(
            "--watch goes with neither --dry-run nor --exit-code: it does not end by itself.",
            "See healbot cycle --help.",
        )
    clock = SystemClock()
    watching.watch(
        once,
        watching.seconds_of(every),
        clock=clock,
        pause=clock.pause,
        say=lambda text: print(f"healbot: {text}", file=sys.stderr, flush=True),
    )
    return Exit.DONE


def status(repo: RepoOption = HERE, as_document: JsonOption = False) -> None:
    """Revisions, open pull requests, budgets, lease, kill switch."""
    with opened(repo) as shop:
        facts = status_facts(shop)
    if as_document:
        as_json(facts)
        return
    stopped = facts["stopped_by"]
    print(
        f"mode {facts['mode']}, branch {facts['base']}", f"STOPPED by {stopped}" if stopped else ""
    )
    if not facts["sandboxed"]:
        print("unsandboxed: bubblewrap is not here, so an agent can look outside its workspace")
    rows = facts["agents"]
    assert isinstance(rows, list)  # noqa: S101 - made just above
    for row in rows:
        row["revision"] = shown(row["revision"])
        row["last"] = row["last"]["outcome"] if row["last"] else None
        row["runs_today"] = row["today"]["runs"]
        row["usd_month"] = row["month"]["usd"]
        left = row["today"]["left"]
        row["left_today"] = [f"{left[name]:g} {name}" for name in left] or None
    columns = (
        "agent",
        "revision",
        "open_pulls",
        "cycle",
        "last",
        "lease",
        "runs_today",
        "usd_month",
        "left_today",
        "cooldown_until",
    )
    table(rows, columns, empty="no agents")


def rollback(
    agent: AgentArgument = None,
    *,
    to: Annotated[
        str, typer.Option(help="A revision or a pull request; left out: before the last merge.")
    ] = "",
    why: Annotated[str, typer.Option(help="The reason; it goes into the commit.")] = "",
    repo: RepoOption = HERE,
    as_document: JsonOption = False,
) -> None:
    """Go back to a saved revision by a new commit."""
    from healbot.entry.loop import rollback as go_back  # noqa: PLC0415 - heavy, only here

    with opened(repo) as shop:
        body = go_back(shop, shop.agent(agent), to=to, why=why)
        hours = shop.settings.watch.cooldown_hours
    if as_document:
        as_json(body.model_dump(mode="json"))
        return
    made = f" (made by {body.by} before)" if body.made_at else ""
    print(f"Rolled back to revision {shown(body.after)} by commit {body.sha[:12]}{made}.")
    if body.note:
        print(f"Note: {body.note}.")
    if hours:
        print(f"No cycle begins for {hours:g} hours from then, except with --mode observe.")


def check(
    ref: Annotated[str, typer.Argument(help="A branch, commit or pull request.")] = "HEAD",
    *,
    agent: Annotated[
        str | None, typer.Option("--agent", help="Only this one; left out: all that it changes.")
    ] = None,
    base: Annotated[
        str | None, typer.Option(help="The branch it is judged against; left out: the usual one.")
    ] = None,
    repo: RepoOption = HERE,
    as_document: JsonOption = False,
) -> int:
    """Judge a person's edit with the same gate; prints the same card.

    Exits with 0 admitted or nothing to judge, 1 refused, 4 could not tell.
    """
    from healbot.entry.checking import base_for  # noqa: PLC0415 - heavy, only here
    from healbot.entry.report import check_report  # noqa: PLC0415 - heavy, only here

    guessed = None if base else base_for(repo, ref)
    with opened(repo, base or guessed) as shop:
        named = shop.settings.forge.base
        if not (guessed and named and named != guessed):
            chosen = (shop.agent(agent),) if agent else shop.settings.agents
            return check_report(shop, chosen, ref, show=as_document)
    with opened(repo, named) as shop:
        chosen = (shop.agent(agent),) if agent else shop.settings.agents
        return check_report(shop, chosen, ref, show=as_document)


def history(
    agent: AgentArgument = None, repo: RepoOption = HERE, as_document: JsonOption = False
) -> None:
    """Revisions, with the cycle, verdict and pull request of each."""
    with opened(repo) as shop:
        rows = history_rows(shop, shop.agent(agent))
    if as_document:
        as_json(rows)
        return
    table(
        rows,
        ("at", "what", "verdict", "pull", "revision", "cycle", "why"),
        empty="nothing happened yet",
    )


def stop(
    why: Annotated[str, typer.Option(help="Why.")] = "",
    *,
    repo: RepoOption = HERE,
    as_document: JsonOption = False,
) -> None:
    """Throw the kill switch: no cycle, run or merge until healbot start."""
    from healbot.entry.switching import switch  # noqa: PLC0415 - heavy, only here

    with opened(repo) as shop:
        switch(shop, stopped=True, why=why)
        by = shop.stopped_by()
    if as_document:
        as_json({"stopped_by": by})
        return
    print("healbot is stopped in this repository. healbot start lets it go on.")


def start(repo: RepoOption = HERE, as_document: JsonOption = False) -> None:
    """Release the kill switch.

    Exits with 5 where a variable or the settings still stop healbot.
    """
    from healbot.entry.switching import switch  # noqa: PLC0415 - heavy, only here

    with opened(repo) as shop:
        switch(shop, stopped=False, why="")
        left = shop.stopped_by()
    if as_document:
        as_json({"stopped_by": left})
    if left:
        raise StoppedError(
            f"healbot start released its own switch, and healbot is still stopped by {left}.",
            f"Unset {left.removeprefix('the ')}, then it may go on.",
        )
    if not as_document:
        print("healbot may go on in this repository.")
