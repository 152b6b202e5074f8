"""The command line: names, options, help. Every command is a few lines over what does the work.

Knows typer; the groups and names are fixed by the project's interface.
"""

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from healbot import __version__
from healbot.entry import audits, cases, pulls, seam
from healbot.entry.environment import shed
from healbot.entry.facts import history as history_rows
from healbot.entry.facts import status as status_facts
from healbot.entry.grouped import GroupedHelp
from healbot.entry.options import HERE, AgentArgument, JsonOption, RepoOption, opened
from healbot.entry.printing import as_json, table
from healbot.entry.voice import voice
from healbot.errors import EXIT_MEANINGS, Exit, InputError, UsageError
from healbot.records.record import shown
from healbot.records.settings import Mode

FIRST = "First things"
START = "To look around"
LOOP = "The loop"
DATA = "Cases and the queue"
EVIDENCE = "Evidence"

EPILOG = "Exit codes:\n" + "\n".join(
    f"{code.value:>4}  {text}" for code, text in EXIT_MEANINGS.items()
)

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
app.add_typer(pulls.app, name="pulls", rich_help_panel=DATA)
app.add_typer(cases.app, name="cases", rich_help_panel=DATA)
app.add_typer(seam.app, name="seam", rich_help_panel=EVIDENCE)


WRONG_USAGE: Any = typer.BadParameter.__bases__[0]
"""The parent of every usage error, of whichever click typer carries."""


INTERRUPTED = 130


def run_app() -> int:
    """Parse the command line and run it; returns the exit code."""
    command = typer.main.get_command(app)
    try:
        result = command.main(prog_name="healbot", standalone_mode=False)
    except WRONG_USAGE as error:
        if type(error).__name__ == "NoArgsIsHelpError":
            print(error.format_message())
            return Exit.USAGE
        raise UsageError(error.format_message(), "See healbot --help.") from error
    except typer.Abort as error:
        raise KeyboardInterrupt from error
    if result == INTERRUPTED:  # typer swallows Ctrl-C and returns this
        raise KeyboardInterrupt
    return result if isinstance(result, int) else Exit.DONE


def _version(asked: bool) -> None:
    if asked:
        print(f"healbot {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", "-V", callback=_version, is_eager=True, help="The version.")
    ] = False,
) -> None:
    """Take the options that every command has."""


@app.command(rich_help_panel=FIRST)
def init(
    repo: RepoOption = HERE,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what it would write.")] = False,
) -> None:
    """Write the shortest settings file that works, and two starter cases."""
    from healbot.entry.init import write_starter  # noqa: PLC0415 - only this command needs it

    write_starter(repo, dry_run=dry_run)


@app.command(rich_help_panel=FIRST)
def cycle(
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
    as_document: JsonOption = False,
) -> int:
    """Run one cycle, or resume the one under way."""
    from healbot.entry.report import cycle_report  # noqa: PLC0415 - heavy, only here

    with opened(repo) as shop:
        return cycle_report(
            shop,
            shop.agent(agent),
            mode=mode,
            dry_run=dry_run,
            voice=voice(),
            show=(as_document, exit_code),
        )


@app.command(rich_help_panel=FIRST)
def status(repo: RepoOption = HERE, as_document: JsonOption = False) -> None:
    """Agents, live revisions, open pull requests, budgets, lease, kill switch."""
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
    columns = (
        "agent",
        "revision",
        "open_pulls",
        "cycle",
        "last",
        "lease",
        "runs_today",
        "usd_month",
    )
    table(rows, columns, empty="no agents")


@app.command(rich_help_panel=FIRST)
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
    if as_document:
        as_json(body.model_dump(mode="json"))
        return
    print(f"Rolled back to revision {shown(body.after)} by commit {body.sha[:12]}.")
    if body.note:
        print(f"Note: {body.note}.")


@app.command(rich_help_panel=LOOP)
def history(
    agent: AgentArgument = None, repo: RepoOption = HERE, as_document: JsonOption = False
) -> None:
    """Revisions, with the cycle, verdict and pull request behind each."""
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


@app.command(rich_help_panel=LOOP)
def stop(why: Annotated[str, typer.Option(help="Why.")] = "", repo: RepoOption = HERE) -> None:
    """Throw the kill switch: no cycle, run or merge until healbot start."""
    from healbot.entry.loop import switch  # noqa: PLC0415 - heavy, only here

    with opened(repo) as shop:
        switch(shop, stopped=True, why=why)
    print("healbot is stopped in this repository. healbot start lets it go on.")


@app.command(rich_help_panel=LOOP)
def start(repo: RepoOption = HERE) -> None:
    """Release the kill switch."""
    from healbot.entry.loop import switch  # noqa: PLC0415 - heavy, only here

    with opened(repo) as shop:
        switch(shop, stopped=False, why="")
        left = shop.stopped_by()
    print(f"Still stopped by {left}." if left else "healbot may go on in this repository.")


@app.command(rich_help_panel=LOOP)
def audit(
    agent: AgentArgument = None,
    *,
    verify: Annotated[bool, typer.Option("--verify", help="Say where the chain breaks.")] = False,
    file: Annotated[list[Path] | None, typer.Option("--file", help="Segments to read.")] = None,
    head: Annotated[str, typer.Option(help="A head that the files must hold.")] = "",
    repo: RepoOption = HERE,
    as_document: JsonOption = False,
) -> None:
    """Read the chain of what happened, of the state or of files."""
    if file:
        facts = [audits.of_files(file, head)]
    else:
        with opened(repo) as shop:
            facts = [audits.of_state(shop, one, head) for one in audits.chosen(shop, agent)]
    audits.show(facts, verify=verify, as_document=as_document)


@app.command(rich_help_panel=EVIDENCE)
def judge(
    outcomes: Annotated[str, typer.Option("--outcomes", help="A JSON file, or - for stdin.")],
    policy: Annotated[str, typer.Option(help="Which policy: fixed.")] = "fixed",
    as_document: JsonOption = False,
) -> int:
    """Judge given outcomes with the real gate and canary; one answer a document."""
    from healbot.entry.judging import judge_text  # noqa: PLC0415 - only here

    del as_document  # its answers are JSON in any case
    text = sys.stdin.read() if outcomes == "-" else _read(Path(outcomes))
    return judge_text(text, policy)


@app.command(rich_help_panel=START)
def schema() -> None:
    """Print the settings file's JSON schema."""
    from healbot.entry.schema import settings_schema  # noqa: PLC0415 - only here

    print(json.dumps(settings_schema(), indent=2))


@app.command(rich_help_panel=START)
def demo(
    seed: Annotated[int, typer.Option(help="Another story.", min=0)] = 0,
    keep: Annotated[Path | None, typer.Option(help="Leave the sandbox in this folder.")] = None,
) -> None:
    """Show the whole loop in a sandbox repository: no account, no key, no network."""
    from healbot.entry.demo import play  # noqa: PLC0415 - only here

    play(dict(shed()), seed=seed, keep=keep)


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} can't be read: {error}", "Name a JSON file, or -.") from error
