"""``fuzi extract`` and ``fuzi split``: no database."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.cli.running import Fuzi, answer

EXTRACT_KEYS = {
    "status", "code", "message", "title", "media_type", "format", "text", "blocks", "pages", "metadata", "warnings",
    "extractor", "extractor_version",
}  # fmt: skip
MANUAL = """# 设备手册

## 第一章 安装

泵应安装在水平的地面上。地脚螺栓必须拧紧！安装之后检查水平度；误差不超过 0.5 毫米。

## 第二章 保养

每月更换一次润滑油。每年更换一次轴承（型号 ZX-4410）。
"""


@pytest.fixture
def manual(tmp_path: Path) -> Path:
    path = tmp_path / "设备手册.md"
    path.write_text(MANUAL, encoding="utf-8")
    return path


def check_chunks(document: dict[str, Any]) -> None:
    text, parents = document["text"], document["parents"]
    assert [parent["ordinal"] for parent in parents] == list(range(len(parents)))
    assert [child["ordinal"] for child in document["children"]] == list(range(len(document["children"])))
    for chunk in [*parents, *document["children"]]:
        assert text[chunk["start"] : chunk["end"]] == chunk["content"]
    for child in document["children"]:
        parent = parents[child["parent"]]
        assert parent["start"] <= child["start"] < child["end"] <= parent["end"]
    for start, end in document["sentences"]:
        assert text[start:end].strip() == text[start:end] != ""


def test_extract_prints_the_keys_it_promises(fuzi: Fuzi, manual: Path) -> None:
    result = fuzi("extract", str(manual), "--json")
    document = answer(result)
    assert (result.exit_code, result.stderr) == (0, "")
    assert document.keys() == EXTRACT_KEYS
    assert (document["status"], document["code"], document["format"]) == ("ready", None, "markdown")
    assert "ZX-4410" in document["text"]
    assert "设备手册" in result.stdout, "Chinese is not escaped"
    headings = [block for block in document["blocks"] if block["type"] == "heading"]
    assert [document["text"][block["start"] : block["end"]].strip("# ") for block in headings] == [
        "设备手册", "第一章 安装", "第二章 保养",
    ]  # fmt: skip


def test_extract_of_a_file_that_fails_prints_the_same_keys(fuzi: Fuzi, shared: Path) -> None:
    result = fuzi("extract", str(shared / "data/documents/pdf_encrypted.pdf"), "--json")
    document = answer(result)
    assert result.exit_code == 1
    assert document.keys() == EXTRACT_KEYS
    assert (document["status"], document["code"], document["text"]) == ("failed", "encrypted", "")


def test_extract_for_people_shows_pages(fuzi: Fuzi, shared: Path) -> None:
    result = fuzi("extract", str(shared / "data/documents/pdf_poems.pdf"))
    assert result.exit_code == 0
    assert "page 1" in result.stdout
    assert "忽然太行雪，昨夜飞入来" in result.stdout


def test_extract_for_people_says_what_is_wrong(fuzi: Fuzi, shared: Path) -> None:
    result = fuzi("extract", str(shared / "data/documents/docx_truncated.docx"))
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith("error corrupt: ")


def test_split_prints_exact_spans(fuzi: Fuzi, manual: Path) -> None:
    result = fuzi("split", str(manual), "--json", "--strategy", "sentence", "--parent-size", "60", "--child-size", "20",
                  "--parent-overlap", "0")  # fmt: skip
    document = answer(result)
    assert (result.exit_code, document["strategy"]) == (0, "sentence")
    check_chunks(document)
    assert len(document["parents"]) > 1
    assert all(parent["pages"] == [] and isinstance(parent["heading_path"], list) for parent in document["parents"])
    sentences = [document["text"][start:end] for start, end in document["sentences"]]
    assert "地脚螺栓必须拧紧！" in sentences


def test_split_of_a_file_that_fails_prints_the_same_keys(fuzi: Fuzi, manual: Path, shared: Path) -> None:
    result = fuzi("split", str(shared / "data/documents/docx_encrypted.docx"), "--json")
    document = answer(result)
    check_chunks(document)
    assert (result.exit_code, document["status"], document["code"]) == (1, "failed", "encrypted")
    read = answer(fuzi("split", str(manual), "--json"))
    assert document.keys() == read.keys()
    assert (read["status"], read["code"]) == ("ready", None)


def test_split_of_a_file_with_pages_names_them(fuzi: Fuzi, shared: Path) -> None:
    document = answer(fuzi("split", str(shared / "data/documents/pdf_tables_quarterly_report.pdf"), "--json"))
    check_chunks(document)
    pages = [page for parent in document["parents"] for page in parent["pages"]]
    assert (min(pages), max(pages)) == (1, 22)


def test_split_reads_standard_input_in_any_encoding(fuzi: Fuzi) -> None:
    text = "第一句话在这里。第二句话在那里！" * 3
    for encoding in ("utf-8", "gb18030", "utf-16"):
        document = answer(fuzi("split", "-", "--json", stdin=text.encode(encoding)))
        assert document["text"].strip() == text
        check_chunks(document)


def test_a_sentence_is_never_cut_without_a_hard_limit(fuzi: Fuzi) -> None:
    long = "长" * 900 + "。"
    whole = answer(fuzi("split", "-", "--json", "--sentence-hard-limit", "none", stdin=long))
    assert [len(child["content"]) for child in whole["children"]] == [901]
    cut = answer(fuzi("split", "-", "--json", "--sentence-hard-limit", "100", stdin=long))
    assert max(len(child["content"]) for child in cut["children"]) <= 200
    check_chunks(cut)


def test_options_come_from_the_environment_when_left_out(fuzi: Fuzi) -> None:
    text = "一二三四五六七八九。" * 20
    result = fuzi("split", "-", "--json", stdin=text, env={"FUZI_SPLIT__CHILD_SIZE": "30"})
    assert {len(child["content"]) for child in answer(result)["children"]} <= {10, 20, 30}
    result = fuzi("split", "-", "--json", "--child-size", "50", stdin=text, env={"FUZI_SPLIT__CHILD_SIZE": "30"})
    assert max(len(child["content"]) for child in answer(result)["children"]) == 50


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (["--child-size", "900"], "child_size (900) must not exceed parent_size (800)"),
        (["--child-size", "0"], "--child-size"),
        (["--sentence-hard-limit", "many"], "--sentence-hard-limit"),
        (["--strategy", "magic"], "--strategy"),
        (["--soft-tokens", "700"], "soft_tokens (700) must not exceed hard_tokens (600)"),
    ],
)
def test_options_that_cannot_be_are_usage_errors(fuzi: Fuzi, options: list[str], complaint: str) -> None:
    result = fuzi("split", "-", "--json", *options, stdin="一句。", env={"COLUMNS": "200"})
    assert (result.exit_code, result.stdout) == (2, "")
    assert complaint in result.stderr


@pytest.mark.parametrize("name", ["extract", "split"])
def test_a_file_that_is_not_there_is_a_usage_error(fuzi: Fuzi, name: str, tmp_path: Path) -> None:
    for path in (tmp_path / "nothing.md", tmp_path):
        result = fuzi(name, str(path), "--json")
        assert (result.exit_code, result.stdout) == (2, "")


def test_split_for_people_draws_parents_children_and_repetitions(fuzi: Fuzi) -> None:
    text = "一二三四五六七八九。甲乙丙。子丑寅卯辰巳午未申。"
    result = fuzi("split", "-", "--strategy", "sentence", "--child-size", "15", stdin=text)
    assert result.exit_code == 0
    assert "parent 0  [0:24] · 24 characters" in result.stdout
    assert "child 1  [10:24] · 14 characters · repeats 4" in result.stdout
    assert "  │ 甲乙丙。子丑寅卯辰巳午未申。" in result.stdout
    assert "strategy sentence · 1 parent (mean 24, largest 24) · 2 children (mean 14, largest 14)" in result.stdout


def test_wrong_settings_are_named_as_the_variable_that_holds_them(fuzi: Fuzi) -> None:
    result = fuzi("split", "-", "--json", stdin="一句。", env={"FUZI_SPLIT__CHILD_SIZE": "-3"})
    error = answer(result)["error"]
    assert (result.exit_code, error["code"]) == (1, "invalid_settings")
    assert error["message"].startswith("FUZI_SPLIT__CHILD_SIZE: ")
