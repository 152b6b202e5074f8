"""Dead references are found, and what may well be there raises no alarm."""

import pytest

from healbot.rules.references import Ground, dead_references, make_targets

GROUND = Ground(
    paths=frozenset(
        [
            "AGENTS.md",
            "README.md",
            "docs/guide.md",
            "src/app/views.py",
            "scripts/check.sh",
            "web/package.json",
            "Makefile",
            ".claude/skills/pdf/SKILL.md",
            ".claude/skills/pdf/scripts/read.py",
        ]
    ),
    scripts={"web/package.json": frozenset({"test", "lint:fix"})},
    targets={"Makefile": frozenset({"test", "lint"})},
    ignored=("*.log", "/src/secrets"),
)


def named(text: str, at: str = "AGENTS.md", *, skill: bool = False) -> list[str]:
    return [one.named for one in dead_references(text, at, GROUND, skill=skill)]


@pytest.mark.parametrize(
    ("text", "dead"),
    [
        ("Read [the guide](docs/setup.md) first.", "docs/setup.md"),
        ("See [this](./docs/old.md#top).", "./docs/old.md#top"),
        ("@docs/rules.md", "@docs/rules.md"),
        ("Views are in `src/app/screens.py`.", "src/app/screens.py"),
        ("Views are in `lib/views.py`.", "lib/views.py"),
        ("Before a commit run `npm run build`.", "npm run build"),
        ("Then `make deploy`.", "make deploy"),
        ("Run `bash scripts/lint.sh` first.", "scripts/lint.sh"),
        ("Steps:\n\n```sh\ncd web && pnpm run check\n```\n", "pnpm run check"),
        ("Steps:\n\n```bash\n$ make release\n```\n", "make release"),
        ("Steps:\n\n```sh\nscripts/gone.sh <NAME>\n```\n", "scripts/gone.sh"),
        ("Test with `pytest src/app/test_x.py -q`.", "src/app/test_x.py"),
        ("1. Do\n\n   ```sh\n   ./scripts/gone.sh --all\n   ```\n", "./scripts/gone.sh"),
    ],
)
def test_what_is_not_in_the_tree_is_dead(text: str, dead: str) -> None:
    assert named(text) == [dead]


@pytest.mark.parametrize(
    "text",
    [
        "Read [the guide](docs/guide.md#start) and [the site](https://example.org/a/b.md).",
        "[mail](mailto:a@b.c), [top](#top), [folder](docs/), [query](?a=b.md)",
        "@README.md and @docs/guide.md, ask @octocat or @scope/package",
        "`src/app/*.py`, `src/<name>/views.py`, `src/app/{a,b}.py`, `src/app/...`",
        "Views are in `src/app/views.py:12`, all below `src/app/`.",
        "Create `src/app/new_view.py` for each page.",
        "Names are like `src/app/orders.py`.",
        "`path/to/file.py`, `your-app/main.py`, `dist/index.js`, `node_modules/x/y.js`",
        "`components/Button.tsx` is another project's: no folder of that name is here.",
        "`and/or`, `application/json`, `feature/branch-name`, `origin/main`",
        "`npm run test`, `npm run lint:fix`, `make test lint`",
        "Make sure that it works. make it so.",
        "`python main.py`, `bash scripts/check.sh`, `./scripts/check.sh`",
        "`src/run.log` and `src/secrets/key.json` are ignored by git.",
        "The old `src/app/legacy.py` was removed.",
        "```python\nopen('src/app/gone.py')\n```",
        "```text\nmake deploy\nnpm run nothing\n```",
        "<!-- see docs/gone.md and `src/app/gone.py` -->",
    ],
)
def test_what_is_there_or_need_not_be_raises_no_alarm(text: str) -> None:
    assert named(text) == []


def test_a_skill_may_speak_of_other_projects() -> None:
    at = ".claude/skills/pdf/SKILL.md"
    text = "Run `python scripts/read.py`, then `npm run ship` and `make ship` in your project."
    assert named(text, at, skill=True) == []
    assert named("Run `python scripts/write.py`.", at, skill=True) == ["scripts/write.py"]


def test_a_reference_says_line_and_where_the_file_went() -> None:
    (dead,) = dead_references("# A\n\nSee `old/views.py`.\n", "AGENTS.md", GROUND)
    assert (dead.line, dead.kind, dead.why) == (3, "path", "is it src/app/views.py now?")


def test_a_makefile_whose_targets_may_stand_elsewhere_condemns_nobody() -> None:
    told = make_targets("all: a\n\techo\n.PHONY: x\na b:\n\techo\nX := 1\n")
    assert told == frozenset({"all", ".PHONY", "a", "b"})
    assert make_targets("include other.mk\nall:\n") is None
    assert make_targets("%.o: %.c\n\tcc\n") is None
    open_ended = GROUND.model_copy(update={"targets": {"Makefile": None}})
    assert dead_references("Run `make deploy`.", "AGENTS.md", open_ended) == ()
