"""Waiting for a client that may have gone."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

from starlette.requests import ClientDisconnect, Request


async def while_connected[Result](request: Request, work: Coroutine[Any, Any, Result]) -> Result:
    """Return the result of ``work``, or give it up when the client goes away first.

    The request's body must have been read to its end.

    Raises:
        ClientDisconnect: the client went away.
    """
    working = asyncio.create_task(work)
    leaving = asyncio.create_task(_left(request))
    try:
        await asyncio.wait({working, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise ClientDisconnect
        return working.result()
    finally:
        working.cancel()
        leaving.cancel()
        await asyncio.gather(working, leaving, return_exceptions=True)


async def _left(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
