-- analytics.zero_result_queries: one row a query text that found nothing the last time it was asked.
--
-- Answers  What do people look for that is not there, or not found?
-- Notes    The vector leg finds something for any text, so rows come from searches with filters or thresholds, or of
--          collections without documents. Of logged searches that the reader's role may see.
create view analytics.zero_result_queries with (security_invoker = true) as
select
    s.query,
    count(*) as searches,
    count(*) filter (where cardinality(s.result_chunk_ids) = 0) as without_result,
    min(s.searched_at) as first_searched_at,
    max(s.searched_at) as last_searched_at,
    (array_agg(s.parameters order by s.searched_at desc, s.id desc))[1] as last_parameters
from rag.search_log as s
group by s.query
having (array_agg(cardinality(s.result_chunk_ids) order by s.searched_at desc, s.id desc))[1] = 0;

comment on view analytics.zero_result_queries is 'One row a query text that found nothing the last time it was asked';
comment on column analytics.zero_result_queries.query is 'Query text as sent';
comment on column analytics.zero_result_queries.searches is 'How often it was asked';
comment on column analytics.zero_result_queries.without_result is 'How often it found nothing';
comment on column analytics.zero_result_queries.first_searched_at is 'When it was first asked';
comment on column analytics.zero_result_queries.last_searched_at is 'When it was last asked';
comment on column analytics.zero_result_queries.last_parameters is 'With which parameters, then';
