"""The one executor: performs Intents, and alone holds the ForgeWriter.

Before an Intent is performed its effect is looked for, so that a crash or a half-failed call has
one answer: do it again. Knows no phase; ``before`` is asked ahead of each (lease, kill switch).
"""

from collections.abc import Callable, Sequence

from healbot.ports import ForgeWriter
from healbot.records.intent import Effect, Intent


def execute(
    intents: Sequence[Intent], forge: ForgeWriter, before: Callable[[], None]
) -> tuple[Effect, ...]:
    """Perform Intents in order; returns one Effect for each, found or made.

    Raises:
        HealbotError: An Intent can't be performed; those before it stand, and a repeat finds them.
    """
    effects = []
    for intent in intents:
        effect = forge.find(intent)
        if effect is None:
            before()
            effect = forge.perform(intent)
        effects.append(effect)
    return tuple(effects)
