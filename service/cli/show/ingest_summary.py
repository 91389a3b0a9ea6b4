"""What an ingestion did, for machines and for people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from service.cli.output import error_json
from service.cli.work.ingest_run import FAILED, OUTCOMES, FileResult, totals
from service.errors import FuziError

_STYLES = {"created": "green", "replaced": "cyan", "updated": "cyan", "unchanged": "dim", FAILED: "red"}


def ingest_json(
    results: Sequence[FileResult], seconds: float, stopped: FuziError | KeyboardInterrupt | None
) -> dict[str, Any]:
    """The document that ``fuzi ingest --json`` prints: a result per file, the totals, and what stopped it early."""
    return {
        "results": [
            {
                "path": result.file.path,
                "source": result.file.source,
                "outcome": result.outcome,
                **{key: value for key, value in result.answer.items() if key not in {"source", "outcome"}},
                "error": error_json(result.error) if result.error else None,
            }
            for result in results
        ],
        "totals": {**totals(results), "seconds": round(seconds, 3)},
        "interrupted": isinstance(stopped, KeyboardInterrupt),
        "error": error_json(stopped) if isinstance(stopped, FuziError) else None,
    }


def draw_summary(console: Console, results: Sequence[FileResult], seconds: float) -> None:
    """Draw the counts, then a row for each file that failed or was read with warnings."""
    figures = totals(results)
    table = Table(box=None, pad_edge=False)
    for heading in ("outcome", "files", "chunks"):
        table.add_column(heading, justify="left" if heading == "outcome" else "right")
    for outcome in map(str, OUTCOMES):
        chunks = sum(result.child_count for result in results if result.outcome == outcome)
        style = _STYLES[outcome] if figures[outcome] else "dim"
        table.add_row(Text(outcome, style=style), str(figures[outcome]), f"{chunks:,}" if outcome != FAILED else "")
    console.print(table)
    made = sum(result.child_count for result in results if result.outcome in {"created", "replaced"})
    rate = f", {made / seconds:.1f} chunks/s" if made and seconds else ""
    console.print(Text(f"{figures['files']} files in {seconds:.1f} s{rate}", style="dim"))
    _draw_failed(console, [result for result in results if result.error])
    _draw_warned(console, [result for result in results if result.answer.get("warnings")])
    _draw_duplicates(console, [result for result in results if result.answer.get("duplicate_of")])


def _draw_failed(console: Console, failed: Sequence[FileResult]) -> None:
    if not failed:
        return
    console.print()
    table = Table(box=None, pad_edge=False, title="failed", title_justify="left", title_style="bold red")
    table.add_column("file", overflow="fold", ratio=2)
    table.add_column("code", no_wrap=True, style="red")
    table.add_column("reason", overflow="fold", ratio=3)
    for result in failed:
        if result.error:
            table.add_row(Text(result.file.source), Text(result.error.code), Text(result.error.message))
    console.print(table)


def _draw_warned(console: Console, warned: Sequence[FileResult]) -> None:
    if not warned:
        return
    console.print()
    console.print(Text("read with warnings", style="bold yellow"))
    for result in warned:
        messages = dict.fromkeys(str(notice["message"]) for notice in result.answer["warnings"])
        console.print(Text.assemble(result.file.source, ": ", ("; ".join(messages), "dim")), soft_wrap=True)


def _draw_duplicates(console: Console, duplicates: Sequence[FileResult]) -> None:
    if not duplicates:
        return
    console.print()
    console.print(Text("stored, but another document has the same bytes", style="bold yellow"))
    for result in duplicates:
        console.print(Text(f"{result.file.source}: same as {result.answer['duplicate_of']}"), soft_wrap=True)
