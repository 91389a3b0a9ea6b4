"""What the words in a message of Tika mean."""

from __future__ import annotations

import re

from service.errors import Encrypted, ExtractionFailed, ExtractionLimit

_ENCRYPTED = re.compile(r"encrypt|password", re.IGNORECASE)
_BOMB = re.compile(r"zip ?bomb|write limit|outofmemory", re.IGNORECASE)
_NESTED = re.compile(r"runtimeexception from org\.apache\.tika\.parser\.pkg", re.IGNORECASE)


def failure_of(message: str, *, otherwise: ExtractionFailed) -> ExtractionFailed:
    """The error that a message of Tika stands for, ``otherwise`` when its words tell nothing."""
    reason = message[:300]
    if _ENCRYPTED.search(message):
        return Encrypted("the file is encrypted and needs a password")
    if _BOMB.search(message):
        return ExtractionLimit("the file unpacks to far more than its size (a decompression bomb)", reason=reason)
    if _NESTED.search(message):
        return ExtractionLimit("the archives in this file are nested too deep", reason=reason)
    return otherwise
