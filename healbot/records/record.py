"""What every record has in common: closed, frozen, one canonical text.

Knows pydantic and hashing only. Canonical JSON is what digests are taken of, so it must never
depend on field order, locale or machine.
"""

import hashlib
import json
from typing import Any

from pydantic import BaseModel, ConfigDict

DIGEST_SHOWN = 12
"""How many hexadecimal digits of a digest people are shown."""


class Record(BaseModel):
    """A closed, frozen value: an unknown field is an error, and nothing changes after birth."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


def canonical(value: Any) -> str:
    """Render plain JSON data as its one canonical text (sorted keys, no spaces, UTF-8)."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def digest_bytes(data: bytes) -> str:
    """Return the SHA-256 of bytes as 64 hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()


def digest_of(value: Any) -> str:
    """Return the SHA-256 of a record's or of plain JSON data's canonical text."""
    plain = value.model_dump(mode="json", by_alias=True) if isinstance(value, BaseModel) else value
    return digest_bytes(canonical(plain).encode("utf-8", "surrogatepass"))


def shown(digest: str) -> str:
    """Shorten a digest for people."""
    return digest[:DIGEST_SHOWN]
