-- rag.search_words: the text whose words are looked for. First part of what the BM25 index holds.
--
-- Inputs   content  any text
-- Output   the text in NFKC and simplified characters, with a blank for punctuation and symbols, so that they are no
--          words. A sign inside a Latin word or number stays (AX-200, v2.3, a@b.cn), and so does one that ends it (C++,
--          C#, 3%). A word of two begun with capitals is there whole and in two: PythonAPI Python API. Case stays, the
--          tokenizer lowers it.
-- Notes    All in ranges of code points: classes like [:alnum:] mean something else in every locale.
create function rag.search_words(content text)
returns text
language plpgsql
immutable
strict
parallel safe
as $function$
begin
    return rag.simplified(
        regexp_replace(
            regexp_replace(
                regexp_replace(
                    normalize(content, nfkc),
                    '([A-Za-z]*[a-z])([A-Z][A-Za-z]*)', '\1\2 \1 \2', 'g'
                ),
                -- signs that are not in a word
                '(?<![A-Za-z0-9+])[+#%]|(?<![A-Za-z0-9])[&._@/-]|[&._@/-](?![A-Za-z0-9])', ' ', 'g'
            ),
            -- control characters, blanks, punctuation, symbols, emoji, private use
            '[\u0001- !"$''()*,:-?\[-^`{-\u00A9\u00AB-\u00B1\u00B4\u00B6-\u00B8\u00BB\u00BF\u00D7\u00F7'
            '\u2000-\u206F\u20A0-\u20CF\u2100-\u214F\u2190-\u2BFF\u2E00-\u2FFF\u3000-\u3004\u3008-\u3020\u3030'
            '\u303D-\u303F\u30FB\uA490-\uA4CF\uE000-\uF8FF\uFE10-\uFE6F\uFF00-\uFF0F\uFF1A-\uFF20\uFF3B-\uFF40'
            '\uFF5B-\uFF65\uFFE0-\uFFFF\U0001F000-\U0001FAFF\U000E0000-\U0010FFFF]+',
            ' ', 'g'
        )
    );
end;
$function$;

comment on function rag.search_words(text) is 'The text whose words are looked for: normalised, without punctuation';
