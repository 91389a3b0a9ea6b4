"""What the demo prints."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from service.demo.questions import DemoQuestion
from service.types import IngestResult, Passage, SearchResult

_SHOWN_PASSAGES = 3
_EXCERPT = 80
"""Characters shown at most on each side of the place that answers."""
_SENTENCE_END = re.compile(r"[。！？]\n*|\n+")


def show_documents(console: Console, results: Sequence[IngestResult], seconds: float) -> None:
    """A table of the documents with their chunks."""
    table = Table("document", "outcome", box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for heading in ("parents", "children"):
        table.add_column(heading, justify="right")
    for result in results:
        table.add_row(result.source, result.outcome.value, str(result.parent_count), str(result.child_count))
    children = sum(result.child_count for result in results)
    console.print(table)
    summary = f"{len(results)} documents, {children} child chunks found by vector and by BM25, in {seconds:.1f} s\n"
    console.print(summary, style="dim")


def show_answer(console: Console, number: int, question: DemoQuestion, result: SearchResult) -> None:
    """A question, the best passages with both ranks, and the place in the first of them that answers."""
    console.print(Text.assemble((f"{number}  ", "bold cyan"), (question.query, "bold")))
    console.print(Text(question.reason, style="dim"))
    table = Table("", "document", "section", box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for heading in ("vector rank", "BM25 rank", "rrf_score"):
        table.add_column(heading, justify="right")
    for rank, passage in enumerate(result.passages[:_SHOWN_PASSAGES], start=1):
        best = passage.hits[0].candidate
        style = "" if passage.source == question.source else "dim"
        section = passage.heading_path[-1] if passage.heading_path else ""
        ranks = (_rank(best.vector_rank), _rank(best.fts_rank), f"{best.rrf_score:.3f}")
        table.add_row(str(rank), passage.source, section, *ranks, style=style)
    console.print(table)
    if result.passages:
        console.print(Padding(excerpt(result.passages[0], question.phrase), (0, 0, 0, 3), expand=False))
    for notice in result.warnings:
        console.print(Text(f"{notice.code}: {notice.message}", style="yellow"))
    console.print(Text(f"{result.timings_ms['total_ms']:.0f} ms\n", style="dim"))


def excerpt(passage: Passage, phrase: str) -> Text:
    """The sentences around ``phrase`` in a passage, itself marked; around the best hit when the phrase is not there."""
    content = passage.content
    found = content.find(phrase)
    start, end = (found, found + len(phrase)) if found >= 0 else _best_hit(passage)
    first, last = max(0, start - _EXCERPT), min(len(content), end + _EXCERPT)
    if first > 0:
        ends = [match.end() for match in _SENTENCE_END.finditer(content, first, start)]
        first = ends[0] if ends else first
    if last < len(content):
        ends = [match.end() for match in _SENTENCE_END.finditer(content, end, last)]
        last = ends[-1] if ends else last
    text = Text(content[:last])
    text.stylize("bold green", start, end)
    shown = text[first:]
    shown.rstrip()
    return shown


def show_next_steps(console: Console, collection: str) -> None:
    """Commands to go on with."""
    steps = {
        f'fuzi search "外来施工人员要遵守哪些规定？" --collection {collection}': "a question of your own",
        f'fuzi search "ZF20817-M4" --vector-weight 0 --collection {collection}': "one leg alone",
        "fuzi ingest ./documents": "your own files, folders included",
        "fuzi serve": "the REST service, described at /openapi.json",
    }
    activate = Path(sys.prefix, "bin", "activate")
    if shutil.which("fuzi") is None and activate.exists():
        steps = {f". {activate}": "first: lets this shell know fuzi", **steps}
    table = Table("Go on with", "", box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for command, purpose in steps.items():
        table.add_row(Text(command, style="bold"), purpose)
    console.print(table)


def _best_hit(passage: Passage) -> tuple[int, int]:
    hit = passage.hits[0]
    return hit.start - passage.start, hit.end - passage.start


def _rank(rank: int | None) -> str:
    return "–" if rank is None else str(rank)
