-- analytics.slow_queries: one row a query text, with how long its searches took and which step took longest.
--
-- Answers  Which questions are answered slowly, always or only once, and in which step?
-- Notes    Order by p95_ms. Of logged searches that the reader's role may see.
create view analytics.slow_queries with (security_invoker = true) as
with timed as (
    select
        s.id,
        s.query,
        s.searched_at,
        (s.timings_ms ->> 'total_ms')::double precision as total_ms,
        (
            select t.key
            from jsonb_each(s.timings_ms) as t
            where t.key <> 'total_ms'
            order by t.value desc, t.key
            limit 1
        ) as slowest_step
    from rag.search_log as s
)
select
    t.query,
    count(*) as searches,
    percentile_disc(0.5) within group (order by t.total_ms) as median_ms,
    percentile_disc(0.95) within group (order by t.total_ms) as p95_ms,
    max(t.total_ms) as slowest_ms,
    (array_agg(t.slowest_step order by t.total_ms desc, t.id))[1] as slowest_step,
    (array_agg(t.searched_at order by t.total_ms desc, t.id))[1] as slowest_at
from timed as t
group by t.query;

comment on view analytics.slow_queries is 'How long searches take, one row a query text, and in which step';
comment on column analytics.slow_queries.query is 'Query text as sent';
comment on column analytics.slow_queries.searches is 'How often it was asked';
comment on column analytics.slow_queries.median_ms is 'Half of them took no longer than this, in milliseconds';
comment on column analytics.slow_queries.p95_ms is 'Nineteen in twenty took no longer than this';
comment on column analytics.slow_queries.slowest_ms is 'The slowest took so long';
comment on column analytics.slow_queries.slowest_step is 'Longest step of the slowest search, as in timings_ms';
comment on column analytics.slow_queries.slowest_at is 'When the slowest search ended';
