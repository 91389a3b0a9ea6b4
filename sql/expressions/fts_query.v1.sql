-- rag.fts_query: what the BM25 index is asked for a text, as one flat list of terms. Used by rag.fts_candidates.
--
-- Inputs   query_text      any text, cut into words and pairs of Han characters as the chunks were
--          fts_terms       'both', or only the 'words' or the 'pairs'; null is 'both'
--          collection_ids  only these collections; null means all
--          document_ids    only these documents; null means all
-- Output   a query for `id @@@`: a chunk needs one of the terms, and its score is the sum of those it has. A filter
--          adds 0. Nothing is found for null, and for a text without a word or a pair.
-- Errors   another value of fts_terms is refused
-- Index    child_chunk_bm25; the tokenizers are those of its definition
--
-- One list, and not `words ||| … or pairs ||| …`: same scores, less time. Each term costs two looks into the dictionary
-- of each segment, and its rows; so a term that decides nothing is left out. That is 的: 90 % of all chunks have it. On
-- 364 questions about laws and 1,700 about encyclopaedia articles MRR@10 of the fts leg stayed .578 and .946: no answer
-- fell, two rose. Without 了吗呢么吧啊是 it was .575 on laws, without all words of one character .573, and .577 and
-- .946 when pairs that are words as well are asked for once, with weight 2.
create function rag.fts_query(
    query_text text,
    fts_terms text default 'both',
    collection_ids bigint[] default null,
    document_ids uuid[] default null
)
returns paradedb.searchqueryinput
language plpgsql
immutable
parallel safe
as $function$
declare
    words text[] := '{}';
    found paradedb.searchqueryinput[];
    needed paradedb.searchqueryinput[] := '{}';
    asked paradedb.searchqueryinput;
begin
    if fts_terms not in ('both', 'words', 'pairs') then
        raise invalid_parameter_value using message = format('fts_terms is both, words or pairs, not %s', fts_terms);
    end if;
    if fts_terms is distinct from 'pairs' then
        words := array_remove(rag.search_words(query_text)::pdb.jieba('trim=true', 'ascii_folding=true')::text[], '');
        if words <> array_fill('的'::text, array[cardinality(words)]) then
            words := array_remove(words, '的');
        end if;
    end if;
    found := array(select paradedb.term('content', w.word) from unnest(words) as w (word));
    if fts_terms is distinct from 'words' then
        found := found || array(
            select paradedb.term('characters', p.pair)
            from unnest(
                rag.query_characters(query_text)
                    ::pdb.ngram(2, 2, 'alias=characters', 'trim=true', 'remove_short=5')::text[]
            ) as p (pair)
        );
    end if;
    asked := case coalesce(cardinality(found), 0)
        when 0 then paradedb.empty()
        when 1 then found[1]
        else paradedb.boolean(should => found)
    end;
    if collection_ids is not null then
        needed := needed || paradedb.to_search_query_input(
            'collection_id', pdb.term_set(array_remove(collection_ids, null))::pdb.const(0)::pdb.query
        );
    end if;
    if document_ids is not null then
        needed := needed || paradedb.to_search_query_input(
            'document_id', pdb.term_set(array_remove(document_ids, null))::pdb.const(0)::pdb.query
        );
    end if;
    if cardinality(needed) = 0 then
        return asked;
    end if;
    return paradedb.boolean(must => needed || asked);
end;
$function$;

comment on function rag.fts_query(text, text, bigint[], uuid[]) is
    'What the BM25 index of the child chunks is asked for a text';
