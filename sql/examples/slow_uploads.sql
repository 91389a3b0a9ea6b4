-- Which uploads took longest, and in which stage?
select
    j.collection,
    j.source,
    j.waiting_seconds,
    j.running_seconds,
    j.extract_seconds,
    j.embed_seconds,
    j.store_seconds,
    j.embedded_count,
    j.reused_count
from rag.jobs_overview as j
where j.stage in ('ready', 'ready_with_warnings')
order by j.running_seconds desc, j.job_id
limit 20;
