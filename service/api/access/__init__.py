"""Who may do what over HTTP.

`Authentication` puts a `Principal` into the state of every request, those to mounted applications included:
``scope["state"]["principal"]``, or ``request.state.principal``. Routes of the REST service declare what they are for by
one of `READ`, `WRITE` and `ADMIN` among their dependencies, and take a `Caller` to ask what may be seen:

    @router.get("/{name}", dependencies=[READ])
    async def look_at(name: Name, caller: Caller) -> …:
        if not caller.may_see(name): …

Searches get ``within=caller.visible()``. Mounted applications ask the principal themselves:
``principal.may(AccessScope.READ)``, or `require`.

The console lets people log in by ``await gate_of(request.scope).keyring.authenticate(key)`` and `keep_key`; its login
is at `LOGIN_PATH`, and its files below ``/static/`` are public.
"""

from service.api.access.authentication import LOGIN_PATH, Authentication, principal_of
from service.api.access.credentials import KEY_COOKIE, forget_key, keep_key
from service.api.access.gate import Gate, check_exposure, gate_of, open_gate
from service.api.access.scopes import ADMIN, READ, WRITE, Caller, Requirement, require, require_all
from service.api.access.security_headers import CORS, SecurityHeaders

__all__ = [
    "ADMIN",
    "CORS",
    "KEY_COOKIE",
    "LOGIN_PATH",
    "READ",
    "WRITE",
    "Authentication",
    "Caller",
    "Gate",
    "Requirement",
    "SecurityHeaders",
    "check_exposure",
    "forget_key",
    "gate_of",
    "keep_key",
    "open_gate",
    "principal_of",
    "require",
    "require_all",
]
