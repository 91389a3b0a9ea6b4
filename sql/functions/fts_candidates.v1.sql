-- rag.fts_candidates: the child chunks that BM25 finds for a text. The fts leg of a search.
--
-- Inputs   query_text      any text, cut into words as the chunks were; a chunk needs to have one of them. Null, blank
--                          or without a word returns no row. Punctuation is a word here: leave it out.
--          candidates      rows wanted
--          collection_ids  only these collections; null means all
--          document_ids    only these documents; null means all
-- Output   child_id, parent_id; fts_rank counts from 1; fts_score is the BM25 score, larger is better
-- Ties     equal score: smaller child_id first
-- Index    child_chunk_bm25 (TopNScanExecState in explain), the filters inside it
create function rag.fts_candidates(
    query_text text,
    candidates integer,
    collection_ids bigint[] default null,
    document_ids uuid[] default null
)
returns table (child_id bigint, parent_id bigint, fts_rank integer, fts_score double precision)
language sql
stable
parallel safe
begin atomic
    select
        b.id,
        b.parent_id,
        (row_number() over (order by b.score desc, b.id))::integer,
        b.score::double precision
    from (
        select c.id, c.parent_id, pdb.score(c.id) as score
        from rag.child_chunk as c
        where c.content ||| query_text
            and query_text is not null
            and (collection_ids is null or c.collection_id = any (collection_ids))
            and (document_ids is null or c.document_id = any (document_ids))
        order by pdb.score(c.id) desc, c.id
        limit candidates
    ) as b
    order by b.score desc, b.id;
end;

comment on function rag.fts_candidates(text, integer, bigint[], uuid[]) is
    'Child chunks that BM25 finds for a text: score, larger is better, ranks from 1';
