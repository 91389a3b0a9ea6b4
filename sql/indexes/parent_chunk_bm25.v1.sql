-- rag.parent_chunk_bm25: words of the parent chunks, for scoring whole passages. Key: id.
--
-- Words, queries, options  as in child_chunk_bm25
-- Filters                  document_id is answered by the index itself
create index parent_chunk_bm25 on rag.parent_chunk
using bm25 (
    id,
    (normalize(content, nfkc)::pdb.jieba('chinese_convert=t2s', 'trim=true', 'ascii_folding=true')),
    document_id
)
with (
    key_field = 'id',
    mutable_segment_rows = 0,
    background_layer_sizes = '100kb, 1mb, 4mb, 16mb, 64mb, 256mb'
);

comment on index rag.parent_chunk_bm25 is 'BM25 over the words of parent chunks';
