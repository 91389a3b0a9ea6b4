"""``fuzi ask``: an answer from the documents, with its sources."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from service.cli.options import JsonFlag, ServerUrl
from service.cli.output import interruptible, reporting
from service.cli.settings import load_settings

if TYPE_CHECKING:
    from collections.abc import Callable

    from service.config import Settings


def ask(
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="A question, in any language.")],
    top_n: Annotated[int | None, typer.Option(help="Passages to answer from (5).")] = None,
    collection: Annotated[list[str] | None, typer.Option(help="Only this collection; may be repeated.")] = None,
    source: Annotated[list[str] | None, typer.Option(help="Only the document of this source; may be repeated.")] = None,
    extractive: Annotated[
        bool, typer.Option("--extractive", help="Answer with sentences of the passages, without the chat model.")
    ] = False,
    url: ServerUrl = None,
    as_json: JsonFlag = False,
) -> None:
    """Answer a question from the documents; numbers in brackets name the sources below the answer.

    Examples:
      fuzi ask "更换滤芯前要做什么？"
      fuzi ask "出差住宿费的上限是多少？" --collection hr --top-n 3
      fuzi ask "保修期多久" --json | jq -r '.citations[].source'

    Passages are found as by `fuzi search`; the chat model of FUZI_CHAT__BASE_URL and FUZI_CHAT__MODEL writes the answer
    from them: any OpenAI-compatible server, such as a local Ollama (FUZI_CHAT__BASE_URL=http://127.0.0.1:11434/v1).
    Without one, or with --extractive, the answer is made of sentences of the passages as they stand.

    With --json: what POST /v1/answer answers with "stream": false, once the answer is whole.
    """
    with reporting(as_json) as output:
        settings = load_settings()
        search = {
            "top_n": top_n,
            "collections": collection or None,
            "filters": {"sources": source} if source else None,
        }
        body: dict[str, Any] = {"question": question, "extractive": extractive}
        body["search"] = {name: value for name, value in search.items() if value is not None}
        if as_json:
            output.result(interruptible(output, _answer(settings, url, body, lambda _name, _data: None), _STOPPED))
            return
        from service.cli.asking.drawing import draw_sources, show

        whole = interruptible(
            output, _answer(settings, url, body, lambda name, data: show(output, name, data)), _STOPPED
        )
        draw_sources(output, whole)


_STOPPED = "the answer is not whole"


async def _answer(
    settings: Settings, url: str | None, body: dict[str, Any], heard: Callable[[str, dict[str, Any]], None]
) -> dict[str, Any]:
    from service.cli.work.backend import open_backend

    async with open_backend(settings, url) as backend:
        return await backend.answer(body, heard)
