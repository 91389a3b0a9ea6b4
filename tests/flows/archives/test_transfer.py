"""Export and import of one collection: it moves whole, embeds nothing, and a false archive changes nothing."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pytest

from service.archive import new_archive, open_archive
from service.config.ingestion import IngestionSettings
from service.embed import CachedEmbedder
from service.errors import CollectionNotFound, FuziError, InvalidArchive, InvalidInput, ModelMismatch
from service.flows.archives.export import DOCUMENTS, PARENTS, VECTORS, export
from service.flows.archives.parts import COLLECTION, ArchiveParts
from service.flows.archives.take_in import ImportParts, take_in
from service.flows.resplit import Outdated, outdated_documents
from service.store.collections import get_collection, put_settings
from service.store.embedding_cache import DatabaseEmbeddingCache
from service.wiring import Services
from tests.conftest import Databases
from tests.fakes.hash_embedder import HashEmbedder
from tests.fakes.recording_embedder import RecordingEmbedder
from tests.flows.archives.moving import killed, rows, stored
from tests.flows.conftest import Library, flow_settings, idle_services, services_with

TEXTS = {
    "手册/泵.md": "# 泵\n\n保修期为两年。😀\n\n## 维护\n\n每月检查一次密封圈。",
    "duty.txt": "值班安排：周一张伟，周二李娜。",
    "table.md": "# 表\n\n| 型号 | 功率 |\n| --- | --- |\n" + "".join(f"| P{n} | {n} kW |\n" for n in range(120)),
}
_CHUNKS = """
    select d.source, p.chunk_id as parent_id, p.content as parent, p.heading_path, c.ordinal, c.chunk_id, c.content,
        c.start_offset, c.end_offset, c.first_page, c.embedding_prefix, c.embedding::text
    from rag.child_chunk as c
    join rag.parent_chunk as p on p.id = c.parent_id
    join rag.document as d on d.id = c.document_id
    join rag.collection as k on k.id = d.collection_id
    where k.name = %s
    order by d.source, c.ordinal
"""
_DOCUMENTS = """
    select d.id, source, file_name, title, media_type, size_bytes, sha256, text_sha256, text, text_format, blocks,
        pages, metadata, extracted_metadata, warnings, status, splitter_version, split_settings_hash, extractor,
        extractor_version, d.created_at, d.updated_at
    from rag.document as d join rag.collection as k on k.id = d.collection_id
    where k.name = %s and text is not null order by source
