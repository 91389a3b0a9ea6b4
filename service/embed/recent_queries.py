"""Vectors of the last queries: paging, filters and weights change, the words often do not."""

from __future__ import annotations

from collections import OrderedDict

from service.types import Vector


class RecentQueries:
    """Least-recently-used map from query text to its vector (1,000 × 1,024 dimensions are 4 MB)."""

    def __init__(self, largest: int = 1000) -> None:
        self._largest = largest
        self._vectors: OrderedDict[str, Vector] = OrderedDict()

    def __contains__(self, text: str) -> bool:
        """Whether the vector of an equal text is still known."""
        return text in self._vectors

    def get(self, text: str) -> Vector | None:
        """The vector of an equal text, if still known."""
        vector = self._vectors.get(text)
        if vector is not None:
            self._vectors.move_to_end(text)
        return vector

    def put(self, text: str, vector: Vector) -> Vector:
        """Keeps ``vector``, makes it read-only (several callers will hold it) and returns it."""
        vector.setflags(write=False)
        self._vectors[text] = vector
        self._vectors.move_to_end(text)
        if len(self._vectors) > self._largest:
            self._vectors.popitem(last=False)
        return vector
