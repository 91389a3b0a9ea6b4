"""Rounds of a run: load while plugs are pulled, then quiet, then the checks."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import httpx
import psycopg

from service.config import Settings
from service.db.engine import create_engine
from service.flows import sweep
from service.queue.queue import open_queue
from service.store.originals import open_originals
from tests.fakes.embedding_server import EmbeddingServer
from tests.torture.checks import Checker
from tests.torture.clients.contents import Author
from tests.torture.clients.ledger import Ledger, Source
from tests.torture.clients.load import Client, Reader, Writer
from tests.torture.clients.searches import SearchChecker
from tests.torture.disk import SmallDisk
from tests.torture.plant import Plant
from tests.torture.plug import Puller, plan

_WINDOW_SECONDS = 0.9
_AFTERMATH_SECONDS = 0.2
_QUIET_SECONDS = 120
_STRAY_SECONDS = 20
_COMPLETE_EVERY = 10
_WRITERS, _READERS = 3, 2


@dataclass
class Torture:
    """One home under torture."""

    plant: Plant
    disk: SmallDisk
    embedding: EmbeddingServer
    seed: int

    def __post_init__(self) -> None:
        self.dice = random.Random(self.seed)
        self.ledger = Ledger()
        self.author = Author(random.Random(self.dice.random()))
        self.checker = Checker(self.ledger, self.author.written, self.disk.folder)
        self.puller = Puller(self.plant, self.disk, self.embedding, self.ledger, random.Random(self.dice.random()))
        own = [[f"writer {number}/{place}" for place in range(8)] for number in range(_WRITERS)]
        shared = [f"shared/{place}" for place in range(3)]
        names = [name for names in own for name in names] + shared
        self.ledger.sources = {name: Source(name) for name in names}
        self._sources_of = [[self.ledger.sources[name] for name in names + shared] for names in own]
        self.longest_quiet = 0.0
        self.seconds: dict[str, float] = {}

    async def run(self, rounds: int) -> None:
        """Do the rounds; ends at the first fault, which the ledger tells."""
        async with httpx.AsyncClient(base_url=self.plant.url) as http:
            client = Client(http, self.ledger)
            for number in range(1, rounds + 1):
                await self._round(client, number, completely=number % _COMPLETE_EVERY == 0 or number == rounds)
                if self.ledger.faults:
                    return
                self.ledger.count("rounds")

    async def _round(self, client: Client, number: int, *, completely: bool) -> None:
        begun = time.monotonic()
        dice = random.Random(self.dice.random())
        self.ledger.note(f"--- round {number}")
        self.embedding.requests.clear()
        await self.puller.start_all()
        async with self._load(client, dice):
            await self.puller.run(plan(dice, _WINDOW_SECONDS))
            await asyncio.sleep(max(_AFTERMATH_SECONDS, begun + _WINDOW_SECONDS - time.monotonic()))
        loaded = time.monotonic()
        await self._until_quiet()
        quiet = time.monotonic()
        self.longest_quiet = max(self.longest_quiet, quiet - loaded)
        await self.check(client, completely=completely)
        took = time.monotonic()
        self.ledger.note(f"load {loaded - begun:.1f} s, quiet {quiet - loaded:.1f} s, checks {took - quiet:.1f} s")
        for what, seconds in (("load", loaded - begun), ("quiet", quiet - loaded), ("checks", took - quiet)):
            self.seconds[what] = self.seconds.get(what, 0) + seconds
        print(f"round {number}: {self.ledger.lines[-1]}", flush=True)

    @asynccontextmanager
    async def _load(self, client: Client, dice: random.Random) -> AsyncIterator[None]:
        """Writers and readers at work; at the end each finishes the request that it has begun."""
        stop = asyncio.Event()
        roles = [
            *(Writer(client, self.author, sources, random.Random(dice.random())) for sources in self._sources_of),
            *(Reader(client, self.author, random.Random(dice.random())) for _ in range(_READERS)),
        ]
        async with asyncio.TaskGroup() as tasks:
            for role in roles:
                tasks.create_task(role.run(stop))
            try:
                yield
            finally:
                stop.set()

    async def _until_quiet(self) -> None:
        deadline = time.monotonic() + _QUIET_SECONDS
        while True:
            await self._restart_what_ended()
            left = await asyncio.to_thread(self._unfinished)
            if not left:
                return
            if time.monotonic() > deadline:
                for line in left:
                    self.ledger.fault(f"not quiet after {_QUIET_SECONDS} s: {line}")
                return
            await asyncio.sleep(0.1)

    async def _restart_what_ended(self) -> None:
        for name in self.plant.ended_by_themselves():
            self.ledger.fault(f"{name} ended, and nobody killed it")
            del self.plant.pids[name]
        await self.puller.start_all()

    def _unfinished(self) -> list[str]:
        try:
            with psycopg.connect(self.plant.dsn, autocommit=True) as connection:
                return self.checker.unfinished(connection)
        except psycopg.OperationalError as error:
            return [f"PostgreSQL: {error}"]

    async def check(self, client: Client, *, completely: bool) -> None:
        """All checks; what a run has to find is written into the ledger as faults.

        Every round: the state of every source, spans, ordinals, counts and sentinels, originals, strays; new splits
        and searches for what the round has changed, and ``completely`` for everything.
        """
        found_orphans = await self._sweep()
        self.ledger.count("orphan originals found by the sweep", found_orphans)
        changed = [source for source in self.ledger.sources.values() if completely or source.touched]
        before = {source.name: set(source.visible) for source in changed}
        for line in await asyncio.to_thread(self._check_database, completely):
            self.ledger.fault(line)
        gone = {key for source in changed for key in before[source.name] - source.visible}
        await SearchChecker(client, self.author).check(changed, gone, completely=completely)
        for stray in await self._strays():
            self.ledger.fault(f"a process that nobody owns: {stray}")

    async def _strays(self) -> list[str]:
        """Processes without an owner that do not end by themselves."""
        deadline = time.monotonic() + _STRAY_SECONDS
        while (strays := self.plant.strays()) and time.monotonic() < deadline:
            await asyncio.sleep(0.2)
        return strays

    def _check_database(self, completely: bool) -> list[str]:
        with psycopg.connect(self.plant.dsn, autocommit=True) as connection:
            wrong = self.checker.chunks(connection, completely=completely)
            more, states = self.checker.documents(connection)
        for name, state in states.items():
            self.ledger.sources[name].observed(state)
        return wrong + more

    async def _sweep(self) -> int:
        """Sweep as workers do every ten minutes, but for objects of any age: nothing is on its way now."""
        settings = Settings(_env_file=None, home=self.plant.home)
        dsn = self.plant.dsn
        engine = create_engine(dsn, settings.database, settings.search)
        originals = open_originals(settings.originals, settings.home, lambda: datetime.now(UTC), uuid4)
        try:
            async with open_queue(dsn) as queue:
                parts = sweep.SweepParts(engine, originals, queue, settings.jobs, settings.limits, timedelta(0))
                orphans = await sweep.note_orphans(parts) + await sweep.remove_unfinished_uploads(parts)
                while await sweep.delete_noted_originals(parts):
                    pass
        finally:
            await engine.dispose()
        return orphans

    def summary(self) -> str:
        """What was done, in lines."""
        counts = self.ledger.counts
        lines = [f"torture: seed {self.seed}, {counts.get('rounds', 0)} rounds, {len(self.ledger.faults)} faults"]
        lines += [f"  {count:6} {what}" for what, count in sorted(counts.items()) if what != "rounds"]
        spent = ", ".join(f"{what} {seconds:.0f} s" for what, seconds in self.seconds.items())
        lines.append(f"  spent: {spent}; longest wait for quiet {self.longest_quiet:.1f} s; disk: {self.disk.kind}")
        return "\n".join(lines)
