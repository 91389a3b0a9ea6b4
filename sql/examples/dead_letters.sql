-- Which uploads were given up, in which stage and why? `fuzi jobs retry <job_id>` takes one up again.
select j.error_code, j.failed_stage, j.collection, j.source, j.attempts, j.error_message, j.job_id
from rag.jobs_overview as j
where j.is_dead_letter
order by j.finished_at desc, j.job_id;
