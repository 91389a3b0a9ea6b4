"""``fuzi migrate`` and ``fuzi db …``: the schema, and the embedded PostgreSQL server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from service.cli.help_text import flowing
from service.cli.options import JsonFlag
from service.cli.output import Output, reporting
from service.cli.settings import load_settings
from service.errors import Misconfigured

if TYPE_CHECKING:
    from service.config import Settings
    from service.db.embedded import EmbeddedServer, ServerStatus


def migrate(
    revision: Annotated[str, typer.Option(metavar="REVISION", help="Stop at this revision.")] = "head",
    as_json: JsonFlag = False,
) -> None:
    """Bring the database schema to this version's revision.

    Examples:
      fuzi migrate
      FUZI_DATABASE__URL=postgresql://fuzi:…@db/fuzi fuzi migrate

    Safe to run from several processes at once: one works, the others wait and find nothing to do. The embedded
    database is migrated by the other commands on their own; a production database only by this one.

    Settings that matter: FUZI_DATABASE__URL, and FUZI_EMBED__DIMENSION (the first migration takes the size of the
    vectors from it).

    A replica is not migrated along: searches go to the primary until `fuzi replica init` has made it anew.
    """
    with reporting(as_json) as output:
        settings = load_settings()
        from service.cli.work.schema import feeds_replicas, migrate_to, schema_revision
        from service.wiring import database_dsn

        dsn = database_dsn(settings)
        before = schema_revision(dsn)
        migrate_to(dsn, settings, revision, output.note)
        after = schema_revision(dsn)
        if as_json:
            output.result({"from": before, "to": after, "changed": before != after})
        elif before == after:
            output.console.print(f"nothing to do: the schema is at revision {after}")
        else:
            output.console.print(f"the schema went from revision {before or '(none)'} to {after}")
        if before != after and feeds_replicas(dsn):
            output.note("replicas are of the former schema and not read any more: run `fuzi replica init` for each")


def start(as_json: JsonFlag = False) -> None:
    """Start the server, unless it runs, and wait until it answers.

    Examples:
      fuzi db start

    Settings that matter: FUZI_HOME, FUZI_DATABASE__EMBEDDED_PORT (0 picks a free port and keeps it).
    """
    with reporting(as_json) as output:
        server = _server(load_settings())
        server.start()
        _show_status(output, server.status())


def stop(as_json: JsonFlag = False) -> None:
    """Stop the server cleanly; nothing is lost, sessions are ended.

    Examples:
      fuzi db stop
    """
    with reporting(as_json) as output:
        server = _server(load_settings())
        stopped = server.stop()
        if as_json:
            output.result({**_status_json(server.status()), "stopped": stopped})
        else:
            output.console.print("stopped" if stopped else "it was not running")


def status(as_json: JsonFlag = False) -> None:
    """Say whether the server runs, and where its data and log are.

    Examples:
      fuzi db status
      fuzi db status --json
    """
    with reporting(as_json) as output:
        _show_status(output, _server(load_settings()).status())


def url(
    socket: Annotated[bool, typer.Option("--socket", help="By the unix socket instead of loopback TCP.")] = False,
    as_json: JsonFlag = False,
) -> None:
    """Print a URL for psql, pg_dump or a graphical client; starts the server when it is stopped.

    The URL holds the password. With FUZI_DATABASE__URL set it is that one.

    Examples:
      psql "$(fuzi db url)"
      psql "$(fuzi db url)" -c 'select * from rag.documents_overview limit 5'
    """
    with reporting(as_json) as output:
        settings = load_settings()
        address = _socket_url(settings) if socket else _url(settings)
        if as_json:
            output.result({"url": address})
        else:
            typer.echo(address)


def _group() -> None:
    """Start, stop and reach the embedded PostgreSQL server.

    It starts by itself when a command needs it and goes on running, so that the next command is quick. Data, log and
    password live in FUZI_HOME/postgres. With FUZI_DATABASE__URL set, Fuzi uses that server instead.

    Examples:
      psql "$(fuzi db url)"
      fuzi db stop
    """


db = typer.Typer(no_args_is_help=True, help=flowing(_group.__doc__))
for _command in (start, stop, status, url):
    db.command(help=flowing(_command.__doc__))(_command)


def _url(settings: Settings) -> str:
    from service.db.engine import libpq_url

    if settings.database.url is None:
        return _server(settings).start().dsn
    # psql knows no "+psycopg"
    return libpq_url(settings.database.url.get_secret_value())


def _socket_url(settings: Settings) -> str:
    return _server(settings).start().socket_dsn


def _server(settings: Settings) -> EmbeddedServer:
    if settings.database.url is not None:
        raise Misconfigured("FUZI_DATABASE__URL is set, so the embedded server is not in use: unset it for `fuzi db`")
    from service.db.embedded import EmbeddedServer

    return EmbeddedServer(settings.home, settings.database.embedded_port)


def _status_json(status: ServerStatus) -> dict[str, Any]:
    address = status.address
    return {
        "state": status.state,
        "pid": status.pid,
        "host": address.host if address else None,
        "port": address.port if address else None,
        "database": address.database if address else None,
        "socket_directory": address.socket_directory if address else None,
        "data": status.data,
        "log": status.log,
    }


def _show_status(output: Output, status: ServerStatus) -> None:
    facts = _status_json(status)
    if output.as_json:
        output.result(facts)
        return
    for name, value in facts.items():
        if value is not None:
            label = name.replace("_", " ")
            output.console.print(Text.assemble((f"{label:<17}", "dim"), str(value)), soft_wrap=True)
