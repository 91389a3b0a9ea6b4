"""Waiting for work while the client is there."""

from __future__ import annotations

import asyncio

import pytest
from starlette.requests import ClientDisconnect, Request

from service.api.edge.connected import while_connected
from service.errors import Conflict


class Client:
    """A client that has sent everything, and may leave."""

    def __init__(self) -> None:
        self.left = asyncio.Event()
        self.request = Request({"type": "http"}, self._receive)
        self._sent = False

    async def _receive(self) -> dict[str, str]:
        if not self._sent:
            self._sent = True
            return {"type": "http.request"}
        await self.left.wait()
        return {"type": "http.disconnect"}


async def test_the_result_or_the_error_comes_through() -> None:
    async def work(error: Exception | None) -> int:
        await asyncio.sleep(0)
        if error is not None:
            raise error
        return 7

    assert await while_connected(Client().request, work(None)) == 7
    with pytest.raises(Conflict):
        await while_connected(Client().request, work(Conflict("no")))


async def test_work_for_a_client_that_left_is_given_up() -> None:
    ended = asyncio.Event()

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    client = Client()
    waiting = asyncio.create_task(while_connected(client.request, work()))
    await asyncio.sleep(0)
    client.left.set()
    with pytest.raises(ClientDisconnect):
        await waiting
    assert ended.is_set()


async def test_a_request_that_is_cancelled_takes_its_work_along() -> None:
    ended = asyncio.Event()

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    waiting = asyncio.create_task(while_connected(Client().request, work()))
    for _ in range(3):
        await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert ended.is_set()
