-- rag.parent_chunk_bm25: words of the parent chunks, for scoring whole passages. Key: id.
--
-- Words, queries, options  as in child_chunk_bm25, without the pairs
-- Filters                  document_id is answered by the index itself
-- Change                   v1 let jieba convert traditional characters, for which every connection that writes loaded a
--                          dictionary of its own
create index parent_chunk_bm25 on rag.parent_chunk
using bm25 (
    id,
    (rag.search_words(content)::pdb.jieba('trim=true', 'ascii_folding=true')),
    document_id
)
with (
    key_field = 'id',
    mutable_segment_rows = 0,
    background_layer_sizes = '10kb, 100kb, 1mb, 4mb, 16mb, 64mb, 256mb',
    target_segment_count = 1
);

comment on index rag.parent_chunk_bm25 is 'BM25 over the words of parent chunks';
