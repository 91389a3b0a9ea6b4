-- What is similar to a given chunk? Its own vector stands in for that of a query, its text for the words.
with example as (
    select c.content, c.embedding::vector as embedding
    from rag.child_chunk as c
    order by c.id
    limit 1
)
select h.parent_rank, h.vector_rank, h.vector_distance, h.fts_rank, h.rrf_score, c.source, left(c.content, 60) as begins
from example as e
cross join lateral rag.hybrid_search(e.content, e.embedding, top_n => 5) as h
join rag.child_chunks_overview as c on c.child_id = h.child_id
order by h.parent_rank, h.rrf_score desc, h.child_id;
