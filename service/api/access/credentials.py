"""Where a request carries its key, and whether a browser was made to send it by a page of another site."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import urlsplit

from starlette.requests import HTTPConnection
from starlette.responses import Response
from starlette.types import Scope

from service.errors import OriginRefused

KEY_COOKIE = "fuzi_key"

_SAFE_METHODS = {"GET", "HEAD", "OPTIONS"}
_OUR_OWN = {"same-origin", "none"}  # "none": the person typed the address, or chose a bookmark
_NOBODYS = {"localhost", "local", "internal", "test"}
_WEEK_SECONDS = 7 * 24 * 3600
_HOST = re.compile(r"(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::\d+)?")


@dataclass(frozen=True, slots=True)
class Credential:
    """A key as it was sent; a browser adds a cookie by itself, whoever wrote the page."""

    key: str | None
    from_cookie: bool = False

    def __repr__(self) -> str:
        """Leave the key out."""
        return f"Credential(given={self.key is not None}, from_cookie={self.from_cookie})"


def credential_of(scope: Scope) -> Credential:
    """Find the key of a request: ``Authorization: Bearer``, else ``X-API-Key``, else the cookie of the console.

    An ``Authorization`` of another scheme counts as a key that is not valid, so that it is not overlooked.
    """
    connection = HTTPConnection(scope)
    authorization = connection.headers.get("authorization")
    if authorization is not None:
        scheme, _, key = authorization.partition(" ")
        return Credential(key.strip() if scheme.lower() == "bearer" else authorization)
    header = connection.headers.get("x-api-key")
    if header is not None:
        return Credential(header.strip())
    cookie = connection.cookies.get(KEY_COOKIE)
    return Credential(cookie or None, from_cookie=bool(cookie))


def check_origin(scope: Scope, credential: Credential, allowed: Sequence[str]) -> None:
    """Refuse changes that a browser sends for a page of another site: with its cookie, or where no key is needed.

    Args:
        allowed: origins of other sites whose pages may ask. They have to send a key, or no key is needed.

    Raises:
        OriginRefused: the page is of another site; with a cookie also when the browser does not say of which.
    """
    by_header = credential.key is not None and not credential.from_cookie
    if scope["method"] in _SAFE_METHODS or by_header:
        return
    headers = HTTPConnection(scope).headers
    origin, fetched_from = headers.get("origin"), headers.get("sec-fetch-site")
    if origin in allowed and not credential.from_cookie:
        return
    if fetched_from is not None:
        is_own = fetched_from in _OUR_OWN
    elif origin is not None:
        is_own = urlsplit(origin).netloc == headers.get("host")
    else:
        is_own = not credential.from_cookie
    if not is_own:
        raise OriginRefused(
            "this request comes from a page of another site; FUZI_SERVER__ALLOWED_ORIGINS names those that may ask"
        )


def check_host(scope: Scope, allowed: Sequence[str]) -> None:
    """Refuse a name that somebody else may have pointed at this machine, where no key is needed.

    A page of another site could be reached under the same name a moment before (DNS rebinding), and then the browser
    takes what is answered here for that site's own. Addresses, names without a dot and names that no registry gives
    out cannot be such a name.

    Args:
        allowed: origins by which the service is reached too, through a proxy.

    Raises:
        OriginRefused: the name of ``Host`` may be anybody's.
    """
    host = HTTPConnection(scope).headers.get("host", "")
    if _HOST.fullmatch(host) is not None and _is_nobodys(host, allowed):
        return
    raise OriginRefused(
        f"a service that asks for no key is not reached as {host[:200]}: make a key by `fuzi keys create`, or add "
        "that origin to FUZI_SERVER__ALLOWED_ORIGINS"
    )


def _is_nobodys(host: str, allowed: Sequence[str]) -> bool:
    name = (urlsplit(f"//{host}").hostname or "").rstrip(".")
    if "." not in name or name.rpartition(".")[2] in _NOBODYS or host in {urlsplit(each).netloc for each in allowed}:
        return True
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def keep_key(response: Response, key: str, *, secure: bool) -> None:
    """Let the browser of the console send this key from now on, for a week; no script can read it.

    Args:
        secure: only over HTTPS, for a page that came that way.
    """
    response.set_cookie(
        KEY_COOKIE, key, max_age=_WEEK_SECONDS, path="/", secure=secure, httponly=True, samesite="strict"
    )


def forget_key(response: Response) -> None:
    """Let the browser of the console forget the key."""
    response.delete_cookie(KEY_COOKIE, path="/", httponly=True, samesite="strict")
