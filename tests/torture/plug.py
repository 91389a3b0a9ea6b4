"""Whoever pulls the plugs: at random moments of a round something is killed, stopped, or runs out of room."""

from __future__ import annotations

import asyncio
import itertools
import random
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass

from tests.fakes.embedding_server import Answer, Behaviour, EmbeddingServer, Request, Slow
from tests.torture.clients.ledger import Ledger
from tests.torture.disk import SmallDisk
from tests.torture.plant import Plant

_KINDS = {
    "kill api": 18,
    "kill worker": 18,
    "kill database": 14,
    "kill one backend": 16,
    "kill everything": 6,
    "kill parser": 4,
    "stop api": 5,
    "stop worker": 6,
    "fill disk": 10,
    "break embedder": 8,
}


@dataclass(frozen=True)
class Pull:
    """One plug: what, how many seconds after the beginning of the round, and for how long."""

    kind: str
    at: float
    seconds: float
    choice: float
    """From 0 to 1: which worker, which session."""


def plan(dice: random.Random, window: float) -> list[Pull]:
    """One to three plugs for a round, in their order in time."""
    kinds = dice.choices(list(_KINDS), weights=list(_KINDS.values()), k=dice.choices([1, 2, 3], weights=[5, 3, 2])[0])
    pulls = [Pull(kind, dice.uniform(0.1, window), dice.uniform(0, 0.5), dice.random()) for kind in kinds]
    return sorted(pulls, key=lambda pull: pull.at)


class Puller:
    """Pulls plugs, and puts them back after a while."""

    def __init__(
        self, plant: Plant, disk: SmallDisk, embedding: EmbeddingServer, ledger: Ledger, dice: random.Random
    ) -> None:
        self._plant, self._disk, self._embedding, self._ledger, self._dice = plant, disk, embedding, ledger, dice
        self._acts: dict[str, Callable[[Pull], Awaitable[None]]] = {
            "kill api": self._kill_api,
            "kill worker": self._kill_worker,
            "kill database": self._kill_database,
            "kill one backend": self._kill_backend,
            "kill everything": self._kill_everything,
            "kill parser": self._kill_parser,
            "stop api": self._stop_api,
            "stop worker": self._stop_worker,
            "fill disk": self._fill_disk,
            "break embedder": self._break_embedder,
        }
        self._turns = {name: asyncio.Lock() for name in ("api", "worker", "database", "disk", "embedder")}
        self._numbers = itertools.count()

    async def run(self, pulls: list[Pull]) -> None:
        """Pull all plugs of a round at their times; returns when everything is plugged in again."""
        async with asyncio.TaskGroup() as tasks:
            for pull in pulls:
                tasks.create_task(self._pull(pull))

    async def start_all(self) -> None:
        """Start what does not run."""
        await self._plant.start_database()
        if not self._plant.is_running("api"):
            await self._start_api()
        if not self._workers():
            self._start_workers()

    async def _pull(self, pull: Pull) -> None:
        await asyncio.sleep(pull.at)
        self._ledger.note(f"pull: {pull.kind} for {pull.seconds:.2f} s")
        self._ledger.count(pull.kind)
        await self._acts[pull.kind](pull)
        self._ledger.note(f"back: {pull.kind}")

    async def _kill_api(self, pull: Pull) -> None:
        async with self._turns["api"]:
            await self._plant.kill("api")
            await asyncio.sleep(pull.seconds)
            await self._start_api()

    async def _stop_api(self, _pull: Pull) -> None:
        async with self._turns["api"]:
            if not await self._plant.stop("api"):
                self._ledger.fault("fuzi serve does not end after SIGTERM")
            await self._start_api()

    async def _start_api(self) -> None:
        await self._plant.start_api(with_jobs=self._dice.random() < 0.5)

    def _workers(self) -> list[str]:
        return sorted(name for name in self._plant.pids if name.startswith("worker"))

    def _start_workers(self) -> None:
        for _ in range(self._dice.choice([1, 1, 2]) - len(self._workers())):
            self._plant.start_worker(f"worker {next(self._numbers)}")

    async def _kill_worker(self, pull: Pull) -> None:
        async with self._turns["worker"]:
            await self._plant.kill(self._chosen_worker(pull))
            await asyncio.sleep(pull.seconds)
            self._start_workers()

    async def _stop_worker(self, pull: Pull) -> None:
        async with self._turns["worker"]:
            if not await self._plant.stop(self._chosen_worker(pull)):
                self._ledger.fault("fuzi worker does not end after SIGTERM")
            self._start_workers()

    def _chosen_worker(self, pull: Pull) -> str:
        workers = self._workers()
        return workers[int(pull.choice * len(workers))]

    async def _kill_database(self, pull: Pull) -> None:
        async with self._turns["database"]:
            self._plant.kill_database()
            await asyncio.sleep(pull.seconds)
            if pull.choice < 0.5:
                await self._plant.start_database()
            elif not await self._plant.database_comes_back():
                self._ledger.fault("PostgreSQL was killed, and no process of ours has started it again")

    async def _kill_backend(self, pull: Pull) -> None:
        async with self._turns["database"]:
            title = self._plant.kill_backend(pull.choice)
            self._ledger.note(f"killed {title or 'no session: there is none'}")

    async def _kill_everything(self, pull: Pull) -> None:
        async with self._turns["api"], self._turns["worker"], self._turns["database"]:
            self._plant.kill_database()
            for name in list(self._plant.pids):
                await self._plant.kill(name)
            await asyncio.sleep(pull.seconds)
            # Nobody starts PostgreSQL: the service does, or a worker, whichever comes first.
            self._start_workers()
            await self._start_api()
            if not self._workers():
                self._start_workers()

    async def _kill_parser(self, pull: Pull) -> None:
        if not self._plant.kill_parser(pull.choice):
            self._ledger.note("there is no parser to kill")

    async def _fill_disk(self, pull: Pull) -> None:
        async with self._turns["disk"]:
            writer = self._plant.pids.get("api", 0)
            await asyncio.to_thread(self._disk.fill, writer, by_limit=pull.choice < 0.5)
            try:
                await asyncio.sleep(0.2 + pull.seconds)
            finally:
                await asyncio.to_thread(self._disk.free, writer)

    async def _break_embedder(self, pull: Pull) -> None:
        async with self._turns["embedder"]:
            faults = misbehaving(self._dice.randrange(3, 8), pull.choice)
            self._embedding.rule = lambda _request: next(faults, None)
            await asyncio.sleep(0.3 + pull.seconds)
            self._embedding.rule = _behaving


def misbehaving(count: int, choice: float) -> Iterator[Behaviour]:
    """So many wrong answers, fewer in a row than make the client's breaker open; then good ones."""
    wrong: list[Behaviour] = [
        Answer(429, headers={"Retry-After": "0.2"}),
        Answer(500),
        Slow(2),
        Answer(200, {"error": {"message": "overloaded", "code": 503}}),
    ]
    return itertools.islice(itertools.cycle(wrong[int(choice * len(wrong)) :] + wrong), count)


def _behaving(_request: Request) -> Behaviour | None:
    return None
