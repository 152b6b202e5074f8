"""What this version can do of what a settings file may ask for; the rest is refused in a sentence.

Knows settings only.
"""

from healbot.errors import InputError
from healbot.records.settings import SETTINGS_PATH, AgentSettings, Settings

RUNNABLE = frozenset({"command", "http", "python"})
"""The ways of running that this version has."""


def require_runnable(agent: AgentSettings) -> None:
    """Refuse an agent that is run in a way that this version does not have.

    Raises:
        InputError: Names the way.
    """
    missing = sorted({run.kind for run in agent.run} - RUNNABLE)
    if missing:
        raise InputError(
            f"The agent {agent.name!r} is run by {', '.join(missing)}, which this version does not "
            "have.",
            f"Give it run entries of {', '.join(sorted(RUNNABLE))} for now.",
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
