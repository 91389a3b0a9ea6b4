-- rag.visible_collections: the collections that a role may see. Views, policies and searches of analysts ask it.
--
-- Inputs   reader  a role
-- Output   their ids in ascending order, empty when there is none: all for whom rag.sees_every_collection
--          holds, else those that rag.grant_collection gave to the role, or to one whose rights it has.
-- Ties     none, ids differ
-- Index    none, both tables are small
create function rag.visible_collections(reader name)
returns bigint[]
language sql
stable
parallel safe
security definer
begin atomic
    select coalesce(array_agg(c.id order by c.id), '{}')
    from rag.collection as c
    where rag.sees_every_collection(reader)
        or exists (
            select
            from rag.analyst_collection as a
            join pg_catalog.pg_roles as r on r.rolname = a.role_name
            where a.collection_id = c.id and pg_has_role(reader, r.oid, 'usage')
        );
end;

comment on function rag.visible_collections(name) is 'Ids of the collections that a role may see';
revoke execute on function rag.visible_collections(name) from public;
