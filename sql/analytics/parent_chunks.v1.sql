-- analytics.parent_chunks: one row a parent chunk, with its document and its place in it.
--
-- Answers  What can a search return, from which heading and page of which file, and how many more are there?
-- Notes    substr(document.text, start_offset + 1, characters) = content, always
create view analytics.parent_chunks with (security_barrier = true) as
select
    p.chunk_id,
    p.document_id,
    p.collection,
    p.source,
    d.file_name,
    lower(substring(d.file_name from '[^.]\.([^. /]{1,16})$')) as extension,
    p.title,
    p.ordinal,
    (select max(o.ordinal) + 1 from rag.parent_chunk as o where o.document_id = p.document_id) as total,
    p.heading_path,
    p.first_page,
    p.last_page,
    p.start_offset,
    p.end_offset,
    p.characters,
    p.token_estimate,
    p.child_count,
    p.content
from rag.parent_chunks_overview as p
join rag.document as d on d.id = p.document_id
join rag.collection as c on c.id = d.collection_id
where c.id = any ((select rag.visible_collections(current_user))::bigint[]);

comment on view analytics.parent_chunks is 'One row a parent chunk, which searches return, and its place';
comment on column analytics.parent_chunks.chunk_id is 'Public key, as searches and the API return it';
comment on column analytics.parent_chunks.document_id is 'Public key of the document';
comment on column analytics.parent_chunks.collection is 'Name of the collection';
comment on column analytics.parent_chunks.source is 'Source of the document';
comment on column analytics.parent_chunks.file_name is 'File name as uploaded';
comment on column analytics.parent_chunks.extension is 'What follows its last dot, in lower case';
comment on column analytics.parent_chunks.title is 'Title of the document';
comment on column analytics.parent_chunks.ordinal is 'Position among the parent chunks of the document, from 0';
comment on column analytics.parent_chunks.total is 'Number of parent chunks of the document';
comment on column analytics.parent_chunks.heading_path is 'Headings above it, outermost first';
comment on column analytics.parent_chunks.first_page is 'Page of its start, from 1';
comment on column analytics.parent_chunks.last_page is 'Page of its end';
comment on column analytics.parent_chunks.start_offset is 'First code point in the document''s text, from 0';
comment on column analytics.parent_chunks.end_offset is 'Code point after the last one';
comment on column analytics.parent_chunks.characters is 'Length in code points';
comment on column analytics.parent_chunks.token_estimate is 'Estimated or counted tokens';
comment on column analytics.parent_chunks.child_count is 'Number of child chunks in it';
comment on column analytics.parent_chunks.content is 'Text of the chunk';
