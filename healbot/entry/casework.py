"""``healbot cases add``, ``from-runs`` and ``export``: cases in and out by hand.

Knows the options and the work tree's files; nothing that is there is overwritten.
"""

import os
import sys
import tempfile
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
import yaml

from healbot.entry import cases
from healbot.entry.cases import AgentOption
from healbot.entry.options import HERE, JsonOption, RepoOption, opened
from healbot.entry.printing import as_json
from healbot.entry.wiring import Shop
from healbot.errors import InputError
from healbot.records.case import Case, Split
from healbot.records.observed import UNKNOWN_REVISION
from healbot.records.record import shown
from healbot.records.settings import AgentSettings
from healbot.rules.cases import is_case_file, read_cases
from healbot.rules.globs import is_glob

NEW_FILE = "added.yml"
SeparateSplit = Annotated[Split | None, typer.Option("--split", help="Which split.")]

app = cases.app
"""The group that these commands join."""


@app.command()
def add(  # noqa: PLR0913 - options of a command, each named when given
    id_: Annotated[str, typer.Argument(metavar="ID", help="The new case's id.")],
    *,
    input_: Annotated[str, typer.Option("--input", help="The task; - reads it from stdin.")],
    asserts: Annotated[
        list[str] | None, typer.Option("--assert", help="TYPE=VALUE, as often as needed.")
    ] = None,
    split: SeparateSplit = None,
    file: Annotated[str | None, typer.Option("--file", help="A case file, new or there.")] = None,
    agent: AgentOption = None,
    repo: RepoOption = HERE,
    as_document: JsonOption = False,
) -> None:
    """Write a case into an agent's case files; nothing that is there is changed."""
    from healbot.rules.drafts import asserted  # noqa: PLC0415 - only here

    text = _task(input_)
    case: dict[str, Any] = {"id": id_, "split": str(split) if split else None, "input": text}
    case["assert"] = [asserted(one) for one in asserts or ()]
    case = {name: value for name, value in case.items() if value is not None}
    with opened(repo) as shop:
        chosen = shop.agent(agent)
        path = write(shop, chosen, [case], path=file or _default_file(chosen))
    _told(path, [case], as_document)


@app.command("from-runs")
def from_runs(
    *,
    session: Annotated[str | None, typer.Option(help="Only this session.")] = None,
    signature: Annotated[str | None, typer.Option(help="Only failures of this signature.")] = None,
    file: Annotated[str | None, typer.Option("--write", help="Append to this case file.")] = None,
    agent: AgentOption = None,
    repo: RepoOption = HERE,
    as_document: JsonOption = False,
) -> None:
    """Make training cases of failed runs: print them, or append them to a file."""
    from healbot.rules.drafts import from_run, render_case, require_new  # noqa: PLC0415 - only here
    from healbot.rules.signature import observed_signature  # noqa: PLC0415 - only here

    with opened(repo) as shop:
        chosen = shop.agent(agent)
        store, live = shop.observed, shop.live(chosen).revision
        one = store.named(session) if session else None
        sessions = ((one,) if one else ()) if session else store.all()
        known = list(shop.written_cases(chosen))
        cases: list[dict[str, Any]] = []
        for found in sessions:
            fail = found.failed
            if fail is None or fail.agent not in ("", chosen.name):
                continue
            if signature is not None and observed_signature(fail) != signature:
                continue
            draft = from_run(fail, found.key, shop.written_cases(chosen))
            case = Case.model_validate({**draft, "origin": f"the run {shown(found.key)}"})
            try:
                require_new(case, known)
            except InputError as error:
                if session:
                    raise
                print(f"passed over {shown(found.key)}: {error.what}", file=sys.stderr)
                continue
            _doubts(shown(found.key), fail.revision, live)
            known.append(case)
            cases.append(draft)
        if not cases:
            raise InputError(
                "No failed run is left that could become a new case.",
                "See healbot runs list --failed.",
            )
        path = write(shop, chosen, cases, path=file) if file else None
    if path or as_document:
        _told(path, cases, as_document)
    else:
        print("".join(map(render_case, cases)), end="")


