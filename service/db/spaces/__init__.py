"""Embedding spaces: the active one that searches compare, and at most one other on standby.

`child_chunk.embedding` always holds the active space. `child_chunk.embedding_standby` exists while there is a second
one: a new model's, being filled, or the former model's, kept for a way back. A switch swaps the names of both.
"""

STANDBY_COLUMN = "embedding_standby"
