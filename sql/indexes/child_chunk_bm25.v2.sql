-- rag.child_chunk_bm25: words and pairs of Han characters of the child chunks, for rag.fts_candidates. Key: id.
--
-- Words    content: jieba's words of rag.search_words(content). Chinese words, with overlaps; Latin in lower case;
--          ascii_folding lets é and e match each other; trim leaves no word of blanks.
-- Pairs    characters: each Han character with its right neighbour, of rag.search_characters(content). They find what
--          jieba cuts otherwise in a question than in a text. remove_short counts bytes: a character alone is no pair.
-- Queries  have to be written as the index is: rag.search_words(content) ||| rag.search_words($1)
--          or rag.search_characters(content)::pdb.alias('characters') ||| rag.query_characters($1); scores add up
-- Filters  collection_id and document_id are answered by the index itself
-- Options  mutable_segment_rows 0: rows are cut into words once, when they are written, and not by every query since;
--          background_layer_sizes: merge small segments up to 256 MB, each segment costs every query something
-- Size     100,000 chunks of 170 characters: 51 MB, v1 had 28; built in 36 s, v1 in 33 (jieba's own conversion to
--          simplified characters cost more than the pairs do)
create index child_chunk_bm25 on rag.child_chunk
using bm25 (
    id,
    (rag.search_words(content)::pdb.jieba('trim=true', 'ascii_folding=true')),
    (rag.search_characters(content)::pdb.ngram(2, 2, 'alias=characters', 'trim=true', 'remove_short=5')),
    collection_id,
    document_id
)
with (
    key_field = 'id',
    mutable_segment_rows = 0,
    background_layer_sizes = '100kb, 1mb, 4mb, 16mb, 64mb, 256mb'
);

comment on index rag.child_chunk_bm25 is 'BM25 over the words and pairs of Han characters of child chunks';
