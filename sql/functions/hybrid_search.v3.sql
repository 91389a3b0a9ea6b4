-- rag.hybrid_search: both legs, weighted reciprocal rank fusion and the collapse to parent chunks in one statement.
--
-- Inputs   query_text       text of the fts leg; null or blank skips that leg
--          query_embedding  vector of the vector leg; null skips that leg
--          top_n            parent chunks wanted
--          candidates       child chunks each leg returns
--          vector_weight, fts_weight  shares of the legs, 0 skips a leg
--          rrf_k            k of reciprocal rank fusion; larger flattens the difference between ranks
--          collection_ids, document_ids  only these; null means all
--          min_vector_similarity  the vector leg leaves out what is less similar (1 - vector_distance); null nothing
--          fts_terms        what the fts leg looks for: 'both', or only 'words' or 'pairs' of Han characters
--          eligible_chunks  how many chunks the filters leave, for a caller who has counted them; null counts
-- Output   one row for each candidate child chunk of the best top_n parent chunks:
--          parent_rank from 1; parent_rrf_score is that of its best child;
--          vector_rank and fts_rank from 1, null when that leg did not return the child;
--          vector_distance smaller is closer; fts_score and rrf_score larger is better.
--          rrf_score = vector_weight / (rrf_k + vector_rank) + fts_weight / (rrf_k + fts_rank), absence adds 0
-- Ties     parents of equal score: smaller parent_id first; children of equal score: smaller child_id first
-- Index    those of rag.vector_candidates and rag.fts_candidates
create function rag.hybrid_search(
    query_text text,
    query_embedding vector,
    top_n integer default 5,
    candidates integer default 50,
    vector_weight double precision default 70,
    fts_weight double precision default 30,
    rrf_k integer default 60,
    collection_ids bigint[] default null,
    document_ids uuid[] default null,
    min_vector_similarity double precision default null,
    fts_terms text default 'both',
    eligible_chunks bigint default null
)
returns table (
    parent_rank integer,
    parent_id bigint,
    parent_rrf_score double precision,
    child_id bigint,
    vector_rank integer,
    vector_distance double precision,
    fts_rank integer,
    fts_score double precision,
    rrf_score double precision
)
language sql
stable
parallel safe
begin atomic
    with vector_leg as (
        select v.child_id, v.parent_id, v.vector_rank, v.vector_distance
        from rag.vector_candidates(
            query_embedding, candidates, collection_ids, document_ids, min_vector_similarity, eligible_chunks
        ) as v
        where vector_weight > 0
    ),
    fts_leg as (
        select f.child_id, f.parent_id, f.fts_rank, f.fts_score
        from rag.fts_candidates(query_text, candidates, collection_ids, document_ids, fts_terms) as f
        where fts_weight > 0
    ),
    fused as (
        select
            coalesce(v.child_id, f.child_id) as child_id,
            coalesce(v.parent_id, f.parent_id) as parent_id,
            v.vector_rank,
            v.vector_distance,
            f.fts_rank,
            f.fts_score,
            coalesce(vector_weight / (rrf_k + v.vector_rank), 0)
                + coalesce(fts_weight / (rrf_k + f.fts_rank), 0) as rrf_score
        from vector_leg as v
        full join fts_leg as f on f.child_id = v.child_id
    ),
    with_parent_score as (
        select u.*, max(u.rrf_score) over (partition by u.parent_id) as parent_rrf_score
        from fused as u
    ),
    ranked as (
        select s.*, (dense_rank() over (order by s.parent_rrf_score desc, s.parent_id))::integer as parent_rank
        from with_parent_score as s
    )
    select
        r.parent_rank,
        r.parent_id,
        r.parent_rrf_score,
        r.child_id,
        r.vector_rank,
        r.vector_distance,
        r.fts_rank,
        r.fts_score,
        r.rrf_score
    from ranked as r
    where r.parent_rank <= top_n
    order by r.parent_rank, r.rrf_score desc, r.child_id;
end;

comment on function rag.hybrid_search(
    text, vector, integer, integer, double precision, double precision, integer, bigint[], uuid[],
    double precision, text, bigint
) is
    'Vector leg and fts leg fused by weighted reciprocal ranks: the candidate child chunks of the best parent chunks';
