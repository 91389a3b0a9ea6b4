-- rag.child_chunks_overview: one row a child chunk, with where it comes from; without its vector.
--
-- Answers  What is searched, from which place of which parent chunk and document, and how long is it?
-- Notes    heading_path goes on below that of its parent chunk, where that one joins several small sections;
--          substr(parent_chunk.content, start_in_parent + 1, characters) = content, always
create view rag.child_chunks_overview as
select
    h.id as child_id,
    h.chunk_id,
    h.parent_id,
    p.chunk_id as parent_chunk_id,
    c.name as collection,
    d.source,
    d.title,
    d.id as document_id,
    h.ordinal,
    p.heading_path || h.inner_path as heading_path,
    h.first_page,
    h.last_page,
    h.start_offset,
    h.end_offset,
    h.start_offset - p.start_offset as start_in_parent,
    h.end_offset - h.start_offset as characters,
    h.content
from rag.child_chunk as h
join rag.parent_chunk as p on p.id = h.parent_id
join rag.document as d on d.id = h.document_id
join rag.collection as c on c.id = h.collection_id;

comment on view rag.child_chunks_overview is 'One row a child chunk, with where it comes from';
comment on column rag.child_chunks_overview.child_id is 'Key, as the search functions return it';
comment on column rag.child_chunks_overview.chunk_id is 'Public key';
comment on column rag.child_chunks_overview.parent_id is 'Key of its parent chunk, as the search functions return it';
comment on column rag.child_chunks_overview.parent_chunk_id is 'Public key of its parent chunk';
comment on column rag.child_chunks_overview.collection is 'Name of the collection';
comment on column rag.child_chunks_overview.source is 'Source of the document';
comment on column rag.child_chunks_overview.title is 'Title of the document';
comment on column rag.child_chunks_overview.document_id is 'Public key of the document';
comment on column rag.child_chunks_overview.ordinal is 'Position among the child chunks of the document, from 0';
comment on column rag.child_chunks_overview.heading_path is 'Headings above it, outermost first';
comment on column rag.child_chunks_overview.first_page is 'Page of its start, from 1';
comment on column rag.child_chunks_overview.last_page is 'Page of its end';
comment on column rag.child_chunks_overview.start_offset is 'First code point in the document''s text, from 0';
comment on column rag.child_chunks_overview.end_offset is 'Code point after the last one';
comment on column rag.child_chunks_overview.start_in_parent is 'First code point in the parent chunk, from 0';
comment on column rag.child_chunks_overview.characters is 'Length in code points';
comment on column rag.child_chunks_overview.content is 'Text of the chunk';
