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
│   ├── DatabaseUnavailable · ExtractorUnavailable · RerankerUnavailable · OriginalsUnavailable · Overloaded
│   └── EmbedderUnavailable
│       └── ModelNotFollowed
├── EmbeddingFailed         502  the model answered, but with nonsense
│   └── EmbeddingDimension · EmbeddingRefused
└── MethodNotAllowed · TooLarge · JobAbandoned · OriginalsIncomplete · ModelMismatch · NotMigrated · Misconfigured
"""

from service.errors.documents import (
    Corrupt,
    Encrypted,
    ExtractionCrashed,
    ExtractionFailed,
    ExtractionLimit,
    ExtractionTimeout,
    JobAbandoned,
    NoText,
    OriginalsIncomplete,
    Unsupported,
)
from service.errors.parts import (
    DatabaseUnavailable,
    EmbedderUnavailable,
    EmbeddingDimension,
    EmbeddingFailed,
    EmbeddingRefused,
    ExtractorUnavailable,
    Misconfigured,
    ModelMismatch,
    ModelNotFollowed,
    NotMigrated,
    OriginalsUnavailable,
    Overloaded,
    RerankerUnavailable,
    Unavailable,
)
from service.errors.requests import (
    CollectionNotFound,
    Conflict,
    DatabaseNotEmpty,
    DocumentNotFound,
    EmptyFile,
    InvalidArchive,
    InvalidFilter,
    InvalidInput,
    InvalidMetadata,
    InvalidRequest,
    InvalidSettings,
    JobCancelled,
    JobNotFound,
    MethodNotAllowed,
    NotFound,
    RangeNotSatisfiable,
    TooLarge,
    WrongJobState,
)
from service.errors.root import (
    FuziError,
    error_of,
)

__all__ = [
    "CollectionNotFound",
    "Conflict",
    "Corrupt",
    "DatabaseNotEmpty",
    "DatabaseUnavailable",
    "DocumentNotFound",
    "EmbedderUnavailable",
    "EmbeddingDimension",
    "EmbeddingFailed",
    "EmbeddingRefused",
    "EmptyFile",
    "Encrypted",
    "ExtractionCrashed",
    "ExtractionFailed",
    "ExtractionLimit",
    "ExtractionTimeout",
    "ExtractorUnavailable",
    "FuziError",
    "InvalidArchive",
    "InvalidFilter",
    "InvalidInput",
    "InvalidMetadata",
    "InvalidRequest",
    "InvalidSettings",
    "JobAbandoned",
    "JobCancelled",
    "JobNotFound",
    "MethodNotAllowed",
    "Misconfigured",
    "ModelMismatch",
    "ModelNotFollowed",
    "NoText",
    "NotFound",
    "NotMigrated",
    "OriginalsIncomplete",
    "OriginalsUnavailable",
    "Overloaded",
    "RangeNotSatisfiable",
    "RerankerUnavailable",
    "TooLarge",
    "Unavailable",
    "Unsupported",
    "WrongJobState",
    "error_of",
]
