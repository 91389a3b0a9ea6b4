"""What parent and parser process say to each other: frames of a length and JSON.

JSON and not pickle: a parser that a hostile file has taken over must not be able to run code in the service.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from service import errors
from service.types import ExtractedText, ExtractRequest
from service.types.extracted import extracted_of

LENGTH_BYTES = 8
"""A frame is its length in bytes, big-endian, then that many bytes of JSON in UTF-8."""

_RAISED = {
    leaf.code: leaf
    for leaf in (
        errors.EmptyFile,
        errors.Encrypted,
        errors.Corrupt,
        errors.Unsupported,
        errors.NoText,
        errors.ExtractionTimeout,
        errors.ExtractionLimit,
        errors.ExtractionCrashed,
        errors.ExtractorUnavailable,
        errors.Misconfigured,
    )
}


def frame(message: dict[str, Any]) -> bytes:
    """Bytes of one message."""
    body = json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
    return len(body).to_bytes(LENGTH_BYTES, "big") + body


@dataclass(frozen=True, slots=True)
class Task:
    """What a parser process is asked: read a file, by OCR or not, within so many seconds."""

    request: ExtractRequest
    ocr: bool
    limit_seconds: float


def task_message(task: Task) -> dict[str, Any]:
    """A task as JSON."""
    return {**asdict(task), "request": {**asdict(task.request), "path": str(task.request.path)}}


def task_of(message: dict[str, Any]) -> Task:
    """The task of such a message."""
    request = message["request"]
    return Task(ExtractRequest(**{**request, "path": Path(request["path"])}), message["ocr"], message["limit_seconds"])


def text_message(extracted: ExtractedText) -> dict[str, Any]:
    """An extracted text as JSON."""
    return {"extracted": asdict(extracted)}


def error_message(error: errors.FuziError) -> dict[str, Any]:
    """An error of the error tree as JSON."""
    return {"error": {"code": error.code, "message": error.message, "details": dict(error.details)}}


def result_of(message: dict[str, Any]) -> ExtractedText:
    """The extracted text of an answer; an error in it is raised."""
    if error := message.get("error"):
        leaf = _RAISED.get(error["code"], errors.ExtractionCrashed)
        raise leaf(error["message"], **error["details"])
    try:
        return extracted_of(message["extracted"])
    except (KeyError, ValueError) as cause:  # of a process that a hostile file has taken over
        raise errors.ExtractionCrashed("the parser answered with something that is no text") from cause
