"""A way of running, at one commit: runs of other code are other runs, whatever the command says.

Knows another runner and a commit's id. Without it a run that was journalled before the agent's code
changed could pass for one made after.
"""

from healbot.ports import Runner
from healbot.records.record import digest_of
from healbot.records.run import Job, Trace


class AtCommit:
    """``Runner`` that names the commit too."""

    def __init__(self, runner: Runner, commit: str) -> None:
        self._runner = runner
        self._commit = commit

    @property
    def digest(self) -> str:
        """Names the way of running and the code that is run."""
        return digest_of([self._runner.digest, self._commit])

    def attempt(self, job: Job) -> Trace:
        """Run the agent once."""
        return self._runner.attempt(job)
