"""Embedding spaces: the active one that searches compare, and at most one other on standby.

`child_chunk.embedding` always holds the active space. `child_chunk.embedding_standby` exists while there is a second
one: a new model's, being filled, or the former model's, kept for a way back. A switch swaps the names of both, in one
transaction under the table's exclusive lock; so whoever holds any lock on the table sees one space until it lets go.
"""

from service.db.spaces.rows import (
    STANDBY_COLUMN,
    EmbeddingSpace,
    active_space,
    begin_reading,
    hold_for_reading,
    hold_for_writing,
    reading,
    standby_space,
)

__all__ = [
    "STANDBY_COLUMN",
    "EmbeddingSpace",
    "active_space",
    "begin_reading",
    "hold_for_reading",
    "hold_for_writing",
    "reading",
    "standby_space",
]
