-- rag.fts_candidates: the child chunks that BM25 finds for a text. The fts leg of a search.
--
-- Inputs   query_text      any text, cut into words and pairs of Han characters as the chunks were; a chunk needs
--                          one of them. Null, blank or without a letter or digit returns no row.
--          candidates      rows wanted
--          collection_ids  only these collections; null means all
--          document_ids    only these documents; null means all
-- Output   child_id, parent_id; fts_rank counts from 1; fts_score is the BM25 score of the words plus that of the
--          pairs, larger is better; rounded to three digits, since equal texts may get sums that differ in the last
--          bits
-- Ties     equal score: smaller child_id first
-- Index    child_chunk_bm25 (TopNScanExecState in explain), the filters inside it
--
-- Words and pairs weigh the same: on 364 questions about laws MRR@10 of the leg alone was .559 for words, .567 for
-- pairs, .576 for their sum, .571 and .576 with the pairs half and double. What is asked here is that sum without the
-- pairs that rag.query_characters leaves out: .578, and .954 on the first 500 questions about encyclopaedia articles
-- (the sum: .950). The rule was chosen on these same questions.
--
-- The BM25 scan takes no condition that it cannot answer (`x is null or …`), and pdb.score fails outside of it: so
-- there is one branch for each pair of filters, and only one of them is run. A filter is a query of constant score 0:
-- written as `= any (…)` the index would answer it too, but add 1 to every score. The scan hides from the planner that
-- it depends on query_text: the `is not null` above it shows it, else a lateral call would repeat the first answer.
-- A long list of documents costs the index about 10 µs each. So the best `candidates` + 1000 rows of all documents are
-- looked at first: those that pass are the best that pass, and mostly they are enough.
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
    with best as materialized (
        select b.id, b.parent_id, b.collection_id, b.document_id, b.score
        from (
            select c.id, c.parent_id, c.collection_id, c.document_id, pdb.score(c.id) as score
            from rag.child_chunk as c
            where (
                rag.search_words(c.content) ||| rag.search_words(query_text)
                or rag.search_characters(c.content)::pdb.alias('characters')
                    ||| rag.query_characters(query_text)
            )
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
    leg as (
        select a.id, a.parent_id, a.score
        from (
            select c.id, c.parent_id, pdb.score(c.id) as score
            from rag.child_chunk as c
            where (
                rag.search_words(c.content) ||| rag.search_words(query_text)
                or rag.search_characters(c.content)::pdb.alias('characters')
                    ||| rag.query_characters(query_text)
            )
            order by pdb.score(c.id) desc, c.id
            limit candidates
        ) as a
        where query_text is not null and collection_ids is null and document_ids is null
        union all
        select a.id, a.parent_id, a.score
        from (
            select c.id, c.parent_id, pdb.score(c.id) as score
            from rag.child_chunk as c
            where (
                rag.search_words(c.content) ||| rag.search_words(query_text)
                or rag.search_characters(c.content)::pdb.alias('characters')
                    ||| rag.query_characters(query_text)
            )
                and c.collection_id @@@ pdb.term_set(array_remove(collection_ids, null))::pdb.const(0)
            order by pdb.score(c.id) desc, c.id
            limit candidates
        ) as a
        where query_text is not null and collection_ids is not null and document_ids is null
        union all
        select p.id, p.parent_id, p.score
        from passing as p
        where cardinality(document_ids) > 200
            and candidates <= (select count(*) from passing)
        union all
        select a.id, a.parent_id, a.score
        from (
            select c.id, c.parent_id, pdb.score(c.id) as score
            from rag.child_chunk as c
            where (
                rag.search_words(c.content) ||| rag.search_words(query_text)
                or rag.search_characters(c.content)::pdb.alias('characters')
                    ||| rag.query_characters(query_text)
            )
                -- hidden from the planner, which would look at each of thousands of ids
                and c.document_id @@@ pdb.term_set(array(select unnest(array_remove(document_ids, null))))::pdb.const(0)
            order by pdb.score(c.id) desc, c.id
            limit candidates
        ) as a
        where query_text is not null and collection_ids is null and document_ids is not null
            and candidates > (select count(*) from passing)
        union all
        select a.id, a.parent_id, a.score
        from (
            select c.id, c.parent_id, pdb.score(c.id) as score
            from rag.child_chunk as c
            where (
                rag.search_words(c.content) ||| rag.search_words(query_text)
                or rag.search_characters(c.content)::pdb.alias('characters')
                    ||| rag.query_characters(query_text)
            )
                and c.collection_id @@@ pdb.term_set(array_remove(collection_ids, null))::pdb.const(0)
                and c.document_id @@@ pdb.term_set(array(select unnest(array_remove(document_ids, null))))::pdb.const(0)
            order by pdb.score(c.id) desc, c.id
            limit candidates
        ) as a
        where query_text is not null and collection_ids is not null and document_ids is not null
            and candidates > (select count(*) from passing)
    ),
    rounded as (
        select l.id, l.parent_id, round(l.score::numeric, 3)::double precision as score
        from leg as l
    )
    select r.id, r.parent_id, (row_number() over (order by r.score desc, r.id))::integer, r.score
    from rounded as r
    order by r.score desc, r.id;
end;

comment on function rag.fts_candidates(text, integer, bigint[], uuid[]) is
    'Child chunks that BM25 finds for a text: score, larger is better, ranks from 1';
