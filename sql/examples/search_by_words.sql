-- What do the words alone find? No embedding is needed, so this runs in any SQL tool.
select h.parent_rank, h.fts_rank, h.fts_score, p.source, p.first_page, left(p.content, 80) as begins
from rag.hybrid_search('报销 发票', null, top_n => 3) as h
join rag.parent_chunks_overview as p on p.parent_id = h.parent_id
order by h.parent_rank, h.rrf_score desc, h.child_id;
