-- analytics.feedback: one row a passage that somebody judged, with the search that returned it.
--
-- Answers  What do people call good or bad answers, to which questions, at which rank, from which document?
-- Notes    Of a search that was not logged (FUZI_SEARCH__LOG_SHARE below 1) only the query is known, if it came with
--          the feedback. The passage is kept as it was then: its chunk and its document may be gone.
create view analytics.feedback with (security_invoker = true) as
select
    f.judged_at,
    f.verdict,
    f.comment,
    f.search_id,
    coalesce(s.query, f.query) as query,
    f.chunk_id,
    array_position(s.result_chunk_ids, f.chunk_id) as rank,
    c.name as collection,
    f.source,
    f.document_id,
    f.content,
    s.id is not null as is_logged,
    s.searched_at
from rag.feedback as f
left join rag.collection as c on c.id = f.collection_id
left join rag.search_log as s on s.search_id = f.search_id;

comment on view analytics.feedback is 'One row a passage that somebody judged, with the search that returned it';
comment on column analytics.feedback.judged_at is 'When it was judged, the last time';
comment on column analytics.feedback.verdict is 'good or bad';
comment on column analytics.feedback.comment is 'What the person said about it';
comment on column analytics.feedback.search_id is 'Search that returned it, as its answer names it';
comment on column analytics.feedback.query is 'Query text, from the search log, else from the feedback; may be null';
comment on column analytics.feedback.chunk_id is 'Public key of the parent chunk that was judged';
comment on column analytics.feedback.rank is 'Its place in that answer, from 1; null when the search was not logged';
comment on column analytics.feedback.collection is 'Collection of its document';
comment on column analytics.feedback.source is 'Source of its document';
comment on column analytics.feedback.document_id is 'Public key of its document, which may be deleted since';
comment on column analytics.feedback.content is 'Text of the passage as it was judged';
comment on column analytics.feedback.is_logged is 'Whether the search is in the search log';
comment on column analytics.feedback.searched_at is 'When the search ended; null when it was not logged';
