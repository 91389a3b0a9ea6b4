"""A Tika server over real HTTP: answers like the Java one, from native Tika or from a script of faults."""

from __future__ import annotations

import json
import threading
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import iscc_tika
from lxml import etree

_TYPES = {"/rmeta/xml": "xml", "/rmeta": "xml", "/rmeta/html": "xml", "/rmeta/text": "text", "/rmeta/ignore": "none"}


@dataclass(frozen=True, slots=True)
class Answer:
    """One scripted answer: ``text`` is the extracted content of a 200, else the body of the error."""

    status: int = 200
    text: str = ""
    media_type: str = "text/plain"


@dataclass(frozen=True, slots=True)
class Raw:
    """A 200 with exactly these bytes."""

    body: bytes


@dataclass(frozen=True, slots=True)
class Hang:
    """No answer for this long, then the connection is closed."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Drop:
    """The connection is closed without an answer."""


type Step = Answer | Raw | Hang | Drop


@dataclass(slots=True)
class Request:
    """One request as it arrived."""

    path: str
    file_name: str
    headers: dict[str, str]
    body: bytes


@dataclass(slots=True)
class FakeTikaServer:
    """Address and memory of a running fake. ``script`` maps a file name to its answers; the last one repeats."""

    url: str
    script: dict[str, Sequence[Step]] = field(default_factory=dict)
    requests: list[Request] = field(default_factory=list)
    stopping: threading.Event = field(default_factory=threading.Event)
    _taken: dict[str, int] = field(default_factory=lambda: defaultdict(int))

    def step_for(self, name: str) -> Step | None:
        """Next scripted answer for a file, ``None`` when it is to be read for real."""
        steps = self.script.get(name)
        if not steps:
            return None
        number = min(self._taken[name], len(steps) - 1)
        self._taken[name] += 1
        return steps[number]


@contextmanager
def running_tika_server() -> Iterator[FakeTikaServer]:
    """Serve on a free loopback port until the block ends."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.daemon_threads = True
    fake = FakeTikaServer(f"http://127.0.0.1:{server.server_address[1]}")
    server.fake = fake  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield fake
    finally:
        fake.stopping.set()
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    @property
    def fake(self) -> FakeTikaServer:
        found: FakeTikaServer = self.server.fake  # type: ignore[attr-defined]
        return found

    def do_GET(self) -> None:
        self._send(200, b"Apache Tika 3.3.2", "text/plain")

    def do_PUT(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        name = _file_name(self.headers.get("Content-Disposition", ""))
        self.fake.requests.append(Request(self.path, name, dict(self.headers.items()), body))
        step = self.fake.step_for(name)
        if isinstance(step, Hang):
            self.fake.stopping.wait(step.seconds)
        if isinstance(step, Hang | Drop):
            self.close_connection = True
            self.connection.close()
        elif isinstance(step, Raw):
            self._send(200, step.body, "application/json")
        elif isinstance(step, Answer) and step.status != 200:
            self._send(step.status, step.text.encode(), "text/plain")
        elif self.path == "/tika":
            self._tika(step, body, name)
        elif self.path in _TYPES:
            self._rmeta(step, body, name)
        else:
            self._send(404, b"", "text/plain")

    def _tika(self, step: Answer | None, body: bytes, name: str) -> None:
        wants_text = "text/plain" in self.headers.get("Accept", "")
        if step:
            text = step.text
        else:
            status, text, _ = _read(body, name, xml=not wants_text)
            if status != 200:
                self._send(status, text.encode(), "text/plain")
                return
        self._send(200, text.encode(), "text/plain" if wants_text else "text/html")

    def _rmeta(self, step: Answer | None, body: bytes, name: str) -> None:
        kind = _TYPES[self.path]
        if step:
            documents = [{"X-TIKA:content": step.text, "Content-Type": step.media_type, "resourceName": name}]
        else:
            status, text, metadata = _read(body, name, xml=kind == "xml")
            if status != 200:
                self._send(status, text.encode(), "text/plain")
                return
            documents = _split_embedded(text, metadata) if kind == "xml" else [{**metadata, "X-TIKA:content": text}]
        self._send(200, json.dumps(documents, ensure_ascii=False).encode(), "application/json")

    def _send(self, status: int, body: bytes, media_type: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", media_type)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  the name belongs to http.server
        """Stay silent."""


def _file_name(disposition: str) -> str:
    message = Message()
    message["Content-Disposition"] = disposition
    return message.get_filename() or ""


def _read(body: bytes, name: str, *, xml: bool) -> tuple[int, str, dict[str, Any]]:
    """Status, content and metadata, as the Java server maps them."""
    if not body:
        return 422, "org.apache.tika.exception.ZeroByteFileException: InputStream must have > 0 bytes", {}
    with TemporaryDirectory() as folder:
        path = Path(folder) / (Path(name).name or "document")
        path.write_bytes(body)
        extractor = iscc_tika.Extractor().set_xml_output(xml).set_extract_string_max_length(20_000_000)
        try:
            text, metadata = extractor.extract_file_to_string(str(path))
        except TypeError as error:
            return 422, f"org.apache.tika.exception.TikaException: {error}", {}
    flat = {key: values[0] if len(values) == 1 else values for key, values in metadata.items()}
    warning = str(flat.get("X-TIKA:warning", ""))
    if "EncryptedDocumentException" in warning:
        return 422, f"org.apache.tika.exception.{warning}", {}
    return 200, text, flat


def _split_embedded(xhtml: str, metadata: dict[str, Any]) -> list[dict[str, Any]]:
    """The Java server lists every embedded document of its own after the file; native Tika puts them inside."""
    if not xhtml.strip():
        return [{**metadata, "X-TIKA:content": ""}]
    root = etree.fromstring(xhtml.encode(), etree.XMLParser(recover=True, huge_tree=True))
    embedded: list[dict[str, Any]] = []
    for entry in root.iterfind(".//{*}div[@class='package-entry']"):
        heading = entry.find("{*}h1")
        name = "" if heading is None else heading.text or ""
        if heading is not None:
            entry.remove(heading)
        content = f'<html xmlns="http://www.w3.org/1999/xhtml"><body>{_inner(entry)}</body></html>'
        depth = sum(1 for parent in entry.iterancestors() if parent.get("class") == "package-entry") + 1
        embedded.append(
            {
                "resourceName": name,
                "X-TIKA:embedded_resource_path": "/x" * (depth - 1) + f"/{name}",
                "X-TIKA:content": content,
                "X-TIKA:embedded_depth": str(depth),
            }
        )
    for entry in root.findall(".//{*}div[@class='package-entry']"):
        entry.getparent().remove(entry)
    return [{**metadata, "X-TIKA:content": etree.tostring(root, encoding="unicode")}, *embedded]


def _inner(entry: Any) -> str:
    inner = [entry.text or ""]
    for child in entry:
        if child.get("class") != "package-entry":
            inner.append(etree.tostring(child, encoding="unicode"))
    return "".join(inner)


def wait_for_requests(fake: FakeTikaServer, count: int, *, within_seconds: float = 30.0) -> None:
    """Block until the fake has seen that many requests; for tests that start something else meanwhile."""
    deadline = time.monotonic() + within_seconds
    while len(fake.requests) < count:
        assert time.monotonic() < deadline, f"only {len(fake.requests)} of {count} requests arrived"
        time.sleep(0.01)
