"""The loader gives the cases as published."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cases import case, field_cases


def test_every_published_line_is_a_case(shared: Path) -> None:
    lines = (shared / "cases" / "field_cases.jsonl").read_text(encoding="utf-8").splitlines()
    assert list(field_cases()) == [json.loads(line)["id"] for line in lines]


def test_parts_are_repeated_and_joined() -> None:
    text = case("BR-013").text
    assert len(text) == 454
    assert text == "\n\n".join(["同" * 149 + "。"] * 3)


def test_plain_and_markdown_texts_are_given_as_they_are() -> None:
    assert case("BR-001").text.startswith("他说：“我们走吧。”")
    assert case("BR-006").text.startswith("# 安装\n\n```bash\n# 这是注释\n")


def test_files_are_decoded() -> None:
    assert case("BR-020").files["备份手册.txt"].decode("gbk") == case("BR-020").expected["text_equals"]
    files = case("BR-022").files
    assert files["locked.pdf"].startswith(b"%PDF-")
    assert files["ok.txt"].decode() == "普通文件内容。"


def test_a_case_without_text_says_so() -> None:
    with pytest.raises(KeyError):
        _ = case("BR-031").text
