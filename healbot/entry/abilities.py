"""What this version can do of what a settings file may ask for; the rest is refused in a sentence.

Knows settings only.
"""

from healbot.errors import InputError
from healbot.records.settings import SETTINGS_PATH, AgentSettings, RunSettings, Settings


def runnable(agent: AgentSettings) -> RunSettings:
    """Return the one way in which an agent is run.

    Raises:
        InputError: It is a way that this version does not have.
    """
    run = agent.run[0]
    if len(agent.run) > 1 or run.command is None:
        raise InputError(
            f"The agent {agent.name!r} is run in a way that this version does not have.",
            "Give it one run entry with a command.",
        )
    return run


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
