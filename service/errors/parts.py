"""What the service itself lacks: a part out of reach, a model that answers nonsense, settings that do not fit."""

from __future__ import annotations

from service.errors.root import FuziError


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


class RerankerUnavailable(Unavailable):
    """The reranker does not answer, refuses, or answers what is no use; searches go on without it."""

    code = "reranker_unavailable"


class OriginalsUnavailable(Unavailable):
    """The object store of the originals does not answer or is full."""

    code = "originals_unavailable"


class EmbedderUnavailable(Unavailable):
    """The embedding provider does not answer, or keeps refusing for now."""

    code = "embedder_unavailable"


class ModelNotFollowed(EmbedderUnavailable):
    """The database changed to an embedding model that this process cannot ask; the message says what to set."""

    code = "model_not_followed"


class Stopping(Unavailable):
    """The service is being stopped; what it had accepted goes on when it, or another one, runs again."""

    code = "stopping"


class Overloaded(Unavailable):
    """More searches are asked for than this process answers in time; `Retry-After` says when to try again."""

    code = "overloaded"


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
