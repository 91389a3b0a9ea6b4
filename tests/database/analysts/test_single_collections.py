"""An analyst of one collection sees that one, whatever is asked, and never meets the holes of the BM25 engine."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import uuid4

import psycopg
import pytest
from psycopg import sql
from sqlalchemy import make_url

from service.db.sql_files import shipped_folder
from tests.conftest import Databases
from tests.database.chunk_rows import Child, Connection, collection, document, random_vector, search_connection

_VIEWS = sorted(file.name.partition(".")[0] for file in (shipped_folder("sql") / "analytics").iterdir())
_TOPICS = ("差旅报销须在十日内提交", "合同由法务部统一保管", "年度预算在十一月编制")


@pytest.fixture(scope="module")
def library(databases: Databases) -> Iterator[str]:
    """Three collections of the same words, each 40 chunks in ten documents, with jobs, searches and feedback."""
    with databases.fresh() as dsn, search_connection(dsn) as connection:
        for place, name in enumerate(("finance", "legal", "staff")):
            into = collection(connection, name)
            for number in range(10):
                children = [
                    Child(f"{topic}，{name} 第{number}号。", random_vector(1 + place * 100 + number * 4 + seed))
                    for seed, topic in enumerate((*_TOPICS, "其他事项"))
                ]
                document(connection, into, f"{name}/{number}.md", [children[:2], children[2:]])
            connection.execute(
                "insert into rag.job"
                " (id, document_id, collection_id, source, file_name, object_key, size_bytes, sha256)"
                " values (gen_random_uuid(), gen_random_uuid(), %s, %s, 'f', 'secret/key', 1, '\\x00')",
                [into, f"{name}/job.md"],
            )
            connection.execute(
                "insert into rag.search_log (query, parameters, timings_ms) values"
                """ (%(name)s || ' only', jsonb_build_object('collections', array[%(name)s]), '{"embed_ms": 1}'),"""
                """ (%(name)s || ' and legal', jsonb_build_object('collections', array[%(name)s, 'legal']),"""
                """  '{"embed_ms": 1}')""",
                {"name": name},
            )
            connection.execute(
                "insert into rag.feedback (search_id, chunk_id, verdict, collection_id, source, content)"
                " select gen_random_uuid(), p.chunk_id, 'good', d.collection_id, d.source, p.content"
                " from rag.parent_chunk as p join rag.document as d on d.id = p.document_id"
                " where d.source = %s and p.ordinal = 0",
                [f"{name}/0.md"],
            )
        connection.execute(
            "insert into rag.search_log (query, parameters, timings_ms) values"
            """ ('everything', '{"collections": null}', '{"embed_ms": 1}'),"""
            """ ('nothing', '{"collections": []}', '{"embed_ms": 1}')"""
        )
        yield dsn


@pytest.fixture(scope="module")
def role(library: str) -> Iterator[str]:
    """A login that was given the collection ``legal``."""
    name = f"legal_{uuid4().hex[:12]}"
    with psycopg.connect(library, autocommit=True) as connection:
        connection.execute(sql.SQL("create role {} login password 'legal'").format(sql.Identifier(name)))
        connection.execute("select rag.grant_collection(%s, 'legal')", [name])
    yield name
    with psycopg.connect(library, autocommit=True) as connection:
        connection.execute(sql.SQL("drop role {}").format(sql.Identifier(name)))


@pytest.fixture
def lawyer(library: str, role: str) -> Iterator[Connection]:
    """A connection logged in as that role."""
    dsn = make_url(library).set(username=role, password="legal").render_as_string(hide_password=False)
    with psycopg.connect(dsn, autocommit=True) as connection:
        yield connection


@pytest.mark.parametrize(
    ("view", "column", "expected"),
    [
        ("analytics.documents", "collection", {"legal"}),
        ("analytics.parent_chunks", "collection", {"legal"}),
        ("analytics.child_chunks", "collection", {"legal"}),
        ("analytics.embeddings", "collection", {"legal"}),
        ("analytics.chunk_size_statistics", "collection", {"legal"}),
        ("analytics.jobs", "source", {"legal/job.md"}),
        ("analytics.ingestion_funnel", "collection", {"legal"}),
        ("analytics.feedback", "source", {"legal/0.md"}),
        ("analytics.slow_queries", "query", {"legal only", "legal and legal"}),
        ("analytics.zero_result_queries", "query", {"legal only", "legal and legal"}),
        ("rag.collection", "name", {"legal"}),
        ("rag.search_log", "query", {"legal only", "legal and legal"}),
        ("rag.feedback", "source", {"legal/0.md"}),
    ],
)
def test_it_sees_its_own(lawyer: Connection, view: str, column: str, expected: set[str]) -> None:
    rows = lawyer.execute(f"select {column} from {view}").fetchall()  # type: ignore[arg-type]
    assert {row[0] for row in rows} == expected


def test_it_sees_all_of_its_own(lawyer: Connection, library: str) -> None:
    counts = "select (select count(*) from analytics.documents), (select count(*) from analytics.parent_chunks),"
    counts += " (select count(*) from analytics.child_chunks), (select sum(searches) from analytics.searches_per_day)"
    assert lawyer.execute(counts).fetchone() == (10, 20, 40, 2)  # type: ignore[arg-type]
    with psycopg.connect(library) as owner:
        assert owner.execute(counts).fetchone() == (30, 60, 120, 8)  # type: ignore[arg-type]
        owner.execute("set role rag_analyst")
        assert owner.execute(counts).fetchone() == (30, 60, 120, 8)  # type: ignore[arg-type]


def test_duplicates_are_looked_for_among_its_own(lawyer: Connection, library: str) -> None:
    with psycopg.connect(library, autocommit=True) as owner:
        owner.execute("update rag.document set sha256 = '\\x01' where source in ('legal/0.md', 'staff/0.md')")
        assert owner.execute("select count(*) from analytics.duplicates").fetchone() == (1,)
    assert lawyer.execute("select count(*) from analytics.duplicates").fetchone() == (0,)


@pytest.mark.parametrize("as_role", [False, True])
def test_its_searches_find_its_own(lawyer: Connection, library: str, role: str, as_role: bool) -> None:
    """Logged in as the role, and as somebody else who acts as it."""
    with psycopg.connect(library) as owner:
        best = owner.execute("select source from rag.search('合同 法务部 保管', 20, array['legal'])").fetchall()
        chunk = owner.execute("select chunk_id from analytics.child_chunks where source = 'legal/3.md'").fetchone()
        other = owner.execute("select chunk_id from analytics.child_chunks where source = 'staff/3.md'").fetchone()
        vector = owner.execute("select embedding::text from rag.child_chunk order by id limit 1").fetchone()
        assert vector is not None
        if as_role:
            owner.execute(sql.SQL("set role {}").format(sql.Identifier(role)))
        connection = owner if as_role else lawyer
        rows = connection.execute(
            "select rank, collection, source, fts_score from rag.search('合同 法务部 保管', 20)"
        ).fetchall()
        assert [row[0] for row in rows] == list(range(1, 11))
        assert {row[1] for row in rows} == {"legal"}
        assert [(row[2],) for row in rows] == best
        assert connection.execute("select * from rag.search('合同', 5, array['staff'])").fetchall() == []
        both = connection.execute(
            "select distinct collection from rag.search('合同', 20, array['staff', 'legal'], %s::vector)", vector
        ).fetchall()
        assert both == [("legal",)]
        near = connection.execute("select collection, source from rag.similar_chunks(%s, 30)", chunk).fetchall()
        assert len(near) == 30
        assert {row[0] for row in near} == {"legal"}
        assert connection.execute("select * from rag.similar_chunks(%s)", other).fetchall() == []


@pytest.mark.parametrize(
    "query",
    [
        "select * from rag.child_chunk",
        "select content from rag.parent_chunk",
        "select embedding from rag.child_chunk",
        "select sha256 from rag.document",
        "select text_sha256 from rag.document",
        "select object_key from rag.document",
        "select * from rag.job",
        "select * from rag.embedding_cache",
        "select * from rag.embedding_model",
        "select * from rag.original_removal",
        "select * from rag.api_key",
        "select * from rag.audit_log",
        "select * from queue.procrastinate_jobs",
        "select * from rag.child_chunks_overview",
        "select * from rag.jobs_overview",
        "select * from rag.hybrid_search('合同', null) where pg_backend_pid() > 0",
        "select rag.grant_collection(current_user, 'staff')",
        "insert into rag.analyst_collection select current_user, id from rag.collection",
        "update rag.document set title = 'x'",
        "set role rag_analyst",
        # fits the call of rag.fts_query better than the function of pg_search, and would run as the owner
        "create function paradedb.term(text, text) returns paradedb.searchqueryinput language sql"
        " as 'select paradedb.empty()'",
        "create table pdb.mine (a text)",
        # counts in the index itself, whoever may read the table
        "select paradedb.aggregate('rag.child_chunk_bm25', paradedb.all(),"
        """ '{"n": {"value_count": {"field": "id"}}}')""",
    ],
)
def test_it_may_not(lawyer: Connection, query: str) -> None:
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        lawyer.execute(query)  # type: ignore[arg-type]


@pytest.mark.parametrize("setting", ["enable_seqscan=on", "enable_seqscan=off", "plan_cache_mode=force_generic_plan"])
@pytest.mark.parametrize("view", ["child_chunks", "parent_chunks", "documents", "embeddings"])
def test_the_engine_shows_no_foreign_row_through_a_view(lawyer: Connection, view: str, setting: str) -> None:
    """By these shapes pg_search 0.21 leaves conditions out when it scans a table, those of policies too."""
    lawyer.execute("set paradedb.enable_aggregate_custom_scan = on")
    lawyer.execute("set paradedb.enable_custom_scan_without_operator = on")
    lawyer.execute(f"set {setting.replace('=', ' = ')}")  # type: ignore[arg-type]
    column = "content" if view.endswith("chunks") else "source"
    shapes = [
        f"select collection from analytics.{view} where {column} ||| '合同'",
        f"select collection from analytics.{view} where {column} ||| '合同' order by document_id limit 5",
        f'select collection, pdb.agg(\'{{"value_count": {{"field": "id"}}}}\') over () from analytics.{view}'
        f" where {column} ||| '合同' order by document_id limit 5",
        f"select collection, count(*) from analytics.{view} where {column} ||| '合同' group by 1",
    ]
    for shape in shapes:
        try:
            rows = lawyer.execute(shape).fetchall()  # type: ignore[arg-type]
        except psycopg.errors.InternalError:
            continue  # the engine refuses
        assert {row[0] for row in rows} <= {"legal"}, shape


def test_a_function_of_its_own_that_tells_what_it_is_asked_hears_of_no_foreign_row(
    lawyer: Connection, library: str
) -> None:
    """A condition that could look at rows runs after the views' own."""
    with psycopg.connect(library, autocommit=True) as owner:
        owner.execute(
            "create function public.tell(text) returns boolean language plpgsql cost 0.0000001 as"
            " $$begin raise notice 'seen %', $1; return true; end$$"
        )
    heard: list[str] = []
    lawyer.add_notice_handler(lambda notice: heard.append(notice.message_primary or ""))
    for view in ("documents", "parent_chunks", "child_chunks"):
        lawyer.execute(f"select count(*) from analytics.{view} where tell(source)")  # type: ignore[arg-type]
    assert heard
    assert all(line.startswith("seen legal/") for line in heard)


