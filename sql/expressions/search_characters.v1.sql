-- rag.search_characters: the text whose pairs of characters are looked for. Second part of what the BM25 index holds.
--
-- Inputs   content  any text
-- Output   its Han characters in NFKC, simplified; a blank for each run of anything else
create function rag.search_characters(content text)
returns text
language plpgsql
immutable
strict
parallel safe
as $function$
begin
    return rag.simplified(
        regexp_replace(
            normalize(content, nfkc),
            '[^\u3007\u3400-\u4DBF\u4E00-\u9FFF\uF900-\uFAFF\U00020000-\U0003FFFF]+', ' ', 'g'
        )
    );
end;
$function$;

comment on function rag.search_characters(text) is 'The text whose pairs of Han characters are looked for';
