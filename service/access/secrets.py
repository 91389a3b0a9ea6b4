"""The keys themselves: how they are made, shown and kept.

A key is 256 random bits, so its SHA-256 can be kept: there is no dictionary to try, and whoever reads the table would
have to guess the bits. A slow hash such as argon2 protects passwords that people choose; here it would only cost every
request some milliseconds.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass, field

KEY_PREFIX = "fuzi_"
_RANDOM_BYTES = 32
_SHOWN = len(KEY_PREFIX) + 6
# As they are made; longer ones are no keys, and are not worth a hash.
_POSSIBLE = re.compile(rf"{KEY_PREFIX}[A-Za-z0-9_-]{{43}}")


@dataclass(frozen=True, slots=True)
class NewKey:
    """A key that was just made. It is shown once; ``prefix`` and ``sha256`` are kept."""

    key: str = field(repr=False)
    prefix: str
    sha256: bytes = field(repr=False)


def make_key(random_bytes: Callable[[int], bytes]) -> NewKey:
    """Make a key of 256 bits, such as ``fuzi_`` and 43 letters, digits, ``-`` or ``_``.

    Args:
        random_bytes: a source fit for secrets, such as `secrets.token_bytes`.
    """
    key = KEY_PREFIX + base64.urlsafe_b64encode(random_bytes(_RANDOM_BYTES)).rstrip(b"=").decode("ascii")
    return NewKey(key, key[:_SHOWN], sha256_of(key))


def is_possible(key: str) -> bool:
    """True when a text has the form of a key."""
    return _POSSIBLE.fullmatch(key) is not None


def sha256_of(key: str) -> bytes:
    """What is kept of a key."""
    return hashlib.sha256(key.encode("utf-8")).digest()
