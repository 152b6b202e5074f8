"""Running an agent that is a server: one POST of JSON, one answer.

Knows one way of running (``RunSettings.http``) and the texts in the workspace that it is given; it
does not know checks, revisions or splits. The server sees no workspace, so the body carries what it
needs::

    {"input": text, "messages": [{"role": "user", "content": text}], "agent": name,
     "case_id": id, "seed": whole number, "instructions": text, "skills": {name: text of SKILL.md},
     "files": {path: text}}

``instructions`` and ``skills`` are those to be tried now, whatever the server has of its own;
``files`` are the case's. The answer is ``{"output": text, "tokens", "usd", "tool_calls",
"skills_read", "rules_read"}``, all but ``output`` optional and as in a run report, or any other
body, which then is the output itself. Status 2xx is a run. Any other status, a redirect and a
connection that fails or breaks are none (``not-started``): they tell nothing of the texts. Nothing
is sent twice, and what code the server runs is not in the digest: nobody can see it from here.
"""

import asyncio
import json
import re
import ssl
from collections.abc import Mapping
from functools import cached_property
from http import HTTPStatus
from ipaddress import ip_address
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from healbot.errors import HealbotError, InputError
from healbot.records.record import digest_of
from healbot.records.run import Job, Trace
from healbot.records.settings import VARIABLE, AgentSettings, RunSettings
from healbot.runners.capture import Capture
from healbot.runners.letters import BODY_BYTES, letter, understood
from healbot.runners.program import text_of, unstarted

PLAIN_HEADERS = {"accept-encoding": "identity", "content-type": "application/json"}
_NOT_YOURS = frozenset({"host", "content-length", "transfer-encoding", "connection"})
_TOKEN = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_PRINTED = re.compile(r"[\x20-\x7e\t]*")
_STEP = "Correct run.http or run.headers in the settings."


class _Heard(NamedTuple):
    """An answer as it came; ``body`` is what was there at the timeout where ``late``."""

    body: Capture
    status: int = 0
    duration_seconds: float = 0.0
    late: bool = False


class _UnsentError(Exception):
    """The request can't be made; the text says why, without any value."""