def test_collections_are_given_and_taken_one_by_one(database: str) -> None:
    name = f"one_{uuid4().hex[:12]}"
    seen = sql.SQL("select array(select name from rag.collection order by name)")
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("insert into rag.collection (name) values ('a'), ('b'), ('c')")
        connection.execute(sql.SQL("create role {}").format(sql.Identifier(name)))
        for _ in range(2):
            connection.execute("select rag.grant_collection(%s, 'a')", [name])
        connection.execute("select rag.grant_collection(%s, 'b')", [name])

        def sees() -> list[str]:
            with connection.transaction():
                connection.execute(sql.SQL("set local role {}").format(sql.Identifier(name)))
                row = connection.execute(seen).fetchone()
            assert row is not None
            return list(row[0])

        assert sees() == ["a", "b"]
        taken = connection.execute(
            "select rag.revoke_collection(%s, 'a'), rag.revoke_collection(%s, 'c')", [name, name]
        ).fetchone()
        assert taken == (True, False)
        assert sees() == ["b"]
        connection.execute("delete from rag.collection where name = 'b'")
        assert sees() == []
        connection.execute(sql.SQL("drop role {}").format(sql.Identifier(name)))
        assert connection.execute("select rag.revoke_collection(%s, 'c')", [name]).fetchone() == (False,)


