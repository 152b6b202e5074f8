"""Every error that a user can meet: one class, one exit code, one next step.

Knows no other module. The door (``entry``) prints ``what`` and ``next_step`` and exits with
``exit_code``; anything that is not a ``HealbotError`` is a fault of ours and exits with 70.
"""

from enum import IntEnum


class Exit(IntEnum):
    """The exit codes of the command line; the one list of them."""

    DONE = 0
    NO = 1
    USAGE = 2
    INPUT = 3
    COULD_NOT_TELL = 4
    NOT_NOW = 5
    BUDGET = 6
    REFUSED = 7
    CHANGED = 8
    CHAIN = 9
    FAULT = 70


EXIT_MEANINGS: dict[Exit, str] = {
    Exit.DONE: "done",
    Exit.NO: "the answer is no (of a command that judges)",
    Exit.USAGE: "wrong usage",
    Exit.INPUT: "input unusable",
    Exit.COULD_NOT_TELL: "could not tell",
    Exit.NOT_NOW: "not permitted now (kill switch, lease, cooldown)",
    Exit.BUDGET: "budget spent",
    Exit.REFUSED: "the forge or a model refused",
    Exit.CHANGED: "the harness changed, or may not be changed so",
    Exit.CHAIN: "the chain is broken",
    Exit.FAULT: "a fault of ours",
}


class HealbotError(Exception):
    """An expected error.

    Attributes:
        what: One sentence: what happened, and where.
        next_step: What to do now; empty only where nothing can be done.
    """

    exit_code: Exit = Exit.FAULT

    def __init__(self, what: str, next_step: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.next_step = next_step


class UsageError(HealbotError):
    """The command line was wrong."""

    exit_code = Exit.USAGE


class InputError(HealbotError):
    """A file or value that a user wrote can't be used."""

    exit_code = Exit.INPUT


class CouldNotTellError(HealbotError):
    """There was no way to answer; neither yes nor no."""

    exit_code = Exit.COULD_NOT_TELL


class NotNowError(HealbotError):
    """The kill switch, somebody else's lease, or a cooldown forbids it at present."""

    exit_code = Exit.NOT_NOW


class StoppedError(NotNowError):
    """The kill switch is on."""


class LeaseLostError(NotNowError):
    """Somebody else holds the lease, or took it over from us."""


class BudgetError(HealbotError):
    """A budget does not allow what would come next."""

    exit_code = Exit.BUDGET


class RefusedError(HealbotError):
    """The forge, the remote or a model said no."""

    exit_code = Exit.REFUSED


class ModelError(HealbotError):
    """Something went wrong with a model's server.

    Attributes:
        status: The last HTTP status, 0 where none came.
        request_id: The server's name of the last request, or empty.
    """

    def __init__(
        self, what: str, next_step: str = "", *, status: int = 0, request_id: str = ""
    ) -> None:
        super().__init__(what, next_step)
        self.status = status
        self.request_id = request_id


class ModelRefusedError(ModelError, RefusedError):
    """A model's server said no to a request; asking again in the same way is of no use."""

    exit_code = Exit.REFUSED


class ModelSilentError(ModelError, CouldNotTellError):
    """No answer of a model's came, or none that can be read; says how often it was tried."""

    exit_code = Exit.COULD_NOT_TELL


class GaveUpError(CouldNotTellError):
    """An editor gave up and proposes nothing; says why, in healbot's own words."""


class HarnessChangedError(HealbotError):
    """The harness is not the one that was read, or may not be changed in this way."""

    exit_code = Exit.CHANGED


class InTheWayError(HarnessChangedError):
    """A checked-out file has uncommitted changes where a commit has to go; nothing was changed."""


class EditError(HarnessChangedError):
    """An edit can't be applied as it stands (anchor empty, missing or ambiguous)."""


class ChainError(HealbotError):
    """The ledger's chain is broken; says at which line."""

    exit_code = Exit.CHAIN


class StaleError(HealbotError):
    """A compare-and-swap lost: somebody else moved the ref first. Retried by its caller."""

    exit_code = Exit.NOT_NOW
