"""The documents of the demo are what they are meant to be, and the extractor reads each of them."""

from __future__ import annotations

import html.parser
import zipfile
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from service.config import ExtractSettings
from service.demo.questions import QUESTIONS
from service.demo.run import DOCUMENTS
from service.extract import create_extractor
from service.types import DocumentStatus, ExtractedText, ExtractRequest

TYPES = {".docx", ".eml", ".html", ".md", ".pdf", ".pptx", ".txt", ".xlsx"}
LARGEST = 60 * 1024

SENTENCES = {
    "产品规格.xlsx": "推料减速机骨架油封 氟橡胶",
    "会议纪要.txt": "冷轧板价格较年初上涨百分之七",
    "员工差旅报销制度.docx": "同性别的两名员工一同出差，鼓励合住一间双床房",
    "售后服务政策.html": "整机停产以后，我方继续供应备件至少八年。",
    "培训幻灯片.pptx": "考核成绩由班组长签字，存入个人培训档案，保存三年。",
    "安全操作规程.pdf": "一把锁只有一把钥匙，由上锁人随身保管。",
    "设备手册.md": "冷风会让热熔胶提前凝固，造成封盒开裂。",
    "项目周报.eml": "The encoder signal arrives through a shared input card with a filter time of 3 ms",
}


@pytest_asyncio.fixture(scope="module")
async def texts() -> AsyncIterator[dict[str, ExtractedText]]:
    extractor = create_extractor(ExtractSettings())
    try:
        yield {
            path.name: await extractor.extract(ExtractRequest(path, path.name)) for path in sorted(DOCUMENTS.iterdir())
        }
    finally:
        await extractor.close()


def test_there_is_one_small_document_of_each_type() -> None:
    paths = sorted(DOCUMENTS.iterdir())
    assert {path.suffix for path in paths} == TYPES
    assert len(paths) == len(TYPES)
    assert not {path.name: path.stat().st_size for path in paths if path.stat().st_size > LARGEST}


def test_the_minutes_are_gbk_with_windows_line_ends() -> None:
    content = (DOCUMENTS / "会议纪要.txt").read_bytes()
    with pytest.raises(UnicodeDecodeError):
        content.decode("utf-8")
    assert content.decode("gbk").startswith("二季度供应链与质量联席会议纪要\r\n")


def test_the_web_page_has_navigation_and_a_table() -> None:
    tags: set[str] = set()
    parser = html.parser.HTMLParser()
    parser.handle_starttag = lambda tag, _attributes: tags.add(tag)  # type: ignore[method-assign]
    parser.feed((DOCUMENTS / "售后服务政策.html").read_text(encoding="utf-8"))
    assert tags >= {"nav", "table", "script", "h2"}


@pytest.mark.parametrize("suffix", [".docx", ".pptx", ".xlsx"])
def test_office_files_are_sound_archives(suffix: str) -> None:
    (path,) = DOCUMENTS.glob(f"*{suffix}")
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None


@pytest.mark.parametrize("name", sorted(SENTENCES))
def test_every_document_is_read_clean(texts: dict[str, ExtractedText], name: str) -> None:
    text = texts[name]
    assert text.status is DocumentStatus.READY, text.warnings
    assert SENTENCES[name] in text.text
    assert "\ufffd" not in text.text


def test_sizes_differ_and_one_document_is_long(texts: dict[str, ExtractedText]) -> None:
    lengths = {name: len(text.text) for name, text in texts.items()}
    assert lengths.keys() == SENTENCES.keys()
    assert min(lengths.values()) > 600
    assert max(lengths.values()) > 4000


def test_the_pdf_has_pages_with_numbers_in_the_file(texts: dict[str, ExtractedText]) -> None:
    assert [page.number for page in texts["安全操作规程.pdf"].pages] == [1, 2]


@pytest.mark.parametrize("question", QUESTIONS, ids=[question.nature for question in QUESTIONS])
def test_each_answer_stands_in_one_place_of_one_document(texts: dict[str, ExtractedText], question) -> None:
    found = {name: text.text.count(question.phrase) for name, text in texts.items() if question.phrase in text.text}
    assert found == {question.source: 1}


def test_the_paraphrase_shares_no_two_characters_with_any_document(texts: dict[str, ExtractedText]) -> None:
    (question,) = [question for question in QUESTIONS if question.nature == "vector"]
    pairs = {first + second for first, second in zip(question.query, question.query[1:], strict=False)}
    assert not {pair: name for pair in pairs for name, text in texts.items() if pair in text.text}


def test_the_sources_of_the_binary_documents_are_kept() -> None:
    sources = Path(__file__).parents[2] / "fixtures" / "demo_sources"
    binary = {path.stem for path in DOCUMENTS.iterdir()} - {"设备手册", "售后服务政策"}
    assert {path.stem for path in sources.iterdir()} == binary
