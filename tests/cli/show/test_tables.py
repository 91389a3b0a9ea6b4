"""The list of documents and the doctor's report."""

from __future__ import annotations

import io
from typing import Any

import pytest
from rich.console import Console

from service.cli.show.documents import draw_documents
from service.cli.show.findings import draw_finding, findings_json
from service.cli.work.checks import Finding, State, examine
from service.config import Settings
from service.errors import OriginalsUnavailable

ID = "0b7c0e0e-6f0a-4c55-9a52-3f1f3f0f7a11"


def document(**changes: Any) -> dict[str, Any]:
    return {
        "document_id": ID,
        "collection": "default",
        "source": "制度/差旅报销 [第四版].docx",
        "status": "ready",
        "error_code": None,
        "child_count": 1234,
        "updated_at": "2025-01-31T08:15:12.5Z",
        **changes,
    }


def page(*documents: dict[str, Any], total: int | None = None, offset: int = 0) -> dict[str, Any]:
    return {"documents": list(documents), "total": total or len(documents), "limit": 50, "offset": offset}


def drawn(answer: dict[str, Any], width: int) -> str:
    console = Console(file=io.StringIO(), width=width, highlight=False)
    draw_documents(console, answer)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


@pytest.mark.parametrize("width", [24, 80, 200])
def test_documents_keep_id_and_source_whole_at_any_width(width: int) -> None:
    text = drawn(page(document(), document(status="failed", error_code="encrypted")), width)
    assert text.count(ID) == 2
    assert text.count("制度/差旅报销 [第四版].docx") == 2
    assert "1,234" in text
    assert "failed (encrypted)" in text
    assert "1–2 of 2" in text


def test_the_page_tells_how_to_go_on() -> None:
    assert "51–51 of 90; more: --offset 51" in drawn(page(document(), total=90, offset=50), 100)
    assert drawn(page(), 100).strip() == "no documents"
    assert drawn({"documents": [], "total": 3, "limit": 50, "offset": 50}, 100).strip() == (
        "no documents on this page (3 in all)"
    )


async def test_a_check_that_breaks_is_a_finding_and_stops_no_other() -> None:
    async def unavailable(_settings: Settings) -> list[Finding]:
        raise OriginalsUnavailable("the bucket is gone")

    async def broken(_settings: Settings) -> list[Finding]:
        raise ZeroDivisionError("oops")

    async def well(_settings: Settings) -> list[Finding]:
        return [Finding("ocr", State.OK, "fine")]

    checks = [("originals", unavailable), ("embedding", broken), ("ocr", well)]
    findings = [finding async for finding in examine(Settings(_env_file=None), checks)]
    assert [(finding.part, finding.state, finding.message) for finding in findings] == [
        ("originals", State.FAIL, "the bucket is gone"),
        ("embedding", State.FAIL, "ZeroDivisionError: oops"),
        ("ocr", State.OK, "fine"),
    ]
    assert findings[0].mend is not None
    assert "FUZI_ORIGINALS__URL" in findings[0].mend


def test_a_report_is_as_bad_as_its_worst_row() -> None:
    ok, warn, fail = (Finding("part", state, "…") for state in State)
    assert findings_json([])["state"] == "ok"
    assert findings_json([ok, warn])["state"] == "warn"
    assert findings_json([fail, ok, warn])["state"] == "fail"


def test_a_finding_names_its_mend_below() -> None:
    console = Console(file=io.StringIO(), width=100)
    draw_finding(console, Finding("ocr", State.WARN, "[no] Tesseract", "apt-get install tesseract-ocr"))
    assert isinstance(console.file, io.StringIO)
    first, second = console.file.getvalue().splitlines()
    assert first.split() == ["warn", "ocr", "[no]", "Tesseract"]
    assert second.strip() == "mend: apt-get install tesseract-ocr"
