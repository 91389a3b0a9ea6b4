"""Mails and archives: headers, bodies, attachments, member names, what one bad part does to the rest."""

from __future__ import annotations

import base64
import zipfile
from email.message import EmailMessage
from pathlib import Path

import openpyxl
import pytest

from service.errors import Corrupt, Encrypted, NoText
from service.extract import Extractor
from service.extract.containers.mail import header_text
from service.types import ExtractedText, ExtractRequest
from tests.unit.extract.made_files import small_docx, zip_bytes


async def read(extractor: Extractor, folder: Path, name: str, data: bytes) -> ExtractedText:
    path = folder / "upload"
    path.write_bytes(data)
    return await extractor.extract(ExtractRequest(path, name))


async def test_mail_with_html_body_and_attachments(tmp_path: Path, extractor: Extractor) -> None:
    message = EmailMessage()
    message["Subject"] = "关于合同的事"
    message["From"] = "张三 <zhang@example.com>"
    message["To"] = "li@example.org"
    message["Date"] = "Mon, 06 May 2024 09:00:00 +0800"
    message.set_content("你好：\n\n附件是合同。")
    message.add_alternative(
        "<html><body><h2>你好</h2><p>附件是<b>合同</b>，请过目并尽快签字寄回。</p><ul><li>一</li><li>二</li></ul></body></html>",
        subtype="html",
    )
    message.add_attachment(
        small_docx(tmp_path / "a.docx", "合同的正文。").read_bytes(),
        maintype="application",
        subtype="vnd.openxmlformats-officedocument.wordprocessingml.document",
        filename="合同.docx",
    )
    message.add_attachment("国标码的附件。".encode("gbk"), maintype="text", subtype="plain", filename="附件.txt")
    inner = EmailMessage()
    inner["Subject"] = "内层邮件"
    inner.set_content("内层正文。")
    message.add_attachment(inner)
    extracted = await read(extractor, tmp_path, "mail.eml", bytes(message))
    assert extracted.text == (
        "# 关于合同的事\n\n"
        "From: 张三 <zhang@example.com>\nTo: li@example.org\nDate: Mon, 06 May 2024 09:00:00 +0800\n\n"
        "### 你好\n\n附件是合同，请过目并尽快签字寄回。\n\n- 一\n- 二\n\n"
        "## 合同.docx\n\n合同的正文。\n\n"
        "## 附件.txt\n\n国标码的附件。\n\n"
        "## 内层邮件.eml\n\n### 内层邮件\n\n内层正文。"
    )
    assert extracted.title == "关于合同的事"
    assert extracted.media_type == "message/rfc822"
    assert extracted.metadata["attachments"] == ["合同.docx", "附件.txt", "内层邮件.eml"]
    assert extracted.metadata["created"] == "2024-05-06T09:00:00+08:00"


async def test_plain_mail_with_quotes(tmp_path: Path, extractor: Extractor) -> None:
    message = EmailMessage()
    message["From"] = "a@example.com"
    message["Subject"] = "回复"
    message["Date"] = "Mon, 06 May 2024 09:00:00 +0800"
    message.set_content("同意。\n\n> 上次你说\n> 周五之前\n\n此致")
    text = (await read(extractor, tmp_path, "mail.eml", bytes(message))).text
    assert text.endswith("同意。\n\n> 上次你说\n> 周五之前\n\n此致")


async def test_mail_is_known_by_its_content(tmp_path: Path, extractor: Extractor) -> None:
    raw = b"From: a@example.com\r\nTo: b@example.com\r\nSubject: x\r\n\r\nbody text here\r\n"
    assert (await read(extractor, tmp_path, "noname", raw)).media_type == "message/rfc822"


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("=?GB2312?B?s6O8+87KzOKjqLb+o6k=?=", "常见问题（二）"),
        ("=?utf-8?q?=E4=BD=A0=E5=A5=BD?= =?utf-8?q?=E4=B8=96=E7=95=8C?=", "你好世界"),
        ("=?big5?B?" + base64.b64encode("會議記錄".encode("big5")).decode() + "?=", "會議記錄"),
        ("=?gb2312?B?" + base64.b64encode("镕基".encode("gbk")).decode() + "?=", "镕基"),
        ("=?nonsense?B?5L2g5aW9?=", "你好"),
        ("plain subject", "plain subject"),
        (None, ""),
    ],
)
def test_header_fields(raw: str | None, shown: str) -> None:
    assert header_text(raw) == shown


