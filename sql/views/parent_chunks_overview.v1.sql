-- rag.parent_chunks_overview: one row a parent chunk, with where it comes from.
--
-- Answers  What does a search return, from which place of which document, and how long is it?
-- Notes    substr(document.text, start_offset + 1, characters) = content, always
create view rag.parent_chunks_overview as
select
    p.id as parent_id,
    p.chunk_id,
    c.name as collection,
    d.source,
    d.title,
    d.id as document_id,
    p.ordinal,
    p.heading_path,
    p.first_page,
    p.last_page,
    p.start_offset,
    p.end_offset,
    p.end_offset - p.start_offset as characters,
    p.token_estimate,
    (select count(*) from rag.child_chunk as h where h.parent_id = p.id) as child_count,
    p.content
from rag.parent_chunk as p
join rag.document as d on d.id = p.document_id
join rag.collection as c on c.id = d.collection_id;

comment on view rag.parent_chunks_overview is 'One row a parent chunk, with where it comes from';
comment on column rag.parent_chunks_overview.parent_id is 'Key, as the search functions return it';
comment on column rag.parent_chunks_overview.chunk_id is 'Public key';
comment on column rag.parent_chunks_overview.collection is 'Name of the collection';
comment on column rag.parent_chunks_overview.source is 'Source of the document';
comment on column rag.parent_chunks_overview.title is 'Title of the document';
comment on column rag.parent_chunks_overview.document_id is 'Public key of the document';
comment on column rag.parent_chunks_overview.ordinal is 'Position among the parent chunks of the document, from 0';
comment on column rag.parent_chunks_overview.heading_path is 'Headings above it, outermost first';
comment on column rag.parent_chunks_overview.first_page is 'Page of its start, from 1';
comment on column rag.parent_chunks_overview.last_page is 'Page of its end';
comment on column rag.parent_chunks_overview.start_offset is 'First code point in the document''s text, from 0';
comment on column rag.parent_chunks_overview.end_offset is 'Code point after the last one';
comment on column rag.parent_chunks_overview.characters is 'Length in code points';
comment on column rag.parent_chunks_overview.token_estimate is 'Estimated or counted tokens';
comment on column rag.parent_chunks_overview.child_count is 'Number of child chunks in it';
comment on column rag.parent_chunks_overview.content is 'Text of the chunk';
