"""The one error tree. Every leaf has a stable code, an HTTP status and says whether trying again can help.

FuziError
├── InvalidInput            422  the caller can mend it
│   ├── EmptyFile · InvalidMetadata · InvalidFilter · InvalidRequest · InvalidSettings · InvalidArchive
│   └── RangeNotSatisfiable 416
├── NotFound                404
│   └── DocumentNotFound / CollectionNotFound / JobNotFound
├── Conflict                409
│   └── JobCancelled · WrongJobState · DatabaseNotEmpty
├── ExtractionFailed        422  this document cannot be read
│   └── Encrypted · Corrupt · Unsupported · NoText · ExtractionTimeout · ExtractionLimit · ExtractionCrashed
├── Unavailable             503  a part is out of reach; try again
│   ├── DatabaseUnavailable · ExtractorUnavailable · RerankerUnavailable · OriginalsUnavailable
│   └── EmbedderUnavailable
│       └── ModelNotFollowed
├── EmbeddingFailed         502  the model answered, but with nonsense
│   └── EmbeddingDimension · EmbeddingRefused
└── MethodNotAllowed · TooLarge · JobAbandoned · OriginalsIncomplete · ModelMismatch · NotMigrated · Misconfigured
"""

from __future__ import annotations

from typing import Any, ClassVar


class FuziError(Exception):
    """Root of all errors this service raises on purpose.

    ``code`` is stable; ``retryable``: the same call may succeed later; ``details``: JSON-ready facts, never secrets.
    """

    code: ClassVar[str] = "internal_error"
    http_status: ClassVar[int] = 500
    retryable: ClassVar[bool] = False

    def __init__(self, message: str, **details: Any) -> None:
        super().__init__(message)
        self.message, self.details = message, details


class InvalidInput(FuziError):
    """The request breaks a documented rule; the message says which."""

    code = "invalid_input"
    http_status = 422


class EmptyFile(InvalidInput):
    """The file has no bytes."""

    code = "empty_file"


class InvalidMetadata(InvalidInput):
    """Metadata is no JSON object, or holds what PostgreSQL cannot keep (NaN, numbers beyond double)."""

    code = "invalid_metadata"


class InvalidFilter(InvalidInput):
    """A search filter does not follow the filter grammar."""

    code = "invalid_filter"


class InvalidRequest(InvalidInput):
    """A field is missing, unknown, of the wrong type or out of its bounds; ``details.problems`` names each place."""

    code = "invalid_request"


class InvalidSettings(InvalidInput):
    """Settings contradict one another or leave their bounds."""

    code = "invalid_settings"


class InvalidArchive(InvalidInput):
    """A backup or an exported collection is cut, changed, foreign, or of a newer version."""

    code = "invalid_archive"


class RangeNotSatisfiable(InvalidInput):
    """The `Range` of a download lies beyond the end of the file; ``details`` has its size."""

    code = "range_not_satisfiable"
    http_status = 416


class NotFound(FuziError):
    """The named thing does not exist (or is not visible to the caller)."""

    code = "not_found"
    http_status = 404


class DocumentNotFound(NotFound):
    """No document has this id."""

    code = "document_not_found"


class CollectionNotFound(NotFound):
    """No collection has this name."""

    code = "collection_not_found"


class MethodNotAllowed(FuziError):
    """The path exists, but does not know this HTTP method."""

    code = "method_not_allowed"
    http_status = 405


class JobNotFound(NotFound):
    """No job has this id."""

    code = "job_not_found"


class Conflict(FuziError):
    """The request clashes with work under way."""

    code = "conflict"
    http_status = 409
    retryable = True


class JobCancelled(Conflict):
    """The upload was cancelled, overtaken by a newer one, or its document was deleted."""

    code = "job_cancelled"
    retryable = False


class DatabaseNotEmpty(Conflict):
    """A backup would take the place of what is in the database."""

    code = "database_not_empty"
    retryable = False


class WrongJobState(Conflict):
    """The job cannot be cancelled or retried any more; ``details`` may say how it stands."""

    code = "wrong_job_state"
    retryable = False


class TooLarge(FuziError):
    """A body, text or field is over its limit; ``details`` names the limit."""

    code = "too_large"
    http_status = 413


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


class Unavailable(FuziError):
    """A part the service depends on is out of reach."""

    code = "unavailable"
    http_status = 503
    retryable = True


class DatabaseUnavailable(Unavailable):
    """PostgreSQL does not answer."""

    code = "database_unavailable"


class ExtractorUnavailable(Unavailable):
    """The Tika server does not answer."""

    code = "extractor_unavailable"


class EmbedderUnavailable(Unavailable):
    """The embedding provider does not answer, or keeps refusing for now."""

    code = "embedder_unavailable"


class ModelNotFollowed(EmbedderUnavailable):
    """The database changed to an embedding model that this process cannot ask; the message says what to set."""

    code = "model_not_followed"


class RerankerUnavailable(Unavailable):
    """The reranker does not answer, refuses, or answers what is no use; searches go on without it."""

    code = "reranker_unavailable"


class OriginalsUnavailable(Unavailable):
    """The object store of the originals does not answer or is full."""

    code = "originals_unavailable"


class EmbeddingFailed(FuziError):
    """The embedding provider answered with something that cannot be stored."""

    code = "embedding_failed"
    http_status = 502


class EmbeddingDimension(EmbeddingFailed):
    """A vector has another dimension than the database; ``details`` has both."""

    code = "embedding_dimension"


class EmbeddingRefused(EmbeddingFailed):
    """The provider refuses the request for good (bad key, bad model, bad text)."""

    code = "embedding_refused"


class ModelMismatch(FuziError):
    """The settings name another embedding model than the one the stored vectors come from."""

    code = "model_mismatch"


class NotMigrated(FuziError):
    """The database schema is missing or older than this code."""

    code = "not_migrated"
    http_status = 503


class Misconfigured(FuziError):
    """The service cannot start with these settings or on this machine; the message says what to do."""

    code = "misconfigured"
