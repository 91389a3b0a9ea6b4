"""The explanation of a search on a terminal, 80 columns and up: a table of numbers, then how the search went."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from service.cli.show.indented import draw_labelled

_LABEL = 11
_METHODS = {"exact": "every eligible chunk was compared", "index": "brought by the index"}


def draw_reason(console: Console, reason: Mapping[str, Any]) -> None:
    """Draw why one passage stands where it does: a sentence, and the chunk that carried it."""
    draw_labelled(console, Text(reason["sentence"], style="cyan"), Text("   why      ", style="dim"))
    for why in reason["rerank_reasons"]:
        draw_labelled(console, Text(why, style="cyan"), Text("   reranker ", style="dim"))
    carrier = reason["carried_by"]
    excerpt = " ".join(carrier["excerpt"].split())
    text = Text(f"[{carrier['start']}:{carrier['end']}] {excerpt}", style="dim")
    draw_labelled(console, text, Text("   chunk    ", style="dim"))


def draw_explanation(console: Console, answer: Mapping[str, Any]) -> None:
    """Draw the numbers of all passages as a table, then what was asked, how each leg looked, and settings."""
    explanation = answer["explanation"]
    if explanation["passages"]:
        console.print(_numbers(explanation))
        formula = "share = weight / (rrf_k + rank), rrf_score = both shares; meaning is the vector leg, words are BM25"
        draw_labelled(console, Text(formula, style="dim"), Text(" "))
        console.print()
    for label, text in _facts(answer):
        draw_labelled(console, Text(text), Text(f" {label:{_LABEL}}", style="bold"))
    console.print()


def _numbers(explanation: Mapping[str, Any]) -> Table:
    has_scores = any(each["rerank_score"] is not None for each in explanation["passages"])
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0))
    headings = ["#", "meaning\nrank", "\ncosine", "\nshare", "words\nrank", "\nscore", "\nshare", "rrf_\nscore"]
    for heading in [*headings, *(["before\nrerank", "rerank_\nscore"] if has_scores else [])]:
        table.add_column(Text(heading), justify="right", no_wrap=True)
    for each in explanation["passages"]:
        row = [
            str(each["rank"]),
            _number(each["vector_rank"]),
            _number(each["vector_similarity"], 4),
            _number(each["vector_share"], 4),
            _number(each["fts_rank"]),
            _number(each["fts_score"], 2),
            _number(each["fts_share"], 4),
            _number(each["rrf_score"], 4),
        ]
        if has_scores:
            row += [str(each["rank_before_rerank"]), _number(each["rerank_score"], 4)]
        table.add_row(*row)
    return table


def _facts(answer: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    explanation = answer["explanation"]
    yield "words", " · ".join(explanation["query_words"]) or "none"
    if explanation["query_pairs"]:
        yield "pairs", " · ".join(explanation["query_pairs"])
    yield "meaning", _leg(explanation["vector_leg"]) + _vector(explanation)
    yield "words leg", _leg(explanation["fts_leg"])
    yield "eligible", _eligible(answer)
    yield "indexes", ", ".join(_index(index) for index in explanation["indexes"]) or "none"
    for origin, words in (("request", "of request"), ("collection", "collection"), ("service", "of service")):
        values = [
            f"{each['name']} {_value(each['value'])}" for each in explanation["settings"] if each["origin"] == origin
        ]
        if values:
            yield words, ", ".join(values)


def _leg(leg: Mapping[str, Any]) -> str:
    if not leg["asked"]:
        return "not asked"
    parts = [f"{leg['returned']} chunks used"]
    if leg["access"] is not None:
        parts.append(_METHODS[leg["access"]])
        parts.append(", ".join(f"{scan['rows']} rows from {scan['index'] or 'the table'}" for scan in leg["scans"]))
    if leg["milliseconds"] is not None:
        parts.append(f"{leg['milliseconds']:.1f} ms alone")
    return "; ".join(part for part in parts if part)


def _vector(explanation: Mapping[str, Any]) -> str:
    if explanation["embedding_model"] is None:
        return ""
    memory = ", its vector was at hand" if explanation["embedding_from_memory"] else ""
    return f"; query embedded by {explanation['embedding_model']}{memory}"


def _eligible(answer: Mapping[str, Any]) -> str:
    documents, known = answer["explanation"]["eligible_documents"], answer["completeness"]
    chunks = None if known is None else known["eligible_chunks"]
    parts = [] if documents is None else [f"{documents} documents"]
    parts += [] if chunks is None else [f"{chunks} chunks"]
    return ", ".join(parts) or "everything that the collections hold"


def _index(index: Mapping[str, Any]) -> str:
    return f"{index['name']} ({index['method']}{'' if index['valid'] else ', NOT VALID'})"


def _number(value: float | None, digits: int = 0) -> str:
    return "–" if value is None else f"{value:.{digits}f}"


def _value(value: object) -> str:
    match value:
        case None:
            return "unset"
        case bool():
            return "on" if value else "off"
        case _:
            return str(value)
