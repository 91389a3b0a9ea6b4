"""A change of the model embeds what uploads embed: with headings in front where a collection says so."""

from __future__ import annotations

from pathlib import Path

from service.flows.reembed.change import reembed
from service.store.collections import put_settings
from tests.fakes.heard import Heard
from tests.fakes.recording_embedder import RecordingEmbedder
from tests.flows.reembed.world import world


async def test_each_collection_is_embedded_by_its_own_setting(database: str, tmp_path: Path) -> None:
    first = RecordingEmbedder()
    async with world(database, tmp_path, 12, first) as here:
        async with here.services.engine.begin() as connection:
            await put_settings(connection, "titled", {"heading_context": True})
        for collection in ("default", "titled"):
            await here.library.put("泵.txt", f"{collection}：每月检查一次密封圈。", collection=collection)
        uploaded = sorted(first.asked)
        assert uploaded == ["default：每月检查一次密封圈。", "泵\ntitled：每月检查一次密封圈。"]
        await reembed(here.parts, here.second, Heard())
        assert sorted(here.asked()) == uploaded
