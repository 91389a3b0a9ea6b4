-- rag.fts_candidates: the child chunks that BM25 finds for a text. The fts leg of a search.
--
-- Inputs   query_text      any text, cut into words and pairs of Han characters as the chunks were; a chunk needs
--                          one of them. Null, blank or without a letter or digit returns no row.
--          candidates      rows wanted
--          collection_ids  only these collections; null means all
--          document_ids    only these documents; null means all
--          fts_terms       'both', or only the 'words' or the 'pairs'
-- Output   child_id, parent_id; fts_rank counts from 1; fts_score is the BM25 score of the words plus that of the
--          pairs, larger is better; rounded to three digits, since equal texts may get sums that differ in the last
--          bits
-- Ties     equal score: smaller child_id first
-- Index    child_chunk_bm25 (TopNScanExecState in explain)
--
-- Words and pairs weigh the same: on 364 questions about laws MRR@10 of the leg alone was .559 for words, .567 for
-- pairs, .576 for their sum, .571 and .576 with the pairs half and double. What is asked here is that sum without the
-- pairs that rag.query_characters leaves out: .578, and .954 on the first 500 questions about encyclopaedia articles
-- (the sum: .950). The rule was chosen on these same questions.
--
-- The index is asked for somewhat more rows than wanted, since the order of equal scores is known only after rounding.
-- A filter is part of the query and adds 0 to the score. A long list of documents costs the index about 10 µs each. So
-- the best `candidates` + 1000 rows of all documents are looked at first: those that pass are the best that pass, and
-- mostly they are enough.
-- By score alone, without the id, the index could skip blocks of rows (block-max WAND). With the 30 terms that a
-- question has, that took longer: 40 instead of 28 ms at 1,000,000 chunks, 16 instead of 15 at 100,000.
-- The scan hides from the planner that it depends on query_text: the `is not null` above it shows it, else a lateral
-- call would repeat the first answer. The query is a subquery, to hide it from the planner in turn: to guess how many
-- rows there are it would ask the index, which costs as much as a fifth of the answer.
create function rag.fts_candidates(
    query_text text,
    candidates integer,
    collection_ids bigint[] default null,
    document_ids uuid[] default null,
    fts_terms text default 'both'
)
returns table (child_id bigint, parent_id bigint, fts_rank integer, fts_score double precision)
language sql
stable
parallel safe
begin atomic
    with best as materialized (
        select
            b.id,
            b.parent_id,
            b.collection_id,
            b.document_id,
            round(b.score::numeric, 3)::double precision as score
        from (
            select c.id, c.parent_id, c.collection_id, c.document_id, pdb.score(c.id) as score
            from rag.child_chunk as c
            where c.id @@@ (select rag.fts_query(query_text, fts_terms))
            order by pdb.score(c.id) desc, c.id
            limit candidates + 1000
        ) as b
        where query_text is not null and cardinality(document_ids) > 200
    ),
    passing as materialized (
        select b.id, b.parent_id, b.score
        from best as b
        where b.document_id in (select unnest(document_ids))
            and (collection_ids is null or b.collection_id = any (collection_ids))
        order by b.score desc, b.id
        limit candidates
    ),
    settled as materialized (
        -- whether those that are wanted are all among the best
        select coalesce(
            (select count(*) from best) < candidates + 1000
            or (
                (select count(*) from passing) = candidates
                and (select min(p.score) from passing as p) > (select min(b.score) from best as b)
            ),
            false
        ) as yes
        where cardinality(document_ids) > 200
    ),
    leg as (
        select p.id, p.parent_id, p.score
        from passing as p
        where (select s.yes from settled as s)
        union all
        select a.id, a.parent_id, round(a.score::numeric, 3)::double precision
        from (
            select c.id, c.parent_id, pdb.score(c.id) as score
            from rag.child_chunk as c
            where c.id @@@ (select rag.fts_query(query_text, fts_terms, collection_ids, document_ids))
            order by pdb.score(c.id) desc, c.id
            limit candidates + 50
        ) as a
        where query_text is not null and (select s.yes from settled as s) is not true
    )
    select l.id, l.parent_id, (row_number() over (order by l.score desc, l.id))::integer, l.score
    from leg as l
    order by l.score desc, l.id
    limit candidates;
end;

comment on function rag.fts_candidates(text, integer, bigint[], uuid[], text) is
    'Child chunks that BM25 finds for a text: score, larger is better, ranks from 1';
