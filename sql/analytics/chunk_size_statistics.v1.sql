-- analytics.chunk_size_statistics: one row a collection and kind of chunk, and how long its chunks are.
--
-- Answers  Are chunks as long as they should be? Very short ones are hard to find, very long ones hard to rank.
-- Notes    Lengths in code points. Reads every chunk that the reader's role may see.
create view analytics.chunk_size_statistics with (security_barrier = true) as
with chunk as (
    select 'parent' as kind, d.collection_id, p.document_id, p.end_offset - p.start_offset as characters
    from rag.parent_chunk as p
    join rag.document as d on d.id = p.document_id
    union all
    select 'child', h.collection_id, h.document_id, h.end_offset - h.start_offset
    from rag.child_chunk as h
)
select
    c.name as collection,
    k.kind,
    count(*) as chunks,
    count(distinct k.document_id) as documents,
    min(k.characters) as shortest,
    percentile_disc(0.05) within group (order by k.characters) as p05,
    percentile_disc(0.5) within group (order by k.characters) as median,
    percentile_disc(0.95) within group (order by k.characters) as p95,
    max(k.characters) as longest,
    round(avg(k.characters), 1) as average,
    sum(k.characters) as characters
from chunk as k
join rag.collection as c on c.id = k.collection_id
where c.id = any ((select rag.visible_collections(current_user))::bigint[])
group by c.id, c.name, k.kind;

comment on view analytics.chunk_size_statistics is 'How long chunks are, one row a collection and kind of chunk';
comment on column analytics.chunk_size_statistics.collection is 'Name of the collection';
comment on column analytics.chunk_size_statistics.kind is 'parent or child';
comment on column analytics.chunk_size_statistics.chunks is 'Number of chunks';
comment on column analytics.chunk_size_statistics.documents is 'Number of documents that have any';
comment on column analytics.chunk_size_statistics.shortest is 'Length of the shortest, in code points';
comment on column analytics.chunk_size_statistics.p05 is 'One in twenty is no longer than this';
comment on column analytics.chunk_size_statistics.median is 'Half of them are no longer than this';
comment on column analytics.chunk_size_statistics.p95 is 'Nineteen in twenty are no longer than this';
comment on column analytics.chunk_size_statistics.longest is 'Length of the longest';
comment on column analytics.chunk_size_statistics.average is 'Mean length';
comment on column analytics.chunk_size_statistics.characters is 'Length of all together, repeated sentences included';
