"""What keeps one document from being read or kept."""

from __future__ import annotations

from service.errors.root import FuziError


class ExtractionFailed(FuziError):
    """This document cannot be read; no other document is affected."""

    code = "extraction_failed"
    http_status = 422


class Encrypted(ExtractionFailed):
    """The file needs a password."""

    code = "encrypted"


class Corrupt(ExtractionFailed):
    """The file is damaged or cut off."""

    code = "corrupt"


class Unsupported(ExtractionFailed):
    """No text can be read from this type of file."""

    code = "unsupported"


class NoText(ExtractionFailed):
    """The file has no text layer (a scan) or nothing readable in it."""

    code = "no_text"


class ExtractionTimeout(ExtractionFailed):
    """Reading took longer than ``extract.timeout_seconds``."""

    code = "extraction_timeout"


class ExtractionLimit(ExtractionFailed):
    """Reading broke the memory, output or nesting limit (a decompression bomb does)."""

    code = "extraction_limit"


class ExtractionCrashed(ExtractionFailed):
    """The parser died on this file."""

    code = "extraction_crashed"


class JobAbandoned(FuziError):
    """Workers died on this upload as often as they may try it."""

    code = "job_abandoned"


class OriginalsIncomplete(FuziError):
    """A backup or an export was written, but without some originals, which the store has lost or damaged."""

    code = "originals_incomplete"
