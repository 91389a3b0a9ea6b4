"""Units of a parent → children; what leads into a unit (a heading, the head of a table) goes with it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import replace

from service.split.cuts import ChildCuts
from service.split.packing import ChildRule, Groups, pack_one_parent
from service.split.structure.blocks import Units
from service.split.structure.parents import Parent


def pack_children(parents: Iterable[Parent], units: Units, rule: ChildRule) -> ChildCuts:
    """Children of each parent, of what is new in it: the repeated tail has its children in the parent before.

    Where a parent joins sections, each child stays inside its own, and knows its headings.
    """
    children = ChildCuts()
    inner_paths: list[tuple[str, ...]] = []
    for index, parent in enumerate(parents):
        depth = len(parent.path)
        parts = [(section.first, section.after, section.path[depth:]) for section in parent.joined]
        for first, after, inner_path in parts or [(parent.first, parent.after, ())]:
            starts, ends = _joined(units, first, after, rule.size)
            groups = Groups()
            pack_one_parent(starts, ends, 0, len(starts), rule, into=groups)
            found_starts, found_ends = groups.spans(starts, ends)
            children.starts.extend(found_starts)
            children.ends.extend(found_ends)
            children.owners.extend([index] * len(found_starts))
            inner_paths.extend([inner_path] * len(found_starts))
    return replace(children, inner_paths=inner_paths)


def _joined(units: Units, first: int, after: int, size: int) -> tuple[list[int], list[int]]:
    """Spans of the units, glued ones joined with the unit they lead into as far as ``size`` allows.

    What does not fit, a heading before a very long sentence for instance, stands alone, so that it can be found.
    """
    if units.glued.find(1, first, after) < 0 and units.fences.find(1, first, after) < 0:
        return units.starts[first:after], units.ends[first:after]
    starts: list[int] = []
    ends: list[int] = []
    leads: list[int] = []
    shown = [unit for unit in range(first, after) if not units.fences[unit]] or [*range(first, after)]
    for unit in shown:
        leads.append(unit)
        if units.glued[unit] and unit != shown[-1]:
            continue
        end = units.ends[unit]
        while end - units.starts[leads[0]] > size and len(leads) > 1:
            lead = leads.pop(0)
            starts.append(units.starts[lead])
            ends.append(units.ends[lead])
        starts.append(units.starts[leads[0]])
        ends.append(end)
        leads.clear()
    return starts, ends


def table_prefixes(text: str, tables: Sequence[tuple[int, int, int]], starts: Sequence[int], size: int) -> list[str]:
    """For a child that begins among the data rows of a table its header row, to be put before it for embedding."""
    prefixes = [""] * len(starts)
    if not tables:
        return prefixes
    table_starts = [start for start, _, _ in tables]
    for index, start in enumerate(starts):
        place = bisect_right(table_starts, start) - 1
        if place >= 0 and tables[place][1] <= start < tables[place][2]:
            head = text[tables[place][0] : tables[place][1]].split("\n", 1)[0].strip()
            prefixes[index] = f"{head}\n" if len(head) <= size else ""
    return prefixes
