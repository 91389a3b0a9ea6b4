-- document: which documents a role reads: those of the collections that it may see.
--
-- Roles with the rights of the owner read all rows, and their plans stay as they are: no policy holds for them.
-- Chunks have no such policy: pg_search 0.21 leaves out the conditions of a scan, those of policies too, when a query
-- asks for pdb.agg(…) over () with a limit, and returned rows of other collections. So roles that may not see all
-- have no right to read tables with a BM25 index: views and functions with the owner's rights show them their chunks.
alter table rag.document enable row level security;
create policy visible on rag.document for select using (
    collection_id = any ((select rag.visible_collections(current_user))::bigint[])
);

comment on policy visible on rag.document is 'Shows what belongs to the collections that a role may see';
