"""Quality gate: what is refused, what is noted, on which page."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from service.config import ExtractSettings
from service.errors import EmptyFile, FuziError, NoText, Unsupported
from service.extract import Extractor, create_extractor
from service.extract.quality.gate import judge
from service.extract.quality.plausible import plausibility
from service.types import DocumentStatus, ExtractedText, ExtractRequest, Notice, Page, TextFormat

_GOOD = "本条例所称数据处理，包括数据的收集、存储、使用、加工、传输、提供、公开等活动。"
_RUBBISH = "\ue000\ue001\ue002\ufffd"


def extracted(*pages: str, media_type: str = "application/pdf", **values: object) -> ExtractedText:
    """A text of these pages."""
    spans, position = [], 0
    for number, text in enumerate(pages, start=1):
        spans.append(Page(number, position, position + len(text)))
        position += len(text)
    made = ExtractedText("".join(pages), TextFormat.MARKDOWN, media_type, pages=tuple(spans))
    return ExtractedText(**{**{name: getattr(made, name) for name in made.__slots__}, **values})  # type: ignore[arg-type]


def codes(text: ExtractedText) -> list[tuple[str, int | None]]:
    return [(notice.code, notice.page) for notice in judge(text).warnings]


def test_good_text_is_ready() -> None:
    judged = judge(extracted(_GOOD, _GOOD))
    assert judged.warnings == ()
    assert judged.status is DocumentStatus.READY


@pytest.mark.parametrize("text", ["", " \n\t　", _RUBBISH * 10])
def test_nothing_readable_is_refused(text: str) -> None:
    with pytest.raises(NoText):
        judge(extracted(text))


def test_pages_are_named() -> None:
    assert codes(extracted(_GOOD, "", _GOOD + _RUBBISH, _GOOD)) == [
        ("page_without_text", 2),
        ("unreadable_characters", 3),
    ]
    assert judge(extracted(_GOOD, "")).status is DocumentStatus.READY_WITH_WARNINGS


def test_empty_sheets_are_nothing_to_note() -> None:
    assert codes(extracted(_GOOD, "", media_type="application/vnd.ms-excel")) == []


def test_mojibake_is_noted() -> None:
    garbled = _GOOD.encode("utf-8").decode("cp1252", "replace").replace("\ufffd", "")
    assert plausibility(garbled) < 0.35 < 0.8 < plausibility(_GOOD)
    assert ("doubtful_text", None) in codes(extracted(garbled))


def test_chinese_metadata_without_chinese_text_is_noted() -> None:
    latin = "abc def ghi " * 50
    assert codes(extracted(latin, title="年度报告")) == [("no_chinese_text", None)]
    assert codes(extracted(latin, metadata={"language": "zh-CN"})) == [("no_chinese_text", None)]
    assert codes(extracted(latin, title="Annual report")) == []


def test_earlier_warnings_stay() -> None:
    kept = Notice("parser_warning", "x")
    assert judge(extracted(_GOOD, warnings=(kept,))).warnings == (kept,)


async def test_scan_without_ocr_has_no_text(shared: Path, extractor: Extractor) -> None:
    path = shared / "data" / "documents" / "pdf_scanned_zh.pdf"
    with pytest.raises(NoText, match="scan"):
        await extractor.extract(ExtractRequest(path, path.name))


@pytest.mark.ocr
async def test_scan_with_ocr(shared: Path) -> None:
    """Debian: tesseract-ocr and tesseract-ocr-chi-sim."""
    assert shutil.which("tesseract"), "install tesseract-ocr and tesseract-ocr-chi-sim, or deselect the marker `ocr`"
    path = shared / "data" / "documents" / "pdf_scanned_zh.pdf"
    reader = create_extractor(ExtractSettings(workers=1))
    read = await reader.extract(ExtractRequest(path, path.name))
    await reader.close()
    assert "中国公司年度报告" in "".join(read.text.split())
    assert "公司总部位于北京" in read.text, "blanks that OCR put between characters are closed, lines joined"
    assert [notice.code for notice in read.warnings] == ["ocr"]
    assert len(read.pages) == 1


_PIXEL = (
    "89504e470d0a1a0a0000000d49484452000000010000000108020000009077 53de0000000c4944415408d763f8ffff3f0005fe02fe"
    "dccc59e70000000049454e44ae426082"
)


@pytest.mark.parametrize(
    ("name", "data", "error"),
    [
        ("song.mp3", b"ID3\x03\x00\x00\x00\x00\x00\x00" + bytes(range(256)) * 4, Unsupported),
        ("tool.exe", b"MZ" + bytes(200), Unsupported),
        ("Main.class", b"\xca\xfe\xba\xbe" + bytes(60), Unsupported),
        ("pixel.png", bytes.fromhex(_PIXEL.replace(" ", "")), NoText),
        ("blank.txt", b" \n\t\n", NoText),
        ("empty.docx", b"", EmptyFile),
        ("noise.bin", bytes((number * 73 + 41) % 256 for number in range(3000)), Unsupported),
    ],
)
async def test_files_without_text(
    name: str, data: bytes, error: type[FuziError], tmp_path: Path, extractor: Extractor
) -> None:
    path = tmp_path / "upload"
    path.write_bytes(data)
    with pytest.raises(error):
        await extractor.extract(ExtractRequest(path, name))
