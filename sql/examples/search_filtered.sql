-- How to search only some documents: resolve the condition to document ids first, the indexes take them.
select h.parent_rank, p.source, p.title, left(p.content, 80) as begins
from rag.hybrid_search(
    '报销',
    null,
    document_ids => array(
        select d.id
        from rag.document as d
        where d.metadata @> '{"department": "财务"}'
            and d.status in ('ready', 'ready_with_warnings')
    )
) as h
join rag.parent_chunks_overview as p on p.parent_id = h.parent_id
order by h.parent_rank, h.rrf_score desc, h.child_id;
