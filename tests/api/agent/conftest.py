"""A running service with documents, for agents."""

from tests.api.answer.conftest import running, service

__all__ = ["running", "service"]
