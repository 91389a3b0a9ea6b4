-- analytics.searches_per_day: one row a day, with how many searches there were and how long they took.
--
-- Answers  Is the service used more, does it get slower, how often does it find nothing or answer in part?
-- Notes    Counts logged searches: with FUZI_SEARCH__LOG_SHARE below 1 that share of them. Days are those of UTC.
--          A role that may not see all collections sees the searches that were restricted to collections it may see.
create view analytics.searches_per_day with (security_invoker = true) as
select
    (s.searched_at at time zone 'UTC')::date as day,
    count(*) as searches,
    count(distinct s.query) as queries,
    count(*) filter (where cardinality(s.result_chunk_ids) = 0) as without_result,
    count(*) filter (where jsonb_array_length(s.warnings) > 0) as with_warnings,
    percentile_disc(0.5) within group (order by (s.timings_ms ->> 'total_ms')::double precision) as median_ms,
    percentile_disc(0.95) within group (order by (s.timings_ms ->> 'total_ms')::double precision) as p95_ms
from rag.search_log as s
group by 1;

comment on view analytics.searches_per_day is 'One row a day, with how many searches there were and how long they took';
comment on column analytics.searches_per_day.day is 'Day, in UTC';
comment on column analytics.searches_per_day.searches is 'Logged searches';
comment on column analytics.searches_per_day.queries is 'Different query texts among them';
comment on column analytics.searches_per_day.without_result is 'Searches that found no passage';
comment on column analytics.searches_per_day.with_warnings is 'Searches whose answer was degraded';
comment on column analytics.searches_per_day.median_ms is 'Half of them took no longer than this, in milliseconds';
comment on column analytics.searches_per_day.p95_ms is 'Nineteen in twenty took no longer than this';
