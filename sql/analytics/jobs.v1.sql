-- analytics.jobs: one row an accepted upload, how far it came and where its time went.
--
-- Answers  What is being worked on, what waits and for how long, what failed and why, which stage is slow?
-- Notes    What rag.jobs_overview tells, of the collections that the reader's role may see.
create view analytics.jobs with (security_barrier = true) as
select
    o.job_id,
    o.document_id,
    o.collection,
    o.source,
    o.file_name,
    o.size_bytes,
    o.stage,
    o.outcome,
    o.attempts,
    o.accepted_at,
    o.started_at,
    o.finished_at,
    o.waiting_seconds,
    o.running_seconds,
    o.fetch_seconds,
    o.extract_seconds,
    o.split_seconds,
    o.embed_seconds,
    o.store_seconds,
    o.lease_age_seconds,
    o.child_count,
    o.done_count,
    o.embedded_count,
    o.reused_count,
    o.failed_stage,
    o.error_code,
    o.error_message,
    o.cancel_requested,
    o.is_dead_letter
from rag.jobs_overview as o
join rag.collection as c on c.name = o.collection
where c.id = any ((select rag.visible_collections(current_user))::bigint[]);

comment on view analytics.jobs is 'One row an accepted upload, how far it came and where its time went';
comment on column analytics.jobs.job_id is 'Public key of the job';
comment on column analytics.jobs.document_id is 'Document it makes or replaces; may be deleted since';
comment on column analytics.jobs.collection is 'Name of the collection of the document';
comment on column analytics.jobs.source is 'Source of the document';
comment on column analytics.jobs.file_name is 'File name as uploaded';
comment on column analytics.jobs.size_bytes is 'Size of the upload in bytes';
comment on column analytics.jobs.stage is 'received (waits), the step at work, or how it ended';
comment on column analytics.jobs.outcome is 'created or replaced; null until it is stored';
comment on column analytics.jobs.attempts is 'How often the work was begun';
comment on column analytics.jobs.accepted_at is 'When the upload was accepted';
comment on column analytics.jobs.started_at is 'When the last attempt began';
comment on column analytics.jobs.finished_at is 'When it came to an end; null while it may go on';
comment on column analytics.jobs.waiting_seconds is 'From acceptance to the start of the last attempt, or until now';
comment on column analytics.jobs.running_seconds is 'From the start of the last attempt to the end, or until now';
comment on column analytics.jobs.fetch_seconds is 'Fetching the original';
comment on column analytics.jobs.extract_seconds is 'Reading text out of the file';
comment on column analytics.jobs.split_seconds is 'Cutting the text into chunks';
comment on column analytics.jobs.embed_seconds is 'Making or finding the vectors';
comment on column analytics.jobs.store_seconds is 'Writing chunks and indexes';
comment on column analytics.jobs.lease_age_seconds is 'Since its worker gave a sign of life; null when none has it';
comment on column analytics.jobs.child_count is 'Child chunks to embed';
comment on column analytics.jobs.done_count is 'Child chunks that have their vector by now';
comment on column analytics.jobs.embedded_count is 'Child chunks embedded anew';
comment on column analytics.jobs.reused_count is 'Child chunks whose vector was known';
comment on column analytics.jobs.failed_stage is 'Stage in which the last attempt failed';
comment on column analytics.jobs.error_code is 'Stable code of the last failure, also of one that is tried again';
comment on column analytics.jobs.error_message is 'Reason of the last failure in words';
comment on column analytics.jobs.cancel_requested is 'True when somebody asked to stop it';
comment on column analytics.jobs.is_dead_letter is 'True when only a retry brings it back';
