-- Which logged searches took longest, and in which step?
select
    s.searched_at,
    s.query,
    t.total_ms,
    s.timings_ms,
    cardinality(s.result_chunk_ids) as passages,
    s.warnings
from rag.search_log as s
cross join lateral (
    select sum(e.value::double precision) as total_ms
    from jsonb_each_text(s.timings_ms) as e
) as t
order by t.total_ms desc, s.id
limit 20;
