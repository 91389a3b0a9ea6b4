-- rag.child_chunk_bm25: words of the child chunks, for rag.fts_candidates. Key: id.
--
-- Words    jieba: Chinese words, with overlaps; Latin in lower case. nfkc lets full-width and half-width letters match
--          each other, and the radicals that some PDFs hold in place of characters (⽤ for 用); t2s traditional and
--          simplified characters; ascii_folding é and e; trim leaves no word of blanks.
-- Queries  have to be written as the index is: normalize(content, nfkc) ||| normalize($1, nfkc)
-- Filters  collection_id and document_id are answered by the index itself
-- Options  mutable_segment_rows 0: rows are cut into words once, when they are written, and not by every query since;
--          background_layer_sizes: merge small segments up to 256 MB, each segment costs every query something
create index child_chunk_bm25 on rag.child_chunk
using bm25 (
    id,
    (normalize(content, nfkc)::pdb.jieba('chinese_convert=t2s', 'trim=true', 'ascii_folding=true')),
    collection_id,
    document_id
)
with (
    key_field = 'id',
    mutable_segment_rows = 0,
    background_layer_sizes = '100kb, 1mb, 4mb, 16mb, 64mb, 256mb'
);

comment on index rag.child_chunk_bm25 is 'BM25 over the words of child chunks';
