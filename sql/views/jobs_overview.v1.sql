-- rag.jobs_overview: one row an accepted upload, how far it came and where its time went.
--
-- Answers  What is being worked on, what waits and for how long, what failed and why, which stage is slow?
-- Notes    Seconds of the stages are those of the attempt that stored the document. A job that is being worked on gives
--          a sign of life every few seconds: when lease_age_seconds is above the setting jobs.lease_seconds (30), its
--          worker is dead and the next sweep gives the job to another. Jobs that ended well are forgotten after
--          jobs.keep_days (30); dead letters stay.
create view rag.jobs_overview as
select
    j.id as job_id,
    j.document_id,
    c.name as collection,
    j.source,
    j.file_name,
    j.size_bytes,
    j.status as stage,
    j.outcome,
    j.attempts,
    j.created_at as accepted_at,
    j.started_at,
    j.finished_at,
    round(extract(epoch from coalesce(j.started_at, j.finished_at, now()) - j.created_at), 3) as waiting_seconds,
    round(extract(epoch from coalesce(j.finished_at, now()) - j.started_at), 3) as running_seconds,
    round((j.timings_ms ->> 'fetch_ms')::numeric / 1000, 3) as fetch_seconds,
    round((j.timings_ms ->> 'extract_ms')::numeric / 1000, 3) as extract_seconds,
    round((j.timings_ms ->> 'split_ms')::numeric / 1000, 3) as split_seconds,
    round((j.timings_ms ->> 'embed_ms')::numeric / 1000, 3) as embed_seconds,
    round((j.timings_ms ->> 'store_ms')::numeric / 1000, 3) as store_seconds,
    case
        when j.finished_at is null and j.status <> 'received'
            then round(extract(epoch from now() - coalesce(j.heartbeat_at, j.started_at)), 3)
    end as lease_age_seconds,
    j.child_count,
    j.done_count,
    j.embedded_count,
    j.reused_count,
    j.failed_stage,
    j.error_code,
    j.error_message,
    j.cancel_requested,
    j.status = 'failed' as is_dead_letter
from rag.job as j
join rag.collection as c on c.id = j.collection_id;

comment on view rag.jobs_overview is 'One row an accepted upload, how far it came and where its time went';
comment on column rag.jobs_overview.job_id is 'Public key of the job';
comment on column rag.jobs_overview.document_id is 'Document it makes or replaces; may be deleted since';
comment on column rag.jobs_overview.collection is 'Name of the collection of the document';
comment on column rag.jobs_overview.source is 'Source of the document';
comment on column rag.jobs_overview.file_name is 'File name as uploaded';
comment on column rag.jobs_overview.size_bytes is 'Size of the upload in bytes';
comment on column rag.jobs_overview.stage is 'received (waits), the step at work, or how it ended';
comment on column rag.jobs_overview.outcome is 'created or replaced; null until it is stored';
comment on column rag.jobs_overview.attempts is 'How often the work was begun';
comment on column rag.jobs_overview.accepted_at is 'When the upload was accepted';
comment on column rag.jobs_overview.started_at is 'When the last attempt began';
comment on column rag.jobs_overview.finished_at is 'When it came to an end; null while it may go on';
comment on column rag.jobs_overview.waiting_seconds is 'From acceptance to the start of the last attempt, or until now';
comment on column rag.jobs_overview.running_seconds is 'From the start of the last attempt to the end, or until now';
comment on column rag.jobs_overview.fetch_seconds is 'Fetching the original';
comment on column rag.jobs_overview.extract_seconds is 'Reading text out of the file';
comment on column rag.jobs_overview.split_seconds is 'Cutting the text into chunks';
comment on column rag.jobs_overview.embed_seconds is 'Making or finding the vectors';
comment on column rag.jobs_overview.store_seconds is 'Writing chunks and indexes';
comment on column rag.jobs_overview.lease_age_seconds is 'Since its worker gave a sign of life; null when none has it';
comment on column rag.jobs_overview.child_count is 'Child chunks to embed';
comment on column rag.jobs_overview.done_count is 'Child chunks that have their vector by now';
comment on column rag.jobs_overview.embedded_count is 'Child chunks embedded anew';
comment on column rag.jobs_overview.reused_count is 'Child chunks whose vector was known';
comment on column rag.jobs_overview.failed_stage is 'Stage in which the last attempt failed';
comment on column rag.jobs_overview.error_code is 'Stable code of the last failure, also of one that is tried again';
comment on column rag.jobs_overview.error_message is 'Reason of the last failure in words';
comment on column rag.jobs_overview.cancel_requested is 'True when somebody asked to stop it';
comment on column rag.jobs_overview.is_dead_letter is 'True when only a retry brings it back';
