"""The one file that knows which plug stands behind which port.

Everything else names protocols. Plugs are chosen from explicit tables, never imported by a string
from a settings file.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from healbot.chat.http import Means as ChatMeans
from healbot.checks.sources import Sources
from healbot.checks.table import Means, checks_of
from healbot.cycle.book import Book, read_ledger
from healbot.cycle.delivery import Delivery
from healbot.cycle.evaluate import Bench, Evaluator, Way
from healbot.cycle.memory import remember
from healbot.cycle.propose import Guard
from healbot.cycle.published import widening
from healbot.cycle.purse import Purse
from healbot.cycle.reading import Ground, ground_at, harness_at, written_at
from healbot.cycle.research import Research
from healbot.cycle.strength import null_pass
from healbot.entry.abilities import require_known, require_runnable, splits_path
from healbot.entry.clock import SystemClock
from healbot.entry.editing import Supplies, editors_of
from healbot.entry.outside import workspaces_of
from healbot.errors import InputError, StoppedError
from healbot.forges.git import GitRepo
from healbot.forges.local import Known, LocalForge
from healbot.lessons.folder import LessonsFolder
from healbot.ports import Clock, Editor, ForgeReader, ForgeWriter, Journal, State, Store, Voice
from healbot.records.case import Case
from healbot.records.edit import Edit
from healbot.records.harness import Harness
from healbot.records.ledger import Spend
from healbot.records.lesson import Lesson
from healbot.records.settings import (
    AgentSettings,
    RunSettings,
    Settings,
)
from healbot.rules.chain import Chain, require_whole
from healbot.rules.edits import hunks_between
from healbot.rules.guard import inspect
from healbot.rules.hiding import excluded_paths
from healbot.rules.layout import skill_doubts
from healbot.rules.progress import Progress, replay
from healbot.rules.protect import unprotected
from healbot.rules.splits import parse_record, render_record
from healbot.runners.at_commit import AtCommit
from healbot.runners.process import LocalProcesses
from healbot.runners.table import runner_of
from healbot.runners.template import Preparation
from healbot.runners.workspace import RepoWorkspaces
from healbot.stores.anchors import RefAnchors
from healbot.stores.journal import FileJournal
from healbot.stores.observed import ObservedRuns
from healbot.stores.permit import RefPermit
from healbot.stores.sightings import Sightings
from healbot.stores.state import StateBranch

STOP_PATH = "STOP"
STOP_VARIABLE = "HEALBOT_STOP"
PLAIN_VARIABLES = ("PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "SSL_CERT_FILE")


@dataclass(frozen=True)
class Shop:
    """One repository opened for work: its settings, its base branch, and the plugs over it."""

    repo: GitRepo
    settings: Settings
    base_ref: str
    base_sha: str
    environment: Mapping[str, str]
    clock: Clock

    @cached_property
    def store(self) -> Store:
        """The state branch."""
        return StateBranch(self.repo, self.repo)

    @cached_property
    def permit(self) -> RefPermit:
        """Leases."""
        minutes = self.settings.limits.lease_minutes
        return RefPermit(self.repo, self.repo, self.clock, minutes=minutes)

    @cached_property
    def forge(self) -> LocalForge:
        """The forge that the settings name."""
        return LocalForge(self.repo, self.repo, self.store, known=self._opened)

    def _opened(self, state: State) -> Mapping[int, Known]:
        """Return what the agents' ledgers know of pull requests, whatever their records say."""
        chains = [read_ledger(self.store, state, one.name) for one in self.settings.agents]
        return {
            cycle.pull.number: Known(cycle.opened.base_ref, cycle.pull.branch, cycle.pull.head_sha)
            for chain in chains
            if not chain.broken
            for cycle in replay(chain.entries).cycles
            if cycle.pull
        }

    @cached_property
    def anchors(self) -> RefAnchors:
        """Heads of the ledgers that are recorded outside them."""
        return RefAnchors(
            self.repo,
            self.repo,
            forge=self.forge,
            base_ref=self.base_ref,
            shallow=(self.repo.private.parent / "shallow").exists(),
        )

    @cached_property
    def journal(self) -> FileJournal:
        """Finished runs and edits, on this machine."""
        return FileJournal(self.repo.private / "journal")

    @cached_property
    def observed(self) -> ObservedRuns:
        """Runs seen in use, on this machine."""
        return ObservedRuns(self.repo.private / "observed")

    @cached_property
    def processes(self) -> LocalProcesses:
        """Programs."""
        return LocalProcesses(path=self.environment.get("PATH", ""))

    def agent(self, name: str | None) -> AgentSettings:
        """Return the agent of a name, or the only one.

        Raises:
            InputError: There is none of that name, or several to choose from.
        """
        agents = self.settings.agents
        names = ", ".join(one.name for one in agents)
        if name is None and len(agents) == 1:
            return agents[0]
        found = next((one for one in agents if one.name == name), None)
        if found is None:
            what = f"There is no agent {name!r}" if name else "There are several agents"
            raise InputError(f"{what}; the settings name {names}.", "Name one of them.")
        return found

    def book(self, agent: AgentSettings) -> Book:
        """Return an agent's ledger, to be opened for appending."""
        book = Book(
            agent.name,
            self.store,
            permit=self.permit,
            clock=self.clock,
            anchors=self.anchors,
        )
        book.widen = widening(self.settings.privacy.level(), self.journal.find)
        return book

    def chain(self, agent: AgentSettings) -> Chain:
        """Read an agent's ledger, whole or broken."""
        return read_ledger(self.store, self.store.load(), agent.name)

    def progress(self, agent: AgentSettings) -> Progress:
        """Return what an agent's ledger adds up to.

        Raises:
            ChainError: It does not hold, so it adds up to nothing.
        """
        chain = self.chain(agent)
        require_whole(chain)
        return replay(chain.entries)

    def spent(self) -> tuple[tuple[datetime, Spend], ...]:
        """Return what all agents of the repository spent: the budgets are one for all."""
        state = self.store.load()
        chains = (read_ledger(self.store, state, one.name) for one in self.settings.agents)
        return tuple((entry.at, entry.spent) for chain in chains for entry in chain.entries)

    def require_able(self, agent: AgentSettings, *, editing: bool = True) -> None:
        """Raise an InputError where the agent or, if it edits, an editor can't be had here."""
        require_known(self.settings)
        require_runnable(agent)
        if editing:
            self.editors()

    def stopped_by(self) -> str | None:
        """Say which kill switch is on, or None."""
        if self.environment.get(STOP_VARIABLE, "").lower() not in ("", "0", "false", "no"):
            return f"the variable {STOP_VARIABLE}"
        if self.settings.stop:
            return "stop: true in the settings"
        state = self.store.load()
        if STOP_PATH in state.files:
            return "healbot stop"
        return None

    def require_going(self) -> None:
        """Raise where a kill switch is on."""
        switch = self.stopped_by()
        if switch:
            raise StoppedError(
                f"healbot is stopped by {switch}.",
                "Nothing more was changed; healbot start (or unset it) lets it go on.",
            )

    def ground(self, agent: AgentSettings) -> tuple[Ground, bytes]:
        """Read what a cycle stands on, and the lines that record newly given splits."""
        path = splits_path(agent)
        recorded = parse_record(self.store.read(self.store.load(), path) or b"", path)
        ground = ground_at(
            self.repo,
            self.base_ref,
            self.base_sha,
            agent=agent,
            settings=self.settings,
            recorded=recorded,
        )
        new = {key: one for key, one in ground.recorded.items() if recorded.get(key) != one}
        return ground, render_record(new)

    def live(self, agent: AgentSettings) -> Harness:
        """Read the harness that the base branch holds now."""
        tip = self.repo.resolve(f"refs/heads/{self.base_ref}") or self.base_sha
        opened = self.settings.limits.open_skills_with_files
        return harness_at(self.repo, tip, agent, open_skills=opened)

    def reasons_against(self, before: Harness, after: Harness) -> tuple[str, ...]:
        """Say what today's guard has against a change, whoever proposed it when."""
        hunks = [
            hunk
            for file in after.files
            if (old := before.get(file.path)) and old.content != file.content
            for hunk in hunks_between(file.path, old.text, file.text)
        ]
        if not hunks:
            return ()
        guarded = self.guard(before)(Edit(hunks=tuple(hunks)))
        return tuple(reason.text for reason in guarded.refusals)

    def guard(self, before: Harness) -> Guard:
        """Return the guard over a baseline."""
        return lambda edit: inspect(
            before,
            edit,
            protect=self.settings.protect,
            always_on_limit=self.settings.limits.always_on_characters,
        )

    def written_cases(self, agent: AgentSettings) -> tuple[Case, ...]:
        """Read an agent's cases as they are written, splits not yet given."""
        return written_at(self.repo, self.base_sha, agent)

    def lessons(self) -> tuple[tuple[Lesson, ...], tuple[str, ...]]:
        """Read the repository's lessons."""
        return LessonsFolder(self.repo, self.base_sha, self.settings.lessons.dir).read()

    def editors(self, bench: Bench | None = None) -> tuple[Editor, ...]:
        """Return the editors that the settings name; without a bench they are only tried on."""
        means = ChatMeans(self.environment, self.clock, SystemClock().pause)
        supplies = Supplies(self.settings, self.repo, self.base_sha, means, self.guard)
        if bench:
            supplies = supplies._replace(till=bench.purse, beat=bench.beat)
        return editors_of(supplies)

    def evaluator(
        self, agent: AgentSettings, ground: Ground, voice: Voice, *, journal: Journal | None = None
    ) -> Evaluator:
        """Return what makes runs of an agent; they go into the clone's journal unless told else."""
        paths = tuple(self.repo.tree(self.base_sha))
        cases = tuple(ground.cases.values())
        outside = workspaces_of(self.repo.private)
        hide = (*self.repo.worktrees(), self.repo.private.parent, outside)
        means = Means(
            self.processes,
            {key: self.environment[key] for key in PLAIN_VARIABLES if key in self.environment},
            self._sources(),
            hide,
        )
        left_out = sorted(excluded_paths(paths, settings=self.settings, cases=cases))

        def way(name: str, run: RunSettings) -> Way:
            runner = runner_of(
                run,
                agent,
                processes=self.processes,
                environment=self.environment,
                temp=self.repo.private / "homes",
                hide=hide,
            )
            workspaces = RepoWorkspaces(
                self.repo,
                agent,
                preparation=Preparation(run, self.processes, self.environment, hide),
                cache=outside / agent.name / name,
                left_out=left_out,
            )
            return Way(AtCommit(runner, self.base_sha), workspaces)

        return Evaluator(
            {name: way(name, run) for name, run in agent.ways.items()},
            checks_of=lambda case: checks_of(case, means),
            journal=journal or self.journal,
            clock=self.clock,
            voice=voice,
        )

    def _sources(self) -> Sources:
        def below(folder: str) -> Mapping[str, bytes]:
            prefix = f"{folder}/" if folder else ""
            return {
                path.removeprefix(prefix): self.repo.blob(file.blob)
                for path, file in self.repo.tree(self.base_sha, folder).items()
                if path.startswith(prefix) and file.mode in ("100644", "100755")
            }

        return below

    def bench(self, evaluator: Evaluator, purse: Purse, beat: Callable[[], None]) -> Bench:
        """Return an evaluator at the base commit under one purse."""
        return Bench(
            evaluator,
            sha=self.base_sha,
            seed=self.settings.seed,
            parallel=self.settings.limits.parallel,
            purse=purse,
            beat=beat,
        )

    def research(
        self,
        agent: AgentSettings,
        ground: Ground,
        *,
        bench: Bench,
        voice: Voice,
        editing: bool = True,
    ) -> Research:
        """Return the reading phases of a cycle; one that edits no more needs no editor's key."""
        lessons, problems = self.lessons()
        doubts = (
            *problems,
            *unprotected(ground.harness, self.settings.protect),
            *skill_doubts(ground.harness),
        )
        for problem in doubts:
            voice.note(problem)
        sightings = Sightings(agent.name, here=self.observed, store=self.store)
        return Research(
            agent=agent,
            ground=ground,
            bench=bench,
            editors=self.editors(bench) if editing else (),
            lessons=lessons,
            guard=self.guard(ground.harness),
            journal=self.journal,
            numbers=self.settings.gate,
            voice=voice,
            remember=lambda progress: remember(
                progress,
                repo=self.repo,
                agent=agent,
                journal=self.journal,
                seen_since=lambda at: sightings.since(at, ground.harness.revision),
            ),
        )

    def delivery(
        self,
        research: Research,
        book: Book,
        *,
        reader: ForgeReader,
        writer: ForgeWriter,
    ) -> Delivery:
        """Return the writing phases of a cycle."""

        def before() -> None:
            self.require_going()
            book.keep()

        return Delivery(
            agent=research.agent,
            settings=self.settings,
            ground=research.ground,
            lessons=research.lessons,
            guard=research.guard,
            journal=self.journal,
            reader=reader,
            writer=writer,
            clock=self.clock,
            voice=research.voice,
            before=before,
            head=lambda: book.head,
            live=lambda: self.live(research.agent).revision,
            null_pass=lambda state: null_pass(state, research),
            unsandboxed=not self.processes.sandboxed,
        )
