-- rag_collection_analyst: the role of analysts who see single collections, those that rag.grant_collection gave them.
--
-- Its members use the views of schema analytics, rag.search and rag.similar_chunks, and read a few tables, of which
-- policies show them what is theirs. Not the chunk tables, see policies/document; not vectors, digests, jobs or keys of
-- originals. rag.grant_collection makes members.
-- A role belongs to the whole server, so it is made once and never dropped here. Where this role may not create roles,
-- let an administrator run `create role rag_collection_analyst nologin;` and then this file.
do $$
begin
    if not exists (select from pg_catalog.pg_roles where rolname = 'rag_collection_analyst') then
        create role rag_collection_analyst nologin;
        comment on role rag_collection_analyst is 'Reads single collections in the schemas rag and analytics';
    end if;
exception
    when insufficient_privilege then
        raise notice 'role rag_collection_analyst is left out: % may not create roles', current_user;
    when duplicate_object or unique_violation then
        null; -- a migration of another database was faster
end;
$$;

do $$
begin
    if exists (select from pg_catalog.pg_roles where rolname = 'rag_collection_analyst') then
        grant usage on schema rag, analytics to rag_collection_analyst;
        grant select on all tables in schema analytics to rag_collection_analyst;
        grant select on rag.collection, rag.search_log, rag.feedback, rag.analyst_collection to rag_collection_analyst;
        grant select (
            id, collection_id, source, file_name, title, media_type, size_bytes, text, text_format, blocks, pages,
            metadata, extracted_metadata, warnings, status, error_code, error_message, created_at, updated_at
        ) on rag.document to rag_collection_analyst;
        grant execute on function
            rag.search,
            rag.similar_chunks,
            rag.searched_collections,
            rag.visible_collections,
            rag.sees_every_collection
            to rag_collection_analyst;
    end if;
end;
$$;
