"""The settings file's shape (``.github/healbot.yml``): closed, frozen, every default named.

Knows no file and no environment; ``rules/reading.py`` turns text into these with line numbers.
The numbers are the loop's published ones (the spec's gate, canary, watch and operations pages).
"""

import re
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field, field_validator, model_validator

from healbot.records.record import Record

SETTINGS_PATH = ".github/healbot.yml"
SETTINGS_VERSION = 1
DAY_SECONDS = 86_400.0
YEARS_DAYS = 36_500
MOST_SEED = 2**63 - 1
MOST_TOKENS = 10**12
MOST_USD = 1_000_000.0
MOST_MINUTES = 525_600.0
"""Upper bounds that no sane file comes near: a slip of the keyboard is told, not obeyed."""
NAME_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"
VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
"""How a header's value names a variable of the environment."""


class Mode(StrEnum):
    """How far a cycle may go by itself."""

    OBSERVE = "observe"
    MANUAL = "manual"
    AUTO = "auto"


class RunSettings(Record):
    """How one agent is run. Exactly one of command, preset, http, python, agent is set."""

    name: str = Field("", description="Which of several ways this is; left out: its kind.")
    command: str | None = Field(None, description="A command line, split as a shell splits words.")
    preset: str | None = Field(None, description="A known agent, for instance claude-code.")
    http: str | None = Field(None, description="A URL that answers a POST.")
    python: str | None = Field(None, description="module:function, run in a subprocess.")
    agent: dict[str, object] | None = Field(None, description="The built-in agent's options.")
    input: Literal["stdin", "argument", "file"] = Field(
        "stdin", description="How the case's input reaches the command."
    )
    setup: str | None = Field(None, description="A command run once per judged commit.")
    setup_timeout_seconds: float = Field(900, gt=0, le=DAY_SECONDS)
    timeout_seconds: float = Field(300, gt=0, le=DAY_SECONDS, description="Wall time of one run.")
    env: tuple[str, ...] = Field((), description="Names of the only variables that reach it.")
    headers: dict[str, str] = Field(
        default_factory=dict,
        description="Of an http request; ${NAME} stands for a variable that env lists.",
    )

    @model_validator(mode="after")
    def _one_way(self) -> "RunSettings":
        ways = ("command", "preset", "http", "python", "agent")
        chosen = [way for way in ways if getattr(self, way) is not None]
        if len(chosen) != 1:
            raise ValueError(f"set exactly one of {', '.join(ways)} (found {len(chosen)})")
        if self.name and not re.match(NAME_PATTERN, self.name):
            raise ValueError(f"{self.name!r} is no plain name (letters, digits, - _ .)")
        if self.headers and self.http is None:
            raise ValueError("headers go with http only")
        asked = {name for value in self.headers.values() for name in VARIABLE.findall(value)}
        if unlisted := sorted(asked - set(self.env)):
            raise ValueError(f"headers name {unlisted[0]!r}, which env does not list")
        return self

    @property
    def kind(self) -> str:
        """Which of the ways is set."""
        ways = ("command", "preset", "http", "python", "agent")
        return next(way for way in ways if getattr(self, way) is not None)


class AgentSettings(Record):
    """One agent: a folder with instructions and skills, its cases, and a way to run it."""

    name: str = Field("", description="Short name; left out: the folder's.")
    dir: str = Field(description="The agent's folder, from the repository's root.")
    instructions: str = Field("instructions.md", description="The instructions file in dir.")
    skills: str = Field("skills", description="The folder in dir that holds <name>/SKILL.md.")
    cases: tuple[str, ...] = Field(min_length=1, description="Folders, files or globs of cases.")
    run: tuple[RunSettings, ...] = Field(min_length=1, description="One way to run it, or a list.")

    @field_validator("run", mode="before")
    @classmethod
    def _one_or_many(cls, value: object) -> object:
        return [value] if isinstance(value, dict) else value

    @field_validator("cases", mode="before")
    @classmethod
    def _one_path_or_many(cls, value: object) -> object:
        return [value] if isinstance(value, str) else value

    @model_validator(mode="before")
    @classmethod
    def _named_by_folder(cls, value: object) -> object:
        if isinstance(value, dict) and not value.get("name") and isinstance(value.get("dir"), str):
            folder = value["dir"].rstrip("/").rsplit("/", 1)[-1]
            return {**value, "name": folder if folder not in ("", ".") else "agent"}
        return value

    @property
    def ways(self) -> dict[str, RunSettings]:
        """The ways of running by name; an only one has the empty name."""
        if len(self.run) == 1:
            return {"": self.run[0]}
        return {way.name or way.kind: way for way in self.run}

    @field_validator("run")
    @classmethod
    def _distinct_ways(cls, value: tuple[RunSettings, ...]) -> tuple[RunSettings, ...]:
        names = [(way.name or way.kind).casefold() for way in value]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"two ways of running are called {twice[0]!r}; give each a name")
        return value

    @field_validator("name")
    @classmethod
    def _plain_name(cls, value: str) -> str:
        odd = ".." in value or value.endswith((".", ".lock"))  # no part of a git ref
        if not re.match(NAME_PATTERN, value) or odd:
            raise ValueError(f"{value!r} is no plain name (letters, digits, - _ .)")
        return value


