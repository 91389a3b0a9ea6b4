-- analytics.documents: one row a document, with its file, its state and its sizes.
--
-- Answers  Which documents are there, of which kind, which failed and why, into how many chunks were they cut?
-- Notes    Shows the collections that the reader's role may see. The text itself is rag.document.text.
create view analytics.documents with (security_barrier = true) as
select
    o.document_id,
    o.collection,
    o.source,
    o.file_name,
    lower(substring(o.file_name from '[^.]\.([^. /]{1,16})$')) as extension,
    o.title,
    o.media_type,
    o.size_bytes,
    o.status,
    o.error_code,
    o.error_message,
    o.warning_count,
    o.characters,
    o.page_count,
    o.parent_count,
    o.child_count,
    o.metadata,
    o.extractor,
    o.extractor_version,
    o.splitter_version,
    o.created_at,
    o.updated_at
from rag.documents_overview as o
join rag.collection as c on c.name = o.collection
where c.id = any ((select rag.visible_collections(current_user))::bigint[]);

comment on view analytics.documents is 'One row a document, with its file, its state and its sizes';
comment on column analytics.documents.document_id is 'Public key of the document';
comment on column analytics.documents.collection is 'Name of the collection';
comment on column analytics.documents.source is 'Name the caller gave; unique in the collection';
comment on column analytics.documents.file_name is 'File name as uploaded';
comment on column analytics.documents.extension is 'What follows its last dot, in lower case; null for nothing';
comment on column analytics.documents.title is 'Title given by the caller or found in the file';
comment on column analytics.documents.media_type is 'Detected media type';
comment on column analytics.documents.size_bytes is 'Size of the original in bytes';
comment on column analytics.documents.status is 'Stage of the work, or ready, ready_with_warnings, failed';
comment on column analytics.documents.error_code is 'Stable code of the last failure; when ready, of its replacement';
comment on column analytics.documents.error_message is 'Reason of the last failure in words';
comment on column analytics.documents.warning_count is 'Number of warnings of the quality gate';
comment on column analytics.documents.characters is 'Length of the extracted text in code points';
comment on column analytics.documents.page_count is 'Pages, slides or sheets; null when the format has none';
comment on column analytics.documents.parent_count is 'Number of parent chunks';
comment on column analytics.documents.child_count is 'Number of child chunks';
comment on column analytics.documents.metadata is 'Metadata of the caller';
comment on column analytics.documents.extractor is 'Name of the extractor that read the file';
comment on column analytics.documents.extractor_version is 'Version of that extractor';
comment on column analytics.documents.splitter_version is 'Version of the splitter that made the chunks';
comment on column analytics.documents.created_at is 'When the source was first taken in';
comment on column analytics.documents.updated_at is 'When the document last changed';
