"""Settings of a collection for ingestion: followed by uploads, and by documents that are cut anew from their text."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from service.config import Settings
from service.config.ingestion import IngestionSettings
from service.embed import Embedder
from service.errors import FuziError, InvalidSettings
from service.flows.jobs import cancel, wait_for
from service.flows.resplit import Outdated, outdated_documents, resplit
from service.queue.jobs import JobRecord, list_jobs
from service.store.collections import get_collection, put_settings
from service.types import ExtractedText, ExtractRequest, IngestOutcome, TextFormat, VectorBatch
from service.wiring import Services
from service.worker import working
from tests.fakes.hash_embedder import HashEmbedder
from tests.fakes.recording_embedder import RecordingEmbedder
from tests.flows.conftest import Library, accept, flow_settings, idle_services, services_with
from tests.flows.test_ingest import originals, settled_originals

TEXT = (
    "# 空压机\n\n"
    + "".join(f"第{n}步先切断电源。再检查编号{n}的滤芯。" for n in range(12))
    + "\n\n## 保修\n\n保修三年。\n"
)


class AsItIs:
    """An extractor of Markdown without the process that guards the service from parsers, which takes a second."""

    async def extract(self, request: ExtractRequest) -> ExtractedText:
        text = request.path.read_text(encoding="utf-8")
        return ExtractedText(text=text, format=TextFormat.MARKDOWN, media_type="text/markdown")

    async def close(self) -> None:
        """Nothing to let go of."""


@asynccontextmanager
async def quick(settings: Settings, embedder: Embedder, *, at_work: bool = True) -> AsyncIterator[Services]:
    async with idle_services(settings, embedder) as idle:
        services = replace(idle, extractor=AsItIs())
        async with working(services) if at_work else nullcontext():
            yield services


@pytest.fixture
async def services(database: str, tmp_path: Path) -> AsyncIterator[Services]:
    async with quick(flow_settings(database, tmp_path / "home"), HashEmbedder(384)) as opened:
        yield opened


async def settle(services: Services, settings: dict[str, Any], name: str = "default") -> None:
    async with services.engine.begin() as connection:
        await put_settings(connection, name, settings)


async def outdated(services: Services, name: str = "default") -> Outdated:
    async with services.engine.connect() as connection:
        records = [await get_collection(connection, name)]
        return (await outdated_documents(connection, IngestionSettings.of(services.settings), records))[name]


async def jobs(services: Services, *, unfinished: bool | None = None) -> list[JobRecord]:
    async with services.engine.connect() as connection:
        return (await list_jobs(connection, unfinished=unfinished))[0]


async def cut_anew(services: Services, name: str = "default") -> list[JobRecord]:
    """Queue all that is outdated, and wait for it."""
    queued = await resplit(services.for_receive, name, 100)
    assert queued.left_count == 0
    made = (await jobs(services))[: queued.queued_count]
    return [await wait_for(services.engine, job.id) for job in made]


async def rows(services: Services, query: str) -> list[tuple[Any, ...]]:
    async with services.engine.connect() as connection:
        return [tuple(row) for row in await connection.execute(text(query))]


async def longest_child(services: Services) -> int:
    ((longest,),) = await rows(services, "select max(length(content)) from rag.child_chunk")
    return int(longest)


async def test_uploads_follow_the_collection_and_the_same_file_again_is_replaced(library: Library) -> None:
    services = library.services
    await settle(services, {"child_size": 60, "parent_size": 120}, "small")
    await library.put("a.md", TEXT, collection="small")
    assert await longest_child(services) <= 60
    assert await outdated(services, "small") == Outdated(0, 0)
    assert (await library.put("a.md", TEXT, collection="small")).outcome is IngestOutcome.UNCHANGED
    await settle(services, {"child_size": 30, "parent_size": 120}, "small")
    assert await outdated(services, "small") == Outdated(1, 0)
    assert (await library.put("a.md", TEXT, collection="small")).outcome is IngestOutcome.REPLACED
    assert await outdated(services, "small") == Outdated(0, 0)
    assert (await library.put("a.md", TEXT)).outcome is IngestOutcome.CREATED
    assert await outdated(services) == Outdated(0, 0), "settings of one collection are not those of another"


async def test_the_stored_text_is_cut_anew_and_all_else_stays(library: Library) -> None:
    services = library.services
    first = await library.put("手册/a.md", TEXT, title="自己的标题", metadata={"year": 2024})
    before = await rows(services, "select id, title, metadata, sha256, text, object_key, status from rag.document")
    kept = await settled_originals(library, 1)
    await settle(services, {"child_size": 40, "parent_size": 120})
    kept[0].rename(kept[0].with_suffix(".away"))  # nothing has to be fetched
    (job,) = await cut_anew(services)
    kept[0].with_suffix(".away").rename(kept[0])
    assert (job.status, job.outcome, job.document_id) == ("ready", "replaced", first.document_id)
    assert (
        await rows(services, "select id, title, metadata, sha256, text, object_key, status from rag.document") == before
    )
    assert await longest_child(services) <= 40
    assert await outdated(services) == Outdated(0, 0)
    assert await rows(services, "select count(*) from rag.document where pending_key is not null") == [(0,)]
    assert set(await library.sources("切断电源", metadata={"year": 2024})) == {"手册/a.md"}
    assert (await resplit(services.for_receive, "default", 10)).queued_count == 0
    await asyncio.sleep(1)  # sweeps had their turn
    assert originals(library) == kept


async def test_texts_that_stay_the_same_are_not_embedded_again(database: str, tmp_path: Path) -> None:
    embedder = RecordingEmbedder()
    async with quick(flow_settings(database, tmp_path / "home"), embedder) as services:
        library = Library(services, tmp_path)
        await library.put("a.md", TEXT)
        first = list(embedder.asked)
        await settle(services, {"parent_overlap": 0})
        (job,) = await cut_anew(services)
        again = embedder.asked[len(first) :]
        assert not set(again) & set(first)
        assert (job.embedded_count, job.embedded_count + job.reused_count) == (len(again), job.child_count)
        assert job.reused_count > 0

        embedder.asked.clear()
        await settle(services, {"parent_overlap": 0, "heading_context": False})
        assert await outdated(services) == Outdated(1, 0)
        (job,) = await cut_anew(services)
        assert embedder.asked
        assert not any(asked.startswith("空压机") for asked in embedder.asked)
        assert await outdated(services) == Outdated(0, 0)


async def test_a_pdf_whose_layout_is_to_stay_is_read_again(database: str, shared: Path, tmp_path: Path) -> None:
    async with services_with(flow_settings(database, tmp_path / "home"), HashEmbedder(384)) as services:
        library = Library(services, tmp_path)
        file = (shared / "data/documents/pdf_two_columns.pdf").read_bytes()
        await library.put("a.pdf", file, title="自己的标题")
        await library.put("b.md", TEXT)
        ((mended,),) = await rows(services, "select text from rag.document where source = 'a.pdf'")
        await settle(services, {"reflow": False})
        assert await outdated(services) == Outdated(1, 0), "a text has no layout"
        (job,) = await cut_anew(services)
        assert (job.source, job.status) == ("a.pdf", "ready")
        assert "fetch_ms" in job.timings_ms
        ((title, laid_out),) = await rows(services, "select title, text from rag.document where source = 'a.pdf'")
        assert (title, laid_out.count("\n") > mended.count("\n")) == ("自己的标题", True)
        assert (await library.put("a.pdf", file)).outcome is IngestOutcome.UNCHANGED
        assert await outdated(services) == Outdated(0, 0)


async def test_a_document_without_its_original_is_cut_from_its_text(library: Library) -> None:
    """As it comes by an import of an archive that lacks it."""
    services = library.services
    await library.put("a.md", TEXT)
    async with services.engine.begin() as connection:
        await connection.execute(text("update rag.document set object_key = null, media_type = 'application/pdf'"))
    await settle(services, {"child_size": 40, "parent_size": 120, "reflow": False})
    assert await outdated(services) == Outdated(1, 0)
    (job,) = await cut_anew(services)
    assert (job.status, job.error_message) == ("ready", None)
    assert await rows(services, "select object_key, pending_key from rag.document") == [(None, None)]
    assert await longest_child(services) <= 40
    assert await outdated(services) == Outdated(0, 0), "how it was read cannot be changed any more"


class Broken(HashEmbedder):
    """Embeds what it knew before only."""

    broken = False

    async def embed_passages(self, *arguments: Any, **named: Any) -> VectorBatch:
        if self.broken:
            raise FuziError("the model is out of order")
        return await super().embed_passages(*arguments, **named)


@pytest.mark.parametrize("has_original", [True, False])
async def test_one_that_fails_stays_as_it_was_and_is_tried_again(
    database: str, tmp_path: Path, has_original: bool
) -> None:
    embedder = Broken()
    async with quick(flow_settings(database, tmp_path / "home"), embedder) as services:
        library = Library(services, tmp_path)
        await library.put("a.md", TEXT)
        if not has_original:
            async with services.engine.begin() as connection:
                await connection.execute(text("update rag.document set object_key = null"))
        facts = "select object_key, pending_key, status, (select count(*) from rag.child_chunk) from rag.document"
        before = await rows(services, facts)
        await settle(services, {"child_size": 40, "parent_size": 120})
        embedder.broken = True
        (job,) = await cut_anew(services)
        assert job.status == "failed"
        assert await rows(services, facts) == before
        assert set(await library.sources("切断电源", vector=0)) == {"a.md"}
        assert await outdated(services) == Outdated(1, 0)
        embedder.broken = False
        (job,) = await cut_anew(services)
        assert job.status == "ready"
        assert await outdated(services) == Outdated(0, 0)
        assert len(await settled_originals(library, 1)) == 1


async def test_cancelled_or_overtaken_it_costs_no_original(database: str, tmp_path: Path) -> None:
    settings = flow_settings(database, tmp_path / "home")
    async with quick(settings, HashEmbedder(384)) as services:
        library = Library(services, tmp_path)
        for source in ("a.md", "b.md", "c.md"):
            await library.put(source, f"{source}：{TEXT}", title="自己的标题")
        kept = originals(library)
        await settle(services, {"child_size": 40, "parent_size": 120})
    async with quick(settings, HashEmbedder(384), at_work=False) as services:
        queued = await resplit(services.for_receive, "default", 1)
        assert (queued.queued_count, queued.left_count) == (1, 2)
        assert (await resplit(services.for_receive, "default", 5)).queued_count == 2
        assert (await resplit(services.for_receive, "default", 5)).queued_count == 0
        assert await outdated(services) == Outdated(3, 3)
        a, b, c = sorted(await jobs(services, unfinished=True), key=lambda job: job.source)
        assert (await cancel(services.engine, a.id)).status == "cancelled"
        assert await outdated(services) == Outdated(3, 2)
        assert await rows(services, "select object_key from rag.original_removal") == []
        assert (await accept(services, tmp_path, "c.md", f"c.md：{TEXT}")).job_id == c.id, "it waits already"
        newer = await accept(services, tmp_path, "b.md", "培训资料清单。")
    async with quick(settings, HashEmbedder(384)) as services:
        library = Library(services, tmp_path)
        ended = [(await wait_for(services.engine, each)).status for each in (newer.job_id, b.id, c.id)]
        assert ended == ["ready", "cancelled", "ready"]
        assert await outdated(services) == Outdated(1, 0)
        left = await settled_originals(library, 3)
        assert (len(left), len(set(left) & set(kept))) == (3, 2), "those of a.md and c.md, and the new one"
        assert await library.sources("培训资料", vector=0) == ["b.md"]
        titles = await rows(services, "select title from rag.document order by source")
        assert (titles[0], titles[2]) == (("自己的标题",), ("自己的标题",))


async def test_settings_that_cannot_hold_any_more_refuse_uploads_and_say_so(library: Library) -> None:
    services = library.services
    await settle(services, {"child_size": 300})
    await library.put("a.md", TEXT)
    smaller = services.settings.split.model_copy(update={"parent_size": 250, "child_size": 200})
    changed = replace(services, settings=services.settings.model_copy(update={"split": smaller}))
    assert await outdated(changed) == Outdated(None)
    with pytest.raises(InvalidSettings, match="child_size"):
        await Library(changed, library._folder).put("b.md", TEXT)
    with pytest.raises(InvalidSettings, match="default"):
        await resplit(changed.for_receive, "default", 5)
