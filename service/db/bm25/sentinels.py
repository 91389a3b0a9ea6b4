"""How the sentinels are read."""

# no schema yet, not ours to read, or a standby, which refuses every unlogged table
READABLE = """
select coalesce(has_table_privilege(to_regclass('rag.bm25_sentinel'), 'select'), false) and not pg_is_in_recovery()
"""
SENTINELS = "select index_name from rag.bm25_sentinel"
