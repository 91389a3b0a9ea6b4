"""A second PostgreSQL that answers searches: a logical replica with BM25 and HNSW indexes of its own.

BM25 indexes of pg_search before 0.24 are not in PostgreSQL's log, so a physical standby cannot serve them. A logical
replica gets rows, not pages, and keeps its own indexes, as any server does.

What is copied: `tables.py`. On the primary: a publication, and a slot for each replica (`primary.py`). On the replica:
the same schema, a subscription, and `replica.state`, which says that the copy is complete (`copied.py`). Which server
a search reads: `reads.py`, by what `watching.py` sees once a second.

The active embedding model is not copied. Each server's `rag.embedding_model` says of which model its own vectors are,
and a replica whose model or schema differs from the primary's is not read.
"""