@app.command()
def export(
    *,
    form: Annotated[Literal["healbot", "promptfoo"], typer.Option("--format")] = "healbot",
    split: Annotated[
        list[Split] | None, typer.Option(help="Which split; held-out cases go only when named.")
    ] = None,
    agent: AgentOption = None,
    repo: RepoOption = HERE,
    as_document: JsonOption = False,
) -> None:
    """Print an agent's cases, in this program's shape or promptfoo's."""
    from healbot.rules.drafts import plain  # noqa: PLC0415 - only here
    from healbot.rules.exporting import promptfoo_config  # noqa: PLC0415 - only here

    with opened(repo) as shop:
        ground, _ = shop.ground(shop.agent(agent))
        cases = tuple({one.origin: one for one in ground.of(*(split or [Split.TRAIN]))}.values())
    if form == "promptfoo":
        left = [one.id for one in cases if one.input is None or one.checks]
        if left:
            print(f"promptfoo can't hold all of: {', '.join(left)}", file=sys.stderr)
        document: Any = promptfoo_config(cases)
    else:
        document = [plain(one) | {"id": one.written_id} for one in cases]
    if as_document:
        as_json(document)
    else:
        print(yaml.safe_dump(document, sort_keys=False, allow_unicode=True), end="")


def write(shop: Shop, agent: AgentSettings, drafts: list[dict[str, Any]], *, path: str) -> str:
    """Append cases to a file of the work tree, whole or not at all; returns its path.

    Raises:
        InputError: The file is no case file of the repository's, or a case is not new.
    """
    from healbot.entry.case_place import place_of, text_at  # noqa: PLC0415 - only here
    from healbot.rules.drafts import render_case, require_new  # noqa: PLC0415 - only here

    path, place = place_of(shop.repo.folder, path, agent)
    before = text_at(place, path)
    known = list(shop.written_cases(agent))
    if before.strip():
        known = [one for one in known if not one.origin.startswith(f"{path}:")]
        known += read_cases({path: before}, agent)
    after = before + ("" if not before or before.endswith("\n") else "\n")
    for draft in drafts:
        text = render_case(draft)
        (case,) = read_cases({path: text}, agent)
        require_new(case, known)
        known.append(case)
        after += text
    _require_readable(path, after, agent, drafts=drafts)
    _replace(place, after)
    return path


def _task(text: str) -> str:
    """Return the task that was given, or that stands on stdin."""
    try:
        task = sys.stdin.read() if text == "-" else text
        task.encode()
    except UnicodeError:
        raise InputError("The task is not UTF-8.", "Give --input as plain text.") from None
    if not task.strip():
        raise InputError("The task is empty.", "Give --input the words that the agent gets.")
    return task


def _require_readable(
    path: str, text: str, agent: AgentSettings, *, drafts: list[dict[str, Any]]
) -> None:
    """Refuse a file from which the new cases would not come back as they were given."""
    refusal = InputError(
        f"{path} is no plain list of cases, so nothing can be appended to it.",
        "Name another file with --file or --write; nothing was written.",
    )
    try:
        back = {one.id: one.input for one in read_cases({path: text}, agent)}
    except InputError as error:
        raise refusal from error
    if any(back.get(one["id"]) != one.get("input") for one in drafts):
        raise refusal


def _replace(place: Path, text: str) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=place.parent, prefix=".healbot-")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        Path(name).chmod(place.stat().st_mode if place.exists() else 0o644)
        Path(name).replace(place)
    finally:
        Path(name).unlink(missing_ok=True)


def _default_file(agent: AgentSettings) -> str:
    """Return a file in the agent's first folder of cases."""
    for pattern in agent.cases:
        if not is_glob(pattern) and not is_case_file(pattern):
            return f"{pattern.strip('/')}/{NEW_FILE}".removeprefix("./")
    raise InputError(
        f"The settings name no folder of cases for {agent.name!r}.", "Name a file with --file."
    )


def _doubts(name: str, revision: str, live: str) -> None:
    """Say where a run is no evidence yet."""
    if revision == UNKNOWN_REVISION:
        text = "its revision is unknown; it counts once it fails again in a replay"
    elif revision != live:
        text = f"it ran under {shown(revision)}, and {shown(live)} is live now"
    else:
        return
    print(f"warning: {name}: {text}", file=sys.stderr)


def _told(path: str | None, cases: list[dict[str, Any]], as_document: bool) -> None:
    if as_document:
        as_json({"path": path, "cases": cases})
    else:
        print(f"{path}: {', '.join(one['id'] for one in cases)}")
        print("next: healbot cases lint, then commit the file.", file=sys.stderr)
