"""The BM25 guard: notices that a crash took rows from a BM25 index, says so, and rebuilds it; keeps it compact.

The BM25 indexes of pg_search before 0.24 are not in PostgreSQL's write-ahead log: a crash of the server, or of one of
its backends, silently takes rows from them. `rag.bm25_sentinel` is an unlogged table, which PostgreSQL empties in the
same recovery. So a row there says that an index is whole, and it is written only after a build that was counted.
"""

from service.db.bm25.guard import guarding, guarding_by
from service.db.bm25.health import Bm25Health, watch
from service.db.bm25.repair import Outcome, Repair, repair, trust_counted

__all__ = ["Bm25Health", "Outcome", "Repair", "guarding", "guarding_by", "repair", "trust_counted", "watch"]
