"""Token counts: the estimate, or exact ones by a tokenizer file."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import accumulate
from pathlib import Path
from typing import Protocol

import numpy as np
from tokenizers import Tokenizer

from service.errors import InvalidSettings
from service.split.characters import Kinds, kinds_of, quarter_tokens

_BATCH = 256
# Sums over the whole text at once would need eight bytes a character, and ten times as long on a large one.
_PARENTS_AT_ONCE = 64
# Counts of the parts differ from the count of the whole by a token or two at each seam.
_SURELY_BELOW, _SURELY_ABOVE = 0.7, 2


class TokenCounter(Protocol):
    """Counts the tokens of slices of one text."""

    def measure(self, starts: Sequence[int], ends: Sequence[int], budget: int) -> Callable[[int, int], int]:
        """A quick count of slices that begin and end with the given units, exact near the budget."""

    def sizes(self, starts: Sequence[int], ends: Sequence[int]) -> list[int]:
        """Tokens of many slices."""


class EstimatedTokens:
    """One token a CJK character, one per four other non-blank characters, rounded up."""

    def __init__(self, kinds: Kinds) -> None:
        self._kinds = kinds

    def measure(self, starts: Sequence[int], ends: Sequence[int], budget: int) -> Callable[[int, int], int]:
        """See :class:`TokenCounter`."""
        sums = np.zeros(len(self._kinds), dtype=np.uint32)  # enough for a text of a thousand million characters
        np.cumsum(quarter_tokens(self._kinds)[:-1], out=sums[1:])
        return lambda start, end: (int(sums[end]) - int(sums[start]) + 3) // 4

    def sizes(self, starts: Sequence[int], ends: Sequence[int]) -> list[int]:
        """See :class:`TokenCounter`."""
        tokens: list[int] = []
        for first in range(0, len(starts), _PARENTS_AT_ONCE):
            some_starts, some_ends = starts[first : first + _PARENTS_AT_ONCE], ends[first : first + _PARENTS_AT_ONCE]
            offset = some_starts[0]
            quarters = quarter_tokens(self._kinds[offset : some_ends[-1] + 1])
            edges = np.array([some_starts, some_ends], dtype=np.int64).T.ravel() - offset
            counts = np.add.reduceat(quarters, edges, dtype=np.int64)[::2]
            tokens += ((counts + 3) // 4).tolist()
        return tokens


class ExactTokens:
    """Counts of a tokenizer, special tokens left out. A slice is encoded alone, as the model would see it."""

    def __init__(self, text: str, tokenizer: Tokenizer) -> None:
        self._text = text
        self._tokenizer = tokenizer

    def measure(self, starts: Sequence[int], ends: Sequence[int], budget: int) -> Callable[[int, int], int]:
        """See :class:`TokenCounter`. Far from the budget the counts of the units are added up."""
        sums = [0, *accumulate(self.sizes(starts, ends))]

        def size(start: int, end: int) -> int:
            first = bisect_left(starts, start)
            rough = sums[bisect_left(starts, end, first)] - sums[first]
            if budget * _SURELY_BELOW <= rough <= budget * _SURELY_ABOVE:
                return len(self._tokenizer.encode(self._text[start:end], add_special_tokens=False))
            return rough

        return size

    def sizes(self, starts: Sequence[int], ends: Sequence[int]) -> list[int]:
        """See :class:`TokenCounter`."""
        texts = [self._text[start:end] for start, end in zip(starts, ends, strict=True)]
        counts: list[int] = []
        for first in range(0, len(texts), _BATCH):
            encodings = self._tokenizer.encode_batch(texts[first : first + _BATCH], add_special_tokens=False)
            counts.extend(map(len, encodings))
        return counts


def estimate_tokens(text: str) -> int:
    """One token a CJK character, one per four other non-blank characters, rounded up."""
    return (int(quarter_tokens(kinds_of(text)).sum(dtype=np.int64)) + 3) // 4


def token_counter(text: str, kinds: Kinds, tokenizer_file: Path | None) -> TokenCounter:
    """Exact counts if a ``tokenizer.json`` is given, else the estimate.

    Raises:
        InvalidSettings: the file cannot be read.
    """
    if tokenizer_file is None:
        return EstimatedTokens(kinds)
    try:
        changed = tokenizer_file.stat().st_mtime_ns
        return ExactTokens(text, _load(tokenizer_file, changed))
    except Exception as error:  # the library raises bare exceptions
        raise InvalidSettings(f"tokenizer_file {tokenizer_file} cannot be read: {error}") from error


@lru_cache(maxsize=4)
def _load(tokenizer_file: Path, changed: int) -> Tokenizer:
    """Read a tokenizer; ``changed`` is the file's time stamp, so that a new file is read again."""
    tokenizer = Tokenizer.from_file(str(tokenizer_file))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer
