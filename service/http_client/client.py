"""The one way to call a provider over HTTP: tries again where that can help, waits when told to, gives up in time.

One ``ProviderClient`` per provider and process; its limit and its breaker are shared by all calls.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any, Self

import httpx
import structlog
from pydantic import SecretStr
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception_type, wait_random_exponential

from service.errors import Misconfigured, Unavailable
from service.event_stream import EventStream, EventTooLarge, ServerEvent
from service.http_client.answers import BodyError, body_error, retry_after_seconds
from service.http_client.limits import AdaptiveLimit, CircuitBreaker
from service.http_client.policy import Call, HttpPolicy, ProviderErrors, TryAgain
from service.metrics import Metrics
from service.tracing import outgoing

log = structlog.get_logger()

_TRANSIENT_STATUS = frozenset({408, 409, 425, 500, 502, 503, 504, 520, 521, 522, 523, 524, 529})
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_EXCERPT = 300
_LONGEST_REFUSAL = 65_536


class ProviderClient:
    """JSON over HTTP to one provider.

    Args:
        name: how messages call the provider.
        base_url: URL up to and including the version path.
        api_key: sent as a bearer token; never part of a message.
        transport, clock, now, sleep: seams for tests.
        recognise: finds an error in a body; an answer under HTTP 200 goes through it too.
    """

    def __init__(
        self,
        name: str,
        base_url: str,
        errors: ProviderErrors,
        *,
        api_key: SecretStr | None = None,
        policy: HttpPolicy | None = None,
        recognise: Callable[[Any], BodyError | None] = body_error,
        transport: httpx.AsyncBaseTransport | None = None,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        metrics: Metrics | None = None,
    ) -> None:
        self.policy = policy or HttpPolicy()
        self._errors = errors
        self._recognise = recognise
        self._clock, self._now, self._sleep = clock, now, sleep
        self._secret = api_key.get_secret_value() if api_key else ""
        self.limit = AdaptiveLimit(self.policy.concurrency)
        self.breaker = CircuitBreaker(self.policy.breaker_failures, self.policy.breaker_rest_seconds, clock)
        self._backoff = wait_random_exponential(self.policy.first_wait_seconds, self.policy.longest_wait_seconds)
        self._resume_at = float("-inf")
        url = httpx.URL(base_url.rstrip("/") + "/")
        if url.scheme not in {"http", "https"} or not url.host:
            raise Misconfigured(f"the URL of {name} must start with http:// or https:// and name a host")
        self._name = f"{name} ({url.host})"
        self._metrics = metrics or Metrics()
        self._metrics.watch_provider(self._name, lambda: self.breaker.is_open)
        self._http = httpx.AsyncClient(
            # A password in the URL is a secret too: it goes into the header, and no further.
            base_url=url.copy_with(userinfo=b""),
            auth=(url.username, url.password) if url.userinfo else None,
            headers={"Authorization": f"Bearer {self._secret}"} if self._secret else {},
            timeout=self.policy.timeout_seconds,
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=self.policy.concurrency + 1),
            transport=transport,
            # A proxy of the environment cannot reach this machine's loopback.
            trust_env=url.host not in _LOOPBACK,
        )

    async def post_json(self, path: str, body: Mapping[str, Any], *, urgent: bool = False) -> Any:
        """Sends ``body`` and returns the parsed answer.

        Args:
            path: relative to the base URL.
            body: JSON-ready.
            urgent: somebody waits (a search): the call passes the queue of patient ones, fails at once while the
                breaker is open, and all its tries together get ``timeout_seconds``.

        Raises:
            FuziError: ``errors.unavailable`` after the last try; ``errors.refused`` when the provider says no for
                good, with its HTTP status as ``details["status"]``.
        """
        seconds = self.policy.timeout_seconds if urgent else self.policy.total_timeout_seconds
        return await self._tried(Call(seconds, urgent), self._try, path, body)

    @asynccontextmanager
    async def post_for_events(self, path: str, body: Mapping[str, Any]) -> AsyncIterator[AsyncIterator[ServerEvent]]:
        """Sends ``body`` and yields the events of the answer, which end when the provider ends them or breaks off.

        Only what comes before the first event is tried again. ``timeout_seconds`` limits each silence,
        ``total_timeout_seconds`` the whole. Leaving the block ends the call.

        Raises:
            FuziError: as `post_json`, also while the events are read.
        """
        call = Call(self.policy.total_timeout_seconds, urgent=False)
        async with self.limit.slot() as mark:
            response = await self._tried(call, self._open, path, body, mark)
            events = self._events(call, response)
            try:
                yield events
            finally:
                await events.aclose()
                await response.aclose()

    async def close(self) -> None:
        """Closes the connections."""
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def _tried[Answer](self, call: Call, send: Callable[..., Awaitable[Answer]], *what: Any) -> Answer:
        retrying = AsyncRetrying(
            sleep=self._sleep,
            retry=retry_if_exception_type(TryAgain),
            stop=lambda state: self._give_up(call, state),
            wait=self._wait,
            before_sleep=self._log_retry,
            reraise=True,
        )
        try:
            return await retrying(send, call, *what)
        except TryAgain as failure:
            raise self._unavailable(failure) from failure

    def _unavailable(self, failure: TryAgain) -> Unavailable:
        return self._errors.unavailable(
            f"{self._name} is out of reach: {failure}", status=failure.status, provider=self._name
        )

    async def _try(self, call: Call, path: str, body: Mapping[str, Any]) -> Any:
        if call.urgent:
            return await self._send(call, path, body, mark=None)
        async with self.limit.slot() as mark:
            return await self._send(call, path, body, mark)

    async def _send(self, call: Call, path: str, body: Mapping[str, Any], mark: int | None) -> Any:
        # httpx limits each read; a body that trickles in needs a limit of the whole.
        async with self._sending(call):
            response = await self._exchange(self._http.build_request("POST", path, json=body))
        return self._read(call, response, mark)

    async def _exchange(self, request: httpx.Request, *, stream: bool = False) -> httpx.Response:
        """Send it as a span of its own, below which the provider's may go on."""
        with outgoing(request.method, request.url.host) as (own, headers):
            request.headers.update(headers)
            response = await self._http.send(request, stream=stream)
            own.note({"http.response.status_code": response.status_code})
            if response.is_error:
                own.fail(str(response.status_code))
            return response

    async def _open(self, call: Call, path: str, body: Mapping[str, Any], mark: int) -> httpx.Response:
        request = self._http.build_request("POST", path, json=body, headers={"Accept": "text/event-stream"})
        async with self._sending(call):
            response = await self._exchange(request, stream=True)
        media_type = response.headers.get("Content-Type", "").partition(";")[0].strip().lower()
        if response.is_success and media_type == "text/event-stream":
            self.breaker.answered()
            self.limit.good()
            return response
        try:
            async with self._reading(call):
                content = await _start_of(response)
        finally:
            await response.aclose()
        headers = {name: response.headers[name] for name in ("Retry-After",) if name in response.headers}
        self._read(call, httpx.Response(response.status_code, headers=headers, content=content), mark)
        raise self._errors.refused(
            f"{self._name} answers with {media_type or 'no type'} instead of text/event-stream",
            status=response.status_code,
            provider=self._name,
        )

    async def _events(self, call: Call, response: httpx.Response) -> AsyncGenerator[ServerEvent]:
        stream, pieces = EventStream(), response.aiter_bytes()
        while True:
            try:
                async with self._reading(call):
                    piece = await anext(pieces, None)
                events = stream.feed(piece) if piece is not None else []
            except TryAgain as failure:
                raise self._unavailable(failure) from failure
            except EventTooLarge as error:
                raise self._errors.refused(f"{self._name}: {error}", status=502, provider=self._name) from error
            for event in events:
                yield event
            if piece is None:
                return

    @asynccontextmanager
    async def _sending(self, call: Call) -> AsyncIterator[None]:
        # The clock starts here, not in the queue: a long document must not run out of time before its turn.
        call.deadline = min(call.deadline, self._clock() + call.seconds)
        pause = self._resume_at - self._clock()
        if pause > 0 and not call.urgent:
            raise TryAgain("it asked for a pause", 429, pause)
        rest = self.breaker.seconds_to_wait()
        if rest > 0:
            raise TryAgain("it failed several times in a row and is left alone for a moment", wait_seconds=rest)
        async with self._reading(call):
            yield

    @asynccontextmanager
    async def _reading(self, call: Call) -> AsyncIterator[None]:
        seconds = max(0.001, min(self.policy.timeout_seconds, call.deadline - self._clock()))
        try:
            async with asyncio.timeout(seconds):
                yield
        except (TimeoutError, httpx.TimeoutException) as error:
            raise self._outage(call, f"no answer within {seconds:g} s") from error
        except httpx.HTTPError as error:
            raise self._outage(call, self.safe(f"{type(error).__name__} {error}")) from error

    def _read(self, call: Call, response: httpx.Response, mark: int | None) -> Any:
        try:
            answer = response.json()
        except (ValueError, RecursionError):
            answer = None
        found = self._recognise(answer)
        if response.is_success and found is None and answer is not None:
            self.breaker.answered()
            if mark is not None:
                self.limit.good()
            return answer
        status = (found and found.status) or (502 if response.is_success else response.status_code)
        text = found.message if found else response.text.strip() or response.reason_phrase
        message = self.safe(f"HTTP {response.status_code}: {text}")
        wait = retry_after_seconds(response.headers.get("Retry-After"), self._now())
        if status == 429:
            self.breaker.answered()
            if mark is not None:
                self.limit.too_many(mark)
            self._resume_at = max(self._resume_at, self._clock() + (wait or 0))
            raise TryAgain(message, 429, wait)
        if status in _TRANSIENT_STATUS:
            raise self._outage(call, message, status, wait)
        self.breaker.answered()
        raise self._errors.refused(f"{self._name} refuses: {message}", status=status, provider=self._name)

    def _outage(
        self, call: Call, message: str, status: int | None = None, wait_seconds: float | None = None
    ) -> TryAgain:
        call.failures += 1
        self.breaker.failed()
        return TryAgain(message, status, wait_seconds)

    def _wait(self, state: RetryCallState) -> float:
        failure = state.outcome.exception() if state.outcome else None
        asked = failure.wait_seconds if isinstance(failure, TryAgain) else None
        # A provider that asks for 0 seconds again and again would be hammered without the floor.
        return self._backoff(state) if asked is None else max(asked, self.policy.first_wait_seconds)

    def _log_retry(self, state: RetryCallState) -> None:
        failure = state.outcome.exception() if state.outcome else None
        wait_seconds = round(state.upcoming_sleep, 3)
        self._metrics.provider_retried(self._name)
        log.warning("provider_retry", provider=self._name, reason=str(failure), wait_seconds=wait_seconds)

    def _give_up(self, call: Call, state: RetryCallState) -> bool:
        gave_way = self.breaker.is_open and (call.urgent or not self.policy.wait_while_open)
        given_up = gave_way or call.failures >= self.policy.attempts
        return given_up or self._clock() + state.upcoming_sleep >= call.deadline

    def safe(self, text: str) -> str:
        """``text`` short enough for a message, without the key, which some providers repeat in their answer."""
        return (text.replace(self._secret, "***") if self._secret else text)[:_EXCERPT]


async def _start_of(response: httpx.Response) -> bytes:
    """As much of a body as says why there are no events."""
    content = bytearray()
    async for piece in response.aiter_bytes():
        content += piece
        if len(content) >= _LONGEST_REFUSAL:
            break
    return bytes(content[:_LONGEST_REFUSAL])
