"""The editor with a model: ``invariant`` and ``domain`` are this one with two prompts.

Knows a Brief, a chat and the guard. It ends in a proposal or gives up with a reason in healbot's
own words; what the model said is never one of them.
"""

from collections.abc import Callable

from healbot.editors.conversation import Conversation
from healbot.editors.desk import Desk
from healbot.editors.telling import best, first_turn
from healbot.errors import BudgetError, GaveUpError
from healbot.ports import Chat
from healbot.records.brief import Brief
from healbot.records.edit import Edit, Proposal
from healbot.records.harness import Harness
from healbot.records.record import digest_bytes
from healbot.records.settings import EditingSettings
from healbot.rules.guard import Guarded
from healbot.rules.markers import Regions

Guards = Callable[[Harness], Callable[[Edit], Guarded]]
"""A baseline to the guard over it."""


class PromptedEditor:
    """``Editor`` that asks a model.

    Args:
        name: ``invariant`` or ``domain``.
        prompt: The system prompt's text; its digest goes into every proposal.
        guards: The guard judges again later; here it gives the model its second chance.
    """

    def __init__(
        self, name: str, prompt: str, *, chat: Chat, limits: EditingSettings, guards: Guards
    ) -> None:
        self._name = name
        self._prompt = prompt
        self._chat = chat
        self._limits = limits
        self._guards = guards

    def propose(self, brief: Brief) -> tuple[Proposal, ...]:
        """Return the model's proposal, or none where it says that no edit would help.

        Raises:
            GaveUpError: Nothing usable came within the limits.
            ModelRefusedError, ModelSilentError: The model's server gave no answer.
        """
        regions = Regions()
        conversation = Conversation(
            self._chat,
            self._prompt,
            first_turn(brief, self._limits, regions),
            desk=Desk(
                brief,
                self._guards(brief.harness),
                regions=regions,
                lessons=best(brief.lessons, self._limits.lessons),
            ),
            limits=self._limits,
        )
        try:
            ended = conversation.run()
        except (BudgetError, GaveUpError) as error:
            why = error.what.rstrip(".")
            raise GaveUpError(f"The editor {self._name} gave up: {why}.") from error
        if ended is None:
            return ()
        edit, offer = ended
        return (
            Proposal(
                editor=self._name,
                edit=edit,
                summary=offer.summary,
                reason=offer.reason,
                baseline=brief.harness.revision,
                candidate="",
                claims=tuple(dict.fromkeys(offer.claims)),
                cites=tuple(dict.fromkeys(offer.cites)),
                prediction=offer.prediction,
                prompt=digest_bytes(self._prompt.encode()),
                born_of="lesson" if offer.cites else "model",
            ),
        )
