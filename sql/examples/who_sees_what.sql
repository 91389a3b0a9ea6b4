-- Which roles were given which collections? Members of rag_analyst see all and are not among them.
select a.role_name, array_agg(c.name order by c.name) as collections, r.rolname is not null as role_exists
from rag.analyst_collection as a
join rag.collection as c on c.id = a.collection_id
left join pg_catalog.pg_roles as r on r.rolname = a.role_name
group by a.role_name, r.rolname
order by a.role_name;
