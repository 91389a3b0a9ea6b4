"""Ingesting: created, unchanged, updated, replaced, duplicated, failed; nothing lost and nothing left behind."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from sqlalchemy import text

from service.errors import Conflict, EmbedderUnavailable, EmptyFile, Encrypted
from service.store.documents import get_document, list_documents
from service.types import DocumentStatus, IngestOutcome, VectorBatch
from tests.fakes.hash_embedder import HashEmbedder
from tests.flows.conftest import Library, flow_settings, services_with

TEXT = "设备每三个月保养一次。保养前请先切断电源，再打开外壳。\n\n更换滤芯时，请使用型号 AX-200B 的滤芯。\n"


async def count(library: Library, table: str) -> int:
    async with library.services.engine.connect() as connection:
        return (await connection.execute(text(f"select count(*) from rag.{table}"))).scalar_one()


def originals(library: Library) -> list[Path]:
    return [path for path in (library.services.settings.home / "originals").rglob("*") if path.is_file()]


async def settled_originals(library: Library, expected: int) -> list[Path]:
    """The originals once the sweeps had their turn; they come every half second here."""
    for _ in range(100):
        if len(originals(library)) == expected:
            break
        await asyncio.sleep(0.1)
    return originals(library)


async def test_a_new_document_is_found_by_both_legs(library: Library) -> None:
    result = await library.put("手册/保养.md", TEXT)
    assert result.outcome is IngestOutcome.CREATED
    assert result.status is DocumentStatus.READY
    for weights in ({"vector": 0.0}, {"fts": 0.0}, {}):
        assert await library.sources("更换滤芯", **weights) == ["手册/保养.md"]


async def test_every_chunk_is_a_slice_of_the_stored_text(library: Library) -> None:
    await library.put("手册/保养.md", TEXT * 40)
    query = """
        select
            count(*),
            count(*) filter (where substr(d.text, c.start_offset + 1, c.end_offset - c.start_offset) = c.content)
        from rag.{table} as c join rag.document as d on d.id = c.document_id
    """
    async with library.services.engine.connect() as connection:
        for table in ("parent_chunk", "child_chunk"):
            chunks, exact = (await connection.execute(text(query.format(table=table)))).one()
            assert chunks == exact > 1


async def test_same_bytes_again_are_unchanged(library: Library) -> None:
    """BR-034"""
    first = await library.put("手册/安装.md", "第一步。第二步。")
    again = await library.put("手册\\安装.md", "第一步。第二步。")
    assert (again.outcome, again.document_id) == (IngestOutcome.UNCHANGED, first.document_id)
    assert again.timings_ms == {}
    assert await count(library, "child_chunk") == first.child_count
    assert len(originals(library)) == 1


async def test_new_metadata_alone_embeds_nothing(library: Library) -> None:
    await library.put("a.md", TEXT, metadata={"year": 2023})
    again = await library.put("a.md", TEXT, metadata={"year": 2024})
    assert again.outcome is IngestOutcome.UPDATED
    assert await library.sources("保养", metadata={"year": 2024}) == ["a.md"]
    assert await library.sources("保养", metadata={"year": 2023}) == []


async def test_a_shorter_version_leaves_nothing_of_the_longer_one(library: Library) -> None:
    """BR-032"""
    await library.put("价目.md", "苹果十元。\n\n香蕉八元。\n\n榴莲九十九元。")
    result = await library.put("价目.md", "苹果十二元。")
    assert result.outcome is IngestOutcome.REPLACED
    assert await count(library, "child_chunk") == await count(library, "parent_chunk") == 1
    assert await library.sources("榴莲", vector=0) == []
    assert [p.content for p in (await library.ask("苹果")).passages] == ["苹果十二元。"]
    assert len(await settled_originals(library, 1)) == 1


async def test_the_same_bytes_elsewhere_are_stored_and_reported(library: Library) -> None:
    """BR-061"""
    first = await library.put("甲/条款.md", "保修期为三年。", metadata={"v": 1})
    second = await library.put("乙/条款.md", "保修期为三年。", metadata={"v": 2})
    assert second.duplicate_of == first.document_id
    found = (await library.ask("保修期", top_n=10)).passages
    assert sorted((p.source, p.metadata["v"]) for p in found) == [("乙/条款.md", 2), ("甲/条款.md", 1)]


async def test_ten_uploads_of_one_source_at_once(library: Library) -> None:
    """BR-031"""
    tasks = (library.put("制度/考勤.md", "每天九点上班。") for _ in range(10))
    results = await asyncio.gather(*tasks, return_exceptions=True)
    assert all(not isinstance(result, BaseException) or isinstance(result, Conflict) for result in results)
    assert not all(isinstance(result, BaseException) for result in results)
    assert [await count(library, table) for table in ("document", "parent_chunk", "child_chunk")] == [1, 1, 1]
    assert len(originals(library)) == 1
    assert await library.sources("几点上班", vector=0) == ["制度/考勤.md"]


async def test_an_empty_file_leaves_no_trace(library: Library) -> None:
    """BR-028"""
    with pytest.raises(EmptyFile):
        await library.put("empty.txt", b"")
    assert await count(library, "document") == 0
    assert originals(library) == []


async def test_a_file_that_cannot_be_read_says_why_and_harms_no_other(library: Library, shared: Path) -> None:
    """BR-022"""
    with pytest.raises(Encrypted):
        await library.put("locked.pdf", (shared / "data/documents/pdf_encrypted.pdf").read_bytes())
    await library.put("ok.txt", "普通文件内容。")
    async with library.services.engine.connect() as connection:
        records, total = await list_documents(connection)
    states = {record.source: (record.status, record.error_code, record.child_count) for record in records}
    assert total == 2
    assert states == {
        "locked.pdf": (DocumentStatus.FAILED, "encrypted", 0),
        "ok.txt": (DocumentStatus.READY, None, 1),
    }


class Flaky(HashEmbedder):
    """Embeds passages only while it is told to work."""

    working = False

    async def embed_passages(self, *arguments: object, **named: object) -> VectorBatch:
        if not self.working:
            raise EmbedderUnavailable("the embedding provider does not answer")
        return await super().embed_passages(*arguments, **named)  # type: ignore[arg-type]


async def test_a_failed_upload_can_be_repeated(database: str, tmp_path: Path) -> None:
    """BR-035"""
    embedder = Flaky(384)
    async with services_with(flow_settings(database, tmp_path / "home"), embedder) as services:
        library = Library(services, tmp_path)
        with pytest.raises(EmbedderUnavailable):
            await library.put("a.md", "重试内容。")
        embedder.working = True
        assert (await library.put("a.md", "重试内容。")).outcome is IngestOutcome.CREATED
        assert await library.sources("重试内容", vector=0) == ["a.md"]
        assert await count(library, "document") == 1
        assert len(await settled_originals(library, 1)) == 1


async def test_a_failed_replacement_leaves_the_served_version(database: str, tmp_path: Path) -> None:
    embedder = Flaky(384)
    embedder.working = True
    async with services_with(flow_settings(database, tmp_path / "home"), embedder) as services:
        library = Library(services, tmp_path)
        first = await library.put("a.md", "旧内容仍然有效。")
        embedder.working = False
        with pytest.raises(EmbedderUnavailable):
            await library.put("a.md", "新内容还没有好。")
        assert await library.sources("旧内容", vector=0) == ["a.md"]
        assert len(originals(library)) == 2, "the served one, and the one a retry needs"
        async with services.engine.connect() as connection:
            record = await get_document(connection, first.document_id)
        assert (record.status, record.error_code) == (DocumentStatus.READY, "embedder_unavailable")
        embedder.working = True
        assert (await library.put("a.md", "更新的内容。")).outcome is IngestOutcome.REPLACED
        assert len(await settled_originals(library, 1)) == 1


async def test_soft_cuts_ask_the_model_while_splitting(database: str, tmp_path: Path) -> None:
    settings = flow_settings(database, tmp_path / "home")
    soft = settings.split.model_copy(update={"strategy": "sentence", "soft_cut": True})
    settings = settings.model_copy(update={"split": soft})
    async with services_with(settings, HashEmbedder(384)) as services:
        library = Library(services, tmp_path)
        result = await library.put("a.txt", "水泵要定期检查轴承温度。" * 60 + "合同应当写明付款期限。" * 60)
        assert result.parent_count > 1
        assert await library.sources("付款期限", vector=0) == ["a.txt"]
