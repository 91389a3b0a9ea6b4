"""Results of evaluations as tables."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from service.types import JsonObject

_STEPS = ("embed", "retrieve", "expand", "rerank", "total")


def show_result(console: Console, result: JsonObject, file: Path | None) -> None:
    """The figures of each stage with their intervals, and the milliseconds beside them."""
    corpus = result["corpus"]
    console.print(Text(f"{result['name']}", style="bold"), Text(f"({_strategy(result)})", style="dim"))
    console.print(
        Text(
            f"{result['question_count']:,} questions · {corpus['documents']:,} documents, {corpus['parents']:,} parent "
            f"and {corpus['children']:,} child chunks · {result['model']['name']} · reranker {result['reranker']}"
        ),
        soft_wrap=True,
    )
    metrics = list(next(iter(result["stages"].values()))["metrics"])
    figures = _by_stage(metrics)
    times = _by_stage([f"{step} ms" for step in _STEPS])
    for stage, facts in result["stages"].items():
        figures.add_row(stage, *(_figure(facts["metrics"][metric]) for metric in metrics))
        times.add_row(stage, *(_times(facts["timings_ms"][step]) for step in _STEPS))
    # two tables: one would not fit a terminal of 80 columns
    console.print(figures)
    console.print(times)
    console.print(
        Text(
            f"below a figure: {result['confidence']:.0%} interval (bootstrap over questions, seed {result['seed']}); "
            "milliseconds: half of the searches took less, 95 % took less",
            style="dim",
        ),
        soft_wrap=True,
    )
    show_notices(console, [notice["message"] for notice in result["notices"]])
    if file is not None:
        console.print(Text(f"kept as {file}", style="dim"), soft_wrap=True)


def _by_stage(columns: Sequence[str]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("stage")
    for column in columns:
        table.add_column(column, justify="right")
    return table


def show_notices(console: Console, messages: Sequence[str]) -> None:
    """What else a reader has to know."""
    for message in messages:
        console.print(Text(f"note: {message}", style="yellow"), soft_wrap=True)


def show_list(console: Console, found: Sequence[tuple[str, JsonObject]]) -> None:
    """Kept results, one a line, with the best stage's figures."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for column in ("result", "questions", "split", "model", "stage", "hit@1", "mrr@10", "ndcg@10"):
        table.add_column(column, justify="right" if column in {"questions", "hit@1", "mrr@10", "ndcg@10"} else "left")
    for name, result in found:
        stage, facts = list(result["stages"].items())[-1]
        figures = [f"{facts['metrics'][metric]['value']:.3f}" for metric in ("hit@1", "mrr@10", "ndcg@10")]
        table.add_row(
            name, f"{result['question_count']:,}", _strategy(result), result["model"]["name"], stage, *figures
        )
    console.print(table)


def _strategy(result: JsonObject) -> str:
    split = result["settings"]["split"]
    context = "headings embedded" if result["settings"]["heading_context"] else "content alone embedded"
    if result["corpus"]["sha256"] is None:
        return "live data"
    return f"{split['strategy']} {split['parent_size']}/{split['child_size']}, {context}"


def _figure(interval: JsonObject) -> Text:
    return Text.assemble(f"{interval['value']:.3f}\n", (f"{interval['low']:.3f}–{interval['high']:.3f}", "dim"))


def _times(percentiles: dict[str, Any] | None) -> Text:
    if percentiles is None:
        return Text("–")
    return Text.assemble(f"{percentiles['p50']:.1f}\n", (f"{percentiles['p95']:.1f}", "dim"))
