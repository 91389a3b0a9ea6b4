"""The command tree of ``fuzi``."""

from __future__ import annotations

from typing import Annotated

import typer

from service.cli.archives.backup import backup, restore
from service.cli.archives.transfer import export, import_
from service.cli.asking.ask import ask
from service.cli.asking.mcp import mcp
from service.cli.collections.command import collections
from service.cli.commands.database import db, migrate
from service.cli.commands.demo import demo
from service.cli.commands.doctor import doctor
from service.cli.commands.documents import delete, documents, original
from service.cli.commands.extract import extract
from service.cli.commands.ingest import ingest
from service.cli.commands.jobs import jobs, worker
from service.cli.commands.search import search
from service.cli.commands.serve import serve
from service.cli.commands.split import split
from service.cli.evaluate.command import evaluate
from service.cli.evaluate.tune_command import tune
from service.cli.help_text import flowing
from service.cli.keys.command import keys
from service.cli.reembed.command import reembed
from service.cli.replica.command import replica
from service.cli.sql.command import sql
from service.cli.version import print_version, version

_TRY, _DOCUMENTS, _LOOK, _RUN = "Try it", "Documents", "Look inside (no database)", "Run it"
_MEASURE, _KEEP = "Measure it", "Keep it, move it"


def _root(
    _version: Annotated[
        bool,
        typer.Option("--version", callback=print_version, is_eager=True, help="Print the version and leave."),
    ] = False,
) -> None:
    """Fuzi 父子: hybrid retrieval for Chinese and mixed documents. Search fine, read whole.

    Start with:
      fuzi demo                     eight documents, three questions, all here
      fuzi ingest ./documents       your own files, folders included
      fuzi search "保修期多长？"      the best passages, with their sources

    Nothing needs to be configured: PostgreSQL, text extraction and the embedding model come along, data live in
    FUZI_HOME (~/.fuzi; /var/lib/fuzi for root). Settings are FUZI_… variables or lines of a file .env.
    Every command has --help and --json. Exit codes: 0 well, 1 failed, 2 wrong command line, 130 interrupted.
    """


def _build() -> typer.Typer:
    tree = typer.Typer(
        no_args_is_help=True,
        rich_markup_mode="rich",
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    tree.callback(help=flowing(_root.__doc__))(_root)
    panels = {
        _TRY: (demo,),
        _DOCUMENTS: (ingest, search, ask, documents, original, delete),
        _LOOK: (extract, split),
        _MEASURE: (sql, evaluate, tune),
        _RUN: (serve, mcp, worker, migrate, reembed, doctor, version),
        _KEEP: (backup, restore, export, import_),
    }
    for panel, commands in panels.items():
        for command in commands:
            # `import` is a word of Python
            tree.command(command.__name__.strip("_"), rich_help_panel=panel, help=flowing(command.__doc__))(command)
    tree.add_typer(collections, name="collections", rich_help_panel=_DOCUMENTS)
    tree.add_typer(jobs, name="jobs", rich_help_panel=_DOCUMENTS)
    tree.add_typer(keys, name="keys", rich_help_panel=_RUN)
    tree.add_typer(db, name="db", rich_help_panel=_RUN)
    tree.add_typer(replica, name="replica", rich_help_panel=_RUN)
    return tree


app = _build()
