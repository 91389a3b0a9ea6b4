"""Data sets: a folder of documents, questions with answers, and judgements which document answers which question."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from service.errors import InvalidInput
from service.evaluate.read.lines import Complaints, json_lines, read_text, text_field, text_list
from service.evaluate.read.records import DataSet, Question, SetDocument, notice_about
from service.store.sources import normalise_source
from service.types import Notice

type Judgements = Mapping[str, tuple[str, ...]]
"""Ids of the relevant documents by question id."""


def read_data_set(folder: Path) -> DataSet:
    """Read ``queries.jsonl``, and ``corpus.jsonl`` with ``qrels.tsv`` from ``long/`` when there is one.

    Questions that cannot be judged (no answers, no judgement) are left out, and a notice says so.

    Raises:
        InvalidInput: a file is missing or a line of it is wrong, an id occurs twice, or no question is left.
    """
    folder = folder.resolve()
    inner = folder / "long" if (folder / "long").is_dir() else folder
    wanted = (folder / "queries.jsonl", inner / "corpus.jsonl", inner / "qrels.tsv")
    for file in wanted:
        if not file.is_file():
            raise InvalidInput(f"there is no {file}; a data set has queries.jsonl, and corpus.jsonl with qrels.tsv")
    queries, corpus, qrels = wanted
    notices: list[Notice] = []
    documents = _documents(corpus, notices)
    judged = _judgements(qrels, {document.id for document in documents}, notices)
    questions = _judged_questions(_questions(queries), judged, notices)
    if not questions:
        raise InvalidInput(f"{folder}: no question has both an answer and a judgement", notices=len(notices))
    return DataSet(folder.name, tuple(documents), tuple(questions), fingerprint(documents), tuple(notices))


def fingerprint(documents: list[SetDocument]) -> str:
    """SHA-256 of everything that is taken in, in its order."""
    digest = hashlib.sha256()
    for document in documents:
        for part in (document.id, document.title, document.media_type, document.text):
            content = part.encode("utf-8", "surrogatepass")
            digest.update(len(content).to_bytes(8, "big") + content)
    return digest.hexdigest()


def _documents(file: Path, notices: list[Notice]) -> list[SetDocument]:
    complaints, documents, empty = Complaints(file), dict[str, SetDocument](), list[str]()
    for line, record in json_lines(file, complaints):
        try:
            document = SetDocument(
                id=normalise_source(text_field(record, "id")),
                title=text_field(record, "title"),
                text=text_field(record, "text"),
                media_type=text_field(record, "media_type") or "text/plain",
            )
        except (InvalidInput, ValueError) as error:
            complaints.add(line, f"id: {error.message}" if isinstance(error, InvalidInput) else str(error))
            continue
        if document.id in documents:
            complaints.add(line, f"the id {document.id} occurs twice")
        elif not document.text:
            empty.append(document.id)
        else:
            documents[document.id] = document
    complaints.raise_any()
    if empty:
        notices.append(notice_about("empty_documents", "documents without text were left out", empty))
    return list(documents.values())


def _questions(file: Path) -> list[Question]:
    complaints, questions = Complaints(file), dict[str, Question]()
    for line, record in json_lines(file, complaints):
        try:
            question = Question(
                text_field(record, "id"), text_field(record, "text"), answers=text_list(record, "answers")
            )
        except ValueError as error:
            complaints.add(line, str(error))
            continue
        if not question.id or not question.text:
            complaints.add(line, "id and text must not be empty")
        elif question.id in questions:
            complaints.add(line, f"the id {question.id} occurs twice")
        else:
            questions[question.id] = question
    complaints.raise_any()
    return list(questions.values())


def _judgements(file: Path, known: set[str], notices: list[Notice]) -> Judgements:
    """Lines ``question <tab> document <tab> relevance``; the four columns of TREC are read as well."""
    complaints, judged, unknown = Complaints(file), dict[str, dict[str, None]](), dict[str, None]()
    for number, line in enumerate(read_text(file).splitlines(), start=1):
        cells = [cell.strip() for cell in line.split("\t")]
        if not line.strip() or (number == 1 and not _is_number(cells[-1])):
            continue
        if len(cells) not in {3, 4} or not _is_number(cells[-1]):
            complaints.add(number, "expected question id, document id and relevance, with tabs between")
            continue
        try:
            document = normalise_source(cells[-2])
        except InvalidInput as error:
            complaints.add(number, error.message)
            continue
        if document not in known:
            unknown[document] = None
        elif float(cells[-1]) > 0:
            judged.setdefault(cells[0], {})[document] = None
    complaints.raise_any()
    if unknown:
        notices.append(notice_about("unknown_documents", "judged documents are not in the corpus", list(unknown)))
    return {question: tuple(documents) for question, documents in judged.items()}


def _judged_questions(questions: list[Question], judged: Judgements, notices: list[Notice]) -> list[Question]:
    left_out = {
        "no_answers": ("questions without answers were left out", [q.id for q in questions if not q.answers]),
        "no_judgement": (
            "questions without a relevant document were left out",
            [q.id for q in questions if q.id not in judged],
        ),
        "unknown_questions": (
            "judged questions are not in queries.jsonl",
            sorted(judged.keys() - {q.id for q in questions}),
        ),
    }
    notices += [notice_about(code, what, names) for code, (what, names) in left_out.items() if names]
    return [replace(q, documents=judged[q.id]) for q in questions if q.answers and q.id in judged]


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
