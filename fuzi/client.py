"""A client of a running Fuzi server, and the errors that it raises.

    from fuzi.client import FuziClient

    with FuziClient("http://127.0.0.1:8000") as client:
        for passage in client.search("多久换一次滤芯", top_n=3)["passages"]:
            print(passage["source"], passage["content"])

Every failure is a `FuziError`: its ``code`` is stable (docs/errors.md), ``retryable`` says if another try can help.
"""

from service.client import FuziClient, ServerError
from service.errors import FuziError, Unavailable

__all__ = ["FuziClient", "FuziError", "ServerError", "Unavailable"]
