-- search_log: which logged searches a role reads: those that were restricted to collections that it may see.
--
-- Roles with the rights of the owner read all rows, and their plans stay as they are: no policy holds for them.
-- A search of all collections may hold what was asked of hidden ones: it is shown to nobody who does not see them all.
alter table rag.search_log enable row level security;
create policy visible on rag.search_log for select using (
    (select rag.sees_every_collection(current_user))
    or jsonb_typeof(parameters -> 'collections') = 'array'
    and parameters -> 'collections' <> '[]'
    and not exists (
        select
        from jsonb_array_elements_text(
            case jsonb_typeof(parameters -> 'collections') when 'array' then parameters -> 'collections' end
        ) as asked (name)
        where asked.name not in (select c.name from rag.collection as c)
    )
);

comment on policy visible on rag.search_log is 'Shows what belongs to the collections that a role may see';
