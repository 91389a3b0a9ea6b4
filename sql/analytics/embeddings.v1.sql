-- analytics.embeddings: one row a child chunk, and which model its vector comes from; without the vector.
--
-- Answers  Which model embedded what, in how many dimensions, and with which words before the content?
-- Notes    A child chunk is stored together with its vector, so there is a row for each. All vectors that searches
--          compare are of the active model; while `fuzi reembed` fills those of another one, it is not shown here.
create view analytics.embeddings with (security_barrier = true) as
select
    h.chunk_id,
    d.id as document_id,
    c.name as collection,
    d.source,
    h.ordinal,
    m.provider,
    m.name as model,
    m.dimension,
    m.activated_at,
    h.embedding_prefix
from rag.child_chunk as h
join rag.document as d on d.id = h.document_id
join rag.collection as c on c.id = h.collection_id
join rag.embedding_model as m on m.active
where c.id = any ((select rag.visible_collections(current_user))::bigint[]);

comment on view analytics.embeddings is 'One row a child chunk, and which model its vector comes from';
comment on column analytics.embeddings.chunk_id is 'Public key of the child chunk';
comment on column analytics.embeddings.document_id is 'Public key of the document';
comment on column analytics.embeddings.collection is 'Name of the collection';
comment on column analytics.embeddings.source is 'Source of the document';
comment on column analytics.embeddings.ordinal is 'Position among the child chunks of the document, from 0';
comment on column analytics.embeddings.provider is 'Adapter that called the model';
comment on column analytics.embeddings.model is 'Name of the model at the provider';
comment on column analytics.embeddings.dimension is 'Numbers in the vector';
comment on column analytics.embeddings.activated_at is 'When searches began to use this model; null for never';
comment on column analytics.embeddings.embedding_prefix is 'Text embedded before the content, of a cut table';
