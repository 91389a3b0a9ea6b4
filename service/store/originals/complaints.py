"""What an object store complains of, in words that say what to do."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Self

from obstore.exceptions import PermissionDeniedError, UnauthenticatedError

_DEBUG = "\n\nDebug source:"
_CODE = re.compile(r"<Code>(\w+)</Code>")
_MESSAGE = re.compile(r"<Message>([^<]*)</Message>")
_KEYS = "check FUZI_ORIGINALS__ACCESS_KEY and FUZI_ORIGINALS__SECRET_KEY"
_MENDS = {
    "NoSuchBucket": "create it, or name another one in FUZI_ORIGINALS__URL",
    "InvalidAccessKeyId": _KEYS,
    "SignatureDoesNotMatch": _KEYS,
    "InvalidToken": _KEYS,
    "AccessDenied": f"{_KEYS}, and that they may list, read, write and delete",
    "AuthorizationHeaderMalformed": "check FUZI_ORIGINALS__REGION",
    "PermanentRedirect": "check FUZI_ORIGINALS__REGION and FUZI_ORIGINALS__ENDPOINT",
    "RequestTimeTooSkewed": "set the clock of this machine",
}


@dataclass(frozen=True, slots=True)
class Complaint:
    """Why a store refused; ``mend`` is there when only its operator can help."""

    store: str
    reason: str
    mend: str | None

    @classmethod
    def of(cls, error: Exception, store: str) -> Self:
        """Read an error of obstore or of the file system."""
        text = str(error).partition(_DEBUG)[0]
        code, message = _CODE.search(text), _MESSAGE.search(text)
        if code is not None:
            return cls(store, f"{code[1]} ({message[1]})" if message else code[1], _MENDS.get(code[1]))
        if isinstance(error, PermissionDeniedError | UnauthenticatedError | PermissionError):
            return cls(store, " ".join(text.split()), f"see that this process may write to {store}")
        return cls(store, " ".join(text.split()), None)

    @property
    def for_the_operator(self) -> bool:
        """True when trying again does not help before somebody mends it."""
        return self.mend is not None

    def __str__(self) -> str:
        return f"{self.store}: {self.reason}" + (f"; {self.mend}" if self.mend else "")
