"""The demo: take in the documents that come along, ask three questions, show which leg found what."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from service.config import SearchSettings
from service.db.engine import database_errors
from service.demo.questions import QUESTIONS, DemoQuestion
from service.demo.show import show_answer, show_documents, show_next_steps
from service.flows.jobs import result_of
from service.flows.receive import Accepted, receive
from service.search import search
from service.types import IngestRequest, IngestResult, SearchRequest, SearchResult
from service.wiring import Services
from service.worker import working

COLLECTION = "demo"
DOCUMENTS = Path(__file__).parent / "documents"


@dataclass(frozen=True, slots=True)
class DemoReport:
    """What the demo did: one result per document (by name) and per question (in order)."""

    ingested: tuple[IngestResult, ...]
    answers: tuple[tuple[DemoQuestion, SearchResult], ...]


async def run_demo(services: Services, console: Console) -> DemoReport:
    """Take in the demo's documents (unchanged ones cost nothing), ask its questions and print the answers.

    Everything goes into the collection ``demo``; other collections are neither read nor written.

    Raises:
        FuziError: a document could not be taken in, or a search failed.
    """
    answers = []
    with database_errors():
        begun = time.perf_counter()
        ingested = await _ingest_documents(services, console)
        show_documents(console, ingested, time.perf_counter() - begun)
        for number, question in enumerate(QUESTIONS, start=1):
            result = await search(services.for_search, _request(question.query, services.settings.search))
            show_answer(console, number, question, result)
            answers.append((question, result))
    show_next_steps(console, COLLECTION)
    return DemoReport(tuple(ingested), tuple(answers))


async def _ingest_documents(services: Services, console: Console) -> list[IngestResult]:
    """Queue every document, and work on them here until all are searchable."""
    results = []
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        received = [await receive(services.for_receive, _upload(path)) for path in sorted(DOCUMENTS.iterdir())]
        task = progress.add_task("documents", total=len(received))
        async with working(services):
            for each in received:
                results.append(await result_of(services.engine, each) if isinstance(each, Accepted) else each)
                progress.advance(task)
    return results


def _upload(path: Path) -> IngestRequest:
    return IngestRequest(path=path, source=path.name, file_name=path.name, collection=COLLECTION)


def _request(query: str, settings: SearchSettings) -> SearchRequest:
    return SearchRequest(
        query=query,
        top_n=settings.top_n,
        candidates=settings.candidates,
        vector_weight=settings.vector_weight,
        fts_weight=settings.fts_weight,
        rrf_k=settings.rrf_k,
        fts_terms=settings.fts_terms,
        collections=[COLLECTION],
    )
