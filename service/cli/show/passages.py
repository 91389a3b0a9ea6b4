"""Passages on a terminal: where they come from, both ranks, and what hit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.text import Text

from service.api.split_shape import page_numbers
from service.cli.show.explained import draw_explanation, draw_reason
from service.cli.show.indented import draw_indented

_WORD, _MEANT = "bold underline yellow", "bold green"
_OPEN, _CLOSE = "⟦", "⟧"
"""Around what is marked where no style can be seen: in a file, a pipe, a dumb terminal."""


def draw_answer(console: Console, answer: Mapping[str, Any]) -> None:
    """Draw a `SearchAnswer`; an explained one with the reason of every passage and how the search went."""
    explanation = answer["explanation"]
    reasons = [None] * len(answer["passages"]) if explanation is None else explanation["passages"]
    for passage, reason in zip(answer["passages"], reasons, strict=True):
        _draw_passage(console, passage, reason)
    for notice in answer["warnings"]:
        console.print(Text.assemble((f"warning {notice['code']}", "bold yellow"), f": {notice['message']}"))
    if explanation is not None:
        draw_explanation(console, answer)
    count = len(answer["passages"])
    found = f"{count} passage{'' if count == 1 else 's'}" if count else "nothing found"
    console.print(Text(f"{found} in {_milliseconds(answer['timings_ms'])}", style="dim"), soft_wrap=True)


def _draw_passage(console: Console, passage: Mapping[str, Any], reason: Mapping[str, Any] | None) -> None:
    headings = [heading for heading in passage["heading_path"] if heading != passage["title"]]
    name = " › ".join([passage["title"] or passage["source"], *headings])
    console.print(Text.assemble((f"{passage['rank']}  ", "bold cyan"), (name, "bold")), soft_wrap=True)
    console.print(Text(f"   {' · '.join(_place(passage))}", style="dim"), soft_wrap=True)
    best = passage["hits"][0] if passage["hits"] else {}
    ranks = [f"vector {_rank(best.get('vector_rank'))}", f"BM25 {_rank(best.get('fts_rank'))}"]
    ranks.append(f"rrf_score {passage['rrf_score']:.4f}")
    if passage["rerank_score"] is not None:
        ranks.append(f"rerank_score {passage['rerank_score']:.4f}")
    console.print(Text(f"   {' · '.join(ranks)}", style="cyan"), soft_wrap=True)
    if reason is not None:
        draw_reason(console, reason)
    draw_indented(console, marked(passage, styled=_is_styled(console)), Text("   "))
    console.print()


def marked(passage: Mapping[str, Any], *, styled: bool) -> Text:
    """The passage's content with the words of the query marked.

    Where none of them stands in it the meaning found it: then its best hits are marked. Hits are given in offsets of
    the document; the passage begins at ``passage["start"]``.
    """
    content, begin = passage["content"], passage["start"]
    spans, style = passage["highlights"], _WORD
    if not spans:
        spans = merge((hit["start"] - begin, hit["end"] - begin) for hit in best_hits(passage["hits"]))
        style = _MEANT
    if styled:
        text = Text(content)
        for start, end in spans:
            text.stylize(style, start, end)
        return text
    pieces, at = [], 0
    for start, end in spans:
        pieces += [content[at:start], _OPEN, content[start:end], _CLOSE]
        at = end
    return Text("".join([*pieces, content[at:]]))


def best_hits(hits: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The hit that carried the passage, the one closest in meaning and the one with the most words: one to three."""
    best = [hits[0]] if hits else []
    for leg in ("vector_rank", "fts_rank"):
        ranked = [hit for hit in hits if hit[leg] is not None]
        if ranked:
            best.append(min(ranked, key=lambda hit: int(hit[leg])))
    return best


def merge(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Spans in order, those that overlap or touch joined."""
    merged: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((start, end))
    return merged


def _place(passage: Mapping[str, Any]) -> Sequence[str]:
    parts = [passage["source"], passage["collection"]]
    # the pages to turn to are those of the hit that carried the passage
    place = next(iter(passage["hits"]), passage)
    pages = page_numbers(place.get("first_page"), place.get("last_page"))
    if pages:
        parts.append(f"p. {pages[0]}" if len(pages) == 1 else f"p. {pages[0]}–{pages[-1]}")
    return parts


def _rank(rank: int | None) -> str:
    return "–" if rank is None else str(rank)


def _is_styled(console: Console) -> bool:
    return console.is_terminal and not console.is_dumb_terminal


def _milliseconds(timings_ms: Mapping[str, float]) -> str:
    steps = ", ".join(
        f"{key.removesuffix('_ms')} {value:.0f}" for key, value in timings_ms.items() if key != "total_ms"
    )
    return f"{timings_ms.get('total_ms', 0):.0f} ms" + (f" ({steps})" if steps else "")
