"""What a route is for, and who asks."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Request
from fastapi.openapi.models import HTTPBearer
from fastapi.security.base import SecurityBase

from service.api.access.authentication import principal_of
from service.errors import ScopeMissing
from service.types import AccessScope, Principal


class Requirement(SecurityBase):
    """Lets a route run for whoever has a scope; OpenAPI shows that it wants a key."""

    def __init__(self, scope: AccessScope) -> None:
        self.scope = scope
        self.scheme_name = "api_key"
        self.model = HTTPBearer(description="An API key, `fuzi keys create` makes one; `X-API-Key` takes it too")

    async def __call__(self, request: Request) -> None:
        """Check who asks.

        Raises:
            ScopeMissing: the key is for less than this.
        """
        if self.scope is not AccessScope.READ and request.method not in {"GET", "HEAD"}:
            request.state.changes = True  # so it is noted, allowed or not
        require(principal_of(request.scope), self.scope)


def require(principal: Principal, scope: AccessScope) -> None:
    """Check that somebody may do what a scope is for.

    Raises:
        ScopeMissing: the key is for less than this.
    """
    if not principal.may(scope):
        raise ScopeMissing(f"this needs an API key of scope {scope}", scope=str(scope))


def require_all(principal: Principal) -> None:
    """Check that no collection is hidden from somebody, for what is about all of them.

    Raises:
        ScopeMissing: the key is for some collections only.
    """
    if not principal.sees_all:
        raise ScopeMissing("this needs an API key for all collections", scope="all collections")


async def _caller(request: Request) -> Principal:
    return principal_of(request.scope)


READ = Depends(Requirement(AccessScope.READ))
"""For routes that show something, searches included."""

WRITE = Depends(Requirement(AccessScope.WRITE))
"""For routes that change documents and their jobs."""

ADMIN = Depends(Requirement(AccessScope.ADMIN))
"""For routes that change how the service or a collection works, and who may use it."""

Caller = Annotated[Principal, Depends(_caller)]
"""Who asks."""
