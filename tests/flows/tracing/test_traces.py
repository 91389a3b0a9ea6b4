"""What a collector gets of a running service, over HTTP and decoded; and that tracing costs nothing while it is off."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from pydantic import SecretStr, ValidationError

from service.config import EmbedSettings, Settings, TracingSettings
from service.db.migrate import upgrade
from service.embed import create_embedder
from service.errors import EmbedderUnavailable
from service.tracing import ids, span
from service.tracing.exporting import tracing
from service.tracing.statements import name_of
from tests.cli.running import clean_environment, command
from tests.fakes.embedding_server import Answer, EmbeddingServer
from tests.fakes.otlp_collector import OtlpCollector, Span

_TRACE, _ABOVE = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"


@contextmanager
def _served(home: Path, database: str, embedding: EmbeddingServer, **environment: str) -> Iterator[tuple[str, Path]]:
    """URL of a ``fuzi serve`` and the file of its log; at the end it is asked to stop."""
    embed = {"provider": "openai", "model": "m", "dimension": embedding.dimension}
    upgrade(database, Settings(_env_file=None, embed=EmbedSettings.model_validate(embed)))
    settings = {
        "FUZI_DATABASE__URL": database,
        **{f"FUZI_EMBED__{name.upper()}": str(value) for name, value in embed.items()},
        "FUZI_EMBED__BASE_URL": embedding.url,
        "FUZI_EMBED__API_KEY": "k",
        "FUZI_LOG__FORMAT": "json",
    }
    with (home / "log").open("w") as log:
        process = subprocess.Popen(
            command("serve", "--port", "0", "--json"),
            env=clean_environment(home, **settings, **environment),
            cwd=home,
            stdout=subprocess.PIPE,
            stderr=log,
            encoding="utf-8",
        )
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            assert line, (home / "log").read_text()
            yield json.loads(line)["url"], home / "log"
            process.send_signal(signal.SIGTERM)
            process.wait(timeout=20)
        finally:
            process.kill()
            process.communicate()


def test_a_search_and_an_upload_are_traced_through(empty_database: str, home: Path) -> None:
    with OtlpCollector() as collector, EmbeddingServer(8) as embedding:
        environment = {"FUZI_TRACING__ENDPOINT": collector.root, "FUZI_TRACING__SERVICE_NAME": "fuzi-test"}
        with _served(home, empty_database, embedding, **environment) as (url, log), httpx.Client(base_url=url) as http:
            file = {"file": ("甲.txt", "水泵每半年更换一次轴承。")}
            http.post("/v1/documents?wait=true", files=file, timeout=60).raise_for_status()
            passages = embedding.requests.copy()
            headers = {"traceparent": f"00-{_TRACE}-{_ABOVE}-01", "X-Request-ID": "mine"}
            body = {"query": "多久更换轴承"}
            http.post("/v1/search", json=body, headers=headers, timeout=60).raise_for_status()
            query = embedding.requests[-1]
            assert http.get("/v1/documents/00000000-0000-0000-0000-000000000000/text").status_code == 404
            http.get("/readyz").raise_for_status()
            http.get("/metrics").raise_for_status()
        spans = collector.spans  # the last ones are sent before the process ends
    assert {one.resource["service.name"] for one in spans} == {"fuzi-test"}

    # the search is below its caller's span, its steps below it, the call to the model below its step
    (request,) = [one for one in spans if one.name == "POST /v1/search"]
    assert (request.trace_id, request.parent_id, request.kind) == (_TRACE, _ABOVE, "server")
    assert request.attributes | {"url.path": "/v1/search"} == {
        "http.request.method": "POST", "url.path": "/v1/search", "http.route": "/v1/search",
        "http.response.status_code": 200, "fuzi.request_id": "mine",
    }  # fmt: skip
    (search,) = [one for one in _below(request, spans) if one.kind == "internal"]
    assert search.name == "search"
    steps = _below(search, spans)
    assert {step.name for step in steps} == {"embed", "retrieve", "expand", "rerank"}
    assert sum(step.seconds for step in steps) <= search.seconds <= request.seconds
    (call,) = _below(next(step for step in steps if step.name == "embed"), spans)
    assert (call.name, call.kind) == ("POST 127.0.0.1", "client")
    assert query.headers["traceparent"] == f"00-{_TRACE}-{call.span_id}-01"

    # what a step asks of PostgreSQL is below it
    asked = [(step.name, one) for step in steps for one in _below(step, spans) if "db.system.name" in one.attributes]
    assert [(step, one.name) for step, one in asked] == [
        ("retrieve", "begin rag.child_chunk"),
        ("retrieve", "select rag.hybrid_search"),
        ("expand", "select rag.child_chunk"),
    ]
    assert {(one.kind, one.attributes["db.system.name"]) for _, one in asked} == {("client", "postgresql")}

    # a job begins a trace of its own
    (job,) = [one for one in spans if one.name == "job"]
    assert (job.parent_id, job.kind) == ("", "consumer")
    of_job = {step.name: step for step in _below(job, spans) if step.kind == "internal"}
    assert of_job.keys() == {"extract", "fetch", "split", "embed", "store"}
    stored = [one.name for one in _below(of_job["store"], spans)]
    assert "copy rag.child_chunk" in stored
    assert job.trace_id in passages[0].headers["traceparent"]

    # parameters stay out of names, a client's mistake is no failure of ours, and looks at the health are no traces
    names = {one.name for one in spans if one.kind == "server"}
    assert names == {"POST /v1/documents", "POST /v1/search", "GET /v1/documents/{document_id}/text"}
    assert not [one for one in spans if one.failed]
    assert "水泵" not in repr(spans), "nobody's words are in a span"
    lines = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    (searched,) = [line for line in lines if line["event"] == "searched"]
    assert (searched["trace_id"], searched["span_id"], searched["request_id"]) == (_TRACE, search.span_id, "mine")


def _below(above: Span, spans: list[Span]) -> list[Span]:
    return [one for one in spans if one.parent_id == above.span_id]


@pytest.mark.parametrize(
    ("statement", "name"),
    [
        ("-- select x\n  SELECT 1", "select"),
        ('copy "rag"."child_chunk" from stdin', "copy rag.child_chunk"),
        ("insert into rag.job values ('机密')", "insert rag.job"),
        ("alter role reader password 'geheim'", "alter"),
        ("", "statement"),
    ],
)
def test_a_statement_is_named_by_nothing_that_somebody_wrote(statement: str, name: str) -> None:
    assert name_of(statement) == name


def test_a_collector_that_is_away_costs_spans_only() -> None:
    with tracing(TracingSettings(endpoint="http://127.0.0.1:1")):
        with span("lost"):
            assert ids()["trace_id"]
        assert ids() == {}
    with span("off again"):
        assert ids() == {}


async def test_a_call_that_fails_is_marked_without_anybodys_words() -> None:
    with OtlpCollector() as collector, EmbeddingServer(3) as server:
        embed = EmbedSettings(
            provider="openai", model="m", dimension=3, base_url=server.url, api_key=SecretStr("geheim"), attempts=2
        )
        server.rule = lambda _request: Answer(503)
        with tracing(TracingSettings(endpoint=f"{collector.root}/v1/traces")):
            embedder = create_embedder(embed)
            with pytest.raises(EmbedderUnavailable), span("step"):
                await embedder.embed_passages(["私密的话"])
            await embedder.close()
        assert ids() == {}
    step = next(one for one in collector.spans if one.name == "step")
    assert (step.failed, step.attributes) == (True, {"error.type": "embedder_unavailable"})
    calls = _below(step, collector.spans)
    assert [(call.attributes["http.response.status_code"], call.failed) for call in calls] == [(503, True)] * 2
    assert "私密" not in repr(collector.spans)
    assert "geheim" not in repr(collector.spans)


def test_only_a_share_of_the_traces_that_begin_here_is_sent() -> None:
    with OtlpCollector() as collector:
        with tracing(TracingSettings(endpoint=collector.root, sample_share=0)):
            with span("begins here"):
                assert ids()["trace_id"]
            with span("goes on", carrier={"traceparent": f"00-{_TRACE}-{_ABOVE}-01"}):
                assert ids()["trace_id"] == _TRACE
            with span("goes on, unsampled", carrier={"traceparent": f"00-{_TRACE}-{_ABOVE}-00"}):
                pass
            with span("forged", carrier={"traceparent": "00-nonsense-00"}):
                assert ids()["trace_id"] != _TRACE
        assert [one.name for one in collector.spans] == ["goes on"]


def test_nothing_is_imported_while_it_is_off() -> None:
    # the bare API comes with a library of others
    code = (
        "import sys, service.app, service.wiring, service.tracing.exporting as e\n"
        "from service.config import TracingSettings\n"
        "from service.tracing import span\n"
        "with e.tracing(TracingSettings()), span('x'): pass\n"
        "print([name for name in sys.modules if name.startswith(('opentelemetry.sdk', 'opentelemetry.exporter'))])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_without_its_packages_the_start_says_what_to_install() -> None:
    code = (
        "import sys; sys.modules['opentelemetry.sdk.trace.export'] = None\n"
        "from service.config import TracingSettings; from service.tracing.exporting import tracing\n"
        "with tracing(TracingSettings(endpoint='http://127.0.0.1:4318')): pass"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "Misconfigured: FUZI_TRACING__ENDPOINT is set, but opentelemetry.sdk.trace.export" in done.stderr
    assert "pip install 'fuzi[otel]'" in done.stderr


@pytest.mark.parametrize(
    "endpoint", ["127.0.0.1:4318", "grpc://collector:4317", "http://", "http://user:geheim@collector"]
)
def test_an_endpoint_that_is_no_url_is_refused(endpoint: str) -> None:
    with pytest.raises(ValidationError, match="must be a URL") as refused:
        TracingSettings(endpoint=endpoint)
    assert "geheim" not in str(refused.value)
