-- rag.vector_candidates: the child chunks whose vectors are closest to the query's. The vector leg of a search.
--
-- Inputs   query_embedding  vector of the active embedding model, made by its query call; null returns no row
--          candidates       rows wanted
--          collection_ids   only these collections; null means all
--          document_ids     only these documents; null means all
-- Output   child_id, parent_id; vector_rank counts from 1; vector_distance is the cosine distance,
--          0 to 2, smaller is closer
-- Ties     equal distance: smaller child_id first
-- Index    child_chunk_embedding_hnsw. When it brings fewer rows than wanted (a narrow filter, ef_search below
--          candidates without hnsw.iterative_scan), all eligible rows are compared instead, through the B-tree of the
--          filter when there is one: enough eligible rows never give too few.
create function rag.vector_candidates(
    query_embedding vector,
    candidates integer,
    collection_ids bigint[] default null,
    document_ids uuid[] default null
)
returns table (child_id bigint, parent_id bigint, vector_rank integer, vector_distance double precision)
language sql
stable
parallel safe
begin atomic
    with nearest as materialized (
        select c.id, c.parent_id, c.embedding <=> query_embedding as distance
        from rag.child_chunk as c
        where query_embedding is not null
            and (collection_ids is null or c.collection_id = any (collection_ids))
            and (document_ids is null or c.document_id = any (document_ids))
        order by c.embedding <=> query_embedding, c.id
        limit candidates
    ),
    compared as (
        select e.id, e.parent_id, e.distance
        from (
            select c.id, c.parent_id, c.embedding <=> query_embedding as distance
            from rag.child_chunk as c
            where query_embedding is not null
                and (collection_ids is null or c.collection_id = any (collection_ids))
                and (document_ids is null or c.document_id = any (document_ids))
            offset 0 -- keeps the sort away from the HNSW index
        ) as e
        where (select count(*) from nearest) < candidates
        order by e.distance, e.id
        limit candidates
    )
    select
        l.id,
        l.parent_id,
        (row_number() over (order by l.distance, l.id))::integer,
        l.distance
    from (
        select n.id, n.parent_id, n.distance
        from nearest as n
        where (select count(*) from nearest) >= candidates
        union all
        select c.id, c.parent_id, c.distance
        from compared as c
    ) as l
    order by l.distance, l.id;
end;

comment on function rag.vector_candidates(vector, integer, bigint[], uuid[]) is
    'Child chunks closest to a query vector: cosine distance, smaller is closer, ranks from 1';
