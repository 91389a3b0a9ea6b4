-- analytics.child_chunks: one row a child chunk, with its document and its place in it; without its vector.
--
-- Answers  What is searched, from which place of which file, and how long is it?
-- Notes    substr(parent_chunks.content, start_in_parent + 1, characters) = content, always
create view analytics.child_chunks with (security_barrier = true) as
select
    h.chunk_id,
    h.parent_chunk_id,
    h.document_id,
    h.collection,
    h.source,
    d.file_name,
    lower(substring(d.file_name from '[^.]\.([^. /]{1,16})$')) as extension,
    h.title,
    h.ordinal,
    (select max(o.ordinal) + 1 from rag.child_chunk as o where o.document_id = h.document_id) as total,
    h.heading_path,
    h.first_page,
    h.last_page,
    h.start_offset,
    h.end_offset,
    h.start_in_parent,
    h.characters,
    h.content
from rag.child_chunks_overview as h
join rag.document as d on d.id = h.document_id
join rag.collection as c on c.id = d.collection_id
where c.id = any ((select rag.visible_collections(current_user))::bigint[]);

comment on view analytics.child_chunks is 'One row a child chunk, which is searched, and its place';
comment on column analytics.child_chunks.chunk_id is 'Public key, as searches and the API return it';
comment on column analytics.child_chunks.parent_chunk_id is 'Public key of its parent chunk';
comment on column analytics.child_chunks.document_id is 'Public key of the document';
comment on column analytics.child_chunks.collection is 'Name of the collection';
comment on column analytics.child_chunks.source is 'Source of the document';
comment on column analytics.child_chunks.file_name is 'File name as uploaded';
comment on column analytics.child_chunks.extension is 'What follows its last dot, in lower case';
comment on column analytics.child_chunks.title is 'Title of the document';
comment on column analytics.child_chunks.ordinal is 'Position among the child chunks of the document, from 0';
comment on column analytics.child_chunks.total is 'Number of child chunks of the document';
comment on column analytics.child_chunks.heading_path is 'Headings above it, outermost first';
comment on column analytics.child_chunks.first_page is 'Page of its start, from 1';
comment on column analytics.child_chunks.last_page is 'Page of its end';
comment on column analytics.child_chunks.start_offset is 'First code point in the document''s text, from 0';
comment on column analytics.child_chunks.end_offset is 'Code point after the last one';
comment on column analytics.child_chunks.start_in_parent is 'First code point in the parent chunk, from 0';
comment on column analytics.child_chunks.characters is 'Length in code points';
comment on column analytics.child_chunks.content is 'Text of the chunk';
