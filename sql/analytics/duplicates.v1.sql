-- analytics.duplicates: one row a set of documents that hold the same.
--
-- Answers  Which files were taken in more than once, and which different files say the same, word for word?
-- Notes    Looks only at documents that the reader's role may see.
create view analytics.duplicates with (security_barrier = true) as
with alike as (
    select 'file' as alike, d.sha256 as digest, d.id, d.collection_id, d.source, d.size_bytes, d.created_at, d.sha256
    from rag.document as d
    union all
    select 'text', d.text_sha256, d.id, d.collection_id, d.source, d.size_bytes, d.created_at, d.sha256
    from rag.document as d
    where d.text_sha256 is not null
)
select
    a.alike,
    count(*) as copies,
    array_agg(c.name order by a.created_at, a.id) as collections,
    array_agg(a.source order by a.created_at, a.id) as sources,
    array_agg(a.id order by a.created_at, a.id) as document_ids,
    (sum(a.size_bytes) - max(a.size_bytes))::bigint as spare_bytes,
    min(a.created_at) as first_created_at,
    max(a.created_at) as last_created_at
from alike as a
join rag.collection as c on c.id = a.collection_id
where c.id = any ((select rag.visible_collections(current_user))::bigint[])
group by a.alike, a.digest
having count(*) > 1 and (a.alike = 'file' or count(distinct a.sha256) > 1);

comment on view analytics.duplicates is 'One row a set of documents that hold the same';
comment on column analytics.duplicates.alike is 'file: the same bytes; text: different files, the same extracted text';
comment on column analytics.duplicates.copies is 'Number of documents in the set';
comment on column analytics.duplicates.collections is 'Collection of each, the oldest document first';
comment on column analytics.duplicates.sources is 'Source of each, in the same order';
comment on column analytics.duplicates.document_ids is 'Public key of each, in the same order';
comment on column analytics.duplicates.spare_bytes is 'Size of all originals but the largest';
comment on column analytics.duplicates.first_created_at is 'When the first of them was taken in';
comment on column analytics.duplicates.last_created_at is 'When the last of them was taken in';
