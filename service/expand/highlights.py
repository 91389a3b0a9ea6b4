"""Where the words of a query stand in a text, for the eye of a reader: ranking is the database's business.

Only the two texts are looked at. The query's words as the database cuts them, which cost every search a round trip,
were tried beside (160 questions of two data sets, five passages each). On law_dev 1,630 spans were the same, 123 only
here (mostly 可以 and 应当), 226 only there (mostly single characters); on cmrc2018 212 the same, 13 here, 498 there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from service.expand.small_words import LINKS, PARTICLES, SMALL_WORDS
from service.query_terms import HAN, normalise, normalise_with_offsets
from service.types import Passage, Span

# Scripts without blanks between words; all else is written in words that begin and end somewhere.
_UNSPACED = rf"{HAN}\u0e00-\u0e7f\u3040-\u30ff\uac00-\ud7af"
_RUN = re.compile(rf"[{_UNSPACED}]+")
_ALONE = re.compile(rf"(?<!\w)[{_UNSPACED}](?!\w)")
_ATOM = re.compile(rf"[^\W_{_UNSPACED}]+")
# The signs inside a word are those that the fts leg keeps: AX-200, v2.3, a@b.cn; C++, C# and 3% end with theirs.
_WORD = re.compile(rf"{_ATOM.pattern}(?:[+#&._%\-@/]{_ATOM.pattern})*(?:\+\+|[#+%])?")
_LAST_SIGNS = ("++", "#", "+", "%", "")
_SMALL = re.compile(
    "|".join(
        sorted((word for word in SMALL_WORDS if len(word) > 1 or word in PARTICLES | LINKS), key=len, reverse=True)
    )
)
_LONGEST_GAP = 2


def highlighted(passages: Iterable[Passage], query: str) -> list[Passage]:
    """Return the passages with the highlights of their content and of their hits."""
    highlighter = Highlighter(query)
    marked = list[Passage]()
    for passage in passages:
        hits = tuple(
            replace(
                hit, highlights=highlighter.spans(passage.content[hit.start - passage.start : hit.end - passage.start])
            )
            for hit in passage.hits
        )
        marked.append(replace(passage, highlights=highlighter.spans(passage.content), hits=hits))
    return marked


class Highlighter:
    """Marks the words of one query in any number of texts.

    Words are compared normalised: case, width and traditional characters do not matter. Latin words, numbers, part
    numbers and C++ are marked whole or not at all; a part number that is nowhere in the text, by its parts. Chinese is
    marked in runs of at least two characters that the query has too, and a character that stands alone in the query.
    Small words (的, 多少, the) count only when the query has nothing else; between marked words they are marked when
    the query joins them in the same way.
    """

    def __init__(self, query: str) -> None:
        self._query = normalise(query)
        self._runs = set(_RUN.findall(self._query))
        self._words = set(_WORD.findall(self._query)) - SMALL_WORDS
        self._pairs = {
            run[at : at + 2]
            for run in self._runs
            for at in range(len(run) - 1)
            if PARTICLES.isdisjoint(run[at : at + 2])
        }
        self._alone = set(_ALONE.findall(self._query)) - SMALL_WORDS
        if not self._words and not self._alone and not any(map(self._says_something, self._runs)):
            # nothing but small words: then they are what was asked for
            self._words, self._pairs = set(_WORD.findall(self._query)), set()
            self._alone = set("".join(self._runs))
        # sieves a text before its pairs are looked up one by one
        firsts, seconds = ({re.escape(pair[at]) for pair in self._pairs} for at in (0, 1))
        self._pair_like = re.compile(f"[{''.join(firsts)}](?=[{''.join(seconds)}])") if self._pairs else None
        self._most_atoms = max((len(_ATOM.findall(word)) for word in self._words), default=0)

    def spans(self, content: str) -> tuple[Span, ...]:
        """Return the spans ``[start, end)`` of the query's words in a text: code points, in order, apart."""
        text, origins = normalise_with_offsets(content)
        origins = range(len(content) + 1) if isinstance(origins, range) else [*origins, len(content)]
        marks = _Marks(text, origins)
        self._mark_runs(marks)
        if self._words:
            missing = self._words - self._mark_words(marks, self._words)
            parts = {part for word in missing for part in _ATOM.findall(word) if len(part) > 1}
            self._mark_words(marks, parts - self._words - SMALL_WORDS)
        return tuple((origins[start], origins[end]) for start, end in self._joined(text, marks.spans()))

    def _says_something(self, run: str) -> bool:
        rest = _SMALL.sub("", run)
        return len(rest) > 1 or (len(rest) == 1 and run in self._runs)

    def _mark_runs(self, marks: _Marks) -> None:
        """Mark the longest runs that the query has too."""
        text, pairs, covered = marks.text, self._pairs, 0
        for like in self._pair_like.finditer(text) if self._pair_like else ():
            at = like.start()
            if text[at : at + 2] not in pairs or at + 2 <= covered or not marks.begins(at):
                continue
            end = at + 2
            while text[end - 1 : end + 1] in pairs and text[at : end + 1] in self._query:
                end += 1
            while end > at + 1 and not marks.begins(end):
                end -= 1
            if end > at + 1 and self._says_something(text[at:end]):
                marks.mark(at, end)
                covered = end
        for at, character in enumerate(text) if self._alone else ():
            if character in self._alone and marks.begins(at) and marks.begins(at + 1):
                marks.mark(at, at + 1)

    def _mark_words(self, marks: _Marks, words: set[str]) -> set[str]:
        """Mark whole words, at each place the longest; return those that were found."""
        text, found = marks.text, set[str]()
        atoms = [match.span() for match in _ATOM.finditer(text)] if words else []
        for first, (start, _) in enumerate(atoms):
            for _, atom_end in reversed(atoms[first : first + self._most_atoms]):
                end = _end_of_word(text, start, atom_end, words)
                if end is not None and marks.begins(start) and marks.begins(end):
                    found.add(text[start:end])
                    marks.mark(start, self._with_unit(marks, start, end))
                    break
        return found

    def _with_unit(self, marks: _Marks, start: int, end: int) -> int:
        """End of a word with the one character that follows it here and in the query: 2024年, 500元."""
        unit = marks.text[end : end + 1]
        follows = _RUN.match(unit) and marks.text[start : end + 1] in self._query and marks.begins(end + 1)
        return end + 1 if follows else end

    def _joined(self, text: str, spans: Sequence[Span]) -> list[Span]:
        """Join spans with nothing but small things between, where the query joins them in the same way."""
        joined = list[Span](spans[:1])
        for start, end in spans[1:]:
            before, last = joined[-1]
            gap = text[last:start]
            is_small = len(gap) <= _LONGEST_GAP and all(c in PARTICLES or c in LINKS or c.isspace() for c in gap)
            if is_small and text[before:end] in self._query:
                joined[-1] = (before, end)
            else:
                joined.append((start, end))
        return joined


class _Marks:
    """Marked characters of a normalised text."""

    def __init__(self, text: str, origins: Sequence[int]) -> None:
        self.text = text
        self._origins = origins
        self._marked = bytearray(len(text))

    def begins(self, at: int) -> bool:
        """Whether an original character begins here, or the text ends: ㍻ is marked as a whole or not at all."""
        return at == 0 or self._origins[at - 1] != self._origins[at]

    def mark(self, start: int, end: int) -> None:
        self._marked[start:end] = b"\x01" * (end - start)

    def spans(self) -> list[Span]:
        return [match.span() for match in re.finditer(b"\x01+", self._marked)]


def _end_of_word(text: str, start: int, atom_end: int, words: set[str]) -> int | None:
    for signs in _LAST_SIGNS:
        if text.startswith(signs, atom_end) and text[start:atom_end] + signs in words:
            # C is another language than C++ and C#
            other = not signs and atom_end - start == 1 and text.startswith(("++", "#"), atom_end)
            return None if other else atom_end + len(signs)
    return None
