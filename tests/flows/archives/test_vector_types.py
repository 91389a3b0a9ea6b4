"""A collection moves between databases whose vectors have different types."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import psycopg
import pytest
from numpy.typing import NDArray

from service.config import EmbedSettings, Settings
from service.db.migrate import upgrade
from service.flows.archives.export import export
from service.flows.archives.parts import ArchiveParts
from service.flows.archives.take_in import ImportParts, take_in
from tests.conftest import Databases
from tests.fakes.hash_embedder import HashEmbedder
from tests.flows.conftest import Library, flow_settings, services_with

_TEXTS = {"泵.md": "# 泵\n\n保修期为两年。", "duty.txt": "值班安排：周一张伟，周二李娜。"}


def _vectors(dsn: str) -> tuple[str, NDArray[np.float64]]:
    """Their type, and the numbers by content."""
    query = "select pg_typeof(embedding)::text, embedding::text from rag.child_chunk order by content"
    with psycopg.connect(dsn) as connection:
        rows = connection.execute(query).fetchall()
    return rows[0][0], np.array([np.fromstring(row[1].strip("[]"), sep=",") for row in rows])


@pytest.mark.parametrize(("here", "there"), [("halfvec", "vector"), ("vector", "halfvec")])
async def test_export_and_import_cast_the_numbers(databases: Databases, tmp_path: Path, here: str, there: str) -> None:
    types = {"vector": EmbedSettings(), "halfvec": EmbedSettings(vector_type="halfvec")}
    with databases.fresh(migrated=False) as first, databases.fresh(migrated=False) as second:
        for dsn, kind in ((first, here), (second, there)):
            upgrade(dsn, Settings(_env_file=None, embed=types[kind]))
        async with services_with(flow_settings(first, tmp_path / "here"), HashEmbedder(384)) as services:
            library = Library(services, tmp_path)
            for source, text in _TEXTS.items():
                await library.put(source, text)
            report = await export(ArchiveParts(first, services.originals), "default", tmp_path / "kb.fuzi")
        async with services_with(flow_settings(second, tmp_path / "there"), HashEmbedder(384)) as services:
            await take_in(ImportParts(services.engine, services.originals, services.settings.limits), report.path)
            assert await Library(services, tmp_path).sources(_TEXTS["duty.txt"], fts=0, top_n=1) == ["duty.txt"]
        (old, exported), (new, imported) = _vectors(first), _vectors(second)
        assert (old, new) == (here, there)
        assert len(imported) == 2
        expected = exported if there == "vector" else exported.astype(np.float16)
        np.testing.assert_allclose(imported, expected, atol=1e-6)
