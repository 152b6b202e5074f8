"""Running an agent that is a Python function of the judged commit, in a process of its own.

Knows one way of running (``RunSettings.python``, as ``module:function``); never imports the agent
here. The function is called in the agent's folder with the case's text and, where its signature
names them, ``seed`` (whole number), ``case_id`` (text) and ``messages`` (the user's turns as
``[{"role": "user", "content": text}]``). It may be ``async``. It returns the answer as a text, or a
dictionary ``{"output": answer, "tokens", "usd", "tool_calls", "skills_read", "rules_read"}``, all
but ``output`` optional and as in a run report; an output that is no text is written as JSON. What
it prints goes to stderr. An exception ends the run with exit code 1 and its traceback on stderr.
"""

import json
import re
import sys
from functools import cached_property
from pathlib import Path

from healbot.errors import InputError
from healbot.records.record import digest_of
from healbot.records.run import Job, Trace
from healbot.records.settings import RunSettings
from healbot.runners import home
from healbot.runners.program import Attempts, Fed, Means, messages_of

VENV_PYTHON = ".venv/bin/python"
"""The interpreter that ``run.setup`` may have made, in the agent's folder or the root."""
UNFOUND_BYTES = 500
_NAME = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*:[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*")

_DRIVER = """\
import importlib
import importlib.util
import inspect
import json
import os
import sys

REPORTED = ("tokens", "usd", "tool_calls", "skills_read", "rules_read")


def missing(note, text):
    with open(note, "w", encoding="utf-8") as file:
        file.write(text)
    sys.exit(1)


def there(module):
    parts = module.split(".")
    try:
        return all(
            importlib.util.find_spec(".".join(parts[: size + 1])) for size in range(len(parts))
        )
    except ModuleNotFoundError as error:
        if error.name and (module + ".").startswith(error.name + "."):
            return False
        raise


def function(note, module, name):
    if not there(module):
        missing(note, "there is no module " + repr(module) + " in the agent's folder")
    found = importlib.import_module(module)
    for part in name.split("."):
        if not hasattr(found, part):
            missing(note, "the module " + repr(module) + " has no " + repr(name))
        found = getattr(found, part)
    if not callable(found):
        missing(note, repr(name) + " in the module " + repr(module) + " can't be called")
    return found


def wanted(found, offered):
    try:
        names = inspect.signature(found).parameters
    except (TypeError, ValueError):
        return {}
    first = next(iter(names), None)
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return {
        name: offered[name]
        for name, one in names.items()
        if name in offered and one.kind in kinds
        and (name != first or one.kind is inspect.Parameter.KEYWORD_ONLY)
    }


def awaited(result):
    if not inspect.isawaitable(result):
        return result
    import asyncio

    async def wait():
        return await result

    return asyncio.run(wait())


def answer(result):
    if isinstance(result, str):
        return result
    if not isinstance(result, dict) or "output" not in result:
        raise TypeError(
            "the agent's function returned " + type(result).__name__
            + ", not a text or a dictionary with 'output'"
        )
    reported = {key: result[key] for key in REPORTED if key in result}
    if reported:
        with open(os.environ["HEALBOT_RUN_REPORT"], "w", encoding="utf-8") as file:
            json.dump(reported, file, default=str)
    output = result["output"]
    return output if isinstance(output, str) else json.dumps(output, ensure_ascii=False)


def main(note, module, name):
    asked = json.load(sys.stdin)
    out = os.dup(1)
    os.dup2(2, 1)
    sys.argv[:] = [module]
    sys.path[0] = os.getcwd()
    found = function(note, module, name)
    text = answer(awaited(found(asked.pop("input"), **wanted(found, asked))))
    sys.stdout.flush()
    with os.fdopen(out, "wb") as file:
        file.write(text.encode("utf-8", "replace"))


main(*sys.argv[1:])
"""


class PythonRunner:
    """The ``python`` way of running an agent; safe to use from many threads.

    The interpreter is the workspace's ``.venv/bin/python`` where ``run.setup`` made one, else the
    one that runs healbot.

    Raises:
        InputError: The settings do not have the form ``module:function``.
    """

    def __init__(self, settings: RunSettings, means: Means) -> None:
        name = settings.python or ""
        if not _NAME.fullmatch(name):
            raise InputError(
                f"run.python: {name[:80]!r} does not have the form module:function.",
                "Write, for instance, python: agent:answer.",
            )
        self._settings = settings
        self._target = name.split(":")
        self._attempts = Attempts(settings, means)

    @cached_property
    def digest(self) -> str:
        """Names this way of running: the function, setup, time limit, names of variables."""
        return digest_of(
            {
                "kind": "python",
                "python": self._settings.python,
                "env": sorted(set(self._settings.env)),
                "setup": self._settings.setup,
                "timeout_seconds": self._settings.timeout_seconds,
            }
        )

    def attempt(self, job: Job) -> Trace:
        """Call the function once in the agent's folder; returns whatever it does.

        ``not-started`` (with the reason in ``notes``) where there is no such function.
        """

        def feed(text: str, place: home.Home) -> Fed:
            driver = place.place / "driver.py"
            driver.write_text(_DRIVER, encoding="utf-8")
            words = [_interpreter(job), "-B", str(driver), str(_note(place)), *self._target]
            return Fed(words, json.dumps(_asked(job, text)).encode("ascii"))

        return self._attempts.make(job, feed, _unfound)

    def close(self) -> None:
        """Remove what this object still has on disk."""
        self._attempts.close()


def _asked(job: Job, text: str) -> dict[str, object]:
    return {
        "input": text,
        "seed": job.seed,
        "case_id": job.case.written_id,
        "messages": messages_of(job.case),
    }


def _interpreter(job: Job) -> str:
    for folder in (job.folder, job.root):
        if (folder / VENV_PYTHON).exists():
            return str(folder / VENV_PYTHON)
    return sys.executable


def _note(place: home.Home) -> Path:
    return place.place / "unfound.txt"


def _unfound(place: home.Home) -> str | None:
    """Return what the driver said of a function that is not there, or None."""
    note = _note(place)
    if note.is_symlink() or not note.is_file():
        return None
    with note.open("rb") as file:
        said = file.read(UNFOUND_BYTES).decode("utf-8", "replace")
    return f"{said}; correct run.python in the settings"
