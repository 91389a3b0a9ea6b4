"""Files that the tests of this room make."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Sequence
from pathlib import Path

import docx
import openpyxl


def zip_bytes(members: Sequence[tuple[str, bytes]]) -> bytes:
    """A ZIP archive with these members."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members:
            archive.writestr(name, data)
    return buffer.getvalue()


def nested_zip(levels: int, data: bytes = "最里面的文字。".encode()) -> bytes:
    """A text file inside that many archives."""
    inner = zip_bytes([("deep.txt", data)])
    for level in range(levels - 1):
        inner = zip_bytes([(f"level{level}.zip", inner)])
    return inner


def small_docx(path: Path, *paragraphs: str) -> Path:
    """A Word file of these paragraphs."""
    document = docx.Document()
    for paragraph in paragraphs:
        document.add_paragraph(paragraph)
    document.save(str(path))
    return path


def long_xlsx(path: Path, rows: int) -> Path:
    """A workbook that keeps a parser busy."""
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("数据")
    for row in range(rows):
        sheet.append([row, f"第{row}行的说明文字", row / 7, f"text {row}"])
    book.save(path)
    return path


def swollen_docx(path: Path, megabytes: int) -> Path:
    """A Word file of a few kilobytes whose document part unpacks to that many megabytes of text."""
    small_docx(path, "开始")
    with zipfile.ZipFile(path) as package:
        members = [(name, package.read(name)) for name in package.namelist()]
    text = b"<w:p><w:r><w:t>" + b"abcdefgh " * 100 + b"</w:t></w:r></w:p>"
    swollen = [
        (name, data.replace(b"<w:sectPr", text * (megabytes * (1 << 20) // len(text)) + b"<w:sectPr", 1))
        if name == "word/document.xml"
        else (name, data)
        for name, data in members
    ]
    path.write_bytes(zip_bytes(swollen))
    return path