async def test_archive_reads_every_member_like_an_upload(tmp_path: Path, extractor: Extractor) -> None:
    data = zip_bytes(
        [
            ("说明.txt", "国标码文本，里面有中文。".encode("gbk")),
            ("繁體.txt", "無障礙網頁嘉許計劃是政府資訊科技總監辦公室".encode("big5")),
            ("page.html", "<html><body><h1>标题</h1><p>正文</p></body></html>".encode()),
            ("readme.md", "# 甲\n\n- 一\n  - 二\n\n```\n# 代码\n```\n".encode()),
            ("__MACOSX/._x", b"\0\1\2"),
            ("folder/", b""),
            ("folder/a.docx", small_docx(tmp_path / "a.docx", "文件夹里的文字。").read_bytes()),
        ]
    )
    extracted = await read(extractor, tmp_path, "all.zip", data)
    assert extracted.text == (
        "# 说明.txt\n\n国标码文本，里面有中文。\n\n"
        "# 繁體.txt\n\n無障礙網頁嘉許計劃是政府資訊科技總監辦公室\n\n"
        "# page.html\n\n## 标题\n\n正文\n\n"
        "# readme.md\n\n## 甲\n\n- 一\n  - 二\n\n```\n# 代码\n```\n\n"
        "# folder/a.docx\n\n文件夹里的文字。"
    )
    assert extracted.warnings == ()
    assert extracted.title is None


async def test_member_names_of_chinese_windows(tmp_path: Path, extractor: Extractor) -> None:
    data = zip_bytes([("TENLETTERS.txt", "内容。".encode())])
    data = data.replace(b"TENLETTERS", "产品说明书".encode("gbk"))
    text = (await read(extractor, tmp_path, "a.zip", data)).text
    assert text.startswith("# 产品说明书.txt\n")


async def test_one_bad_member_is_a_warning(tmp_path: Path, extractor: Extractor) -> None:
    data = zip_bytes(
        [("good.txt", "好的内容。".encode()), ("bad.docx", b"PK\x03\x04 broken"), ("tool.exe", b"MZ\0\0" * 50)]
    )
    extracted = await read(extractor, tmp_path, "a.zip", data)
    assert extracted.text == "# good.txt\n\n好的内容。"
    assert sorted(notice.message.partition(":")[0] for notice in extracted.warnings) == ["bad.docx", "tool.exe"]


async def test_archive_without_anything_readable(tmp_path: Path, extractor: Extractor) -> None:
    with pytest.raises(NoText):
        await read(extractor, tmp_path, "a.zip", zip_bytes([("empty.txt", b"")]))


async def test_encrypted_members(tmp_path: Path, extractor: Extractor) -> None:
    data = bytearray(zip_bytes([("secret.txt", b"some text inside")]))
    data[6] |= 1
    data[data.index(b"PK\x01\x02") + 8] |= 1
    with pytest.raises(Encrypted):
        await read(extractor, tmp_path, "a.zip", bytes(data))


async def test_cut_off_archive(tmp_path: Path, extractor: Extractor) -> None:
    data = zip_bytes([(f"{number}.txt", bytes(range(256)) * 9) for number in range(5)])
    with pytest.raises(Corrupt):
        await read(extractor, tmp_path, "a.zip", data[: len(data) // 2])


async def test_archive_with_the_name_of_a_word_file_is_no_archive(tmp_path: Path, extractor: Extractor) -> None:
    word = small_docx(tmp_path / "a.docx", "文字")
    with zipfile.ZipFile(word) as package:
        parts = [(name, package.read(name)) for name in package.namelist() if name != "[Content_Types].xml"]
    with pytest.raises(Corrupt):
        await read(extractor, tmp_path, "a.docx", zip_bytes(parts))


async def test_a_workbook_that_is_cut_off_says_so(tmp_path: Path, native: Extractor) -> None:
    book = openpyxl.Workbook()
    book.active.append(["型号", "价格"])
    path = tmp_path / "prices.xlsx"
    book.save(path)
    data = path.read_bytes()
    path.write_bytes(data[: data.rindex(b"PK\x01\x02")])
    extracted = await native.extract(ExtractRequest(path, path.name))
    assert "型号" in extracted.text
    assert [notice.code for notice in extracted.warnings] == ["cut_off"]
    path.write_bytes(data[: len(data) // 8])
    with pytest.raises(Corrupt):
        await native.extract(ExtractRequest(path, path.name))


async def test_a_pdf_that_is_cut_off_says_so(tmp_path: Path, native: Extractor, shared: Path) -> None:
    data = (shared / "data/documents/pdf_tables_quarterly_report.pdf").read_bytes()
    path = tmp_path / "report.pdf"
    path.write_bytes(data[: data.rindex(b"%%EOF")])
    extracted = await native.extract(ExtractRequest(path, path.name))
    assert "东北电气" in extracted.text
    assert "cut_off" in [notice.code for notice in extracted.warnings]
    for size in (1500, len(data) // 2):
        path.write_bytes(data[:size])
        with pytest.raises(Corrupt):
            await native.extract(ExtractRequest(path, path.name))