class ModelSettings(Record):
    """One chat model."""

    api: Literal["openai", "anthropic"] = "openai"
    name: str
    key_env: str | None = Field(None, description="The variable that holds the key; never the key.")
    base_url: str | None = None
    plain_http: bool = Field(
        False, description="Allow http to another machine; key and texts travel unencrypted."
    )
    proxy_env: str | None = Field(None, description="The variable that holds a proxy's URL.")
    max_tokens: int | None = Field(
        None, ge=1, le=MOST_TOKENS, description="Of one answer, where nothing else is asked."
    )
    temperature: float | None = Field(None, ge=0, le=2)
    deadline_seconds: float = Field(
        900, gt=0, le=DAY_SECONDS, description="Of one answer, with all tries and waits."
    )
    price_in_usd_per_million: float | None = Field(None, ge=0, le=MOST_USD)
    price_out_usd_per_million: float | None = Field(None, ge=0, le=MOST_USD)

    @model_validator(mode="after")
    def _both_prices(self) -> "ModelSettings":
        if (self.price_in_usd_per_million is None) != (self.price_out_usd_per_million is None):
            raise ValueError("give both price_in_usd_per_million and price_out_usd_per_million")
        return self


class ModelsSettings(Record):
    """Which model plays which part."""

    editor: ModelSettings | None = None
    judge: ModelSettings | None = None
    agent: ModelSettings | None = None
    user: ModelSettings | None = None


class ScriptedEditor(Record):
    """An editor that answers from a file in the repository; for tests and dry runs."""

    scripted: str


EditorChoice = Literal["lessons", "invariant", "domain"] | ScriptedEditor
MODEL_EDITORS = ("invariant", "domain")
"""The editors that ask a model: ``models.editor``."""


class EditingSettings(Record):
    """What one editor with a model may do and see in one cycle."""

    steps: int = Field(12, ge=1, le=100, description="Questions to the model.")
    retries: int = Field(1, ge=0, le=5, description="Second chances after a misstep.")
    tokens: int = Field(
        150_000, ge=1, le=MOST_TOKENS, description="Tokens of an editor, set aside beforehand."
    )
    answer_tokens: int = Field(
        8_000, ge=1, le=MOST_TOKENS, description="Of one answer, its reasoning included."
    )
    runs_per_case: int = Field(2, ge=1, le=20, description="Failed runs shown of each case.")
    run_characters: int = Field(4_000, ge=200, le=1_000_000, description="Shown of one run.")
    all_characters: int = Field(
        24_000, ge=200, le=10_000_000, description="Shown of all runs, and of all files."
    )
    lessons: int = Field(20, ge=0, le=200, description="Lessons shown.")


class LessonsSettings(Record):
    """What lessons may do by themselves, and where the repository's own lie."""

    auto: bool = Field(False, description="In auto mode, lesson-born edits merge without a person.")
    dir: str = Field(".healbot/lessons", description="A folder of lessons in the repository.")
    promote_at: int = Field(
        3, ge=1, le=1_000, description="Sightings before a lesson may become a rule."
    )
    expire_days: int = Field(90, ge=1, le=YEARS_DAYS, description="Days since it was last seen.")


class CanarySettings(Record):
    """The replay canary: fresh runs under the proposal before the write."""

    repeats: int = Field(6, ge=1, le=100)
    passes: int = Field(5, ge=1, le=100, description="Of these, how many must pass.")
    second_passes: int = Field(
        9, ge=1, le=200, description="Of twice as many, where the first fell short."
    )
    strict: bool = Field(False, description="Unsolved training cases must pass too.")

    @model_validator(mode="before")
    @classmethod
    def _word(cls, value: object) -> object:
        return {"strict": True} if value == "strict" else value

    @model_validator(mode="after")
    def _reachable(self) -> "CanarySettings":
        if self.passes > self.repeats or self.second_passes > 2 * self.repeats:
            raise ValueError("more passes are asked for than runs are made")
        return self


class GateSettings(Record):
    """The gate's policy and its numbers."""

    policy: Literal["fixed"] = "fixed"
    repeats: int = Field(3, ge=1, le=50, description="Runs a case and side.")
    gain: float = Field(
        2 / 3,
        gt=0,
        le=1,
        description="Share of the repeats that a fix must gain, rounded up: 2 of 3.",
    )
    drop: float = Field(1 / 3, gt=0, le=1, description="Pooled share of a drop that rejects.")
    token_rise: float = Field(
        0.5, ge=0, le=100, description="Allowed rise of tokens per passing run."
    )
    fallbacks: int = Field(1, ge=0, le=5, description="Further candidates tried after a refusal.")
    canary: CanarySettings = CanarySettings()


