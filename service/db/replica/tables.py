"""What a replica copies: all that a search reads, column by column."""

from __future__ import annotations

from psycopg import sql

from service.db.models import SCHEMA, ChildChunk, Collection, Document, Model, ParentChunk
from service.db.search_models import Corpus

# Not: jobs, the search log, originals to remove and the embedding cache, which no search reads; the sentinels, which
# are each server's own; the embedding model, see the package's text.
PUBLISHED: tuple[type[Model], ...] = (Collection, Document, ParentChunk, ChildChunk, Corpus)
TABLES = tuple(model.__tablename__ for model in PUBLISHED)


def column_names(model: type[Model]) -> list[str]:
    """Columns that are copied: those of the schema, so never `embedding_standby`, which comes and goes.

    Named one by one, they make the primary refuse to swap or drop one while a replica is fed with it.
    """
    return [column.name for column in model.__table__.columns]


def publication_statement(name: str) -> sql.Composed:
    """The statement that publishes them."""
    tables = [
        sql.SQL("{} ({})").format(
            sql.Identifier(SCHEMA, model.__tablename__),
            sql.SQL(", ").join(map(sql.Identifier, column_names(model))),
        )
        for model in PUBLISHED
    ]
    return sql.SQL("create publication {} for table {}").format(sql.Identifier(name), sql.SQL(", ").join(tables))