"""


def dsn_of(services: Services) -> str:
    url = services.settings.database.url
    assert url is not None
    return url.get_secret_value()


def content(services: Services, collection: str = "default", *statements: str) -> list[Any]:
    with psycopg.connect(dsn_of(services)) as connection:
        return [
            connection.execute(statement, [collection]).fetchall() for statement in statements or (_DOCUMENTS, _CHUNKS)
        ]


def import_parts(services: Services) -> ImportParts:
    return ImportParts(services.engine, services.originals, services.settings.limits)


def embedding_count(services: Services) -> int:
    current = services.embedder.current
    assert isinstance(current, HashEmbedder)
    return len(current.calls)


@dataclass(frozen=True, slots=True)
class Source:
    """A service with a collection, and the file it was exported into."""

    services: Services
    path: Path


@pytest.fixture(scope="module")
async def source(databases: Databases, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Source]:
    folder = tmp_path_factory.mktemp("source")
    with databases.fresh() as dsn:
        async with services_with(flow_settings(dsn, folder / "home"), HashEmbedder(384)) as services:
            library = Library(services, folder)
            for name, text in TEXTS.items():
                await library.put(name, text, metadata={"部门": "法务", "年": 2024.5})
            with pytest.raises(FuziError):
                await library.put("broken.pdf", b"%PDF-1.7 cut off")
            report = await export(ArchiveParts(dsn, services.originals), "default", folder / "kb.fuzi")
            assert (report.document_count, report.left_out, report.missing) == (3, 1, ())
            yield Source(services, report.path)


@pytest.fixture
def elsewhere(databases: Databases, tmp_path: Path) -> Callable[[], Any]:
    @asynccontextmanager
    async def opened() -> AsyncIterator[Services]:
        with databases.fresh() as dsn:
            async with services_with(flow_settings(dsn, tmp_path / "there"), HashEmbedder(384)) as services:
                yield services

    return opened


async def test_a_collection_moves_whole_and_embeds_nothing(
    source: Source, elsewhere: Callable[[], Any], tmp_path: Path
) -> None:
    path = source.path
    async with elsewhere() as there:
        report = await take_in(import_parts(there), path)
        assert (report.collection, dict(report.outcomes)) == ("default", {"created": 3})
        assert (report.embedded_count, embedding_count(there)) == (0, 0)
        assert content(there) == content(source.services)
        assert sorted(stored(there.settings.home).values()) == sorted(
            digest for key, digest in stored(source.services.settings.home).items() if not key.endswith(".pdf")
        )
        found = Library(there, tmp_path)
        for legs in ({"vector": 0}, {"fts": 0}):
            assert (await found.sources("密封圈", **legs))[0] == "手册/泵.md"
            assert (await found.sources("值班安排", **legs))[0] == "duty.txt"
        # again: nothing changes
        before = rows(dsn_of(there))["rag.document"]
        again = await take_in(import_parts(there), path)
        assert dict(again.outcomes) == {"unchanged": 3}
        assert rows(dsn_of(there))["rag.document"] == before
        # the same file uploaded where it was imported is known as well
        assert (await found.put("duty.txt", TEXTS["duty.txt"])).outcome == "unchanged"
        # and what was changed there is replaced
        changed = await found.put("duty.txt", "值班安排改了。")
        third = await take_in(import_parts(there), path)
        assert dict(third.outcomes) == {"unchanged": 2, "replaced": 1}
        assert content(there, "default", _CHUNKS) == content(source.services, "default", _CHUNKS)
        assert changed.document_id == next(row[0] for row in content(there)[0] if row[1] == "duty.txt")


async def test_a_copy_in_the_same_database_gets_ids_of_its_own(source: Source) -> None:
    path = source.path
    services = source.services
    before = content(services)
    await take_in(import_parts(services), path, collection="副本")
    assert content(services) == before
    [originals], [copies] = content(services, "default", _CHUNKS), content(services, "副本", _CHUNKS)
    assert [row[6:] for row in copies] == [row[6:] for row in originals]
    assert not {row[5] for row in copies} & {row[5] for row in originals}
    report = await take_in(import_parts(services), path, collection="副本")
    assert dict(report.outcomes) == {"unchanged": 3}


async def test_another_model_is_refused_or_embeds_anew(
    source: Source, elsewhere: Callable[[], Any], tmp_path: Path
) -> None:
    path = source.path
    async with elsewhere() as there:
        with psycopg.connect(dsn_of(there), autocommit=True) as connection:
            connection.execute("update rag.embedding_model set name = 'another'")
        with pytest.raises(ModelMismatch, match="fuzi reembed"):
            await take_in(import_parts(there), path)
        assert content(there, "default", _DOCUMENTS) == [[]]
        assert stored(there.settings.home) == {}
        embedder = HashEmbedder(384)
        with psycopg.connect(dsn_of(there), autocommit=True) as connection:
            model = embedder.model
            connection.execute("update rag.embedding_model set provider = %s, name = %s", [model.provider, model.name])
        cached = CachedEmbedder(embedder, DatabaseEmbeddingCache(there.engine, embedder.model))
        parts = ImportParts(there.engine, there.originals, there.settings.limits, cached)
        report = await take_in(parts, path)
        assert report.embedded_count == report.child_count - report.reused_count > 0
        # the same characters, embedded by the same function: the same vectors
        assert content(there, "default", _CHUNKS) == content(source.services, "default", _CHUNKS)


async def test_settings_for_documents_move_along_and_decide_how_chunks_are_embedded(
    source: Source, elsewhere: Callable[[], Any]
) -> None:
    fingerprint = "select split_settings_hash from rag.document as d join rag.collection as k on k.id = collection_id"
    of_collection = f"{fingerprint} where k.name = %s and text is not null order by source"
    async with elsewhere() as there:
        async with there.engine.begin() as connection:
            await put_settings(connection, "bare", {"heading_context": False})
        embedder = RecordingEmbedder()
        cached = CachedEmbedder(embedder, DatabaseEmbeddingCache(there.engine, embedder.model))
        parts = ImportParts(there.engine, there.originals, there.settings.limits, cached)
        await take_in(parts, source.path, collection="bare")
        assert any("保修期为两年。😀" in text for text in embedder.asked)
        assert not any(text.startswith("泵\n") for text in embedder.asked)
        ((was, *_others),) = content(source.services, "default", of_collection)
        assert set(content(there, "bare", of_collection)[0]) == {(f"{was[0]}/no_context",)}
        again = await take_in(parts, source.path, collection="bare")
        assert dict(again.outcomes) == {"unchanged": 3}
        assert await outdated_of(there, "bare") == Outdated(0, 0)

        await take_in(import_parts(there), source.path, collection="as it was")
        assert content(there, "as it was", of_collection) == content(source.services, "default", of_collection)
        assert await outdated_of(there, "as it was") == Outdated(0, 0)


async def outdated_of(services: Services, name: str) -> Outdated:
    async with services.engine.connect() as connection:
        records = [await get_collection(connection, name)]
        return (await outdated_documents(connection, IngestionSettings.of(services.settings), records))[name]


def rewritten(path: Path, to: Path, change: Callable[[str, bytes], bytes | None], **facts: object) -> Path:
    """An archive with right digests whose members, or ``facts`` of the manifest, were changed, or left out."""
    archive = open_archive(path, COLLECTION, 1)
    with new_archive(to, COLLECTION, 1) as writer:
        for name in archive.members:
            new = change(name, b"".join(archive.pieces(name)))
            if new is not None:
                with writer.member(name) as member:
                    member.write(new)
        writer.finish({key: value for key, value in archive.manifest.items() if not key.startswith("format")} | facts)
    return to


def _first_line(**values: object) -> Callable[[bytes], bytes]:
    def change(lines: bytes) -> bytes:
        first, rest = lines.split(b"\n", 1)
        return json.dumps({**json.loads(first), **values}).encode() + b"\n" + rest

    return change


LIES: dict[str, tuple[str, Callable[[bytes], bytes | None]]] = {
    "a vector is not finite": (VECTORS, lambda raw: b"\xff\xff\xff\x7f" + raw[4:]),
    "a vector is zero": (VECTORS, lambda raw: bytes(384 * 4) + raw[384 * 4 :]),
    "a vector is missing": (VECTORS, lambda raw: raw[: -384 * 4]),
    "a vector too many": (VECTORS, lambda raw: raw + raw[: 384 * 4]),
    "no vectors at all": (VECTORS, lambda _raw: None),
    "a chunk is somewhere else": (PARENTS, _first_line(start=1)),
    "a chunk has another text": (PARENTS, _first_line(content="别的")),
    "a chunk is of nobody": (PARENTS, _first_line(document_id="0b7c0e0e-6f0a-4c55-9a52-3f1f3f0f7a11")),
    "a line is missing": (PARENTS, lambda lines: lines.split(b"\n", 1)[1]),
    "a text has another digest": (DOCUMENTS, _first_line(text_sha256="0" * 64)),
    "an original is another file": (DOCUMENTS, _first_line(sha256="0" * 64)),
    "a number is a word": (DOCUMENTS, _first_line(size_bytes="many")),
    "a NUL in a title": (DOCUMENTS, _first_line(title="a\0b")),
    "chunks below nothing": (DOCUMENTS, _first_line(child_count=-1)),
    "chunks without end": (DOCUMENTS, _first_line(child_count=10**15)),
    "no JSON": (DOCUMENTS, lambda _lines: b"{]\n"),
    "a document twice": (DOCUMENTS, lambda lines: lines.split(b"\n", 1)[0] + b"\n" + lines),
}


async def test_an_archive_that_lies_changes_nothing(
    source: Source, elsewhere: Callable[[], Any], tmp_path: Path
) -> None:
    path = source.path
    async with elsewhere() as there:
        before = rows(dsn_of(there))
        for number, (name, change) in enumerate(LIES.values()):
            false = rewritten(
                path, tmp_path / f"{number}.fuzi", lambda member, raw, n=name, c=change: c(raw) if member == n else raw
            )
            with pytest.raises(InvalidArchive):
                await take_in(import_parts(there), false)
        for settings in ({"ignore_words": ["a\0b"]}, {"top_n": 10**6}, {"top": 1}):
            collection = {"name": "default", "settings": settings}
            false = rewritten(path, tmp_path / next(iter(settings)), lambda _member, raw: raw, collection=collection)
            with pytest.raises(InvalidArchive, match=next(iter(settings))):
                await take_in(import_parts(there), false)
        escaping = rewritten(
            path, tmp_path / "x", lambda member, raw: _first_line(source="..")(raw) if member == DOCUMENTS else raw
        )
        with pytest.raises(InvalidInput):
            await take_in(import_parts(there), escaping)
        damaged = bytearray(path.read_bytes())
        damaged[len(damaged) // 2] ^= 1
        (tmp_path / "damaged").write_bytes(damaged)
        with pytest.raises(InvalidArchive):
            await take_in(import_parts(there), tmp_path / "damaged")
        assert rows(dsn_of(there)) == before
        assert stored(there.settings.home) == {}


async def test_a_killed_import_is_continued(source: Source, databases: Databases, tmp_path: Path) -> None:
    with databases.fresh() as dsn:
        settings = flow_settings(dsn, tmp_path / "there")
        killed("import", dsn, settings.home, source.path, "storing")
        async with idle_services(settings, HashEmbedder(384)) as there:
            assert len(content(there)[0]) == 1
            report = await take_in(import_parts(there), source.path)
            assert dict(report.outcomes) == {"unchanged": 1, "created": 2}
            assert content(there) == content(source.services)
            assert len(stored(settings.home)) == 3


async def test_a_collection_that_is_not_there_leaves_no_file(source: Source, tmp_path: Path) -> None:
    services = source.services
    with pytest.raises(CollectionNotFound):
        await export(ArchiveParts(dsn_of(services), services.originals), "nothing", tmp_path / "kb.fuzi")
    assert not list(tmp_path.glob("kb*"))
