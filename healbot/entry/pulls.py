"""``healbot pulls``: the embedded forge's queue."""

from typing import Annotated

import typer

from healbot.entry.facts import pull_row
from healbot.entry.options import HERE, JsonOption, RepoOption, opened
from healbot.entry.printing import as_json, table
from healbot.records.intent import Effect
from healbot.records.pull import Pull
from healbot.views.card import parse
from healbot.views.plain import cleaned
from healbot.views.terminal import render

app = typer.Typer(help="The embedded forge's queue of pull requests.", no_args_is_help=True)

Number = Annotated[int, typer.Argument(help="The pull request's number.", min=1)]


@app.command("list")
def list_(
    repo: RepoOption = HERE,
    as_document: JsonOption = False,
    every: Annotated[bool, typer.Option("--all", help="Merged and closed ones too.")] = False,
) -> None:
    """List open pull requests."""
    with opened(repo) as shop:
        rows = [pull_row(one) for one in shop.forge.pulls() if every or one.state == "open"]
    if as_document:
        as_json(rows)
        return
    table(rows, ("number", "state", "agent", "opened_at", "title"), empty="no open pull request")


@app.command()
def show(
    number: Number,
    *,
    repo: RepoOption = HERE,
    as_document: JsonOption = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="The body as it is.")] = False,
    runs: Annotated[bool, typer.Option("--runs", help="Every run by repeat number.")] = False,
) -> None:
    """Show a pull request with its review card, checks and comments."""
    from healbot.entry.queue import known  # noqa: PLC0415 - heavy

    with opened(repo) as shop:
        pull = known(shop, number)
    if as_document:
        card = parse(pull.body)
        plain = card.model_dump(mode="json") if card else None
        as_json({**pull.model_dump(mode="json"), "card": plain})
        return
    if markdown:
        print(pull.body)
        return
    _print(pull, runs=runs)


def _print(pull: Pull, *, runs: bool) -> None:
    state = "draft" if pull.state == "open" and pull.draft else pull.state
    print(f"#{pull.number} {cleaned(pull.title)}  [{state}]")
    print(f"{pull.branch} into {pull.base_ref}, head {pull.head_sha[:12]}\n")
    card = parse(pull.body)
    print(render(card, runs=runs) if card else cleaned(pull.body))
    for check in pull.checks:
        print(f"check {check.name}: {check.conclusion} on {check.head_sha[:12]}")
    for one in pull.comments:
        print(f"\n{cleaned(one.author)}, {one.at:%Y-%m-%d %H:%M}:\n{cleaned(one.body)}")


@app.command()
def merge(number: Number, repo: RepoOption = HERE, as_document: JsonOption = False) -> None:
    """Merge a pull request whose canary passed."""
    from healbot.entry.queue import merge as merge_pull  # noqa: PLC0415 - heavy

    with opened(repo) as shop:
        effect = merge_pull(shop, number)
    if as_document:
        as_json(effect.model_dump(mode="json"))
        return
    done = "was merged already" if effect.found else "merged"
    into = f" into {effect.base_ref}" if effect.base_ref else ""
    print(f"Pull request {number} {done}{into} as {effect.sha[:12]}.{_branch(effect)}")
    print(f"Undo: healbot rollback --to {number} --why …")


@app.command()
def close(
    number: Number,
    why: Annotated[str, typer.Option(help="Why; posted as a comment.")] = "",
    *,
    repo: RepoOption = HERE,
    as_document: JsonOption = False,
) -> None:
    """Close a pull request: a no, which is remembered."""
    from healbot.entry.queue import close as close_pull  # noqa: PLC0415 - heavy

    with opened(repo) as shop:
        effect = close_pull(shop, number, why)
    if as_document:
        as_json(effect.model_dump(mode="json"))
        return
    done = "was closed already" if effect.found else "closed"
    print(f"Pull request {number} {done}.{_branch(effect)}")
    print("The same edit, and what reads alike, is not proposed again without new evidence.")


@app.command()
def reopen(
    number: Number,
    why: Annotated[str, typer.Option(help="Why; posted as a comment.")] = "",
    *,
    repo: RepoOption = HERE,
    as_document: JsonOption = False,
) -> None:
    """Take a no back: a pull request that a person closed waits again."""
    from healbot.entry.queue import reopen as reopen_pull  # noqa: PLC0415 - heavy

    with opened(repo) as shop:
        effect = reopen_pull(shop, number, why)
    if as_document:
        as_json(effect.model_dump(mode="json"))
        return
    done = "was open already" if effect.found else "is open again"
    print(f"Pull request {number} {done}, head {effect.sha[:12]}.")


def _branch(effect: Effect) -> str:
    """Say what became of the pull request's branch, from the forge's answer."""
    gone = f" Branch {effect.deleted} deleted." if effect.deleted else ""
    note = f" Note: {effect.note}." if effect.note else ""
    return gone + note


@app.command()
def comment(
    number: Number,
    text: Annotated[str, typer.Argument(help="The comment.")],
    *,
    repo: RepoOption = HERE,
    as_document: JsonOption = False,
) -> None:
    """Comment on a pull request."""
    from healbot.entry.queue import comment as say  # noqa: PLC0415 - heavy

    with opened(repo) as shop:
        effect = say(shop, number, text)
    if as_document:
        as_json(effect.model_dump(mode="json"))


@app.command()
def checks(number: Number, repo: RepoOption = HERE, as_document: JsonOption = False) -> int:
    """Show the checks on a pull request's head; exits with 1 where one failed, 4 where none is."""
    from healbot.entry.queue import known  # noqa: PLC0415 - heavy

    with opened(repo) as shop:
        pull = known(shop, number)
    mine = [one for one in pull.checks if one.head_sha == pull.head_sha]
    rows = [one.model_dump(mode="json") for one in mine]
    if as_document:
        as_json(rows)
    else:
        table(rows, ("name", "conclusion", "summary"), empty="no check on this head yet")
    if any(one.conclusion == "failure" for one in mine):
        return 1
    return 0 if mine and all(one.conclusion == "success" for one in mine) else 4
