"""Charsets: every encoding of the list, with and without mark, declared rightly and wrongly."""

from __future__ import annotations

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.extract.quality.plausible import plausibility
from service.extract.read.decode import decode

_TEXTS = {
    "simplified": "本手册说明了数据库备份与恢复的操作步骤。每天凌晨两点自动执行全量备份，备份文件保留三十天。",
    "short": "数据库备份手册",
    "mixed": "TiDB 从 v5.4.0 开始支持 GBK 字符集，utf8mb4 除外。\nSELECT 1;\n",
    "law": "第一条　为了规范合同行为，根据《中华人民共和国民法典》，制定本条例。\n第二条　本条例自公布之日起施行。",
    "traditional": "無障礙網頁嘉許計劃是政府資訊科技總監辦公室與平等機會委員會合辦的活動，希望表彰機構。",
    "short traditional": "會議記錄與報告",
    "japanese": "これは日本語のテキストです。データベースの設定を確認してください。",
    "french": "Le résumé de l'été : café, garçon, où êtes-vous ? Ça va très bien, merci.",
    "german": "Über die Größe der Äpfel. Die Straße ist schön.",
    "english": "Plain English, nothing else.",
}
_ENCODINGS = (
    "utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be",
    "gbk", "gb18030", "big5", "cp932", "cp1252",
)  # fmt: skip


def _encodable() -> list[tuple[str, str]]:
    pairs = []
    for name, text in _TEXTS.items():
        for encoding in _ENCODINGS:
            try:
                text.encode(encoding)
            except UnicodeEncodeError:
                continue
            pairs.append((name, encoding))
    return pairs


@pytest.mark.parametrize(("name", "encoding"), _encodable())
def test_undeclared(name: str, encoding: str) -> None:
    decoded = decode(_TEXTS[name].encode(encoding))
    assert decoded.text == _TEXTS[name], decoded.encoding
    assert decoded.damaged == 0


def test_matrix_is_not_empty() -> None:
    assert len(_encodable()) > 80


@pytest.mark.parametrize("declared", ["gb2312", "GBK", "utf-8", "iso-8859-1", "big5", "nonsense", "", None])
def test_wrong_declaration_does_not_win(declared: str | None) -> None:
    text = _TEXTS["simplified"]
    assert decode(text.encode("gb18030"), declared).text == text
    assert decode(text.encode("utf-8"), declared).text == text


def test_declared_gb2312_means_gb18030() -> None:
    text = "镕基、㐂、𠮷野家，这些字不在国标的第一版里。"
    assert decode(text.encode("gb18030"), "gb2312").text == text


def test_big5_never_becomes_private_use_characters() -> None:
    data = "嘉許計劃的評審準則，包括網頁內容及設計是否符合標準。".encode("big5")
    assert plausibility(data.decode("gb18030", "replace")) < 0.5
    assert decode(data).text == "嘉許計劃的評審準則，包括網頁內容及設計是否符合標準。"


def test_cut_inside_a_character_is_damage_at_the_end_only() -> None:
    data = ("数据库备份手册。" * 50).encode()[:-2]
    decoded = decode(data)
    assert decoded.encoding == "utf-8"
    assert decoded.text.startswith("数据库备份手册。" * 49)
    assert decoded.damaged == 1


def test_one_bad_byte_does_not_change_the_charset() -> None:
    data = bytearray(("数据库备份手册，每天执行。" * 50).encode())
    data[300] = 0xFF
    decoded = decode(bytes(data))
    assert decoded.encoding == "utf-8"
    assert 1 <= decoded.damaged <= 3


def test_long_text_with_ascii_start() -> None:
    text = "a plain English preface. " * 4000 + _TEXTS["simplified"] * 10
    assert decode(text.encode("gb18030")).text == text


@given(st.text(min_size=1))
def test_utf8_is_always_itself(text: str) -> None:
    data = text.encode("utf-8")
    marks = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
    if b"\x00" not in data and not data.startswith(marks):
        assert decode(data).text == text


@given(st.binary(max_size=300))
def test_never_fails(data: bytes) -> None:
    decode(data)


@pytest.mark.parametrize("declared", ["utf-16", "utf-32", "hex", "rot13", "undefined", "idna", "a\0b", "x" * 5000])
@pytest.mark.parametrize("encoding", ["utf-8", "gb18030"])
def test_charset_names_that_say_nothing(declared: str, encoding: str) -> None:
    text = "本手册说明数据库的备份与恢复步骤，请先停止服务。"
    assert decode(text.encode(encoding), declared).text == text
