-- rag.query_characters: the text of a query whose pairs of characters are looked for.
--
-- Inputs   query_text  any text
-- Output   as rag.search_characters, without the characters that only join words or ask: pairs with them are in nearly
--          every chunk
-- Notes    On 364 questions about laws and 500 about encyclopaedia articles MRR@10 of the fts leg went from .576 and
--          .950 to .578 and .954. With 和与在有及或 it was .580 and .954, but then 和解 and 有效 are no pairs either.
create function rag.query_characters(query_text text)
returns text
language plpgsql
immutable
strict
parallel safe
as $function$
begin
    return regexp_replace(rag.search_characters(query_text), '[的了吗呢么吧啊是]', ' ', 'g');
end;
$function$;

comment on function rag.query_characters(text) is 'The text of a query whose pairs of Han characters are looked for';
