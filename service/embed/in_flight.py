"""Several pieces of work at once, never more than a limit."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable


async def in_flight[Item](items: Iterable[Item], limit: int, work: Callable[[Item], Awaitable[None]]) -> None:
    """Runs ``work`` for every item, at most ``limit`` at once; starts in the order of the items.

    The first failure cancels the rest and is raised as itself, without a group around it.
    """
    waiting = iter(items)

    async def pull() -> None:
        for item in waiting:
            await work(item)

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(limit):
                group.create_task(pull())
    except BaseExceptionGroup as failures:
        first = failures.exceptions[0]
        raise first from first.__cause__