@pytest.mark.parametrize(
    ("reader", "collection_name", "message"),
    [
        ("nobody_at_all", "legal", "no role nobody_at_all"),
        ("rag_collection_analyst", "nowhere", "no collection 'nowhere'"),
        ("rag_analyst", "legal", "rag_analyst sees every collection"),
    ],
)
def test_what_cannot_be_given_is_refused(library: str, reader: str, collection_name: str, message: str) -> None:
    with psycopg.connect(library) as connection, pytest.raises(psycopg.Error, match=message):
        connection.execute("select rag.grant_collection(%s, %s)", [reader, collection_name])


def test_the_service_plans_as_if_there_were_no_policies(library: str) -> None:
    """Whoever owns the tables is not filtered: the scans of a search have no condition more."""
    explain = "explain (costs off) select * from rag.fts_candidates('合同', 5)"
    with search_connection(library) as connection:
        with_policies = connection.execute(explain).fetchall()
        connection.execute("alter table rag.document disable row level security")
        connection.execute("alter table rag.collection disable row level security")
        assert connection.execute(explain).fetchall() == with_policies
        assert "TopNScanExecState" in str(with_policies)
        joined = (
            "explain (costs off) select * from rag.document as d join rag.collection as c on c.id = d.collection_id"
        )
        without = connection.execute(joined).fetchall()
        connection.execute("alter table rag.document enable row level security")
        connection.execute("alter table rag.collection enable row level security")
        assert connection.execute(joined).fetchall() == without
