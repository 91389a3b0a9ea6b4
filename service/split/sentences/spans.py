"""Where sentences begin and end. Nothing is rewritten: only offsets come out.

A sentence ends at a line break, and after a run of terminators with the closing quotes and brackets that follow it.
Full-width terminators always end one, except inside a title (《加油！少年》), where a mark is only mentioned
(（？）), and where a comma goes on (“救命！”，他喊). ASCII terminators end one only where `ascii_stops` says so.
"""

from __future__ import annotations

from collections.abc import Sequence

from service.split.characters import LINE_BREAKS, STRONG, Kinds, possible_stops
from service.split.sentences.terminators import FOLLOWERS, ends_sentence, in_title, run_end, title_marks


def sentence_spans(text: str, kinds: Kinds, whole_lines: Sequence[tuple[int, int]] = ()) -> tuple[list[int], list[int]]:
    """Starts and ends of all sentences, in order and without overlap; white space around them is outside.

    In the spans ``whole_lines`` (in order, without overlap) only line breaks count: each line is one sentence.
    The loop visits possible ends only; the plain case, a full-width terminator before a letter, takes one look.
    """
    starts: list[int] = []
    ends: list[int] = []
    padded = text + "\n\0"  # may be read two characters beyond its end, and begins nothing there
    titles = title_marks(text)
    stops = possible_stops(kinds, whole_lines)
    stops.append(len(text))
    start = visited = _skip_blanks(padded, 0)
    for stop in stops:
        if stop < visited:
            continue
        end = stop
        if padded[stop] in LINE_BREAKS:
            while padded[end - 1].isspace():
                end -= 1
        elif start < stop and padded[stop] in STRONG and padded[stop + 1] not in FOLLOWERS:
            if titles and in_title(padded, stop, titles):
                continue
            end += 1
        else:
            after, visited = run_end(padded, stop)
            end = visited
            if start == stop:
                # Nothing but terminators so far: they belong to what stands before them on the line, else after them.
                if starts and _attaches(padded, ends[-1], start, end):
                    ends[-1] = end
                    start = visited = _skip_blanks(padded, end)
                continue
            if not ends_sentence(padded, stop, after, end, titles):
                continue
        starts.append(start)
        ends.append(end)
        start = end
        while padded[start].isspace():
            start += 1
        visited = start
    return starts, ends


def _skip_blanks(padded: str, position: int) -> int:
    while padded[position].isspace():
        position += 1
    return position


def _attaches(padded: str, previous_end: int, start: int, end: int) -> bool:
    """On one line with the sentence before, and not the beginning of a word such as ``!important``."""
    return LINE_BREAKS.isdisjoint(padded[previous_end:start]) and (
        padded[end].isspace() or not STRONG.isdisjoint(padded[start:end])
    )
