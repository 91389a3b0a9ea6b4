"""Any text is a query: it is answered, or refused as blank or too long, and never breaks a statement."""

from __future__ import annotations

import asyncio
import os
from dataclasses import replace

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from service.errors import InvalidInput
from service.search import search
from service.types import SearchRequest
from tests.flows.conftest import Library

_EXAMPLES = int(os.environ.get("FUZI_QUERY_EXAMPLES", "100"))
_REQUEST = SearchRequest(query="", top_n=5, candidates=10, vector_weight=70, fts_weight=30, rrf_k=60)
_SIGNS = "AND OR NOT && || ||| @@@ ### title:( \" [1 TO * ~2 ^3 $1 %s :name { } <b> -- /* ; ？？ …… ， \\ ' ''"
_WORDS = "报销 的 C++ AX-200B é 機器"
_PIECES = st.sampled_from([*_SIGNS.split(" "), *_WORDS.split(), " "])
_ANY = (
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=60)
    | st.lists(_PIECES, max_size=20).map("".join)
    | st.builds(lambda piece, times: (piece * times)[:5000], _PIECES, st.integers(100, 5000))
)


async def test_any_text_is_answered(library: Library) -> None:
    await library.put("a.md", "C++ 与 C# 的报销制度，编号 AX-200B。")
    parts = library.services.for_search

    # one event loop for all examples: the service's parts belong to it
    loop = asyncio.get_running_loop()

    @settings(max_examples=_EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
    @given(_ANY)
    @example("报" * 5000)
    @example("".join(chr(0x4E00 + number) for number in range(5000)))
    def ask(query: str) -> None:
        request = replace(_REQUEST, query=query)
        try:
            result = asyncio.run_coroutine_threadsafe(search(parts, request), loop).result(60)
        except InvalidInput:
            assert not query.strip()
            return
        assert "fts_unavailable" not in [warning.code for warning in result.warnings]

    await asyncio.to_thread(ask)
