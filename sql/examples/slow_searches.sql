-- Which logged searches took longest, and in which step?
select
    s.searched_at,
    s.query,
    (s.timings_ms ->> 'total_ms')::double precision as total_ms,
    s.timings_ms,
    cardinality(s.result_chunk_ids) as passages,
    s.warnings
from rag.search_log as s
order by total_ms desc, s.id
limit 20;
