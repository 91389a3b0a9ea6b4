-- How much of each candidate's score comes from the vectors, how much from the words?
with example as (
    select c.embedding::vector as embedding
    from rag.child_chunk as c
    order by c.id
    limit 1
)
select
    h.parent_rank,
    c.source,
    70.0 / (60 + h.vector_rank) as vector_share,
    30.0 / (60 + h.fts_rank) as fts_share,
    h.rrf_score
from example as e
cross join lateral rag.hybrid_search('报销', e.embedding, vector_weight => 70, fts_weight => 30, rrf_k => 60) as h
join rag.child_chunks_overview as c on c.child_id = h.child_id
order by h.parent_rank, h.rrf_score desc, h.child_id;
