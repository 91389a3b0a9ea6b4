-- rag.index_health: one row a search index, and whether it can be trusted.
--
-- Answers  Is every chunk in the indexes, how large are they, and into how many segments is BM25 split?
-- Notes    BM25 is not in PostgreSQL's log of changes: after a crash it may lack rows without any error. The sentinel,
--          a row of an unlogged table that the crash empties, tells exactly; missing_rows is the cross-check, which
--          deleted rows can hide until vacuum clears them away. Repair: reindex index concurrently rag.<index_name>.
--          Counts the rows of both chunk tables: not for a query that runs every second.
create view rag.index_health as
select
    i.relname as index_name,
    t.relname as table_name,
    m.amname as method,
    pg_relation_size(i.oid) as size_bytes,
    r.table_rows,
    b.indexed_rows,
    greatest(r.table_rows - b.indexed_rows, 0) as missing_rows,
    b.segment_count,
    s.written_at as sentinel_written_at,
    x.indisvalid and (
        m.amname <> 'bm25'
        or (s.written_at is not null and b.indexed_rows >= r.table_rows)
    ) as is_whole
from pg_catalog.pg_index as x
join pg_catalog.pg_class as i on i.oid = x.indexrelid
join pg_catalog.pg_class as t on t.oid = x.indrelid
join pg_catalog.pg_am as m on m.oid = i.relam and m.amname in ('bm25', 'hnsw')
join pg_catalog.pg_namespace as n on n.oid = i.relnamespace and n.nspname = 'rag'
join (
    select 'child_chunk' as table_name, count(*) as table_rows from rag.child_chunk
    union all
    select 'parent_chunk', count(*) from rag.parent_chunk
) as r on r.table_name = t.relname
left join rag.bm25_sentinel as s on s.index_name = i.relname
left join lateral (
    select coalesce(sum(f.num_docs), 0)::bigint as indexed_rows, count(*) as segment_count
    from paradedb.index_info(i.oid::regclass) as f
    where m.amname = 'bm25'
) as b on m.amname = 'bm25';

comment on view rag.index_health is 'One row a search index, and whether it can be trusted';
comment on column rag.index_health.index_name is 'Index in schema rag';
comment on column rag.index_health.table_name is 'Table in schema rag';
comment on column rag.index_health.method is 'bm25 (words) or hnsw (vectors)';
comment on column rag.index_health.size_bytes is 'Size on disk in bytes';
comment on column rag.index_health.table_rows is 'Rows of the table';
comment on column rag.index_health.indexed_rows is 'Rows in the BM25 index, and deleted ones until vacuum';
comment on column rag.index_health.missing_rows is 'Rows that the BM25 index lacks at least';
comment on column rag.index_health.segment_count is 'Segments of the BM25 index; each costs every query something';
comment on column rag.index_health.sentinel_written_at is 'When the BM25 index was last whole; null after a crash';
comment on column rag.index_health.is_whole is 'False when the index has to be rebuilt';
