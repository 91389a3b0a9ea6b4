-- rag.sees_every_collection: whether a role may see every collection, those still to come included.
--
-- Inputs   reader  a role
-- Output   true for whoever has the rights of rag_analyst or of the owner of the tables, superusers too
-- Ties     none, one value
-- Index    none
create function rag.sees_every_collection(reader name)
returns boolean
language sql
stable
parallel safe
security definer
begin atomic
    select exists (
        select
        from pg_catalog.pg_roles as r
        where (
                r.rolname = 'rag_analyst'
                or r.oid = (select t.relowner from pg_catalog.pg_class as t where t.oid = 'rag.collection'::regclass)
            )
            and pg_has_role(reader, r.oid, 'usage')
    );
end;

comment on function rag.sees_every_collection(name) is 'Whether a role may see every collection';
revoke execute on function rag.sees_every_collection(name) from public;
