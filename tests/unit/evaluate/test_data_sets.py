"""Reading data sets: what is right is read, what is not is named with its line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from service.errors import InvalidInput
from service.evaluate.read.data_set import read_data_set
from service.evaluate.read.records import DataSet

DOCUMENTS = [
    {"id": "a", "title": "甲", "text": "保修三年。"},
    {"id": "b", "title": "", "text": "# 标题\n\n正文", "media_type": "text/markdown"},
]
QUESTIONS = [
    {"id": "1", "text": "保修多久？", "answers": ["三年"]},
    {"id": "2", "text": "正文？", "answers": ["正 文", " "], "evidence": "x"},
]
JUDGEMENTS = ["query-id\tcorpus-id\tscore", "1\ta\t1", "2\tb\t1", "2\ta\t0"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "set" / "long").mkdir(parents=True)
    write(tmp_path / "set")
    return tmp_path / "set"


def write(
    folder: Path, documents: object = DOCUMENTS, questions: object = QUESTIONS, judgements: object = JUDGEMENTS
) -> None:
    inner = folder / "long" if (folder / "long").is_dir() else folder
    for file, lines in (
        (inner / "corpus.jsonl", documents),
        (folder / "queries.jsonl", questions),
        (inner / "qrels.tsv", judgements),
    ):
        assert isinstance(lines, list)
        file.write_text(
            "\n".join(line if isinstance(line, str) else json.dumps(line, ensure_ascii=False) for line in lines)
        )


def codes(data_set: DataSet) -> dict[str, str]:
    return {notice.code: notice.message for notice in data_set.notices}


def test_documents_questions_and_judgements_come_together(folder: Path) -> None:
    found = read_data_set(folder)
    assert (found.name, found.notices) == ("set", ())
    assert [(each.id, each.media_type) for each in found.documents] == [("a", "text/plain"), ("b", "text/markdown")]
    assert [(each.id, each.documents, each.answers) for each in found.questions] == [
        ("1", ("a",), ("三年",)),
        ("2", ("b",), ("正 文",)),
    ]


def test_a_set_may_lie_flat(tmp_path: Path) -> None:
    write(tmp_path)
    assert len(read_data_set(tmp_path).questions) == 2


def test_the_fingerprint_is_of_the_documents_alone(folder: Path) -> None:
    before = read_data_set(folder).corpus_sha256
    write(folder, questions=QUESTIONS[:1])
    assert read_data_set(folder).corpus_sha256 == before
    write(folder, documents=[DOCUMENTS[0], {**DOCUMENTS[1], "title": "乙"}])
    assert read_data_set(folder).corpus_sha256 != before


def test_what_cannot_be_judged_is_left_out_and_named(folder: Path) -> None:
    write(
        folder,
        documents=[*DOCUMENTS, {"id": "leer", "text": " "}],
        questions=[*QUESTIONS, {"id": "3", "text": "?", "answers": []}, {"id": "4", "text": "?", "answers": ["x"]}],
        judgements=[*JUDGEMENTS, "1\tnowhere\t1", "3\ta\t1", "9\ta\t1"],
    )
    found = read_data_set(folder)
    assert [each.id for each in found.questions] == ["1", "2"]
    told = codes(found)
    assert told.keys() == {"empty_documents", "unknown_documents", "no_answers", "no_judgement", "unknown_questions"}
    assert "nowhere" in told["unknown_documents"]
    assert told["no_answers"].endswith(": 3")
    assert told["no_judgement"].endswith(": 4")
    assert told["unknown_questions"].endswith(": 9")


@pytest.mark.parametrize(
    ("part", "lines", "complaint"),
    [
        ("documents", [DOCUMENTS[0], DOCUMENTS[0]], "line 2: the id a occurs twice"),
        ("documents", ["{", "[]"], "line 1: this is no JSON (.*); line 2: this is no JSON object"),
        ("documents", [{"title": "x", "text": "y"}], "line 1: id: source must not be empty"),
        ("documents", [{"id": "x", "text": ["y"]}], "line 1: text must be a text"),
        ("documents", ["[" * 200_000], "line 1: this is no JSON"),
        ("documents", [{"id": "x", "title": "a\0b", "text": "y"}], "line 1: title must not contain NUL"),
        ("documents", ['{"id": "x", "text": "y\\ud800"}'], "line 1: text must not contain NUL or half"),
        (
            "questions",
            ['{"id": "1", "text": "\\ud800", "answers": ["x"]}'],
            "line 1: text must not contain NUL or half",
        ),
        ("questions", [QUESTIONS[0], QUESTIONS[0]], "line 2: the id 1 occurs twice"),
        ("questions", [{"id": "1", "answers": ["x"]}], "line 1: id and text must not be empty"),
        ("questions", [{"id": "1", "text": "?", "answers": [1]}], "line 1: answers must be a text or a list"),
        ("questions", [{"id": "1", "text": "?"}], "no question has both"),
        ("judgements", ["1\ta"], "no question has both"),
        ("judgements", ["1\ta\t1", "1 a 1"], "line 2: expected question id, document id and relevance"),
    ],
)
def test_wrong_lines_are_refused_by_number(folder: Path, part: str, lines: list[object], complaint: str) -> None:
    write(folder, **{part: lines})
    with pytest.raises(InvalidInput, match=complaint.replace("(", r"\(").replace(r"\(.*", "(.*")):
        read_data_set(folder)


def test_a_missing_file_is_named(folder: Path) -> None:
    (folder / "long" / "qrels.tsv").unlink()
    with pytest.raises(InvalidInput, match=r"there is no .*long/qrels\.tsv"):
        read_data_set(folder)


@pytest.mark.parametrize(("name", "questions", "documents"), [("law_dev", 364, 42), ("cmrc2018", 1700, 184)])
def test_real_sets_are_read_whole(shared: Path, name: str, questions: int, documents: int) -> None:
    found = read_data_set(shared / "data" / "retrieval" / name)
    assert (len(found.questions), len(found.documents), found.notices) == (questions, documents, ())
