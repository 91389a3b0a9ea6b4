"""Questions of one's own: a CSV or JSONL file with what to ask and where or with which words it is answered."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from service.errors import InvalidInput
from service.evaluate.read.lines import Complaints, json_lines, read_text, text_field, text_list
from service.evaluate.read.records import Question
from service.store.sources import normalise_source

_COLUMNS = {
    "id": ("id", "编号"),
    "question": ("question", "query", "text", "问题", "提问"),
    "source": ("source", "expected_source", "document", "来源", "文件", "文档"),
    "phrase": ("phrase", "expected_phrase", "answer", "answers", "短语", "答案"),
}
_ALTERNATIVES = re.compile(r"\s\|\s")


def read_own_questions(file: Path) -> tuple[Question, ...]:
    """Read questions; ``documents`` are the expected sources, in the spelling of sources.

    A CSV file (comma, semicolon or tab; UTF-8, UTF-16 or GB18030) has a header with a column ``question`` and one or
    both of ``source`` and ``phrase``; alternatives in a cell are joined by `` | ``. In JSONL a list holds them.

    Raises:
        InvalidInput: the message names every wrong line (up to ten).
    """
    complaints, questions, asked = Complaints(file), dict[str, Question](), dict[str, int]()
    records = _json_records(file, complaints) if file.suffix.lower() in {".jsonl", ".ndjson"} else _csv_records(file)
    for line, record in records:
        try:
            question = _question(line, record)
        except ValueError as error:
            complaints.add(line, str(error))
            continue
        if question.id in questions:
            complaints.add(line, f"the id {question.id} occurs twice")
        elif question.text in asked:
            complaints.add(line, f"the same question stands in line {asked[question.text]}")
        questions[question.id] = question
        asked.setdefault(question.text, line)
    complaints.raise_any()
    if not questions:
        raise InvalidInput(f"{file} holds no question")
    return tuple(questions.values())


def _question(line: int, record: dict[str, Any]) -> Question:
    text = text_field(record, "question")
    if not text:
        raise ValueError("the question is empty")
    sources, phrases = text_list(record, "source"), text_list(record, "phrase")
    if not sources and not phrases:
        raise ValueError("neither a source nor a phrase is given, so no answer could be judged")
    if any(not "".join(phrase.split()) for phrase in phrases):
        raise ValueError("a phrase is blank")
    try:
        documents = tuple(normalise_source(source) for source in sources)
    except InvalidInput as error:
        raise ValueError(f"source: {error.message}") from error
    return Question(text_field(record, "id") or f"line {line}", text, documents, phrases)


def _json_records(file: Path, complaints: Complaints) -> Iterator[tuple[int, dict[str, Any]]]:
    for line, record in json_lines(file, complaints):
        places = _places(list(record))
        yield line, {name: record[key] for name, key in places.items()}


def _csv_records(file: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    content = read_text(file)
    first = content.partition("\n")[0]
    delimiter = max(",;\t", key=first.count)
    rows = csv.reader(io.StringIO(content, newline=""), delimiter=delimiter, strict=True)
    try:
        header = next(rows, [])
        places = _places(header)
        missing = "question" if "question" not in places else "source or phrase" if len(places) == 1 else None
        if missing is not None:
            raise InvalidInput(
                f"{file}: the first line must name the columns, question and source or phrase (or 问题, 来源, 短语); "
                f"there is no {missing} in {', '.join(filter(None, header)) or 'an empty line'}"
            )
        line = rows.line_num
        for row in rows:
            start, line = line + 1, rows.line_num
            if any(cell.strip() for cell in row):
                cells = dict(zip(header, row, strict=False))
                yield start, {name: _cell(name, cells.get(key, "")) for name, key in places.items()}
    except csv.Error as error:
        raise InvalidInput(f"{file}: line {rows.line_num}: this is no CSV ({error})") from error


def _cell(name: str, cell: str) -> str | list[str]:
    return _ALTERNATIVES.split(cell) if name in {"source", "phrase"} else cell


def _places(header: list[str]) -> dict[str, str]:
    """Our name of a column to the file's."""
    spelt = {key.strip().casefold(): key for key in reversed(header)}
    return {name: spelt[word] for name, words in _COLUMNS.items() for word in reversed(words) if word in spelt}
