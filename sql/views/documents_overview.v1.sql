-- rag.documents_overview: one row a document, with its state and its sizes.
--
-- Answers  Which documents are there, which failed and why, how large are they, and into how many chunks were they cut?
-- Notes    A document with an error_code and a ready status serves its last good version; only its replacement failed.
create view rag.documents_overview as
select
    d.id as document_id,
    c.name as collection,
    d.source,
    d.title,
    d.file_name,
    d.media_type,
    d.size_bytes,
    d.status,
    d.error_code,
    d.error_message,
    jsonb_array_length(d.warnings) as warning_count,
    length(d.text) as characters,
    nullif(jsonb_array_length(d.pages), 0) as page_count,
    (select count(*) from rag.parent_chunk as p where p.document_id = d.id) as parent_count,
    (select count(*) from rag.child_chunk as h where h.document_id = d.id) as child_count,
    d.metadata,
    d.extractor,
    d.extractor_version,
    d.splitter_version,
    d.created_at,
    d.updated_at
from rag.document as d
join rag.collection as c on c.id = d.collection_id;

comment on view rag.documents_overview is 'One row a document, with its state and its sizes';
comment on column rag.documents_overview.document_id is 'Public key of the document';
comment on column rag.documents_overview.collection is 'Name of its collection';
comment on column rag.documents_overview.source is 'Name the caller gave; unique in the collection';
comment on column rag.documents_overview.title is 'Title given by the caller or found in the file';
comment on column rag.documents_overview.file_name is 'File name as uploaded';
comment on column rag.documents_overview.media_type is 'Detected media type';
comment on column rag.documents_overview.size_bytes is 'Size of the original in bytes';
comment on column rag.documents_overview.status is 'Stage of the work, or ready, ready_with_warnings, failed';
comment on column rag.documents_overview.error_code is 'Stable code of the last failure';
comment on column rag.documents_overview.error_message is 'Reason of the last failure in words';
comment on column rag.documents_overview.warning_count is 'Number of warnings of the quality gate';
comment on column rag.documents_overview.characters is 'Length of the extracted text in code points';
comment on column rag.documents_overview.page_count is 'Pages, slides or sheets; null when the format has none';
comment on column rag.documents_overview.parent_count is 'Number of parent chunks';
comment on column rag.documents_overview.child_count is 'Number of child chunks';
comment on column rag.documents_overview.metadata is 'Metadata of the caller';
comment on column rag.documents_overview.extractor is 'Name of the extractor that read the file';
comment on column rag.documents_overview.extractor_version is 'Version of that extractor';
comment on column rag.documents_overview.splitter_version is 'Version of the splitter that made the chunks';
comment on column rag.documents_overview.created_at is 'When the source was first taken in';
comment on column rag.documents_overview.updated_at is 'When the document last changed';