class HttpRunner:
    """The ``http`` way of running an agent; safe to use from many threads.

    Args:
        environment: The real variables. ``settings.env`` names those that headers may hold as
            ``${NAME}``; where it lists ``HTTPS_PROXY`` or ``HTTP_PROXY``, that proxy is used.

    Raises:
        InputError: The URL or a header can't be used; or a variable would go to another machine
            unencrypted.
    """

    def __init__(
        self, settings: RunSettings, agent: AgentSettings, *, environment: Mapping[str, str]
    ) -> None:
        self._settings = settings
        self._agent = agent
        self._environment = environment
        self._url = _checked(settings)

    @cached_property
    def digest(self) -> str:
        """Names this way of running: URL, headers as written, setup, time limit, variables' names.

        No value of a variable is in it.
        """
        return digest_of(
            {
                "kind": "http",
                "http": self._url,
                "headers": self._settings.headers,
                "env": sorted(set(self._settings.env)),
                "setup": self._settings.setup,
                "timeout_seconds": self._settings.timeout_seconds,
            }
        )

    def attempt(self, job: Job) -> Trace:
        """Ask the server once; ``not-started``, with the reason in ``notes``, where none came."""
        why = _impossible(job)
        if why:
            return unstarted(job, why)
        import httpx  # noqa: PLC0415 - only this way of running needs it, and it loads slowly

        try:
            body = json.dumps(letter(job, self._agent)).encode("ascii")
            return self._trace(job, asyncio.run(self._ask(body)))
        except _UnsentError as reason:
            why = str(reason)
        except HealbotError as error:
            why = error.what
        except httpx.ConnectError:
            why = "the agent's server can't be reached"
        except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError, ValueError, OSError) as error:
            why = f"the connection to the agent's server failed ({type(error).__name__})"
        return unstarted(job, why)

    def close(self) -> None:
        """Nothing is left anywhere."""

    async def _ask(self, body: bytes) -> _Heard:
        import httpx  # noqa: PLC0415 - see above

        headers = {**PLAIN_HEADERS, **self._headers()}
        capture = Capture(BODY_BYTES)
        options: dict[str, Any] = {"proxy": self._proxy(), "verify": self._tls, "trust_env": False}
        limit = self._settings.timeout_seconds
        try:
            async with asyncio.timeout(limit), httpx.AsyncClient(**options, timeout=None) as client:  # noqa: S113 - the limit around it is of the whole
                async with client.stream("POST", self._url, content=body, headers=headers) as got:
                    async for data in got.aiter_bytes():
                        capture.feed(data)
                return _Heard(capture, got.status_code, got.elapsed.total_seconds())
        except TimeoutError:
            return _Heard(capture, duration_seconds=limit, late=True)

    def _headers(self) -> dict[str, str]:
        values = self._secrets()
        filled = {
            name.lower(): VARIABLE.sub(lambda match: values[match[1]], value)
            for name, value in self._settings.headers.items()
        }
        for name, value in filled.items():
            if not _PRINTED.fullmatch(value):
                raise _UnsentError(f"the header {name!r} would hold what no header may hold")
        return filled

    def _secrets(self) -> dict[str, str]:
        """Return the variables that headers name, with their values."""
        names = {
            name for value in self._settings.headers.values() for name in VARIABLE.findall(value)
        }
        missing = sorted(name for name in names if not self._environment.get(name))
        if missing:
            raise _UnsentError(f"the variable {missing[0]}, which a header names, is not set")
        return {name: self._environment[name] for name in names}

    def _proxy(self) -> str | None:
        name = f"{urlsplit(self._url).scheme}_proxy".upper()
        if name not in self._settings.env or _is_here(self._url):
            return None
        return self._environment.get(name) or None

    @cached_property
    def _tls(self) -> ssl.SSLContext:
        file, folder = (self._environment.get(f"SSL_CERT_{kind}") for kind in ("FILE", "DIR"))
        return ssl.create_default_context(cafile=file or None, capath=folder or None)

    def _trace(self, job: Job, heard: _Heard) -> Trace:
        if not heard.late and not HTTPStatus.OK <= heard.status < HTTPStatus.MULTIPLE_CHOICES:
            return unstarted(job, _refusal(heard.status))
        said = understood(heard.body, self._secrets())
        return Trace(
            root=job.root,
            folder=job.folder,
            ended="timed-out" if heard.late else "exited",
            exit_code=None if heard.late else 0,
            stdout=said.output,
            truncated=said.truncated,
            duration_seconds=heard.duration_seconds,
            usage=said.seen.usage,
            tool_calls=said.seen.tool_calls,
            skills_read=said.seen.skills_read,
            rules_read=said.seen.rules_read,
            notes=said.seen.notes,
        )


def _impossible(job: Job) -> str:
    """Say what of a case no server can be given, or nothing."""
    if text_of(job.case) is None:
        return "an http agent can't converse with a simulated user"
    if job.case.workspace is not None:
        return "an http agent can't be given the case's workspace folder"
    return ""


def _refusal(status: int) -> str:
    if HTTPStatus.MULTIPLE_CHOICES <= status < HTTPStatus.BAD_REQUEST:
        return f"the agent's server answered {status}, a redirect, which is not followed"
    return f"the agent's server answered {status}"


def _checked(settings: RunSettings) -> str:
    """Return the URL; refuse one that can't be used, and secrets that would travel in the clear."""
    url = settings.http or ""
    try:
        parts = urlsplit(url)
        sound = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        sound = False
    if not sound or not url.isascii() or not url.isprintable() or " " in url:
        raise InputError("run.http is no URL of a server (http://… or https://…).", _STEP)
    if parts.username is not None or parts.password is not None:
        raise InputError(
            "run.http holds a name or password.", "Put it into run.headers, as ${NAME} from env."
        )
    for name, value in settings.headers.items():
        if not _TOKEN.fullmatch(name) or name.lower() in _NOT_YOURS:
            raise InputError(f"run.headers: {name[:60]!r} can't be set.", _STEP)
        if VARIABLE.search(value) and parts.scheme == "http" and not _is_here(url):
            raise InputError(
                f"run.headers: {name!r} would travel unencrypted to {parts.hostname}.",
                "Use https, or leave that header out.",
            )
    return url


def _is_here(url: str) -> bool:
    """Say whether a URL is of this machine."""
    host = urlsplit(url).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
