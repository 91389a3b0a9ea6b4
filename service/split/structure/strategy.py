"""Text with an outline → spans of parents and children."""

from __future__ import annotations

from dataclasses import replace

from service.config import SplitSettings
from service.split.characters import Kinds
from service.split.cuts import Cuts, ParentCuts
from service.split.packing import ChildRule
from service.split.sentences import cut_long_sentences, sentence_spans
from service.split.structure.blocks import BlockTree, LineTree, MarkdownTree, Units
from service.split.structure.children import pack_children, table_prefixes
from service.split.structure.outline import Outline
from service.split.structure.parents import Budget, Parent, pack_section
from service.split.structure.sections import cut_sections, merge_small
from service.split.tokens import TokenCounter


def cut_by_structure(text: str, kinds: Kinds, outline: Outline, tokens: TokenCounter, settings: SplitSettings) -> Cuts:
    """Cut at headings, then sections that are too large block by block, then parents into children."""
    units = _units(text, kinds, outline, settings)
    budget = _budget(units, tokens, settings)
    tree: BlockTree = MarkdownTree(outline.blocks, units) if outline.blocks else LineTree(units)
    sections = cut_sections(outline.headings, units.starts)
    sections = merge_small(sections, units.starts, units.ends, budget.measure, budget.soft)
    parents: list[Parent] = [parent for section in sections for parent in pack_section(section, tree, units, budget)]
    children = pack_children(parents, units, ChildRule(settings.child_size, len(text) / max(1, len(units.starts))))
    tables = outline.blocks.tables if outline.blocks else []
    return Cuts(
        ParentCuts(
            starts=[parent.start for parent in parents],
            ends=[units.ends[parent.after - 1] for parent in parents],
            paths=[parent.path for parent in parents],
        ),
        replace(children, prefixes=table_prefixes(text, tables, children.starts, settings.child_size)),
    )


def _budget(units: Units, tokens: TokenCounter, settings: SplitSettings) -> Budget:
    if settings.unit == "tokens":
        measure = tokens.measure(units.starts, units.ends, settings.soft_tokens)
        return Budget(measure, settings.soft_tokens, settings.hard_tokens, settings.parent_overlap)
    return Budget(_characters, settings.parent_size, settings.parent_size, settings.parent_overlap)


def _characters(start: int, end: int) -> int:
    return end - start


def _units(text: str, kinds: Kinds, outline: Outline, settings: SplitSettings) -> Units:
    """Sentences, and whole lines in code, tables and headings; the longest ones cut."""
    blocks = outline.blocks
    starts, ends = sentence_spans(text, kinds, blocks.whole_lines if blocks else ())
    limit = settings.sentence_hard_limit
    if limit is not None:
        piece_limit = min(limit, settings.child_size)
        starts, ends = cut_long_sentences(text, starts, ends, limit=limit, piece_limit=piece_limit)
    glued, headings, lines, fences = (bytearray(len(starts)) for _ in range(4))
    units = Units(text, starts, ends, glued, headings, lines, fences)
    for heading in outline.headings:
        units.mark(headings, heading.start, heading.end)
        units.mark(glued, heading.start, heading.end)
    if blocks:
        for start, end in blocks.whole_lines:
            units.mark(lines, start, end)
        for start, data, _ in blocks.tables:
            units.mark(glued, start, data)
        for start, end in blocks.fences:
            _mark_fence(units, *units.between(start, end))
    return units


def _mark_fence(units: Units, first: int, after: int) -> None:
    if first == after:
        return
    units.glued[first] = 1
    for unit in {first, after - 1}:
        line = units.text[units.starts[unit] : units.ends[unit]]
        closes = line.strip(line[0]) == ""
        if line.startswith(("```", "~~~")) and (unit == first or closes):
            units.fences[unit] = 1
