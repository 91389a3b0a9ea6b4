"""Numbers about one process, for Prometheus."""

from service.metrics.registry import JobCount, Metrics

__all__ = ["JobCount", "Metrics"]
