"""Multipart upload, streamed: the file goes to disk as it arrives, and a wrong form is refused as soon as it shows."""

from __future__ import annotations

import re
import tempfile
import unicodedata
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, TYPE_CHECKING

import anyio.to_thread
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header
from starlette.requests import Request

from service.api.edge.dispositions import parse_part_name
from service.config import LimitSettings
from service.errors import InvalidRequest, TooLarge, Unavailable
from service.flows.temporary import UPLOAD_PREFIX

if TYPE_CHECKING:
    from python_multipart.multipart import MultipartCallbacks

FILE_FIELD = "file"
TEXT_FIELDS = ("source", "collection", "title", "metadata")

_FLUSH_BYTES = 1024 * 1024
_LONGEST_TEXT_FIELD = 8 * 1024
_LONGEST_FILE_NAME = 255
_WORD = r"[\w.+-]{1,100}"
_MEDIA_TYPE = re.compile(rf'{_WORD}/{_WORD}(\s*;\s*{_WORD}=("[\w .+-]{{0,100}}"|{_WORD})){{0,4}}', re.ASCII)
_NO_INFORMATION = {"application/octet-stream", "binary/octet-stream"}
_PLAIN_ENCODINGS = {b"", b"7bit", b"8bit", b"binary"}


@dataclass(frozen=True, slots=True)
class UploadForm:
    """A whole form. ``given_name`` is the file's name as sent, perhaps with folders; ``file_name`` its last segment."""

    path: Path
    given_name: str
    file_name: str
    declared_type: str | None
    fields: Mapping[str, str]


@asynccontextmanager
async def receive_form(
    request: Request, folder: Path | None, limits: LimitSettings, text_fields: Sequence[str] = TEXT_FIELDS
) -> AsyncIterator[UploadForm]:
    """Receive an upload into a temporary file that lives as long as the context.

    Args:
        folder: where the temporary file is made; None takes the system's folder.
        text_fields: the fields that may stand beside the file.

    Raises:
        InvalidRequest: the body is no multipart form, is cut off, or has unknown, doubled or missing parts.
        TooLarge: a part is over its limit.
        Unavailable: the file cannot be written, since the disk is full for example.
        starlette.requests.ClientDisconnect: the client went away.
    """
    form = _FormReader(limits, text_fields)
    boundary = _boundary(request)
    with _temporary_file(folder) as file:
        try:
            parser = MultipartParser(boundary, form.callbacks())
            async for piece in request.stream():
                parser.write(piece)
                await _flush(form, file, at_least=_FLUSH_BYTES)
        except FormParserError as error:
            raise InvalidRequest("the multipart body is malformed") from error
        await _flush(form, file, at_least=1)
        yield form.result(Path(file.name))


def _temporary_file(folder: Path | None) -> IO[bytes]:
    """Without a buffer, which closing would try to write once more when the disk is full."""
    with _disk_errors():
        return tempfile.NamedTemporaryFile(dir=folder, prefix=UPLOAD_PREFIX, buffering=0)


async def _flush(form: _FormReader, file: IO[bytes], at_least: int) -> None:
    if len(form.pending) >= at_least:
        await anyio.to_thread.run_sync(_write, file, bytes(form.pending))
        form.pending.clear()


def _write(file: IO[bytes], data: bytes) -> None:
    rest = memoryview(data)
    with _disk_errors():
        while rest:
            rest = rest[file.write(rest) :]


@contextmanager
def _disk_errors() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise Unavailable(f"the upload cannot be received: {error.strerror or error}") from error


def _boundary(request: Request) -> bytes:
    kind, options = parse_options_header(request.headers.get("content-type"))
    if kind != b"multipart/form-data" or not options.get(b"boundary"):
        raise InvalidRequest("send the file as multipart/form-data, for example: curl -F file=@manual.pdf …")
    return options[b"boundary"]


