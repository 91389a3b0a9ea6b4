-- Does every chunk hold exactly the text it claims to come from? Both columns must be 0.
select
    count(*) filter (
        where substr(d.text, p.start_offset + 1, p.end_offset - p.start_offset) <> p.content
    ) as wrong_parents,
    (
        select count(*)
        from rag.child_chunks_overview as c
        join rag.parent_chunk as q on q.id = c.parent_id
        where substr(q.content, c.start_in_parent + 1, c.characters) <> c.content
    ) as wrong_children
from rag.parent_chunk as p
join rag.document as d on d.id = p.document_id;
