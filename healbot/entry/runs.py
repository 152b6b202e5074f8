"""``healbot runs``: keep, list and show runs that were observed in use.

Knows the options only; what is shown is what was kept, so it is redacted.
"""

import sys
from pathlib import Path
from typing import Annotated

import typer

from healbot.entry.options import HERE, JsonOption, RepoOption, opened
from healbot.entry.printing import as_json, table
from healbot.errors import InputError
from healbot.records.observed import Session
from healbot.records.record import shown

app = typer.Typer(help="Runs observed in use.", no_args_is_help=True)

AgentOption = Annotated[str | None, typer.Option("--agent", help="Which agent.")]
NAMED = 5
"""How many line numbers a sentence names."""


@app.command()
def add(
    file: Annotated[str, typer.Argument(help="Run records, one JSON object a line; - is stdin.")],
    *,
    agent: AgentOption = None,
    repo: RepoOption = HERE,
    as_document: JsonOption = False,
) -> None:
    """Keep run records, redacted; the same ones again change nothing."""
    from healbot.entry import observing  # noqa: PLC0415 - only this command needs it

    try:
        source = sys.stdin.buffer if file == "-" else Path(file).open("rb")  # noqa: SIM115 - closed below
    except OSError as error:
        raise InputError(
            f"{file} can't be read: {error.strerror}.", "Name a file of run records, or -."
        ) from error
    with opened(repo) as shop, source:
        outcome = observing.add(shop, shop.agent(agent), iter(source))
        days = shop.settings.privacy.keep_days
    if as_document:
        as_json(outcome.document())
    else:
        print(f"{outcome.new} new, {outcome.extended} extended, {outcome.known} known")
    notes = (
        ("no run records", outcome.damaged, len(outcome.damaged)),
        ("healbot's own runs, which it never learns from", outcome.ours, len(outcome.ours)),
    )
    for text, lines, count in notes:
        if count:
            some = ", ".join(map(str, lines[:NAMED])) + (" …" if count > NAMED else "")
            print(f"skipped: {count} lines are {text} (line {some})", file=sys.stderr)
    if outcome.unknown_revision:
        print(
            f"{outcome.unknown_revision} runs have no known revision: they are candidates for "
            "cases, and no evidence before they fail again in a replay",
            file=sys.stderr,
        )
    if outcome.dropped:
        print(f"dropped: {outcome.dropped} runs older than {days} days", file=sys.stderr)


@app.command("list")
def list_(
    *,
    failed: Annotated[bool, typer.Option("--failed", help="Only failed ones.")] = False,
    signature: Annotated[str | None, typer.Option(help="Only failures of this signature.")] = None,
    session: Annotated[str | None, typer.Option(help="Only this session.")] = None,
    agent: AgentOption = None,
    repo: RepoOption = HERE,
    as_document: JsonOption = False,
) -> None:
    """List observed runs, one a session, newest last."""
    from healbot.entry.observing import counted  # noqa: PLC0415 - only here
    from healbot.rules.signature import observed_signature  # noqa: PLC0415 - only here

    with opened(repo) as shop:
        store = shop.observed
        name = shop.agent(agent).name if agent else None
        found = store.all()
    if session is not None:
        one = store.named(session)
        found = (one,) if one else ()
    if name:
        found = tuple(one for one in found if one.last.agent == name)
    counts = counted(found)
    rows = []
    for one in found:
        fail = one.failed
        said = observed_signature(fail) if fail else None
        if (failed and not fail) or (signature is not None and said != signature):
            continue
        rows.append(
            {
                "id": shown(one.key),
                "session": one.last.session,
                "at": one.last.at.isoformat(timespec="seconds"),
                "agent": one.last.agent,
                "revision": one.last.revision,
                "verdict": str(one.verdict),
                "signature": said,
                "seen": counts.get(said, 0) if said else 0,
                "steps": len(one.steps),
            }
        )
    if as_document:
        as_json(rows)
        return
    for row in rows:
        row["revision"] = shown(str(row["revision"]))
    columns = ("id", "at", "agent", "revision", "verdict", "seen", "signature")
    table(rows, columns, empty="no runs are kept here")


@app.command()
def show(
    id_: Annotated[str, typer.Argument(metavar="ID", help="A session's id, or the list's.")],
    repo: RepoOption = HERE,
    as_document: JsonOption = False,
) -> None:
    """Show one run with all of its steps, as it is kept."""
    from healbot.views.plain import cleaned  # noqa: PLC0415 - only here

    with opened(repo) as shop:
        found = known(shop.observed.named(id_), id_)
    if as_document:
        as_json(found.model_dump(mode="json"))
        return
    for step in found.steps:
        print(f"{step.at.isoformat(timespec='seconds')}  {step.verdict}  {shown(step.revision)}")
        for label in ("input", "output", "error", "check", "missed"):
            text = getattr(step, label)
            if text:
                print(f"  {label}: {cleaned(text)}")
        for call in step.tool_calls or ():
            print(
                f"  tool: {cleaned(call.name)}"
                + (f" ({cleaned(call.error)})" if call.error else "")
            )


def known(session: Session | None, name: str) -> Session:
    """Return a session that was looked for.

    Raises:
        InputError: It is not kept here.
    """
    if session is None:
        raise InputError(
            f"No run {name!r} is kept in this clone.", "healbot runs list has those that are."
        )
    return session
