"""Token counts: the estimate, or exact ones by a tokenizer file."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from service.errors import InvalidSettings
from service.split.characters import Kinds, quarter_tokens

_BATCH = 256


class TokenCounter(Protocol):
    """Counts the tokens of slices of one text."""

    def size(self, start: int, end: int) -> int:
        """Tokens of one slice."""

    def sizes(self, starts: Sequence[int], ends: Sequence[int]) -> list[int]:
        """Tokens of many slices."""


class EstimatedTokens:
    """One token a CJK character, one per four other non-blank characters, rounded up."""

    def __init__(self, kinds: Kinds) -> None:
        self._kinds = kinds

    @cached_property
    def _sums(self) -> NDArray[np.int64]:
        """Quarters of a token before each position."""
        sums = np.zeros(len(self._kinds), dtype=np.int64)
        np.cumsum(quarter_tokens(self._kinds)[:-1], out=sums[1:])
        return sums

    def size(self, start: int, end: int) -> int:
        """See :class:`TokenCounter`."""
        return -(-int(self._sums[end] - self._sums[start]) // 4)

    def sizes(self, starts: Sequence[int], ends: Sequence[int]) -> list[int]:
        """See :class:`TokenCounter`."""
        if not starts:
            return []
        edges = np.array([starts, ends], dtype=np.int64).T.ravel()
        counts = np.add.reduceat(quarter_tokens(self._kinds), edges, dtype=np.int64)[::2]
        tokens: list[int] = (-(-counts // 4)).tolist()
        return tokens


class ExactTokens:
    """Counts of a tokenizer, special tokens left out. A slice is encoded alone, as the model would see it."""

    def __init__(self, text: str, tokenizer: Tokenizer) -> None:
        self._text = text
        self._tokenizer = tokenizer

    def size(self, start: int, end: int) -> int:
        """See :class:`TokenCounter`."""
        return len(self._tokenizer.encode(self._text[start:end], add_special_tokens=False).ids)

    def sizes(self, starts: Sequence[int], ends: Sequence[int]) -> list[int]:
        """See :class:`TokenCounter`."""
        texts = [self._text[start:end] for start, end in zip(starts, ends, strict=True)]
        counts: list[int] = []
        for first in range(0, len(texts), _BATCH):
            encodings = self._tokenizer.encode_batch(texts[first : first + _BATCH], add_special_tokens=False)
            counts.extend(len(encoding.ids) for encoding in encodings)
        return counts


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
