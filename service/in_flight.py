"""Several pieces of work at once; what fails first is raised as itself, without a group around it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager


@asynccontextmanager
async def tasks() -> AsyncIterator[asyncio.TaskGroup]:
    """A task group whose first failure cancels the rest and is raised as itself."""
    try:
        async with asyncio.TaskGroup() as group:
            yield group
    except BaseExceptionGroup as failures:
        first = failures.exceptions[0]
        raise first from first.__cause__


async def happens_within(event: asyncio.Event, seconds: float) -> bool:
    """Wait for an event, at most so long; whether it has happened."""
    try:
        async with asyncio.timeout(seconds):
            return await event.wait()
    except TimeoutError:
        return event.is_set()


async def in_flight[Item](items: Iterable[Item], limit: int, work: Callable[[Item], Awaitable[None]]) -> None:
    """Runs ``work`` for every item, at most ``limit`` at once; starts in the order of the items. See `tasks`."""
    waiting = iter(items)

    async def pull() -> None:
        for item in waiting:
            await work(item)

    async with tasks() as group:
        for _ in range(limit):
            group.create_task(pull())
