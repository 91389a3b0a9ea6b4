"""Clients that ask one question after the other, in a process of its own that is told by lines of JSON.

Only the standard library: programs of the peers' virtual environment use it as well.
"""

from __future__ import annotations

import asyncio
import gc
import itertools
import json
import sys
import time
from collections.abc import Awaitable, Callable
from typing import Any

type Ask = Callable[[int, int], Awaitable[str]]
"""Takes the number of the client and that of the question, gives the outcome: `ok`, or what went wrong."""
type Handler = Callable[[dict[str, Any]], Awaitable[dict[str, Any]]]

WARM_UP = 2
"""Questions of each client that are not counted."""


async def drive(ask: Ask, clients: int, seconds: float) -> dict[str, Any]:
    """Let so many clients ask for so long; the last questions are waited for.

    Returns:
        ``milliseconds`` of the questions by outcome, and the ``seconds`` that passed.
    """
    numbers = itertools.count()
    for _ in range(WARM_UP):
        await asyncio.gather(*(ask(client, next(numbers)) for client in range(clients)))
    milliseconds: dict[str, list[float]] = {}
    gc.collect()
    begin = time.perf_counter()

    async def client(place: int) -> None:
        while (start := time.perf_counter()) < begin + seconds:
            outcome = await ask(place, next(numbers))
            milliseconds.setdefault(outcome, []).append(round((time.perf_counter() - start) * 1000, 3))

    await asyncio.gather(*(client(place) for place in range(clients)))
    return {"milliseconds": milliseconds, "seconds": time.perf_counter() - begin}


def speak(handler: Handler) -> None:
    """Answer each line of standard input with a line; what else is printed goes to standard error.

    An exception ends the process, its text is the last answer.
    """
    out, sys.stdout = sys.stdout, sys.stderr

    async def talk() -> None:
        while line := await asyncio.to_thread(sys.stdin.readline):
            try:
                answer = await handler(json.loads(line))
            except Exception as error:
                print(json.dumps({"failed": f"{type(error).__name__}: {error}"}), file=out, flush=True)
                raise
            print(json.dumps(answer), file=out, flush=True)

    asyncio.run(talk())
