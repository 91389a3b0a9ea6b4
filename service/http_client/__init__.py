"""The one way to call a provider over HTTP."""

from service.http_client.answers import BodyError, body_error, retry_after_seconds
from service.http_client.client import ProviderClient
from service.http_client.limits import AdaptiveLimit, CircuitBreaker
from service.http_client.policy import HttpPolicy, ProviderErrors

__all__ = [
    "AdaptiveLimit",
    "BodyError",
    "CircuitBreaker",
    "HttpPolicy",
    "ProviderClient",
    "ProviderErrors",
    "body_error",
    "retry_after_seconds",
]
