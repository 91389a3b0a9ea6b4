-- rag.ingestion_funnel: one row a collection, and how many of its uploads stand at which stage.
--
-- Answers  Where do uploads pile up, how many failed of what, how long has the oldest been waiting?
-- Notes    Counts jobs, not documents: a document that was uploaded twice counts twice. Jobs that ended well leave the
--          count after jobs.keep_days (30 by default); dead letters stay. A retried dead letter is no failure any more.
create view rag.ingestion_funnel as
select
    c.name as collection,
    count(j.id) as accepted,
    count(*) filter (where j.status = 'received') as waiting,
    count(*) filter (where j.status = 'received' and j.attempts > 0) as waiting_again,
    count(*) filter (where j.status = 'extracting') as extracting,
    count(*) filter (where j.status = 'splitting') as splitting,
    count(*) filter (where j.status = 'embedding') as embedding,
    count(*) filter (where j.status = 'storing') as storing,
    count(*) filter (where j.status in ('ready', 'ready_with_warnings')) as ready,
    count(*) filter (where j.status = 'ready_with_warnings') as with_warnings,
    count(*) filter (where j.status = 'failed') as failed,
    (
        select coalesce(jsonb_object_agg(f.code, f.jobs), '{}')
        from (
            select coalesce(k.error_code, 'unknown') as code, count(*) as jobs
            from rag.job as k
            where k.collection_id = c.id and k.status = 'failed'
            group by 1
        ) as f
    ) as failed_by_code,
    count(*) filter (where j.status = 'cancelled') as cancelled,
    min(j.created_at) filter (where j.status = 'received') as oldest_waiting_since,
    round(
        extract(epoch from now() - min(j.created_at) filter (where j.status = 'received')), 3
    ) as oldest_waiting_seconds
from rag.collection as c
left join rag.job as j on j.collection_id = c.id
group by c.id;

comment on view rag.ingestion_funnel is 'One row a collection, and how many of its uploads stand at which stage';
comment on column rag.ingestion_funnel.collection is 'Name of the collection';
comment on column rag.ingestion_funnel.accepted is 'All uploads that are remembered';
comment on column rag.ingestion_funnel.waiting is 'Uploads that wait for a worker';
comment on column rag.ingestion_funnel.waiting_again is 'Those of them that were begun before';
comment on column rag.ingestion_funnel.extracting is 'Uploads whose text is being read';
comment on column rag.ingestion_funnel.splitting is 'Uploads whose text is being cut into chunks';
comment on column rag.ingestion_funnel.embedding is 'Uploads whose chunks are being embedded';
comment on column rag.ingestion_funnel.storing is 'Uploads whose chunks are being written';
comment on column rag.ingestion_funnel.ready is 'Uploads that can be searched, with warnings or without';
comment on column rag.ingestion_funnel.with_warnings is 'Those of them that the quality gate warned of';
comment on column rag.ingestion_funnel.failed is 'Dead letters';
comment on column rag.ingestion_funnel.failed_by_code is 'Dead letters by error code, {"code": count}';
comment on column rag.ingestion_funnel.cancelled is 'Uploads cancelled or overtaken by a newer one';
comment on column rag.ingestion_funnel.oldest_waiting_since is 'When the one that waits longest was accepted';
comment on column rag.ingestion_funnel.oldest_waiting_seconds is 'Seconds since then; null when none waits';
