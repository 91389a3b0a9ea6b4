"""A data set of feedback: `queries.jsonl`, `corpus.jsonl` and `qrels.tsv`, as `read_data_set` reads them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sqlalchemy import select, tuple_
from sqlalchemy.ext.asyncio import AsyncConnection

from service.db.models import Collection, Document
from service.errors import InvalidInput
from service.evaluate.judged.questions import question_id
from service.evaluate.read.records import Question
from service.store.judgements import JudgedPassage


async def write_data_set(
    connection: AsyncConnection, folder: Path, questions: Sequence[Question], passages: Sequence[JudgedPassage]
) -> int:
    """Write the questions, every judged document with its text, and which answers which; returns how many documents.

    A document is named by its collection and source; one that was called bad is there as well, so that it can be found
    wrongly.

    Raises:
        InvalidInput: the folder holds something, or cannot be written.
    """
    asked = {question.id: question for question in questions}
    judged = [passage for passage in passages if passage.is_stored and question_id(passage.query) in asked]
    named = sorted({(passage.collection, passage.source) for passage in judged})
    statement = (
        select(Collection.name, Document.source, Document.title, Document.text, Document.text_format)
        .join(Collection, Collection.id == Document.collection_id)
        .where(tuple_(Collection.name, Document.source).in_(named))
        .order_by(Collection.name, Document.source)
    )
    corpus = [
        {
            "id": f"{name}/{source}",
            "title": title or source,
            "text": text,
            "media_type": "text/markdown" if text_format == "markdown" else "text/plain",
        }
        for name, source, title, text, text_format in await connection.execute(statement)
    ]
    relevance = dict[tuple[str, str], int]()
    for passage in judged:
        key = (question_id(passage.query), f"{passage.collection}/{passage.source}")
        relevance[key] = max(relevance.get(key, 0), int(passage.good > passage.bad))
    queries = [{"id": each.id, "text": each.text, "answers": list(each.answers)} for each in questions]
    lines = [f"{question}\t{document}\t{grade}" for (question, document), grade in sorted(relevance.items())]
    files = {
        "queries.jsonl": [_json(query) for query in queries],
        "corpus.jsonl": [_json(document) for document in corpus],
        "qrels.tsv": ["question\tdocument\trelevance", *lines],
    }
    await asyncio.to_thread(_write, folder, files)
    return len(corpus)


def _write(folder: Path, files: Mapping[str, Sequence[str]]) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise InvalidInput(f"{folder} is not empty: name a new folder")
        for name, lines in files.items():
            (folder / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    except OSError as error:
        raise InvalidInput(f"{folder} cannot be written: {error.strerror or error}") from error


def _json(record: dict[str, Any]) -> str:
    return json.dumps(record, ensure_ascii=False)
