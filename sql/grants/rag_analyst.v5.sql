-- rag_analyst: the analysts' role. Reads tables and views, calls the search functions, writes nothing.
--
-- It sees every collection; rag_collection_analyst is the one for single collections.
-- A role belongs to the whole server, so it is made once and never dropped here: it may have members, and rights in
-- other databases. Where this role may not create roles, let an administrator run `create role rag_analyst nologin;`
-- and then this file.
-- Its settings hold for who logs in as rag_analyst itself: alter role rag_analyst login password '…';
-- Logins that are only members of it need them too, see sql/README.md.
do $$
begin
    if not exists (select from pg_catalog.pg_roles where rolname = 'rag_analyst') then
        create role rag_analyst nologin;
        alter role rag_analyst set statement_timeout = '60s';
        alter role rag_analyst set default_transaction_read_only = on;
        alter role rag_analyst set max_parallel_workers_per_gather = 0;
        alter role rag_analyst set hnsw.ef_search = 400;
        alter role rag_analyst set hnsw.iterative_scan = relaxed_order;
        comment on role rag_analyst is 'Reads the schema rag';
    end if;
exception
    when insufficient_privilege then
        raise notice 'role rag_analyst is left out: % may not create roles', current_user;
    when duplicate_object or unique_violation then
        null; -- a migration of another database was faster
end;
$$;

-- One made by an earlier version looks as far as the service does, unless somebody set it otherwise.
do $$
begin
    if exists (
        select
        from pg_catalog.pg_roles
        where rolname = 'rag_analyst'
            and rolconfig @> array['hnsw.ef_search=100', 'hnsw.iterative_scan=strict_order']
    ) then
        alter role rag_analyst set hnsw.ef_search = 400;
        alter role rag_analyst set hnsw.iterative_scan = relaxed_order;
    end if;
exception
    when insufficient_privilege then
        raise notice 'role rag_analyst keeps its settings: % may not change them', current_user;
    when internal_error then
        null; -- a migration of another database was faster
end;
$$;

do $$
begin
    if exists (select from pg_catalog.pg_roles where rolname = 'rag_analyst') then
        grant usage on schema rag to rag_analyst;
        grant select on
            rag.collection,
            rag.document,
            rag.parent_chunk,
            rag.child_chunk,
            rag.embedding_model,
            rag.search_log,
            rag.bm25_sentinel,
            rag.corpus,
            rag.documents_overview,
            rag.parent_chunks_overview,
            rag.child_chunks_overview,
            rag.index_health,
            rag.jobs_overview,
            rag.ingestion_funnel,
            rag.feedback,
            rag.analyst_collection
            to rag_analyst;
        grant execute on function
            rag.vector_candidates,
            rag.fts_query,
            rag.fts_candidates,
            rag.hybrid_search,
            rag.search_words,
            rag.search_characters,
            rag.query_characters,
            rag.simplified,
            rag.search,
            rag.similar_chunks,
            rag.searched_collections,
            rag.visible_collections,
            rag.sees_every_collection
            to rag_analyst;
        grant usage on schema analytics to rag_analyst;
        grant select on all tables in schema analytics to rag_analyst;
    end if;
end;
$$;

-- In the schemas of pg_search everybody may make functions. One that fits a call of rag.fts_query better than
-- pg_search's own would run with the rights of the owner, whose functions ask it. Where the owner may not forbid that,
-- an administrator does: sql/README.md says how.
do $$
declare
    open_schema name;
begin
    for open_schema in
        select n.nspname
        from pg_catalog.pg_namespace as n
        where n.nspname in ('paradedb', 'pdb') and has_schema_privilege('public', n.oid, 'create')
    loop
        execute format('revoke create on schema %I from public', open_schema);
    end loop;
end;
$$;
