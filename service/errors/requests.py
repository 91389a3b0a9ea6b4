"""What a caller asks for wrongly, or at the wrong time."""

from __future__ import annotations

from service.errors.root import FuziError


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


class PassageNotFound(NotFound):
    """No passage has this id any more: its document was replaced or deleted since the search."""

    code = "passage_not_found"


class CollectionNotFound(NotFound):
    """No collection has this name."""

    code = "collection_not_found"


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


class MethodNotAllowed(FuziError):
    """The path exists, but does not know this HTTP method."""

    code = "method_not_allowed"
    http_status = 405


class TooLarge(FuziError):
    """A body, text or field is over its limit; ``details`` names the limit."""

    code = "too_large"
    http_status = 413
