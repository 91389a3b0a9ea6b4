"""Questions of users, as spreadsheets and editors write them."""

from __future__ import annotations

import codecs
import csv
import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.errors import InvalidInput
from service.evaluate.read.own_questions import read_own_questions
from service.evaluate.read.records import Question

CHINESE = "问题,来源,短语\n保修期多长？,手册/保修.pdf,三年\n谁来检验？,,质检部\n"
EXPECTED = (
    Question("line 2", "保修期多长？", ("手册/保修.pdf",), ("三年",)),
    Question("line 3", "谁来检验？", (), ("质检部",)),
)


def read(folder: Path, content: bytes | str, name: str = "my.csv") -> tuple[Question, ...]:
    file = folder / name
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read_own_questions(file)


@pytest.mark.parametrize(
    "content",
    [
        CHINESE.encode(),
        codecs.BOM_UTF8 + CHINESE.encode(),
        CHINESE.encode("gb18030"),
        CHINESE.replace("\n", "\r\n").encode("gb18030"),
        CHINESE.replace(",", "\t").encode("utf-16"),
        CHINESE.replace(",", ";").encode(),
    ],
    ids=["utf-8", "with a mark", "Excel in Chinese", "with its line ends", "Unicode text of Excel", "semicolons"],
)
def test_every_form_that_excel_saves_is_read(tmp_path: Path, content: bytes) -> None:
    assert read(tmp_path, content) == EXPECTED


def test_cells_may_hold_line_breaks_commas_and_alternatives(tmp_path: Path) -> None:
    content = 'Question,Source,Phrase\n"a, b\nc?",x.pdf | y.pdf,"1,000 | 一千"\n\nd?,z.pdf,\n'
    assert read(tmp_path, content) == (
        Question("line 2", "a, b\nc?", ("x.pdf", "y.pdf"), ("1,000", "一千")),
        Question("line 5", "d?", ("z.pdf",)),
    )


def test_json_lines_hold_lists(tmp_path: Path) -> None:
    content = '{"id": 7, "query": "a?", "source": ["x", "y"]}\n\n{"question": "b?", "answers": ["1", "2"]}'
    assert read(tmp_path, content, "my.jsonl") == (
        Question("7", "a?", ("x", "y")),
        Question("line 3", "b?", (), ("1", "2")),
    )


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("", "the first line must name the columns"),
        ("保修,来源\na,b\n", "there is no question in 保修, 来源"),
        ("question,page\na,b\n", "there is no source or phrase in question, page"),
        ("question,phrase\n", "holds no question"),
        ("question,phrase\n,x\n", "line 2: the question is empty"),
        ("question,phrase\na, \n", "line 2: neither a source nor a phrase"),
        ("question,phrase\na,x\nb,y\na,z\n", "line 4: the same question stands in line 2"),
        ("id,question,phrase\n1,a,x\n1,b,y\n", "line 3: the id 1 occurs twice"),
        ("question,source\na,../..\nb,\n", "line 2: source: source must not be empty.*line 3: neither"),
        ('question,phrase\n"a,x\n', "this is no CSV"),
        (b"\xff\xff\xff", "no text in UTF-8, UTF-16 or GB18030"),
    ],
)
def test_complaints_name_the_line(tmp_path: Path, content: str | bytes, complaint: str) -> None:
    with pytest.raises(InvalidInput, match=complaint):
        read(tmp_path, content)


def test_only_the_first_complaints_are_told(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"line 11: .*; and 15 more$") as refused:
        read(tmp_path, "question,phrase\n" + "q,\n" * 25)
    assert refused.value.details["count"] == 25


TEXTS = st.text(st.characters(codec="utf-8", exclude_categories=("Cc",)), min_size=1, max_size=20).filter(str.strip)


@given(st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=6, unique_by=lambda row: row[0].strip()))
def test_any_text_comes_back_as_it_was_written(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str]]
) -> None:
    written = io.StringIO()
    writer = csv.writer(written)
    writer.writerows([("question", "phrase"), *((question, phrase.replace("|", "/")) for question, phrase in rows)])
    found = read(tmp_path_factory.getbasetemp(), codecs.BOM_UTF8 + written.getvalue().encode())
    expected = [(question.strip(), (phrase.replace("|", "/").strip(),)) for question, phrase in rows]
    assert [(each.text, each.answers) for each in found] == expected
