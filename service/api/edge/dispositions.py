"""File names in ``Content-Disposition`` headers, in both directions."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import quote, unquote_to_bytes

from python_multipart.multipart import parse_options_header

from service.errors import InvalidRequest

_QUOTED = re.compile(rb'"(?:\\.|[^"\\])*"', re.DOTALL)
_EXTENDED = re.compile(rb";\s*filename\*\s*=\s*([\w-]+)'[\w-]*'([^;\s]+)", re.IGNORECASE)
# Browsers (WHATWG) and httpx escape just these in a file name, and no per cent sign.
_ESCAPED_BY_BROWSERS = {"%22": '"', "%0A": "\n", "%0D": "\r"}


@dataclass(frozen=True, slots=True)
class PartName:
    """What a part of a multipart body is called; ``file_name`` is None when the part is no file."""

    field: str
    file_name: str | None


def parse_part_name(header: bytes) -> PartName:
    """Read the ``Content-Disposition`` of a form part.

    A name may be UTF-8 (browsers, curl, httpx), GB18030 (programs on Chinese Windows), or in the extended form
    ``filename*=UTF-8''…`` (older Python, .NET), which wins when both are there, since .NET writes an
    encoded word that no server understands into the plain one.

    Raises:
        InvalidRequest: it is no form part, or a name is in no known encoding.
    """
    kind, options = parse_options_header(header)
    if kind != b"form-data" or b"name" not in options:
        raise InvalidRequest('each part needs a header such as: Content-Disposition: form-data; name="file"')
    return PartName(_decode(options[b"name"]), _file_name(header, options))


def _file_name(header: bytes, options: dict[bytes, bytes]) -> str | None:
    extended = _EXTENDED.search(_QUOTED.sub(b'""', header))
    if extended is not None:
        charset, value = extended[1].decode("ascii", "replace"), unquote_to_bytes(extended[2])
        try:
            return value.decode(charset)
        except (UnicodeDecodeError, LookupError) as error:
            raise InvalidRequest(f"filename* is not encoded in {charset}") from error
    if b"filename" not in options:
        return None
    name = _decode(options[b"filename"])
    for escape, character in _ESCAPED_BY_BROWSERS.items():
        name = name.replace(escape, character)
    return name


def _decode(value: bytes) -> str:
    for charset in ("utf-8", "gb18030"):
        try:
            return value.decode(charset)
        except UnicodeDecodeError:
            continue
    raise InvalidRequest("a name in the form is neither UTF-8 nor GB18030")


def attachment(file_name: str) -> str:
    """Return the ``Content-Disposition`` of a download: an ASCII stand-in, and the true name by RFC 5987."""
    plain = "".join(c if c.isascii() and c.isprintable() and c not in '"\\%' else "_" for c in file_name)
    return f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(file_name, safe='')}"
