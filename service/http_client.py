"""The one way to call a provider over HTTP: tries again where that can help, waits when told to, gives up in time.

One ``ProviderClient`` per provider and process; its limit and its breaker are shared by all calls.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Self

import httpx
import structlog
from pydantic import SecretStr
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception_type, wait_random_exponential

from service.errors import FuziError, Misconfigured, Unavailable
from service.http_limits import AdaptiveLimit, CircuitBreaker
from service.metrics import Metrics

log = structlog.get_logger()

_TRANSIENT_STATUS = frozenset({408, 409, 425, 500, 502, 503, 504, 520, 521, 522, 523, 524, 529})
_GOOD_CODES = frozenset({"0", "200", "ok", "success", "true"})
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_EXCERPT = 300


@dataclass(frozen=True, slots=True)
class BodyError:
    """An error that a body tells of; ``status`` is the HTTP status it amounts to, ``None`` when it does not say."""

    message: str
    status: int | None = None


@dataclass(frozen=True, slots=True)
class HttpPolicy:
    """Limits of the calls to one provider.

    ``attempts`` counts failures; answers of 429 only count against the total time, because a rate limit passes.
    Without ``wait_while_open`` a call fails at once while the breaker is open, as urgent ones always do.
    """

    timeout_seconds: float = 30
    total_timeout_seconds: float = 300
    attempts: int = 5
    concurrency: int = 4
    first_wait_seconds: float = 0.5
    longest_wait_seconds: float = 30
    breaker_failures: int = 8
    breaker_rest_seconds: float = 10
    wait_while_open: bool = True


@dataclass(frozen=True, slots=True)
class ProviderErrors:
    """Which leaves of the error tree this provider's failures become."""

    unavailable: type[Unavailable]
    refused: type[FuziError]