class SpanBudget(Record):
    """Limits for one span of time; left out: no limit of that kind."""

    runs: int | None = Field(None, ge=0, le=1_000_000)
    tokens: int | None = Field(None, ge=0, le=MOST_TOKENS)
    usd: float | None = Field(None, ge=0, le=MOST_USD)
    minutes: float | None = Field(None, ge=0, le=MOST_MINUTES)


class RunWorstCase(Record):
    """What one run that reports nothing is counted as."""

    tokens: int = Field(5_000, ge=0, le=MOST_TOKENS)
    usd: float = Field(0.025, ge=0, le=MOST_USD)


class BudgetSettings(Record):
    """Limits per cycle, day and month, and the stated worst case of an unreported run."""

    cycle: SpanBudget = SpanBudget(runs=400, tokens=2_000_000, usd=10, minutes=60)
    day: SpanBudget = SpanBudget(usd=15)
    month: SpanBudget = SpanBudget(usd=150)
    unreported_run: RunWorstCase = RunWorstCase()


class PrivacySettings(Record):
    """What leaves the machine that ran an agent."""

    publish: Literal["verdicts", "redacted", "full"] | None = Field(
        None,
        description="What of runs is published: verdicts (no text), redacted, full; left out: "
        "verdicts.",
    )
    state: str = Field("branch", description="branch; OWNER/PRIVATE-REPO is not in this version.")
    keep_days: int = Field(
        90, ge=1, le=YEARS_DAYS, description="How long files of runs stay in this clone."
    )

    def level(self) -> Literal["verdicts", "redacted", "full"]:
        """Return what may be published."""
        return self.publish or "verdicts"


class WatchSettings(Record):
    """What happens after the merge."""

    monitor: Literal["sequential", "anytime", "off"] = "sequential"
    guard_runs_per_night: int = Field(60, ge=0, le=100_000)
    traffic_canary: bool = False
    cooldown_hours: float = Field(
        24, ge=0, le=8_760, description="No cycle this long after a rollback."
    )


class NotifySettings(Record):
    """Where notices go."""

    webhook_env: str | None = None


class PullsSettings(Record):
    """Manners of pull requests."""

    open: int = Field(1, ge=1, le=100, description="Open pull requests per agent.")
    per_week: int = Field(2, ge=0, le=1_000)
    labels: tuple[str, ...] = ("healbot",)
    reviewers: tuple[str, ...] = ()
    title: str = "fix({agent}): {summary}"
    sign_off: bool = False


class LimitSettings(Record):
    """Limits of text and of the machine."""

    always_on_characters: int = Field(8_000, ge=1, le=1_000_000)
    parallel: int = Field(4, ge=1, le=64, description="Runs at the same time.")
    open_skills_with_files: bool = Field(
        False,
        description="Let edits touch a SKILL.md that has siblings; always waits for a person.",
    )
    lease_minutes: float = Field(15, gt=0, le=1_440)


class ForgeSettings(Record):
    """Where pull requests live. Without a remote nothing leaves this clone."""

    kind: Literal["local", "github"] = "local"
    remote: str | None = Field(None, description="A git remote that shares queue and state.")
    base: str | None = Field(None, description="The branch under care; left out: the current one.")


class Settings(Record):
    """The whole settings file."""

    version: Literal[1]
    mode: Mode = Mode.AUTO
    stop: bool = Field(False, description="Kill switch: nothing runs while it is true.")
    seed: int = Field(
        0, ge=0, le=MOST_SEED, description="Reaches each run, mixed, as HEALBOT_SEED."
    )
    agents: Annotated[tuple[AgentSettings, ...], Field(min_length=1)]
    models: ModelsSettings = ModelsSettings()
    editors: tuple[EditorChoice, ...] = ("lessons",)
    editing: EditingSettings = EditingSettings()
    lessons: LessonsSettings = LessonsSettings()
    protect: tuple[str, ...] = Field((), description="Headings whose sections no edit touches.")
    gate: GateSettings = GateSettings()
    budget: BudgetSettings = BudgetSettings()
    privacy: PrivacySettings = PrivacySettings()
    watch: WatchSettings = WatchSettings()
    notify: NotifySettings = NotifySettings()
    pulls: PullsSettings = PullsSettings()
    limits: LimitSettings = LimitSettings()
    forge: ForgeSettings = ForgeSettings()

    @property
    def model_editors(self) -> tuple[str, ...]:
        """Those of the editors that ask a model."""
        return tuple(one for one in self.editors if isinstance(one, str) and one in MODEL_EDITORS)

    @model_validator(mode="after")
    def _model_for_editors(self) -> "Settings":
        if self.model_editors and self.models.editor is None:
            raise ValueError(f"the editor {self.model_editors[0]!r} needs models.editor")
        return self

    @field_validator("agents")
    @classmethod
    def _distinct(cls, value: tuple[AgentSettings, ...]) -> tuple[AgentSettings, ...]:
        names = [agent.name.casefold() for agent in value]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"two agents are called {twice[0]!r}")
        return value
