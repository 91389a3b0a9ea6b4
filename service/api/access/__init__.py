"""Who may do what over HTTP.

`Authentication` puts a `Principal` into the state of every request, those to mounted applications included:
``scope["state"]["principal"]``, or ``request.state.principal``. Routes of the REST service declare what they are for by
one of `READ`, `WRITE` and `ADMIN` among their dependencies, and take a `Caller` to ask what may be seen:

    @router.get("/{name}", dependencies=[READ])
    async def look_at(name: Name, caller: Caller) -> …:
        if not caller.may_see(name): …

Mounted applications ask the principal themselves: ``principal.may(AccessScope.READ)``.
"""

from service.api.access.authentication import Authentication, principal_of
from service.api.access.scopes import ADMIN, READ, WRITE, Caller

__all__ = ["ADMIN", "READ", "WRITE", "Authentication", "Caller", "principal_of"]
