"""Who may not do what they ask for."""

from __future__ import annotations

from service.errors.requests import Conflict, NotFound
from service.errors.root import FuziError


class Unauthenticated(FuziError):
    """The request does not say well enough who makes it."""

    code = "unauthenticated"
    http_status = 401


class KeyMissing(Unauthenticated):
    """The service wants an API key, and the request has none."""

    code = "key_missing"


class KeyInvalid(Unauthenticated):
    """The API key is unknown, revoked or expired."""

    code = "key_invalid"


class Forbidden(FuziError):
    """Known who asks, but not allowed."""

    code = "forbidden"
    http_status = 403


class ScopeMissing(Forbidden):
    """The API key is not for this; ``details`` has the scope that it lacks."""

    code = "scope_missing"


class OriginRefused(Forbidden):
    """A browser sent this for a page of another site."""

    code = "origin_refused"


class KeyNotFound(NotFound):
    """No API key has this id, prefix or name, or several have it."""

    code = "key_not_found"


class KeyNameTaken(Conflict):
    """A valid API key has this name."""

    code = "key_name_taken"
    retryable = False


class WrongKeyState(Conflict):
    """The API key is revoked, expired or rotated already."""

    code = "wrong_key_state"
    retryable = False


class RateLimited(FuziError):
    """The API key has made as many requests as it may for now; ``details`` says when to try again."""

    code = "rate_limited"
    http_status = 429
    retryable = True
