"""docs/operating.md lists the metrics that there are, and its alerts ask for nothing else."""

from __future__ import annotations

import re
from typing import Any

import yaml
from prometheus_client.parser import text_string_to_metric_families

from service.metrics import JobCount, Metrics
from tests.architecture import ROOT

PAGE = (ROOT / "docs" / "operating.md").read_text(encoding="utf-8")


def shown() -> dict[str, set[str]]:
    """Names of samples as Prometheus sees them, with their labels, of a process in which everything has happened."""
    metrics = Metrics()
    metrics.attempt_ended("failed", {"fetch_ms": 1.0}, "corrupt")
    metrics.texts_embedded(1, 1)
    metrics.searched({"embed_ms": 1.0}, ["rerank_unavailable"])
    metrics.answered("GET", "/v1/jobs", 200, 0.1)
    metrics.watch_provider("p", lambda: False)
    metrics.bm25_seen("i", whole=True)
    metrics.bm25_lost("i")
    metrics.bm25_repaired("i", "rebuilt", 1.0)
    metrics.bm25_segments("i", 1)
    metrics.replica_seen(used=True, lag_bytes=0, lag_seconds=0)
    metrics.replica_failed_over("failed")
    metrics.database_seen([JobCount("received", "small", 1, 1.0)])
    found: dict[str, set[str]] = {}
    for family in text_string_to_metric_families(metrics.text().decode()):
        for sample in family.samples:
            found.setdefault(sample.name, set()).update(sample.labels)
    return {name: labels for name, labels in found.items() if name.startswith("fuzi_") and not _is_time(name)}


def _is_time(name: str) -> bool:
    return name.endswith("_created")


def families(samples: dict[str, set[str]]) -> dict[str, set[str]]:
    """Histograms and summaries by the name that all their samples begin with."""
    found: dict[str, set[str]] = {}
    for name, labels in samples.items():
        family = re.sub(r"_seconds_(bucket|count|sum)$", "_seconds", name)
        found.setdefault(family, set()).update(labels - {"le"})
    return found


def alerts() -> list[dict[str, Any]]:
    (block,) = re.findall(r"^```yaml\n(groups:.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    (group,) = yaml.safe_load(block)["groups"]
    return list(group["rules"])


def test_every_metric_is_in_the_table_with_its_labels() -> None:
    table = re.findall(r"^\| `(fuzi_\w+)` \|([^|]*)\|", PAGE, re.MULTILINE)
    documented = {name: {label.strip() for label in labels.split(",") if label.strip()} for name, labels in table}
    assert documented == families(shown())


def test_alerts_and_examples_ask_for_metrics_that_there_are() -> None:
    samples = shown()
    expressions = [rule["expr"] for rule in alerts()] + re.findall(r"`(sum\(rate\(.*?)`", PAGE)
    assert len(expressions) > 9
    for expression in expressions:
        named = re.findall(r"(fuzi_\w+)(?:\{(.*?)\})?", expression)
        assert named, expression
        for name, matchers in named:
            assert name in samples, expression
            assert set(re.findall(r"(\w+)=", matchers)) <= samples[name], expression
        for labels in re.findall(r"by \((.*?)\)", expression):
            assert set(labels.split(", ")) <= set().union(*(samples[name] for name, _ in named)), expression


def test_alerts_have_the_fields_that_prometheus_knows() -> None:
    rules = alerts()
    assert len({rule["alert"] for rule in rules}) == len(rules)
    for rule in rules:
        assert rule.keys() <= {"alert", "expr", "for", "labels", "annotations"}
        assert re.fullmatch(r"\d+[smh]", rule.get("for", "0s"))
        assert rule["annotations"].keys() == {"summary"}
