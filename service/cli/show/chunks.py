"""The chunks of a text, for machines and for people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rich.rule import Rule
from rich.text import Text

from service.api.split_shape import SplitAnswer, page_numbers, split_json
from service.cli.show.indented import draw_indented
from service.split import split_sentences
from service.types import ChildSpan, Chunks, ExtractedText, ParentSpan

if TYPE_CHECKING:
    from rich.console import Console

_LONGEST_RULE = 100


def chunks_json(extracted: ExtractedText, chunks: Chunks) -> dict[str, Any]:
    """The document that ``fuzi split --json`` prints for a file that could be read."""
    state = {"status": extracted.status.value, "code": None, "message": None}
    return state | split_json(extracted, split_sentences(extracted.text), chunks)


def empty_json() -> dict[str, Any]:
    """The same keys for a file that could not be read, but for those that say so."""
    return dict.fromkeys(SplitAnswer.model_fields) | {"text": "", "sentences": [], "parents": [], "children": []}


def draw_chunks(console: Console, text: str, chunks: Chunks) -> None:
    """Draw each parent under a rule, its children beside a gutter; what a chunk repeats is dim."""
    children: dict[int, list[ChildSpan]] = {}
    for child in chunks.children:
        children.setdefault(child.parent, []).append(child)
    before = 0
    for parent in chunks.parents:
        rule = Rule(_parent_line(parent, before), align="left", characters="━", style="cyan")
        console.print(rule, width=min(console.width, _LONGEST_RULE))
        if parent.heading_path:
            console.print(Text(" › ".join(parent.heading_path), style="cyan"), soft_wrap=True)
        before = parent.end
        reached = parent.start
        for child in children.get(parent.ordinal, []):
            _draw_child(console, text, child, repeated=max(0, min(reached, child.end) - child.start))
            reached = child.end
    console.print(Text(_summary(chunks), style="bold"), soft_wrap=True)


def _parent_line(parent: ParentSpan, before: int) -> Text:
    facts = [f"[{parent.start}:{parent.end}]", f"{parent.end - parent.start} characters"]
    pages = page_numbers(parent.first_page, parent.last_page)
    facts += [f"p. {pages[0]}" if len(pages) == 1 else f"p. {pages[0]}–{pages[-1]}"] if pages else []
    facts += [f"repeats {before - parent.start}"] if parent.start < before else []
    return Text.assemble((f"parent {parent.ordinal}", "bold cyan"), "  ", " · ".join(facts))


def _draw_child(console: Console, text: str, child: ChildSpan, repeated: int) -> None:
    facts = f"[{child.start}:{child.end}] · {child.end - child.start} characters"
    if repeated:
        facts += f" · repeats {repeated}"
    console.print(Text.assemble("  ┌ ", (f"child {child.ordinal}", "green"), "  ", (facts, "dim")), soft_wrap=True)
    body = Text(text[child.start : child.end])
    body.stylize("dim", 0, repeated)
    draw_indented(console, body, Text("  │ ", style="green"))


def _summary(chunks: Chunks) -> str:
    return " · ".join(
        [f"strategy {chunks.strategy}", _sizes(chunks.parents, "parent"), _sizes(chunks.children, "child")]
    )


def _sizes(spans: Sequence[ParentSpan] | Sequence[ChildSpan], word: str) -> str:
    sizes = [span.end - span.start for span in spans]
    plural = word if len(sizes) == 1 else {"parent": "parents", "child": "children"}[word]
    return f"{len(sizes)} {plural}" + (f" (mean {sum(sizes) // len(sizes)}, largest {max(sizes)})" if sizes else "")
