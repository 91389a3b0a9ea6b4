"""The one error tree. Every leaf has a stable code, an HTTP status and says whether trying again can help.

FuziError
├── InvalidInput            422  the caller can mend it
│   ├── EmptyFile · InvalidMetadata · InvalidFilter · InvalidRequest · InvalidSettings · InvalidArchive
│   └── RangeNotSatisfiable 416
├── NotFound                404
│   ├── KeyNotFound
│   └── DocumentNotFound / CollectionNotFound / JobNotFound / PassageNotFound / AnswerNotHeld
├── Conflict                409
│   ├── KeyNameTaken · WrongKeyState
│   └── JobCancelled · WrongJobState · DatabaseNotEmpty
├── ExtractionFailed        422  this document cannot be read
│   └── Encrypted · Corrupt · Unsupported · NoText · ExtractionTimeout · ExtractionLimit · ExtractionCrashed
├── Unavailable             503  a part is out of reach; try again
│   ├── DatabaseUnavailable · ExtractorUnavailable · RerankerUnavailable · OriginalsUnavailable
│   ├── Overloaded · Stopping · ChatUnavailable
│   └── EmbedderUnavailable
│       └── ModelNotFollowed
├── EmbeddingFailed         502  the model answered, but with nonsense
│   └── EmbeddingDimension · EmbeddingRefused
├── ChatFailed              502  the chat model refuses, or what it writes is no use
│   └── EmptyAnswer
├── Unauthenticated         401  send an API key
│   └── KeyMissing · KeyInvalid
├── Forbidden               403  not with this key
│   └── ScopeMissing · OriginRefused
├── RateLimited             429
└── MethodNotAllowed · TooLarge · JobAbandoned · OriginalsIncomplete · ModelMismatch · NotMigrated · Misconfigured
"""

from service.errors.access import (
    Forbidden,
    KeyInvalid,
    KeyMissing,
    KeyNameTaken,
    KeyNotFound,
    OriginRefused,
    RateLimited,
    ScopeMissing,
    Unauthenticated,
    WrongKeyState,
)
from service.errors.answers import AnswerNotHeld, ChatFailed, ChatUnavailable, EmptyAnswer
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
    Stopping,
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
    PassageNotFound,
    RangeNotSatisfiable,
    TooLarge,
    WrongJobState,
)
from service.errors.root import (
    FuziError,
    error_of,
)

__all__ = [
    "AnswerNotHeld",
    "ChatFailed",
    "ChatUnavailable",
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
    "EmptyAnswer",
    "EmptyFile",
    "Encrypted",
    "ExtractionCrashed",
    "ExtractionFailed",
    "ExtractionLimit",
    "ExtractionTimeout",
    "ExtractorUnavailable",
    "Forbidden",
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
    "KeyInvalid",
    "KeyMissing",
    "KeyNameTaken",
    "KeyNotFound",
    "MethodNotAllowed",
    "Misconfigured",
    "ModelMismatch",
    "ModelNotFollowed",
    "NoText",
    "NotFound",
    "NotMigrated",
    "OriginRefused",
    "OriginalsIncomplete",
    "OriginalsUnavailable",
    "Overloaded",
    "PassageNotFound",
    "RangeNotSatisfiable",
    "RateLimited",
    "RerankerUnavailable",
    "ScopeMissing",
    "Stopping",
    "TooLarge",
    "Unauthenticated",
    "Unavailable",
    "Unsupported",
    "WrongJobState",
    "WrongKeyState",
    "error_of",
]
