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


def audit(  # noqa: PLR0913 - one option a parameter
    agent: AgentArgument = None,
    *,
    verify: Annotated[bool, typer.Option("--verify", help="Say where the chain breaks.")] = False,
    file: Annotated[list[Path] | None, typer.Option("--file", help="Segments to read.")] = None,
    head: Annotated[
        str, typer.Option(help="A head that must be in it; its first 8 digits are enough.")
    ] = "",
    accept: Annotated[
        str, typer.Option(help="Why the state may go on without heads recorded elsewhere.")
    ] = "",
    repo: RepoOption = HERE,
    as_document: JsonOption = False,
) -> None:
    """Read the chain of what happened, of the state or of files."""
    if file:
        facts = [audits.of_files(file, head)]
    else:
        with opened(repo) as shop:
            if accept:
                for line in audits.accept(shop, audits.chosen(shop, agent), accept):
                    print(line, file=sys.stderr)
            facts = [audits.of_state(shop, one, head) for one in audits.chosen(shop, agent)]
    audits.show(facts, verify=verify, as_document=as_document)


def judge(
    outcomes: Annotated[str, typer.Option("--outcomes", help="A JSON file, or - for stdin.")],
    policy: Annotated[str, typer.Option(help="Which policy: fixed.")] = "fixed",
    as_document: JsonOption = False,
) -> int:
    """Judge given outcomes with the real gate and canary.

    One answer a document.
    """
    from healbot.entry.judging import judge_text  # noqa: PLC0415 - only here

    del as_document  # its answers are JSON in any case
    text = sys.stdin.read() if outcomes == "-" else _read(Path(outcomes))
    return judge_text(text, policy)


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        what = f"{path} can't be read: {str(error.strerror).lower()}."
        raise InputError(what, "Name a JSON file, or -.") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8.", "Save it as UTF-8 and run again.") from error
