"""Names of plain values that cross from room to room."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

type JsonObject = Mapping[str, Any]
type Vector = NDArray[np.float32]  # one embedding, shape [dimension]
type VectorBatch = NDArray[np.float32]  # embeddings of several texts, shape [text_count, dimension]
type FtsTerms = Literal["both", "words", "pairs"]  # what the fts leg looks for; pairs of Han characters
type Verdict = Literal["good", "bad"]  # on a passage
type Span = tuple[int, int]  # code points, half open
