-- analyst_collection: which grants a role reads: those of the collections that it may see.
--
-- Roles with the rights of the owner read all rows: no policy holds for them.
alter table rag.analyst_collection enable row level security;
create policy visible on rag.analyst_collection for select using (
    collection_id = any ((select rag.visible_collections(current_user))::bigint[])
);

comment on policy visible on rag.analyst_collection is 'Shows what belongs to the collections that a role may see';
