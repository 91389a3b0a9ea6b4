-- rag.revoke_collection: hide a collection from a role again.
--
-- Inputs   reader           a role, which may be dropped already
--          collection_name  a collection
-- Effect   takes the note out of rag.analyst_collection. The role stays a member of rag_collection_analyst, and sees
--          what else it was given.
-- Output   false when it was not given this collection
create function rag.revoke_collection(reader name, collection_name text)
returns boolean
language plpgsql
volatile
as $$
begin
    delete from rag.analyst_collection as a
    using rag.collection as c
    where a.role_name = reader and c.id = a.collection_id and c.name = collection_name;
    return found;
end;
$$;

comment on function rag.revoke_collection(name, text) is 'Hides a collection from a role again';
revoke execute on function rag.revoke_collection(name, text) from public;
