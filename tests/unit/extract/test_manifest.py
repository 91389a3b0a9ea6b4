"""Every sample file gives what its row of the manifest says."""

from __future__ import annotations

import csv
import unicodedata

import pytest

from service.errors import Corrupt, EmptyFile, Encrypted, FuziError, NoText, Unsupported
from service.extract import Extractor
from service.types import ExtractRequest
from tests.inputs import SHARED

_DOCUMENTS = SHARED / "data" / "documents"
_ERRORS: dict[str, type[FuziError]] = {
    "no_text": NoText,
    "encrypted": Encrypted,
    "empty": EmptyFile,
    "corrupt": Corrupt,
    "unsupported": Unsupported,
}
with (_DOCUMENTS / "MANIFEST.tsv").open(encoding="utf-8") as _file:
    _ROWS = list(csv.DictReader(_file, delimiter="\t", quoting=csv.QUOTE_NONE))


def _squeezed(text: str) -> str:
    return "".join(unicodedata.normalize("NFKC", text).split())


def test_manifest_is_there() -> None:
    assert len(_ROWS) >= 30


@pytest.mark.parametrize("row", _ROWS, ids=[row["file"] for row in _ROWS])
async def test_row(row: dict[str, str], extractor: Extractor) -> None:
    request = ExtractRequest(_DOCUMENTS / row["file"], row["file"])
    if row["expect"] == "text":
        extracted = await extractor.extract(request)
        assert _squeezed(row["must_contain"]) in _squeezed(extracted.text)
        for block in extracted.blocks:
            assert extracted.text[block.start : block.end].strip()
    else:
        with pytest.raises(tuple(_ERRORS[word] for word in row["expect"].split("_or_"))):
            await extractor.extract(request)
