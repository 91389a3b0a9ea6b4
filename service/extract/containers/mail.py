"""Mails: headers, the better of the bodies, attachments read like uploads of their own."""

from __future__ import annotations

import contextlib
import re
from email import message_from_bytes
from email.header import decode_header
from email.message import Message
from email.utils import parsedate_to_datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from service.extract.containers.parts import Budget, Collector, ReadPart, lowered
from service.extract.read.decode import decode
from service.extract.read.reading import Reading
from service.extract.structure.draft import DraftBlock
from service.extract.tidy.clean import clean
from service.extract.web.page import read_web_page
from service.types import BlockType, ExtractRequest

_SHOWN_FIELDS = ("From", "To", "Cc", "Date")
_KEPT_FIELDS = {"From": "from", "To": "to", "Cc": "cc", "Message-ID": "message_id"}
_BLANK_LINES = re.compile(r"\n[ \t]*\n+")
_QUOTED = re.compile(r"^>[ >]*", re.MULTILINE)
_BODY_TYPES = ("text/html", "text/plain")


def read_mail(request: ExtractRequest, media_type: str, read: ReadPart, budget: Budget, depth: int) -> Reading:
    """Subject as heading, a paragraph of header fields, the body, then every attachment below its name."""
    message = message_from_bytes(request.path.read_bytes())
    subject = header_text(message.get("Subject"))
    with TemporaryDirectory(prefix="fuzi-") as folder:
        collector = Collector(read, budget, depth, Path(folder))
        bodies, attachments = _split(message)
        blocks = _body(bodies)
        for name, declared_type, data in attachments:
            collector.budget.take(len(data))
            collector.add(name, data, level=2, declared_type=declared_type)
    shown = [(field, header_text(message.get(field))) for field in _SHOWN_FIELDS]
    fields = "\n".join(f"{field}: {value}" for field, value in shown if value)
    collector.draft.blocks[:0] = [
        DraftBlock(BlockType.HEADING, subject, 1),
        DraftBlock(BlockType.PARAGRAPH, fields),
        *lowered(blocks, 1),
    ]
    return Reading(
        media_type,
        draft=collector.draft,
        title=subject or None,
        metadata=_metadata(message, collector.names),
        notices=collector.notices,
    )


def header_text(raw: object) -> str:
    """A header field as text: encoded words by their charset or what they really are, raw bytes by detection."""
    if raw is None:
        return ""
    try:
        words = decode_header(raw)  # type: ignore[arg-type]
    except Exception:  # a field that the mail module cannot read is shown as it stands
        words = [(str(raw), None)]
    parts = [
        word if isinstance(word, str) else decode(word, None if charset == "unknown-8bit" else charset).text
        for word, charset in words
    ]
    return " ".join(clean("".join(parts)).split())


def _split(message: Message) -> tuple[dict[str, tuple[bytes, str | None]], list[tuple[str, str, bytes]]]:
    """First body of each kind with its charset, and attachments as (name, type, bytes)."""
    bodies: dict[str, tuple[bytes, str | None]] = {}
    attachments: list[tuple[str, str, bytes]] = []
    pending = [message]
    while pending:
        part = pending.pop(0)
        content_type = part.get_content_type()
        name = header_text(part.get_filename())
        if content_type == "message/rfc822":
            for inner in _messages(part):
                title = name or f"{header_text(inner.get('Subject')) or 'message'}.eml"
                attachments.append((title, content_type, inner.as_bytes()))
        elif part.is_multipart():
            pending[:0] = _messages(part)
        else:
            payload = part.get_payload(decode=True)
            data = payload if isinstance(payload, bytes) else b""
            is_attached = part.get_content_disposition() == "attachment" or bool(name)
            if content_type in _BODY_TYPES and not is_attached:
                bodies.setdefault(content_type, (data, part.get_content_charset()))
            elif is_attached and not (content_type.startswith("image/") and part.get("Content-ID")):
                attachments.append((name or "attachment", content_type, data))
    return bodies, attachments


def _messages(part: Message) -> list[Message]:
    payload = part.get_payload()
    return [one for one in payload if isinstance(one, Message)] if isinstance(payload, list) else []


def _body(bodies: dict[str, tuple[bytes, str | None]]) -> list[DraftBlock]:
    """The HTML body for its structure, unless the plain one holds far more text."""
    plain: list[DraftBlock] = []
    if "text/plain" in bodies:
        data, charset = bodies["text/plain"]
        plain = _plain_blocks(clean(decode(data, charset).text))
    if "text/html" in bodies:
        data, charset = bodies["text/html"]
        structured = read_web_page(data, "text/html", charset, whole_page=True).as_blocks()
        if 2 * _length(structured) >= _length(plain):
            return structured
    return plain


def _plain_blocks(text: str) -> list[DraftBlock]:
    blocks: list[DraftBlock] = []
    for paragraph in _BLANK_LINES.split(text):
        lines = [line for line in paragraph.split("\n") if line.strip()]
        if lines and all(line.startswith(">") for line in lines):
            blocks.append(DraftBlock(BlockType.QUOTE, _QUOTED.sub("", "\n".join(lines))))
        elif lines:
            blocks.append(DraftBlock(BlockType.PARAGRAPH, "\n".join(line.rstrip() for line in lines)))
    return blocks


def _length(blocks: list[DraftBlock]) -> int:
    return sum(len(block.text) + sum(len(cell) for row in block.rows for cell in row) for block in blocks)


def _metadata(message: Message, attachments: list[str]) -> dict[str, object]:
    found: dict[str, object] = {
        name: value for field, name in _KEPT_FIELDS.items() if (value := header_text(message.get(field)))
    }
    with contextlib.suppress(TypeError, ValueError, OverflowError):
        found["created"] = parsedate_to_datetime(str(message.get("Date"))).isoformat()
    if attachments:
        found["attachments"] = attachments[:200]
    return found
