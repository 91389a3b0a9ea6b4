"""``fuzi search``: the best passages for a question."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from service.cli.options import JsonFlag, ServerUrl
from service.cli.output import reporting
from service.cli.settings import load_settings
from service.errors import InvalidFilter

if TYPE_CHECKING:
    from service.config import Settings

_FILTERS, _RANKING = "Restrict", "Ranking"


def search(
    query: Annotated[str, typer.Argument(metavar="QUERY", help="A question, or words.")],
    top_n: Annotated[int | None, typer.Option(help="Passages to return (5).", rich_help_panel=_RANKING)] = None,
    candidates: Annotated[
        int | None, typer.Option(help="Child chunks that each leg returns (50).", rich_help_panel=_RANKING)
    ] = None,
    vector_weight: Annotated[
        float | None, typer.Option(help="Share of the vector leg (70); 0 skips it.", rich_help_panel=_RANKING)
    ] = None,
    fts_weight: Annotated[
        float | None, typer.Option(help="Share of the BM25 leg (30); 0 skips it.", rich_help_panel=_RANKING)
    ] = None,
    rrf_k: Annotated[
        int | None, typer.Option(help="k of reciprocal rank fusion (60).", rich_help_panel=_RANKING)
    ] = None,
    rerank: Annotated[
        bool, typer.Option("--rerank/--no-rerank", help="Let the reranker reorder.", rich_help_panel=_RANKING)
    ] = True,
    min_vector_similarity: Annotated[
        float | None,
        typer.Option(help="Vector leg: least cosine similarity of a hit, -1 to 1.", rich_help_panel=_RANKING),
    ] = None,
    min_rerank_score: Annotated[
        float | None,
        typer.Option(help="Reranker: least rerank_score of a passage, in its own scale.", rich_help_panel=_RANKING),
    ] = None,
    collection: Annotated[
        list[str] | None, typer.Option(help="Only this collection; may be repeated.", rich_help_panel=_FILTERS)
    ] = None,
    source: Annotated[
        list[str] | None,
        typer.Option(help="Only the document of this source; may be repeated.", rich_help_panel=_FILTERS),
    ] = None,
    metadata_filter: Annotated[
        str | None, typer.Option(metavar="JSON", help="Conditions on metadata.", rich_help_panel=_FILTERS)
    ] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Add how the order came about.")] = False,
    url: ServerUrl = None,
    as_json: JsonFlag = False,
) -> None:
    """Show the passages that answer a question best, with their sources; words of the question are marked.

    Examples:
      fuzi search "出差住宿费的上限是多少？"
      fuzi search "ZX-4410" --vector-weight 0
      fuzi search "违约金" --collection legal --top-n 3 --metadata-filter '{"year": {"$gte": 2020}}'
      fuzi search "保修期" --json | jq -r '.passages[].source'

    Small child chunks are found by meaning (vector rank) and by words (BM25 rank), fused into rrf_score =
    vector_weight/(k + vector rank) + fts_weight/(k + BM25 rank), and shown inside their large parent chunk.

    Conditions on metadata: a value, or $eq $ne $gt $gte $lt $lte $in $nin $exists $contains, joined by $and $or $not.

    With --json: what POST /v1/search answers. Options left out come from FUZI_SEARCH__TOP_N, __CANDIDATES,
    __VECTOR_WEIGHT, __FTS_WEIGHT and __RRF_K; FUZI_RERANK__PROVIDER names the reranker.
    """
    with reporting(as_json) as output:
        settings = load_settings()
        filters = {"sources": source or None, "metadata": _conditions(metadata_filter)}
        body = {
            "query": query,
            "top_n": top_n,
            "candidates": candidates,
            "vector_weight": vector_weight,
            "fts_weight": fts_weight,
            "rrf_k": rrf_k,
            "min_vector_similarity": min_vector_similarity,
            "min_rerank_score": min_rerank_score,
            "collections": collection or None,
            "filters": {name: value for name, value in filters.items() if value is not None} or None,
        }
        body = {name: value for name, value in body.items() if value is not None}
        # what is left out is shown as the service's own
        body |= ({} if rerank else {"rerank": False}) | ({"explain": True} if explain else {})
        answer = asyncio.run(_search(settings, url, body))
        if as_json:
            output.result(answer)
            return
        from service.cli.show.passages import draw_answer

        draw_answer(output.console, answer)


async def _search(settings: Settings, url: str | None, body: dict[str, Any]) -> dict[str, Any]:
    from service.cli.work.backend import open_backend

    async with open_backend(settings, url) as backend:
        return await backend.search(body)


def _conditions(text: str | None) -> dict[str, Any] | None:
    if text is None:
        return None
    try:
        value = json.loads(text)
    except ValueError as error:
        raise InvalidFilter(f"--metadata-filter is not valid JSON: {error}") from error
    if not isinstance(value, dict):
        raise InvalidFilter("--metadata-filter must be a JSON object")
    return value
