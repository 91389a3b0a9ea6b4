-- rag.search: the passages that answer a text best, for people at a SQL prompt: by words, or with a vector by both.
--
-- Inputs   query            a question or words; blank finds nothing by words
--          top_n            passages wanted
--          collections      only the collections of these names; null means all that the acting role may see
--          query_embedding  vector of the active embedding model; null leaves the vector leg out (BM25 only)
-- Output   one row a passage (parent chunk): rank from 1; fts_score is the BM25 score of the child chunk that brought
--          it, larger is better, comparable within one query only, null when the vector leg alone brought it; rrf_score
--          larger is better; where it comes from, and its content
-- Ties     those of rag.hybrid_search: the smaller parent_id first
-- Index    those of rag.hybrid_search
--
-- Runs with the owner's rights, and looks only into collections that the acting role may see. The BM25 index cannot
-- score rows that row-level security has to sort out: it refuses ("Unsupported query shape"). A list of collections is
-- part of its query, and costs next to nothing.
create function rag.search(
    query text,
    top_n integer default 10,
    collections text[] default null,
    query_embedding vector default null
)
returns table (
    rank integer,
    fts_score double precision,
    rrf_score double precision,
    collection text,
    source text,
    title text,
    heading_path text[],
    first_page integer,
    last_page integer,
    content text,
    chunk_id uuid,
    document_id uuid
)
language sql
stable
parallel safe
security definer
begin atomic
    with best as (
        select distinct on (h.parent_rank) h.parent_rank, h.parent_id, h.fts_score, h.rrf_score
        from rag.hybrid_search(
            query,
            query_embedding,
            top_n,
            greatest(50, 4 * top_n),
            collection_ids => (select rag.searched_collections(collections))
        ) as h
        order by h.parent_rank, h.rrf_score desc, h.child_id
    )
    select
        b.parent_rank,
        b.fts_score,
        b.rrf_score,
        c.name,
        d.source,
        d.title,
        p.heading_path,
        p.first_page,
        p.last_page,
        p.content,
        p.chunk_id,
        d.id
    from best as b
    join rag.parent_chunk as p on p.id = b.parent_id
    join rag.document as d on d.id = p.document_id
    join rag.collection as c on c.id = d.collection_id
    order by b.parent_rank;
end;

comment on function rag.search(text, integer, text[], vector) is
    'Passages that answer a text best, by words alone or with a vector: rank from 1, scores larger is better';
revoke execute on function rag.search(text, integer, text[], vector) from public;
