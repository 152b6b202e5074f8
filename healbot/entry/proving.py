"""Commands that prove: audit reads the chain, judge holds given outcomes to the real policy.

Knows their options only; the work is done elsewhere.
"""

import sys
from pathlib import Path
from typing import Annotated

import typer

from healbot.entry import audits
from healbot.entry.options import HERE, AgentArgument, JsonOption, RepoOption, opened
from healbot.errors import InputError


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


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} can't be read: {error}", "Name a JSON file, or -.") from error
