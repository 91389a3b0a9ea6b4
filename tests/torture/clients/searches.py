"""Searches of a quiet service: both legs find what is there by a phrase of its own, and nothing that is gone."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.torture.clients.contents import Author, Content
from tests.torture.clients.ledger import Source
from tests.torture.clients.load import Client, check_versions

_ANSWER_SECONDS = 20
_AT_ONCE = 4
_GONE_ASKED_FOR = 12
_LEGS = (("vector", 1.0, 0.0), ("fts", 0.0, 1.0))


@dataclass
class SearchChecker:
    """Asks each leg by itself; what it must find and does not, or finds and must not, is a fault in the ledger."""

    client: Client
    author: Author
    _turn: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(_AT_ONCE))

    async def check(self, sources: Sequence[Source], gone: set[int], *, completely: bool) -> None:
        """Search for the last phrase (``completely``: for both) of ``sources``, and for some versions that are gone."""
        shown = {key for source in self.client.ledger.sources.values() for key in source.visible}
        async with asyncio.TaskGroup() as tasks:
            for source in sources:
                for key in source.visible:
                    content = self.author.written[key]
                    for phrase in set(content.phrases if completely else content.phrases[-1:]):
                        tasks.create_task(self._must_find(source, phrase))
            for key in sorted(gone - shown)[-_GONE_ASKED_FOR:]:
                tasks.create_task(self._must_not_find(self.author.written[key]))

    async def _must_find(self, source: Source, phrase: str) -> None:
        ledger = self.client.ledger
        for leg, vector, fts in _LEGS:
            async with self._turn:
                passages = await self._answer(phrase, vector, fts)
            if passages is None:
                ledger.fault(f"a search for {source.name} was not answered although everything runs")
                continue
            check_versions(ledger, self.author, passages)
            if not any(found["source"] == source.name and phrase in found["content"] for found in passages):
                others = [(found["source"], found["start"]) for found in passages]
                ledger.fault(f"the {leg} leg does not find {source.name} by {phrase}, but {others}")

    async def _must_not_find(self, content: Content) -> None:
        for leg, vector, fts in _LEGS:
            async with self._turn:
                passages = await self._answer(content.phrases[-1], vector, fts)
            check_versions(self.client.ledger, self.author, passages or [])
            if any(content.phrases[-1] in found["content"] for found in passages or []):
                self.client.ledger.fault(f"the {leg} leg still finds v{content.key}, which is gone")

    async def _answer(self, phrase: str, vector: float, fts: float) -> list[dict[str, Any]] | None:
        """The passages; the circuit of an embedding server that misbehaved may be open for another few seconds."""
        deadline = time.monotonic() + _ANSWER_SECONDS
        while (passages := await self.client.search(phrase, vector=vector, fts=fts)) is None:
            if time.monotonic() > deadline:
                return None
            await asyncio.sleep(0.5)
        return passages
