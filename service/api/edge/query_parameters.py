"""Query parameters that a route does not have are refused: with `?waitt=true` nobody would wait for the upload."""

from __future__ import annotations

from fastapi import FastAPI, Request

from service.api.edge.error_handlers import invalid_request


async def only_known(request: Request) -> None:
    """Dependency of every route under `/v1`. It waits for nothing: a plain function would be sent to another thread.

    Raises:
        InvalidRequest: the query has parameters that the OpenAPI document does not name for this route.
    """
    asked = dict.fromkeys(request.query_params)
    if not asked:
        return
    known = _known(request.app, request.scope["route"].path_format, request.method.lower())
    message = f"there is no such query parameter; this route has {', '.join(known) or 'none'}"
    unknown = [{"type": "extra", "loc": ("query", name), "msg": message} for name in asked if name not in known]
    if unknown:
        raise invalid_request(unknown, "")


def _known(app: FastAPI, path: str, method: str) -> list[str]:
    """Names of the query parameters of a route, in the order of the document, which is made once."""
    parameters = app.openapi()["paths"][path][method].get("parameters", [])
    return [parameter["name"] for parameter in parameters if parameter["in"] == "query"]
