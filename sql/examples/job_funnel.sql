-- Where do uploads pile up, and what did the failed ones fail of?
select f.collection, f.accepted, f.waiting, f.ready, f.failed, f.failed_by_code, f.oldest_waiting_seconds
from rag.ingestion_funnel as f
order by f.oldest_waiting_seconds desc nulls last, f.collection;
