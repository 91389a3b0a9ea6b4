-- collection: which collections a role reads.
--
-- Roles with the rights of the owner read all rows, and their plans stay as they are: no policy holds for them.
alter table rag.collection enable row level security;
create policy visible on rag.collection for select using (
    id = any ((select rag.visible_collections(current_user))::bigint[])
);

comment on policy visible on rag.collection is 'Shows what belongs to the collections that a role may see';
