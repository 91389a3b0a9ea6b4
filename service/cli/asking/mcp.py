"""``fuzi mcp``: the documents for an agent on this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from service.cli.options import ServerUrl
from service.cli.output import interruptible, reporting
from service.cli.settings import load_settings

if TYPE_CHECKING:
    from service.config import Settings


def mcp(url: ServerUrl = None) -> None:
    """Let an agent search and read the documents, by the Model Context Protocol on standard input and output.

    Examples:
      fuzi mcp
      fuzi mcp --url http://127.0.0.1:8000

    Agents start this command themselves; they are told so by a configuration such as

      {"mcpServers": {"fuzi": {"command": "/path/to/fuzi", "args": ["mcp"]}}}

    Tools: search_documents, read_passage, list_documents; none of them changes anything. `fuzi serve` offers the same
    at /mcp over HTTP. Nothing but the protocol goes to standard output; logs go to standard error.
    """
    with reporting(as_json=False) as output:
        interruptible(output, _serve(load_settings(), url), "the agent has no documents any more")


async def _serve(settings: Settings, url: str | None) -> None:
    from service.agent import OwnLibrary, serve_on_stdio

    if url is not None:
        from service.cli.work.remote import open_remote

        async with open_remote(url) as remote:
            await serve_on_stdio(remote)
        return
    from service.db.engine import database_errors
    from service.wiring import open_services

    with database_errors():
        async with open_services(settings) as services:
            await serve_on_stdio(OwnLibrary(services))
