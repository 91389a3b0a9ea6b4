-- rag.similar_chunks: the child chunks closest in meaning to a given chunk, that one left out. No model is asked.
--
-- Inputs   chunk_id     public key of a child chunk, or of a parent chunk: then the mean of its children's vectors
--          top_n        child chunks wanted
--          collections  only the collections of these names; null means all that the acting role may see
-- Output   one row a child chunk: rank from 1; vector_distance is the cosine distance, 0 to 2, smaller is closer;
--          where it comes from, and its content. No row when the acting role may not see the given chunk.
-- Ties     equal distance: smaller child_id first
-- Index    those of rag.vector_candidates
--
-- Runs with the owner's rights, and looks only into collections that the acting role may see.
create function rag.similar_chunks(
    chunk_id uuid,
    top_n integer default 10,
    collections text[] default null
)
returns table (
    rank integer,
    vector_distance double precision,
    collection text,
    source text,
    ordinal integer,
    first_page integer,
    last_page integer,
    content text,
    child_chunk_id uuid,
    parent_chunk_id uuid,
    document_id uuid
)
language sql
stable
parallel safe
security definer
begin atomic
    with given as materialized (
        select h.id, h.embedding
        from rag.child_chunk as h
        where h.id in (
                select a.id
                from rag.child_chunk as a
                where a.chunk_id = similar_chunks.chunk_id
                union all
                select a.id
                from rag.parent_chunk as p
                join rag.child_chunk as a on a.parent_id = p.id
                where p.chunk_id = similar_chunks.chunk_id
            )
            and coalesce(h.collection_id = any ((select rag.searched_collections())::bigint[]), true)
    ),
    near as (
        select v.child_id, v.vector_rank, v.vector_distance
        from rag.vector_candidates(
            (select avg(g.embedding)::vector from given as g),
            top_n + (select count(*) from given)::integer,
            collection_ids => (select rag.searched_collections(collections))
        ) as v
        where v.child_id not in (select g.id from given as g)
        order by v.vector_rank, v.child_id
        limit top_n
    )
    select
        (row_number() over (order by n.vector_rank))::integer,
        n.vector_distance,
        c.name,
        d.source,
        h.ordinal,
        h.first_page,
        h.last_page,
        h.content,
        h.chunk_id,
        p.chunk_id,
        d.id
    from near as n
    join rag.child_chunk as h on h.id = n.child_id
    join rag.parent_chunk as p on p.id = h.parent_id
    join rag.document as d on d.id = h.document_id
    join rag.collection as c on c.id = h.collection_id
    order by n.vector_rank;
end;

comment on function rag.similar_chunks(uuid, integer, text[]) is
    'Child chunks closest in meaning to a given chunk: cosine distance, smaller is closer, rank from 1';
revoke execute on function rag.similar_chunks(uuid, integer, text[]) from public;
