"""A real S3-speaking HTTP server (moto) in a process of its own that checks signatures, and a proxy that misbehaves.

with S3Server() as server, S3Proxy(server.address) as proxy:
    server.create_bucket("fuzi")
    proxy.script(Status(503, "SlowDown"), CutDownload(after=1000))
    ...  # against proxy.address with server.access_key and server.secret_key
"""

from __future__ import annotations

import http.client
import os
import socket
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Protocol, Self
from urllib.parse import urlsplit

from pydantic import SecretStr

from service.config import OriginalsSettings

REGION = "us-east-1"
_CALLS_WITHOUT_SIGNATURE = "3"
_ALLOW_ALL = '{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"*","Resource":"*"}]}'


class S3Server:
    """The server; ``client`` is boto3's, with its keys."""

    access_key: str
    secret_key: str
    client: Any

    def __enter__(self) -> Self:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.address = f"http://127.0.0.1:{port}"
        self._process = subprocess.Popen(
            [str(Path(sys.executable).with_name("moto_server")), "-H", "127.0.0.1", "-p", str(port)],
            env={**os.environ, "INITIAL_NO_AUTH_ACTION_COUNT": _CALLS_WITHOUT_SIGNATURE},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self._wait(port)
        # The three calls that need no signature make the account whose signatures are checked from then on.
        iam = self._boto("iam", "first", "first")
        iam.create_user(UserName="fuzi")
        key = iam.create_access_key(UserName="fuzi")["AccessKey"]
        iam.put_user_policy(UserName="fuzi", PolicyName="all", PolicyDocument=_ALLOW_ALL)
        self.access_key, self.secret_key = key["AccessKeyId"], key["SecretAccessKey"]
        self.client = self._boto("s3", self.access_key, self.secret_key)
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.wait()

    def create_bucket(self, name: str) -> None:
        self.client.create_bucket(Bucket=name)

    def settings(self, url: str, endpoint: str, /, **changes: Any) -> OriginalsSettings:
        """Settings of a service that keeps its originals at ``url`` here, by way of the proxy at ``endpoint``."""
        values: dict[str, Any] = {
            "url": url,
            "endpoint": endpoint,
            "region": REGION,
            "access_key": self.access_key,
            "secret_key": SecretStr(self.secret_key),
            "allow_http": True,
            "retries": 0,
        }
        return OriginalsSettings(**values | changes)

    def keys(self, bucket: str) -> list[str]:
        """Keys of all objects in a bucket, sorted."""
        return sorted(found["Key"] for found in self.client.list_objects_v2(Bucket=bucket).get("Contents", []))

    def unfinished(self, bucket: str) -> list[str]:
        """Keys of the uploads in parts that were begun and not finished."""
        return [upload["Key"] for upload in self.client.list_multipart_uploads(Bucket=bucket).get("Uploads", [])]

    def _boto(self, service: str, access_key: str, secret_key: str) -> Any:
        import boto3  # noqa: PLC0415 - it takes a second, and most tests need no bucket

        return boto3.client(
            service,
            endpoint_url=self.address,
            region_name=REGION,
            aws_access_key_id=access_key,
            aws_secret_access_key=secret_key,
        )

    def _wait(self, port: int) -> None:
        deadline = time.monotonic() + 60
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
            except OSError:
                assert self._process.poll() is None, "moto_server did not start"
                assert time.monotonic() < deadline
                time.sleep(0.05)
            else:
                return


class Behaviour(Protocol):
    def act(self, handler: _Handler, method: str) -> None: ...


class Pass:
    """The server's own answer."""

    def act(self, handler: _Handler, method: str) -> None:
        handler.forward(method)


@dataclass(frozen=True)
class Status:
    """An error in the words of S3."""

    status: int
    code: str = "InternalError"

    def act(self, handler: _Handler, method: str) -> None:
        handler.take_body()
        handler.reply(self.status, {}, f"<Error><Code>{self.code}</Code><Message>scripted</Message></Error>".encode())


class CutUpload:
    """Hangs up when half of the body has arrived."""

    def act(self, handler: _Handler, method: str) -> None:
        handler.rfile.read(int(handler.headers.get("Content-Length", 0)) // 2)
        handler.hang_up()


class LoseAnswer:
    """Lets the server do it, and hangs up instead of answering."""

    def act(self, handler: _Handler, method: str) -> None:
        handler.ask_server(method)
        handler.hang_up()


@dataclass(frozen=True)
class CutDownload:
    """Hangs up after so many bytes of the answer's body."""

    after: int

    def act(self, handler: _Handler, method: str) -> None:
        handler.forward(method, cut_after=self.after)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def _any(self) -> None:
        self.server.owner.take(self.command, self.path).act(self, self.command)

    do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = _any  # noqa: N815 - the names that the class looks for

    def take_body(self) -> bytes:
        return self.rfile.read(int(self.headers.get("Content-Length", 0)))

    def ask_server(self, method: str) -> tuple[int, dict[str, str], bytes]:
        connection = http.client.HTTPConnection(self.server.owner.target)
        # as it came, the Host included: it is signed
        connection.putrequest(method, self.path, skip_host=True, skip_accept_encoding=True)
        for name, value in self.headers.items():
            connection.putheader(name, value)
        connection.endheaders(self.take_body())
        response = connection.getresponse()
        body = response.read()
        headers = {name: value for name, value in response.getheaders() if name.lower() not in {"connection", "date"}}
        connection.close()
        return response.status, headers, body

    def forward(self, method: str, cut_after: int | None = None) -> None:
        status, headers, body = self.ask_server(method)
        if cut_after is None:
            self.reply(status, headers, body)
            return
        self.reply(status, {**headers, "Content-Length": str(len(body))}, body[:cut_after])
        self.hang_up()

    def reply(self, status: int, headers: dict[str, str], body: bytes) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def hang_up(self) -> None:
        self.wfile.flush()
        self.connection.shutdown(socket.SHUT_RDWR)
        self.close_connection = True

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name of the overridden method
        """Silence."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    owner: S3Proxy

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hung up is no news."""


class S3Proxy:
    """Stands in front of a server; requests follow the script, then ``always``, which passes them on."""

    def __init__(self, address: str) -> None:
        self.target = urlsplit(address).netloc
        self.requests: list[tuple[str, str]] = []
        self.always: Behaviour = Pass()
        self.matching: Callable[[str, str], bool] = lambda _method, _path: True
        self._script: deque[Behaviour] = deque()
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.owner = self
        self.address = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def script(
        self, *behaviours: Behaviour, matching: Callable[[str, str], bool] = lambda _method, _path: True
    ) -> None:
        """Play these for the next requests whose method and path match."""
        self._script, self.matching = deque(behaviours), matching

    def take(self, method: str, path: str) -> Behaviour:
        with self._lock:
            self.requests.append((method, path))
            if not self.matching(method, path):
                return Pass()
            return self._script.popleft() if self._script else self.always
