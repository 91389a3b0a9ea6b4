-- Are the indexes used? Look for `Index Scan using child_chunk_embedding_hnsw` and `TopNScanExecState`. (On a few
-- hundred rows the planner rightly reads the table instead.)
explain (costs off)
with example as (
    select c.embedding::vector as embedding
    from rag.child_chunk as c
    order by c.id
    limit 1
)
select h.*
from example as e
cross join lateral rag.hybrid_search('报销', e.embedding) as h;
