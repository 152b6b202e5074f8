"""Where a model's server is: which base URLs are taken, and what stands at their end.

Knows URLs and settings; no network and no key's value.
"""

from ipaddress import ip_address
from urllib.parse import SplitResult, urlsplit

from healbot.chat.wire import Wire
from healbot.errors import InputError
from healbot.records.settings import ModelSettings

_STEP = "Correct base_url in the settings."


def url_of(settings: ModelSettings, wire: Wire, part: str) -> str:
    """Return the URL of requests.

    A base may end in what the vendor's own base ends in or leave it out, and may be the whole URL;
    ``part`` is which model it is, for messages.

    Raises:
        InputError: The base URL can't be used, or would carry the key and texts unencrypted.
    """
    base = settings.base_url or wire.base_url
    where = f"models.{part}.base_url"
    parts = _split(base)
    if parts is None or not base.isascii() or not base.isprintable() or " " in base:
        raise InputError(f"{where} is no URL of a server (https://…).", _STEP)
    if parts.username is not None or parts.password is not None:
        raise InputError(
            f"{where} holds a name or password.", "Put it into a variable; name that in key_env."
        )
    if parts.query or parts.fragment:
        raise InputError(f"{where} holds more than a server and a path.", _STEP)
    if parts.scheme == "http" and not is_here(base) and not settings.plain_http:
        raise InputError(
            f"{where}: the key and your texts would travel unencrypted to {parts.hostname}.",
            "Use https, or set plain_http: true where you trust the network in between.",
        )
    return _joined(base.rstrip("/"), wire.path)


def _split(base: str) -> SplitResult | None:
    try:
        parts = urlsplit(base)
        sound = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return None
    return parts if sound else None


def _joined(base: str, path: str) -> str:
    """Join, not repeating what the base ends in already (``…/v1`` and ``/v1/messages``)."""
    for cut in range(len(path), 0, -1):
        if (cut == len(path) or path[cut] == "/") and base.endswith(path[:cut]):
            return base + path[cut:]
    return base + path


def server_of(url: str) -> str:
    """Return the host of a URL, with its port where one is written, for people and digests."""
    return urlsplit(url).netloc


def is_here(url: str) -> bool:
    """Say whether a URL is of this machine."""
    host = urlsplit(url).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
