"""``fuzi serve``: the REST service."""

from __future__ import annotations

from typing import Annotated

import typer

from service.cli.options import JsonFlag
from service.cli.output import reporting
from service.cli.settings import load_settings, with_options


def serve(
    host: Annotated[str | None, typer.Option(help="Address to bind (127.0.0.1).")] = None,
    port: Annotated[int | None, typer.Option(min=0, max=65535, help="Port to bind (8000); 0 picks one.")] = None,
    as_json: JsonFlag = False,
) -> None:
    """Run the REST service and the web console until Ctrl-C or SIGTERM; requests under way are finished first.

    Examples:
      fuzi serve
      fuzi serve --port 9000
      curl -F file=@report.pdf http://127.0.0.1:8000/v1/documents

    The description of the API is at /openapi.json. With --json one line with the URL is printed once it listens.

    Without API keys it binds loopback addresses only; FUZI_SERVER__ALLOW_REMOTE_WITHOUT_KEYS=true lifts that, for a
    network in which everyone may read and write.

    Settings that matter: FUZI_SERVER__HOST and __PORT, FUZI_DATABASE__URL, FUZI_EMBED__…, FUZI_LOG__LEVEL.
    """
    with reporting(as_json) as output:
        settings = load_settings(quiet=False)
        server = with_options(settings.server, {"host": host, "port": port})
        settings = settings.model_copy(update={"server": server})
        from service.cli.work.serving import run_server

        def announce(url: str) -> None:
            if as_json:
                output.result({"url": url})
            else:
                output.note(f"Fuzi listens on {url}: the console, for a browser; Ctrl-C stops it")
                output.note(f"The API is described at {url}/openapi.json")

        run_server(settings, announce)