class _FormReader:
    """Takes the parser's events; bytes of the file wait in ``pending`` until they are written."""

    def __init__(self, limits: LimitSettings, text_fields: Sequence[str]) -> None:
        self._limits = limits
        self._text_fields = text_fields
        self._headers: dict[bytes, bytes] = {}
        self._header_name = b""
        self._header_value = b""
        self._field = ""
        self._text = bytearray()
        self._texts: dict[str, str] = {}
        self._given_name: str | None = None
        self._declared_type: str | None = None
        self._file_bytes = 0
        self._ended = False
        self.pending = bytearray()

    def callbacks(self) -> MultipartCallbacks:
        return {
            "on_part_begin": self._on_part_begin,
            "on_header_field": self._on_header_field,
            "on_header_value": self._on_header_value,
            "on_header_end": self._on_header_end,
            "on_headers_finished": self._on_headers_finished,
            "on_part_data": self._on_part_data,
            "on_part_end": self._on_part_end,
            "on_end": self._on_end,
        }

    def result(self, path: Path) -> UploadForm:
        if not self._ended:
            raise InvalidRequest("the multipart body ends before its last boundary: the upload was cut off")
        if self._given_name is None:
            raise InvalidRequest(f"the form field '{FILE_FIELD}' is missing")
        return UploadForm(
            path, self._given_name, _last_segment(self._given_name), self._declared_type, dict(self._texts)
        )

    def _on_part_begin(self) -> None:
        self._headers.clear()
        self._text.clear()

    def _on_header_field(self, data: bytes, start: int, end: int) -> None:
        self._header_name += data[start:end]

    def _on_header_value(self, data: bytes, start: int, end: int) -> None:
        self._header_value += data[start:end]

    def _on_header_end(self) -> None:
        self._headers[self._header_name.lower()] = self._header_value
        self._header_name = self._header_value = b""

    def _on_headers_finished(self) -> None:
        part = parse_part_name(self._headers.get(b"content-disposition", b""))
        self._field = part.field
        if self._headers.get(b"content-transfer-encoding", b"").strip().lower() not in _PLAIN_ENCODINGS:
            raise InvalidRequest("parts must be sent as they are, without Content-Transfer-Encoding")
        if part.field == FILE_FIELD:
            self._begin_file(part.file_name)
        elif part.field not in self._text_fields:
            known = ", ".join((FILE_FIELD, *self._text_fields))
            raise InvalidRequest(f"unknown form field {part.field[:100]!r}; known are {known}")
        elif part.file_name is not None:
            raise InvalidRequest(f"the form field '{part.field}' must be text; only '{FILE_FIELD}' is a file")
        elif part.field in self._texts:
            raise InvalidRequest(f"the form field '{part.field}' is given more than once")

    def _begin_file(self, given_name: str | None) -> None:
        if self._given_name is not None:
            raise InvalidRequest("there is more than one file: send one request for each")
        if not given_name:
            raise InvalidRequest(f"the form field '{FILE_FIELD}' must be a file with a file name")
        _last_segment(given_name)  # refuses a bad name before the file is read
        self._given_name = given_name
        self._declared_type = _media_type(self._headers.get(b"content-type", b""))

    def _on_part_data(self, data: bytes, start: int, end: int) -> None:
        if self._field == FILE_FIELD:
            self._file_bytes += end - start
            if self._file_bytes > self._limits.max_upload_mb * 1024 * 1024:
                raise TooLarge(
                    f"the file is larger than {self._limits.max_upload_mb} MB", limit_mb=self._limits.max_upload_mb
                )
            self.pending += data[start:end]
            return
        self._text += data[start:end]
        longest = self._limits.max_metadata_bytes if self._field == "metadata" else _LONGEST_TEXT_FIELD
        if len(self._text) > longest:
            raise TooLarge(f"the form field '{self._field}' is larger than {longest} bytes", limit_bytes=longest)

    def _on_part_end(self) -> None:
        if self._field == FILE_FIELD:
            return
        try:
            self._texts[self._field] = self._text.decode("utf-8")
        except UnicodeDecodeError as error:
            raise InvalidRequest(f"the form field '{self._field}' is not UTF-8") from error

    def _on_end(self) -> None:
        self._ended = True


def _last_segment(given_name: str) -> str:
    """The file's name without folders: what a caller calls a file never becomes a path here."""
    if any(unicodedata.category(character) in {"Cc", "Cs"} for character in given_name):
        raise InvalidRequest("the file name must not contain control characters")
    name = PurePosixPath(given_name.replace("\\", "/")).name.strip()
    if name in {"", ".", ".."}:
        raise InvalidRequest("the file name is empty")
    if len(name) > _LONGEST_FILE_NAME:
        raise InvalidRequest(f"the file name has {len(name)} characters, the limit is {_LONGEST_FILE_NAME}")
    return unicodedata.normalize("NFC", name)


def _media_type(header: bytes) -> str | None:
    """The declared type when it says something; it is a hint only, so a malformed one counts as none."""
    declared = header.decode("latin-1").strip()
    informative = _MEDIA_TYPE.fullmatch(declared) and declared.split(";")[0].lower() not in _NO_INFORMATION
    return declared if informative else None
