"""What this version can do of what a settings file may ask for; the rest is refused in a sentence.

Knows settings and cases only.
"""

from collections.abc import Iterable

from healbot.errors import InputError
from healbot.records.case import Case
from healbot.records.settings import SETTINGS_PATH, AgentSettings, Settings
from healbot.rules.lint import hopeless
from healbot.rules.mistakes import listed
from healbot.runners.table import RUNNERS


def require_runnable(agent: AgentSettings) -> None:
    """Refuse an agent that is run in a way that this version does not have.

    Raises:
        InputError: Names the way.
    """
    missing = sorted({run.kind for run in agent.run} - RUNNERS.keys())
    if missing:
        raise InputError(
            f"The agent {agent.name!r} is run by {', '.join(missing)}, which this version does not "
            "have.",
            f"Give it run entries of {', '.join(sorted(RUNNERS))} for now.",
        )


def require_scorable(cases: Iterable[Case]) -> None:
    """Refuse cases that no run could ever be scored by, before a run is paid for.

    Raises:
        InputError: Names up to five, each with file, line and reason.
    """
    distinct = {case.origin: case for case in cases}
    problems = [f"{one.path}:{one.line}: {one.text}" for one in hopeless(tuple(distinct.values()))]
    if problems:
        raise InputError(
            listed(problems), "Correct it; healbot cases lint shows all that is wrong."
        )


def splits_path(agent: AgentSettings) -> str:
    """Return where an agent's recorded splits lie in the state."""
    return f"agents/{agent.name}/splits.jsonl"


def require_known(settings: Settings) -> None:
    """Refuse what this version would silently not do.

    Raises:
        InputError: The settings ask for it.
    """
    asked = {
        "privacy.state: OWNER/REPO": settings.privacy.state != "branch",
        "notify.webhook_env": settings.notify.webhook_env is not None,
        "watch.traffic_canary: true": settings.watch.traffic_canary,
        "forge.kind: github": settings.forge.kind != "local",
    }
    missing = [name for name, wanted in asked.items() if wanted]
    if missing:
        raise InputError(
            f"The settings ask for {', '.join(missing)}, which this version does not have.",
            f"Take it out of {SETTINGS_PATH} for now.",
        )
