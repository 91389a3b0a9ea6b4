-- rag.searched_collections: where a search of an analyst looks. rag.search and rag.similar_chunks ask it.
--
-- Inputs   names  only the collections of these names; null means all
-- Output   ids of those that the acting role may see, in ascending order; null when nothing is left out, which is the
--          quickest search. Unknown and hidden names count as nothing.
-- Ties     none, ids differ
-- Index    none, the table is small
--
-- In a function with the owner's rights current_user is the owner: who acts is the role that `set role` took, else the
-- login. Nobody can take a role without being a member of it.
create function rag.searched_collections(names text[] default null)
returns bigint[]
language sql
stable
parallel safe
security definer
begin atomic
    with acting as materialized (
        select case current_setting('role') when 'none' then session_user else current_setting('role')::name end as role
    )
    select
        case
            when names is null and rag.sees_every_collection(a.role) then null
            else array(
                select c.id
                from rag.collection as c
                where c.id = any (rag.visible_collections(a.role)) and (names is null or c.name = any (names))
                order by c.id
            )
        end
    from acting as a;
end;

comment on function rag.searched_collections(text[]) is
    'Ids of the collections that a search of the acting role looks into; null for all';
revoke execute on function rag.searched_collections(text[]) from public;
