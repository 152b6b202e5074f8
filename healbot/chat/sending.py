"""One request to a model's server and what came of it: a whole answer, or why there is none.

Knows HTTP; no API, price or retry. Redirects are not followed, nothing is read from the environment
but the certificates and the proxy that are handed in, and no exception of the HTTP library leaves
here: it would carry the request, and so the key.
"""

import asyncio
import json
import logging
import ssl
from collections.abc import Mapping
from typing import Any, NamedTuple

CONNECT_SECONDS = 15.0
"""How long a connection may take to be there, where the deadline is not nearer."""
BODY_BYTES = 16_000_000
"""The longest answer that is read: many times what the largest models write, reasoning included."""
TALKERS = ("httpx", *(f"httpcore.{name}" for name in ("connection", "http11", "proxy", "socks")))
"""Loggers that would write down headers of answers, in which some servers repeat the key."""
_LINE = {"accept": "application/json", "accept-encoding": "identity"}


class Reply(NamedTuple):
    """An answer of HTTP; names of headers are lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Lost(NamedTuple):
    """No answer: why, in words after "because", and whether another try may fare better."""

    why: str
    again: bool


class Route(NamedTuple):
    """Where requests go and how they get there."""

    url: str
    headers: Mapping[str, str]
    proxy: str | None
    tls: ssl.SSLContext


def tls_of(environment: Mapping[str, str]) -> ssl.SSLContext:
    """Return what certificates are held against: the system's, or SSL_CERT_FILE and SSL_CERT_DIR.

    Raises:
        OSError: They can't be read.
    """
    file, folder = (environment.get(f"SSL_CERT_{kind}") for kind in ("FILE", "DIR"))
    return ssl.create_default_context(cafile=file or None, capath=folder or None)


def send(route: Route, body: Mapping[str, Any], limit_seconds: float) -> Reply | Lost:
    """Post JSON and read the whole answer, in ``limit_seconds`` altogether."""
    import httpx  # noqa: PLC0415 - only where a model is asked, and it loads slowly

    for name in TALKERS:
        logging.getLogger(name).setLevel(logging.WARNING)
    try:
        return asyncio.run(_post(route, content_of(body), limit_seconds))
    except (httpx.ConnectError, httpx.ConnectTimeout) as error:
        if "CERTIFICATE_VERIFY_FAILED" in str(error):
            return Lost("its certificate is not trusted; see SSL_CERT_FILE", again=False)
        return Lost("it can't be reached", again=True)
    except httpx.ProxyError:
        return Lost("the proxy refused", again=True)
    except (httpx.UnsupportedProtocol, httpx.InvalidURL, httpx.LocalProtocolError, ValueError):
        return Lost("the request can't be sent; see base_url and proxy_env", again=False)
    except (httpx.HTTPError, httpx.StreamError, OSError) as error:
        return Lost(f"the connection broke ({type(error).__name__})", again=True)


def content_of(body: Mapping[str, Any]) -> bytes:
    """Return JSON in UTF-8; half characters, which UTF-8 has none of, become question marks."""
    return json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")


async def _post(route: Route, content: bytes, limit_seconds: float) -> Reply | Lost:
    import httpx  # noqa: PLC0415 - see above

    begun = False
    size = 0
    parts: list[bytes] = []
    headers = {"content-type": "application/json", **_LINE, **route.headers}
    patience = httpx.Timeout(None, connect=CONNECT_SECONDS)
    client = httpx.AsyncClient(
        proxy=route.proxy, verify=route.tls, trust_env=False, timeout=patience
    )
    try:
        async with (
            asyncio.timeout(limit_seconds),
            client,
            client.stream("POST", route.url, content=content, headers=headers) as got,
        ):
            begun = True
            async for data in got.aiter_bytes():
                size += len(data)
                if size > BODY_BYTES:
                    return Lost(f"its answer is longer than {BODY_BYTES:,} bytes", again=False)
                parts.append(data)
            return Reply(got.status_code, dict(got.headers), b"".join(parts))
    except TimeoutError:
        what = "its answer was not whole" if begun else "it did not answer"
        return Lost(f"{what} within {limit_seconds:.3g} seconds", again=not begun)