class _TryAgain(Exception):
    """A failure that another try may mend."""

    def __init__(self, message: str, status: int | None = None, wait_seconds: float | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.wait_seconds = wait_seconds


@dataclass(slots=True)
class _Call:
    """One call with all its tries."""

    seconds: float
    urgent: bool
    deadline: float = float("inf")
    failures: int = 0


def body_error(body: Any) -> BodyError | None:
    """Recognises the error shapes of OpenAI-like, Ollama-like and DashScope-like providers under any status."""
    if not isinstance(body, Mapping):
        return None
    error = body.get("error")
    if isinstance(error, Mapping):
        message = error.get("message") or error.get("msg") or error.get("type") or "no message"
        return BodyError(str(message), _status_in(error.get("code")) or _status_in(error.get("status")))
    if error:
        return BodyError(str(error), _status_in(body.get("code")) or _status_in(body.get("status")))
    message = body.get("message") or body.get("detail")
    # Some providers put `"code": 0, "message": "success"` beside a good answer.
    told = [body[key] for key in ("code", "status") if str(body.get(key) or 0).lower() not in _GOOD_CODES]
    if message and (told or "detail" in body):
        return BodyError(str(message), next(filter(None, map(_status_in, told)), None))
    return None


def _status_in(value: Any) -> int | None:
    try:
        status = int(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return status if 400 <= status <= 599 else None


def retry_after_seconds(header: str | None, now: datetime) -> float | None:
    """Seconds a ``Retry-After`` header asks for (a number, or an HTTP date), never negative; ``None`` if unreadable."""
    if header is None:
        return None
    try:
        seconds = float(header)
    except ValueError:
        try:
            at = parsedate_to_datetime(header)
        except (ValueError, OverflowError):
            return None
        seconds = (at.replace(tzinfo=at.tzinfo or UTC) - now).total_seconds()
    return max(0.0, seconds) if seconds < float("inf") else None


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
        call = _Call(seconds, urgent)
        retrying = AsyncRetrying(
            sleep=self._sleep,
            retry=retry_if_exception_type(_TryAgain),
            stop=lambda state: self._give_up(call, state),
            wait=self._wait,
            before_sleep=self._log_retry,
            reraise=True,
        )
        try:
            return await retrying(self._try, call, path, body)
        except _TryAgain as failure:
            raise self._errors.unavailable(
                f"{self._name} is out of reach: {failure}", status=failure.status, provider=self._name
            ) from failure

    async def close(self) -> None:
        """Closes the connections."""
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def _try(self, call: _Call, path: str, body: Mapping[str, Any]) -> Any:
        if call.urgent:
            return await self._send(call, path, body, mark=None)
        async with self.limit.slot() as mark:
            return await self._send(call, path, body, mark)

    async def _send(self, call: _Call, path: str, body: Mapping[str, Any], mark: int | None) -> Any:
        # The clock starts here, not in the queue: a long document must not run out of time before its turn.
        call.deadline = min(call.deadline, self._clock() + call.seconds)
        pause = self._resume_at - self._clock()
        if pause > 0 and not call.urgent:
            raise _TryAgain("it asked for a pause", 429, pause)
        rest = self.breaker.seconds_to_wait()
        if rest > 0:
            raise _TryAgain("it failed several times in a row and is left alone for a moment", wait_seconds=rest)
        seconds = max(0.001, min(self.policy.timeout_seconds, call.deadline - self._clock()))
        try:
            # httpx limits each read; a body that trickles in needs a limit of the whole.
            async with asyncio.timeout(seconds):
                response = await self._http.post(path, json=body)
        except (TimeoutError, httpx.TimeoutException) as error:
            raise self._outage(call, f"no answer within {seconds:g} s") from error
        except httpx.HTTPError as error:
            raise self._outage(call, self._safe(f"{type(error).__name__} {error}")) from error
        return self._read(call, response, mark)

    def _read(self, call: _Call, response: httpx.Response, mark: int | None) -> Any:
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
        message = self._safe(f"HTTP {response.status_code}: {text}")
        wait = retry_after_seconds(response.headers.get("Retry-After"), self._now())
        if status == 429:
            self.breaker.answered()
            if mark is not None:
                self.limit.too_many(mark)
            self._resume_at = max(self._resume_at, self._clock() + (wait or 0))
            raise _TryAgain(message, 429, wait)
        if status in _TRANSIENT_STATUS:
            raise self._outage(call, message, status, wait)
        self.breaker.answered()
        raise self._errors.refused(f"{self._name} refuses: {message}", status=status, provider=self._name)

    def _outage(
        self, call: _Call, message: str, status: int | None = None, wait_seconds: float | None = None
    ) -> _TryAgain:
        call.failures += 1
        self.breaker.failed()
        return _TryAgain(message, status, wait_seconds)

    def _wait(self, state: RetryCallState) -> float:
        failure = state.outcome.exception() if state.outcome else None
        asked = failure.wait_seconds if isinstance(failure, _TryAgain) else None
        # A provider that asks for 0 seconds again and again would be hammered without the floor.
        return self._backoff(state) if asked is None else max(asked, self.policy.first_wait_seconds)

    def _log_retry(self, state: RetryCallState) -> None:
        failure = state.outcome.exception() if state.outcome else None
        wait_seconds = round(state.upcoming_sleep, 3)
        self._metrics.provider_retried(self._name)
        log.warning("provider_retry", provider=self._name, reason=str(failure), wait_seconds=wait_seconds)

    def _give_up(self, call: _Call, state: RetryCallState) -> bool:
        gave_way = self.breaker.is_open and (call.urgent or not self.policy.wait_while_open)
        given_up = gave_way or call.failures >= self.policy.attempts
        return given_up or self._clock() + state.upcoming_sleep >= call.deadline

    def _safe(self, text: str) -> str:
        """``text`` short enough for a message, without the key, which some providers repeat in their answer."""
        return (text.replace(self._secret, "***") if self._secret else text)[:_EXCERPT]
