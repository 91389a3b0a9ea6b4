"""The Tika server adapter against a real HTTP server: what it sends, what it makes of faults, what it leaves behind."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from service.config import ExtractSettings
from service.errors import (
    Corrupt,
    Encrypted,
    ExtractionCrashed,
    ExtractionLimit,
    ExtractionTimeout,
    ExtractorUnavailable,
    FuziError,
    Misconfigured,
    NoText,
    Unsupported,
)
from service.extract import Extractor, create_extractor
from service.types import ExtractRequest
from tests.fakes.tika_server import Answer, Drop, FakeTikaServer, Hang, Raw, Step, running_tika_server
from tests.unit.extract.made_files import small_docx

_WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"


@pytest.fixture
def fake() -> Iterator[FakeTikaServer]:
    with running_tika_server() as running:
        yield running


@pytest.fixture
async def extractor(fake: FakeTikaServer) -> AsyncIterator[Extractor]:
    """Overrides the one of the package: this server takes scripts."""
    settings = ExtractSettings(adapter="server", tika_url=fake.url, ocr=False, workers=1, timeout_seconds=20)
    made = create_extractor(settings)
    yield made
    await made.close()


@pytest.fixture
def document(tmp_path: Path) -> ExtractRequest:
    return ExtractRequest(small_docx(tmp_path / "a.docx", "真正的内容。"), "a.docx")


async def test_asks_for_xhtml_with_the_name_of_the_file(
    tmp_path: Path, fake: FakeTikaServer, extractor: Extractor
) -> None:
    name = "产品手册 第1版.docx"
    extracted = await extractor.extract(ExtractRequest(small_docx(tmp_path / "upload", "手册内容。"), name))
    assert extracted.text == "手册内容。"
    (request,) = fake.requests
    assert request.path == "/rmeta/xml"
    assert request.file_name == name
    assert request.body.startswith(b"PK")


async def test_text_files_never_reach_the_server(tmp_path: Path, fake: FakeTikaServer, extractor: Extractor) -> None:
    for name, text in (("a.txt", "文本。"), ("b.md", "# 标题"), ("c.csv", "甲,乙\n1,2"), ("d.html", "<p>段</p>")):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        await extractor.extract(ExtractRequest(path, name))
    assert fake.requests == []


async def test_busy_server_is_asked_again(fake: FakeTikaServer, extractor: Extractor, document: ExtractRequest) -> None:
    fake.script["a.docx"] = [Answer(503), Drop(), Answer(text="<html><body><p>正文甲。</p></body></html>")]
    assert (await extractor.extract(document)).text == "正文甲。"
    assert len(fake.requests) == 3
    assert len({request.body for request in fake.requests}) == 1, "every try sends the whole file"


@pytest.mark.parametrize(
    ("steps", "error"),
    [
        ([Answer(503)], ExtractorUnavailable),
        ([Answer(502)], ExtractorUnavailable),
        ([Answer(429)], ExtractorUnavailable),
        ([Drop()], ExtractorUnavailable),
        ([Answer(500, "java.lang.NullPointerException")], ExtractionCrashed),
        ([Answer(500, "Zip bomb detected!")], ExtractionLimit),
        ([Answer(422, "TikaException: Unexpected RuntimeException")], Corrupt),
        ([Answer(422, "org.apache.tika.exception.EncryptedDocumentException")], Encrypted),
        ([Answer(415)], Unsupported),
        ([Answer(413)], ExtractionLimit),
        ([Answer(404)], ExtractionCrashed),
        ([Answer(204)], ExtractionCrashed),
        ([Raw(b"\x00\xff<<<<no json")], ExtractionCrashed),
        ([Raw(b"")], ExtractionCrashed),
        ([Raw(b"[]")], ExtractionCrashed),
        ([Raw(b"[1, 2]")], ExtractionCrashed),
        ([Raw(b'"text"')], ExtractionCrashed),
        ([Answer(text="", media_type=_WORD)], NoText),
        ([Answer(text="  \u0000 ", media_type=_WORD)], NoText),
    ],
)
async def test_fault_becomes_its_error(
    steps: list[Step],
    error: type[FuziError],
    fake: FakeTikaServer,
    extractor: Extractor,
    document: ExtractRequest,
) -> None:
    fake.script["a.docx"] = steps
    with pytest.raises(error):
        await extractor.extract(document)
    assert len(fake.requests) <= 4
    fake.script.clear()
    assert (await extractor.extract(document)).text == "真正的内容。"


async def test_silent_server_is_a_time_out(fake: FakeTikaServer, document: ExtractRequest) -> None:
    fake.script["a.docx"] = [Hang(300)]
    settings = ExtractSettings(adapter="server", tika_url=fake.url, workers=1, timeout_seconds=1.5)
    extractor = create_extractor(settings)
    with pytest.raises(ExtractionTimeout, match=r"1\.5 seconds"):
        await extractor.extract(document)
    await extractor.close()


async def test_unreachable_server(tmp_path: Path) -> None:
    with running_tika_server() as gone:
        url = gone.url
    document = ExtractRequest(small_docx(tmp_path / "a.docx", "内容"), "a.docx")
    extractor = create_extractor(ExtractSettings(adapter="server", tika_url=url, workers=1, timeout_seconds=20))
    with pytest.raises(ExtractorUnavailable) as caught:
        await extractor.extract(document)
    assert caught.value.retryable
    await extractor.close()


def test_url_is_required() -> None:
    with pytest.raises(Misconfigured, match="FUZI_EXTRACT__TIKA_URL"):
        create_extractor(ExtractSettings(adapter="server"))


async def test_embedded_documents_stand_below_their_names(
    fake: FakeTikaServer, extractor: Extractor, document: ExtractRequest
) -> None:
    documents = [
        {"Content-Type": _WORD, "X-TIKA:content": "<html><body><p>正文。</p></body></html>", "dc:title": ["题目", "x"]},
        {"resourceName": "表.xlsx", "X-TIKA:embedded_resource_path": "/表.xlsx",
         "X-TIKA:content": "<html><body><p>附表内容。</p></body></html>"},
        {"X-TIKA:embedded_resource_path": "/image1.png", "resourceName": "image1.png"},
    ]  # fmt: skip
    fake.script["a.docx"] = [Raw(json.dumps(documents).encode())]
    extracted = await extractor.extract(document)
    assert extracted.text == "正文。\n\n# 表.xlsx\n\n附表内容。"
    assert extracted.title == "题目"


async def test_exception_noted_by_the_server_beside_text_is_a_warning(
    fake: FakeTikaServer, extractor: Extractor, document: ExtractRequest
) -> None:
    noted = {"Content-Type": _WORD, "X-TIKA:EXCEPTION:runtime": "org.apache.tika.exception.TikaException: page 3"}
    fake.script["a.docx"] = [Raw(json.dumps([{**noted, "X-TIKA:content": "<html><body>甲</body></html>"}]).encode())]
    (notice,) = (await extractor.extract(document)).warnings
    assert notice.code == "parser_warning"
    fake.script["a.docx"] = [Raw(json.dumps([noted]).encode())]
    with pytest.raises(Corrupt):
        await extractor.extract(document)


async def test_leaves_no_files_behind(
    tmp_path: Path, fake: FakeTikaServer, document: ExtractRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The ``tika`` package writes a log and keeps downloads in the folder for temporary files unless told not to."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    extractor = create_extractor(ExtractSettings(adapter="server", tika_url=fake.url, workers=1))
    await extractor.extract(document)
    fake.script["a.docx"] = [Answer(422, "broken")]
    with pytest.raises(Corrupt):
        await extractor.extract(document)
    await extractor.close()
    assert list(folder.iterdir()) == []
