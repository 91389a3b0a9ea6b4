"""Numbers about one process for Prometheus: what it did since it started, and what it sees now.

One ``Metrics`` is made by the wiring and handed to the parts that have something to count. Numbers of the database are
noted by who reads them, at the moment of a scrape. Names and labels are a contract: docs/operating.md lists them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, Summary, generate_latest

_SEARCH_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
_INGEST_BUCKETS = (0.01, 0.05, 0.25, 1, 5, 15, 60, 300, 1800, 7200)


@dataclass(frozen=True, slots=True)
class JobCount:
    """Jobs in one state and lane, and the seconds since the oldest of them was accepted (0 when there is none)."""

    status: str
    lane: str
    count: int
    oldest_seconds: float


class Metrics:
    """The metrics of one process. Thread-safe; nothing here raises or waits."""

    content_type = "text/plain; version=0.0.4; charset=utf-8"

    def __init__(self) -> None:
        self._registry = registry = CollectorRegistry()
        ProcessCollector(registry=registry)
        self._database_up = Gauge("fuzi_database_up", "1 when PostgreSQL answered this scrape", registry=registry)
        self._jobs = Gauge(
            "fuzi_jobs", "Unfinished jobs and dead letters (failed), now", ["status", "lane"], registry=registry
        )
        self._oldest = Gauge(
            "fuzi_oldest_waiting_job_seconds", "Since the job that waits longest was accepted", ["lane"],
            registry=registry,
        )  # fmt: skip
        self._attempts = Counter(
            "fuzi_job_attempts", "Attempts of jobs that ended here, by how", ["outcome", "code"], registry=registry
        )
        self._ingest_steps = Histogram(
            "fuzi_ingest_step_seconds", "Steps of attempts", ["step"], registry=registry, buckets=_INGEST_BUCKETS
        )
        self._texts = Counter(
            "fuzi_embedding_texts", "Texts of stored documents: embedded, or reused", ["origin"], registry=registry
        )
        self._retries = Counter("fuzi_provider_retries", "Calls tried again", ["provider"], registry=registry)
        self._circuit = Gauge(
            "fuzi_provider_circuit_open", "1 while a provider is left alone", ["provider"], registry=registry
        )
        self._searches = Counter("fuzi_searches", "Searches answered", registry=registry)
        self._warnings = Counter("fuzi_search_warnings", "Searches that lacked something", ["code"], registry=registry)
        self._search_steps = Histogram(
            "fuzi_search_step_seconds", "Steps of searches", ["step"], registry=registry, buckets=_SEARCH_BUCKETS
        )
        self._query_vectors = Counter(
            "fuzi_query_vectors", "Vectors of queries: embedded, or remembered", ["origin"], registry=registry
        )
        for origin in ("embedded", "remembered"):
            self._query_vectors.labels(origin)
        self._requests = Histogram(
            "fuzi_http_request_seconds", "Requests answered", ["method", "route", "status"], registry=registry,
            buckets=_SEARCH_BUCKETS,
        )  # fmt: skip
        self._refused = Counter("fuzi_searches_refused", "Searches refused since too many waited", registry=registry)
        self._waiting = Gauge("fuzi_searches_waiting", "Searches that wait for their turn, now", registry=registry)
        self._whole = Gauge("fuzi_bm25_index_whole", "0 when a crash took rows from it", ["index"], registry=registry)
        self._losses = Counter(
            "fuzi_bm25_index_losses", "How often this process saw it lost", ["index"], registry=registry
        )
        self._repairs = Summary(
            "fuzi_bm25_index_repair_seconds", "Repairs by this process", ["index", "outcome"], registry=registry
        )
        self._segments = Gauge(
            "fuzi_bm25_index_segments", "Segments, each costs every search something", ["index"], registry=registry
        )

        self._failovers = Counter(
            "fuzi_replica_failovers", "Searches that the replica failed and the primary answered", ["reason"],
            registry=registry,
        )  # fmt: skip
        self._replica: tuple[Gauge, Gauge, Gauge] | None = None

    def attempt_ended(self, outcome: str, timings_ms: Mapping[str, float], code: str = "") -> None:
        """Note an attempt: ``stored``, ``cancelled``, ``failed`` or ``again``, its steps, and its error's code."""
        self._attempts.labels(outcome, code).inc()
        _observe(self._ingest_steps, timings_ms)

    def texts_embedded(self, embedded_count: int, reused_count: int) -> None:
        """Note the texts of a stored document."""
        self._texts.labels("embedded").inc(embedded_count)
        self._texts.labels("reused").inc(reused_count)

    def searched(self, timings_ms: Mapping[str, float], warning_codes: Iterable[str]) -> None:
        """Note a search that was answered."""
        self._searches.inc()
        _observe(self._search_steps, timings_ms)
        for code in set(warning_codes):
            self._warnings.labels(code).inc()

    def query_vector(self, *, remembered: bool, count: int = 1) -> None:
        """Note vectors of queries, made or still known."""
        self._query_vectors.labels("remembered" if remembered else "embedded").inc(count)

    def answered(self, method: str, route: str, status: int, seconds: float) -> None:
        """Note a request that was answered; ``route`` has the names of its parameters, so that it takes few values."""
        self._requests.labels(method, route, str(status)).observe(seconds)

    def watch_admission(self, waiting: Callable[[], int]) -> None:
        """Show how many searches wait from now on."""
        self._waiting.set_function(waiting)

    def search_refused(self) -> None:
        """Note a search that was sent away."""
        self._refused.inc()

    def watch_provider(self, provider: str, is_open: Callable[[], bool]) -> None:
        """Show a provider's circuit breaker from now on."""
        self._retries.labels(provider)
        self._circuit.labels(provider).set_function(is_open)

    def provider_retried(self, provider: str) -> None:
        """Note that a call to a provider is tried again."""
        self._retries.labels(provider).inc()

    def bm25_seen(self, index: str, *, whole: bool) -> None:
        """Note the state of a BM25 index."""
        self._losses.labels(index)
        self._whole.labels(index).set(whole)

    def bm25_lost(self, index: str) -> None:
        """Note that a BM25 index was whole, or unknown, and is no more."""
        self._losses.labels(index).inc()

    def bm25_repaired(self, index: str, outcome: str, seconds: float) -> None:
        """Note a repair of a BM25 index."""
        self._repairs.labels(index, outcome).observe(seconds)

    def bm25_segments(self, index: str, count: int) -> None:
        """Note into how many segments a BM25 index is split."""
        self._segments.labels(index).set(count)

    def replica_seen(self, *, used: bool, lag_bytes: int | None, lag_seconds: float | None) -> None:
        """Note how the replica is now; None is unknown. Nothing is shown where there is no replica."""
        if self._replica is None:
            registry = self._registry
            self._replica = (
                Gauge("fuzi_replica_used", "1 while searches read the replica", registry=registry),
                Gauge("fuzi_replica_lag_bytes", "Of the primary's log, not applied", registry=registry),
                Gauge("fuzi_replica_lag_seconds", "What the replica shows is so old", registry=registry),
            )
        for gauge, value in zip(self._replica, (used, lag_bytes, lag_seconds), strict=True):
            gauge.set(math.nan if value is None else value)

    def replica_failed_over(self, reason: str) -> None:
        """Note a search that the replica failed and that goes to the primary."""
        self._failovers.labels(reason).inc()

    def database_seen(self, counts: Iterable[JobCount] | None) -> None:
        """Note the jobs of the database as they are now; None when it did not answer."""
        self._database_up.set(counts is not None)
        self._jobs.clear()
        self._oldest.clear()
        for count in counts or ():
            self._jobs.labels(count.status, count.lane).set(count.count)
            if count.status == "received":
                self._oldest.labels(count.lane).set(count.oldest_seconds)

    def text(self) -> bytes:
        """All of it in the text format of Prometheus."""
        return generate_latest(self._registry)


def _observe(histogram: Histogram, timings_ms: Mapping[str, float]) -> None:
    for key, milliseconds in timings_ms.items():
        histogram.labels(key.removesuffix("_ms")).observe(milliseconds / 1000)
