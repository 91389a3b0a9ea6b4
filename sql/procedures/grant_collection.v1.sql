-- rag.grant_collection: let a role see one collection more, and no others than those it was given.
--
-- Inputs   reader           a role: a login, or a group whose members then see the collection too
--          collection_name  a collection
-- Effect   notes it in rag.analyst_collection, and makes the role a member of rag_collection_analyst, which may use the
--          views of schema analytics and the functions for searching. Once more changes nothing.
-- Errors   the role or the collection does not exist; the role sees every collection anyway; this database lets
--          everybody look into BM25 indexes and the caller may not change that (the hint says what to run)
--
-- paradedb.aggregate counts in a BM25 index without asking who may read the table: nobody but the owner keeps it.
-- In the schemas of pg_search everybody may make functions, also ones that rag.search, which runs as its owner, would
-- take for those of pg_search: nobody but the owner keeps that either. The newest sql/grants/rag_analyst does so too.
create function rag.grant_collection(reader name, collection_name text)
returns void
language plpgsql
volatile
as $$
declare
    granted bigint := (select c.id from rag.collection as c where c.name = collection_name);
    leak record;
begin
    if not exists (select from pg_catalog.pg_roles where rolname = reader) then
        raise undefined_object using
            message = format('there is no role %I', reader),
            hint = format('create role %I login password ''…'';', reader);
    end if;
    if granted is null then
        raise no_data_found using message = format('there is no collection %L', collection_name);
    end if;
    if not exists (select from pg_catalog.pg_roles where rolname = 'rag_collection_analyst') then
        raise undefined_object using
            message = 'there is no role rag_collection_analyst',
            hint = 'Let an administrator run sql/grants/rag_collection_analyst, see sql/README.md.';
    end if;
    if rag.sees_every_collection(reader) then
        raise invalid_grant_operation using
            message = format('%I sees every collection, by the rights of rag_analyst or of the owner', reader),
            hint = format('Run: revoke rag_analyst from %I; then grant single collections.', reader);
    end if;
    for leak in
        select n.nspname as name, n.oid
        from pg_catalog.pg_namespace as n
        where n.nspname in ('paradedb', 'pdb') and has_schema_privilege('public', n.oid, 'create')
        order by n.nspname
    loop
        execute format('revoke create on schema %I from public', leak.name);
        if has_schema_privilege('public', leak.oid, 'create') then
            raise insufficient_privilege using
                message = format('everybody may make functions in schema %I, and %I may not change that',
                    leak.name, current_user),
                hint = format('Let an administrator run: revoke create on schema %I from public;', leak.name);
        end if;
    end loop;
    for leak in
        select p.oid::regprocedure as name
        from pg_catalog.pg_proc as p
        join pg_catalog.pg_namespace as n on n.oid = p.pronamespace
        where n.nspname = 'paradedb' and p.proname = 'aggregate' and has_function_privilege('public', p.oid, 'execute')
        order by p.oid
    loop
        begin
            execute format('revoke execute on function %s from public', leak.name);
        exception
            when insufficient_privilege then
                null; -- told below
        end;
        if has_function_privilege('public', leak.name::oid, 'execute') then
            raise insufficient_privilege using
                message = format('everybody may look into BM25 indexes by %s, and %I may not change that',
                    leak.name, current_user),
                hint = format('Let an administrator run: revoke execute on function %s from public;', leak.name);
        end if;
    end loop;
    insert into rag.analyst_collection (role_name, collection_id) values (reader::text, granted) on conflict do nothing;
    if not pg_has_role(reader, 'rag_collection_analyst', 'usage') then
        execute format('grant rag_collection_analyst to %I', reader);
    end if;
end;
$$;

comment on function rag.grant_collection(name, text) is 'Lets a role see one collection more';
revoke execute on function rag.grant_collection(name, text) from public;
