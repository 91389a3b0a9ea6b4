-- feedback: which feedback a role reads: that about passages of the collections that it may see.
--
-- Roles with the rights of the owner read all rows, and their plans stay as they are: no policy holds for them.
alter table rag.feedback enable row level security;
create policy visible on rag.feedback for select using (
    (select rag.sees_every_collection(current_user))
    or collection_id = any ((select rag.visible_collections(current_user))::bigint[])
);

comment on policy visible on rag.feedback is 'Shows what belongs to the collections that a role may see';
