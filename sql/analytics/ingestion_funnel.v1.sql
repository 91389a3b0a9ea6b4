-- analytics.ingestion_funnel: one row a collection, and how many of its uploads stand at which stage.
--
-- Answers  Where do uploads pile up, how many failed of what, how long has the oldest been waiting?
-- Notes    What rag.ingestion_funnel tells, of the collections that the reader's role may see.
create view analytics.ingestion_funnel with (security_barrier = true) as
select
    o.collection,
    o.accepted,
    o.waiting,
    o.waiting_again,
    o.extracting,
    o.splitting,
    o.embedding,
    o.storing,
    o.ready,
    o.with_warnings,
    o.failed,
    o.failed_by_code,
    o.cancelled,
    o.oldest_waiting_since,
    o.oldest_waiting_seconds
from rag.ingestion_funnel as o
join rag.collection as c on c.name = o.collection
where c.id = any ((select rag.visible_collections(current_user))::bigint[]);

comment on view analytics.ingestion_funnel is 'One row a collection, and how many of its uploads stand at which stage';
comment on column analytics.ingestion_funnel.collection is 'Name of the collection';
comment on column analytics.ingestion_funnel.accepted is 'All uploads that are remembered';
comment on column analytics.ingestion_funnel.waiting is 'Uploads that wait for a worker';
comment on column analytics.ingestion_funnel.waiting_again is 'Those of them that were begun before';
comment on column analytics.ingestion_funnel.extracting is 'Uploads whose text is being read';
comment on column analytics.ingestion_funnel.splitting is 'Uploads whose text is being cut into chunks';
comment on column analytics.ingestion_funnel.embedding is 'Uploads whose chunks are being embedded';
comment on column analytics.ingestion_funnel.storing is 'Uploads whose chunks are being written';
comment on column analytics.ingestion_funnel.ready is 'Uploads that can be searched, with warnings or without';
comment on column analytics.ingestion_funnel.with_warnings is 'Those of them that the quality gate warned of';
comment on column analytics.ingestion_funnel.failed is 'Dead letters';
comment on column analytics.ingestion_funnel.failed_by_code is 'Dead letters by error code, {"code": count}';
comment on column analytics.ingestion_funnel.cancelled is 'Uploads cancelled or overtaken by a newer one';
comment on column analytics.ingestion_funnel.oldest_waiting_since is 'When the one that waits longest was accepted';
comment on column analytics.ingestion_funnel.oldest_waiting_seconds is 'Seconds since then; null when none waits';
