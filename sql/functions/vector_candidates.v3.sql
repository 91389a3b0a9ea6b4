-- rag.vector_candidates: the child chunks whose vectors are closest to the query's. The vector leg of a search.
--
-- Inputs   query_embedding  vector of the active embedding model, made by its query call; null returns no row
--          candidates       rows wanted
--          collection_ids   only these collections; null means all
--          document_ids     only these documents; null means all
--          min_similarity   leaves out what is farther than that: similarity is 1 - vector_distance; null: nothing
--          eligible_chunks  how many chunks the filters leave, for a caller who has counted them; null counts
-- Output   child_id, parent_id; vector_rank counts from 1; vector_distance is the cosine distance,
--          0 to 2, smaller is closer
-- Ties     equal distance: smaller child_id first
-- Index    child_chunk_embedding_hnsw, and the B-trees of the filters
--
-- Without a filter, or when it leaves more than 20,000 chunks, the HNSW index brings the rows. Else, and whenever it
-- brings fewer than wanted (it stops at hnsw.max_scan_tuples, and at hnsw.ef_search without hnsw.iterative_scan), the
-- eligible chunks are compared one by one: a filter that leaves enough chunks never returns too few.
-- Comparing takes about 1 µs a chunk of 384 dimensions. Of 100,000 chunks, the index took as long as comparing 17,000
-- for a filter that has nothing to do with the query; for two topics of twenty (10,430 chunks) it took five times as
-- long as comparing, and found 79 of 100 rows, of one query none.
create function rag.vector_candidates(
    query_embedding vector,
    candidates integer,
    collection_ids bigint[] default null,
    document_ids uuid[] default null,
    min_similarity double precision default null,
    eligible_chunks bigint default null
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
            and (
                (collection_ids is null and document_ids is null)
                -- see above
                or 20000 < coalesce(
                    eligible_chunks,
                    (
                        select count(*)
                        from (
                            select
                            from rag.child_chunk as c
                            where (collection_ids is null or c.collection_id = any (collection_ids))
                                and (document_ids is null or c.document_id = any (array(select unnest(document_ids))))
                            limit 20001
                        ) as eligible
                    )
                )
            )
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
                -- hidden from the planner, which would look at each of thousands of ids
                and (document_ids is null or c.document_id = any (array(select unnest(document_ids))))
            offset 0 -- keeps the sort away from the HNSW index
        ) as e
        where candidates > (select count(*) from nearest)
        order by e.distance, e.id
        limit candidates
    )
    select
        leg.id,
        leg.parent_id,
        (row_number() over (order by leg.distance, leg.id))::integer,
        leg.distance
    from (
        select n.id, n.parent_id, n.distance
        from nearest as n
        where candidates <= (select count(*) from nearest)
        union all
        select c.id, c.parent_id, c.distance
        from compared as c
    ) as leg
    -- the nearest come first, so nothing that is near enough is lost
    where min_similarity is null or leg.distance <= 1 - min_similarity
    order by leg.distance, leg.id;
end;

comment on function rag.vector_candidates(vector, integer, bigint[], uuid[], double precision, bigint) is
    'Child chunks closest to a query vector: cosine distance, smaller is closer, ranks from 1';
