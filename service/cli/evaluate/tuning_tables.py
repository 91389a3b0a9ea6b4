"""A tuning as tables, and its recommendation in words."""

from __future__ import annotations

import json

from rich.console import Console
from rich.table import Table
from rich.text import Text

from service.types import JsonObject


def show_tuning(console: Console, report: JsonObject) -> None:
    """What was tried on the tuning half, what became of it on the held-out half, and what to do."""
    counts = ", ".join(f"{name} {each['tuning']} + {each['held_out']}" for name, each in report["sets"].items())
    console.print(
        Text(f"{report['tried']} settings; questions that choose + questions that decide: {counts}"), soft_wrap=True
    )
    _show_weights(console, report)
    _show_best(console, report)
    _show_held_out(console, report)
    _show_advice(console, report)


def _show_weights(console: Console, report: JsonObject) -> None:
    table = _table(f"{report['metric']} by weights (tuning half)", "vector", "fts", "mean", *report["sets"])
    for each in report["weights"]:
        style = "bold" if each == report["present"] else ""
        table.add_row(f"{each['vector_weight']:g}", f"{each['fts_weight']:g}", *_means(each), style=style)
    console.print(table)


def _show_best(console: Console, report: JsonObject) -> None:
    columns = ("vector", "fts", "k", "candidates", "terms", "headings", "mean", *report["sets"])
    table = _table("best of all (tuning half)", *columns)
    for each in (report["best"], *report["next_best"], report["present"]):
        table.add_row(
            f"{each['vector_weight']:g}",
            f"{each['fts_weight']:g}",
            str(each["rrf_k"]),
            str(each["candidates"]),
            each["fts_terms"],
            "yes" if each["heading_context"] else "no",
            *_means(each),
            style="bold" if each == report["present"] else "",
        )
    console.print(table)


def _show_held_out(console: Console, report: JsonObject) -> None:
    rows = {f"best instead of present, {stage}": found for stage, found in report["held_out"].items()}
    if report["rerank"] is not None:
        rows["rerank instead of rrf"] = report["rerank"]
    if not rows:
        return
    table = _table("searches on the held-out half", "", "before", "after", "difference", "95 % interval", "p")
    for name, found in rows.items():
        difference = found["difference"]
        table.add_row(
            name,
            f"{found['before']:.3f}",
            f"{found['after']:.3f}",
            f"{difference['value']:+.3f}",
            f"{difference['low']:+.3f} to {difference['high']:+.3f}",
            f"{difference['p_value']:.4f}",
        )
    console.print(table)


def _show_advice(console: Console, report: JsonObject) -> None:
    console.print()
    if report["recommended"]:
        console.print(Text("Better beyond noise. Set:", style="bold green"))
        for name, value in report["recommended"].items():
            console.print(Text(f"  {name}={value}"), soft_wrap=True)
        if report["collection_settings"]:
            own = json.dumps(report["collection_settings"])
            console.print(Text(f"or give them to the collection alone, as its settings: {own}"), soft_wrap=True)
        if report["takes_in_anew"]:
            console.print(Text("and take the documents in anew: the text to embed changes."))
    else:
        reason = "nothing is better on the held-out half beyond noise" if report["held_out"] else "nothing was better"
        console.print(Text.assemble(("Keep the settings you have", "bold"), f": {reason}."))
    if report["rerank"] is not None and report["rerank"]["difference"]["high"] < 0:
        console.print(Text("The reranker makes answers worse here: FUZI_RERANK__PROVIDER=none", style="yellow"))


def _table(title: str, *columns: str) -> Table:
    table = Table(title=title, title_justify="left", box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for column in columns:
        table.add_column(column, justify="left" if not column else "right", header_style="bold")
    return table


def _means(tried: JsonObject) -> list[str]:
    return [f"{mean:.3f}" for mean in (tried["mean"], *tried["sets"].values())]
