"""``fuzi demo``: see it work."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from service.cli.options import JsonFlag
from service.cli.output import Output, reporting
from service.cli.settings import load_settings

if TYPE_CHECKING:
    from service.config import Settings
    from service.demo.run import DemoReport


def demo(as_json: JsonFlag = False) -> None:
    """Take in eight Chinese documents and answer three questions, all on this machine.

    Examples:
      fuzi demo
      fuzi search "外来施工人员要遵守哪些规定？" --collection demo

    The documents come along with the program and go into the collection demo; a second run takes in nothing new.
    The first run starts PostgreSQL and loads the embedding model. One question only the vectors can answer, one
    only BM25, one takes both.

    With --json: {documents, questions}, each question with what POST /v1/search would answer.
    """
    with reporting(as_json) as output:
        report = asyncio.run(_run(load_settings(), output))
        if as_json:
            output.result(_report_json(report))


async def _run(settings: Settings, output: Output) -> DemoReport:
    from service.db.engine import database_errors
    from service.demo.run import run_demo
    from service.wiring import open_services

    output.note("Starting PostgreSQL and the embedding model …")
    with database_errors():
        async with open_services(settings) as services:
            return await run_demo(services, output.notes if output.as_json else output.console)


def _report_json(report: DemoReport) -> dict[str, Any]:
    from service.api.schemas import UploadAnswer
    from service.api.search.answer import search_answer

    return {
        "documents": [UploadAnswer.model_validate(result).model_dump(mode="json") for result in report.ingested],
        "questions": [
            {
                "query": question.query,
                "reason": question.reason,
                "source": question.source,
                "answer": search_answer(result).model_dump(mode="json"),
            }
            for question, result in report.answers
        ],
    }
