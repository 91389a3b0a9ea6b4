"""What a person can do about an error; the nearest class in the error tree answers."""

from __future__ import annotations

from service import errors

NEXT_STEPS: dict[type[errors.FuziError], str] = {
    errors.FuziError: "this should not happen: please report it with the trace above",
    errors.InvalidInput: "mend what the message names and run the command again",
    errors.EmptyFile: "check that the file was copied or downloaded completely",
    errors.InvalidMetadata: """give a JSON object, for example --metadata '{"department": "法务"}'""",
    errors.InvalidFilter: """see `fuzi search --help`; for example --metadata-filter '{"year": {"$gte": 2024}}'""",
    errors.InvalidSettings: "mend the FUZI_… variable that the message names (or the line in .env)",
    errors.InvalidArchive: "take another copy of the file, or make it anew where it came from",
    errors.NotFound: "look at `fuzi documents`",
    errors.CollectionNotFound: "look at `fuzi collections list`",
    errors.JobNotFound: "look at `fuzi jobs list`",
    errors.AnswerNotHeld: "ask again: the answer was cut and is not held any more",
    errors.Conflict: "look at `fuzi jobs list`; when work is under way, run the command again after it",
    errors.DatabaseNotEmpty: "restore into another FUZI_HOME or FUZI_DATABASE__URL, or add --replace",
    errors.Unauthenticated: "set FUZI_API_KEY to a valid key; who runs the server makes one by `fuzi keys create`",
    errors.Forbidden: "ask who runs the server for a key that is for this (`fuzi keys create`), and set FUZI_API_KEY",
    errors.KeyNotFound: "look at `fuzi keys list`",
    errors.KeyNameTaken: "rotate or revoke that key, or choose another name",
    errors.WrongKeyState: "look at `fuzi keys list`",
    errors.RateLimited: "wait as long as the message says, or raise FUZI_LIMITS__REQUESTS_PER_MINUTE",
    errors.TooLarge: "split the file, or raise FUZI_LIMITS__MAX_UPLOAD_MB",
    errors.ExtractionFailed: "open the file in its own program and save it anew, or leave it out",
    errors.Encrypted: "save a copy without the password and take that",
    errors.Corrupt: "open the file in its own program and save it anew",
    errors.Unsupported: "convert it to PDF, Word, HTML, Markdown or plain text",
    errors.NoText: "a scan needs OCR: install Tesseract with chi_sim, or take a file with a text layer",
    errors.ExtractionTimeout: "raise FUZI_EXTRACT__TIMEOUT_SECONDS, or split the file",
    errors.ExtractionLimit: "raise FUZI_EXTRACT__MEMORY_MB or FUZI_EXTRACT__MAX_CHARACTERS, if you trust the file",
    errors.ExtractionCrashed: "open the file in its own program and save it anew",
    errors.OriginalsIncomplete: "put the named files back, or upload or delete their documents; then run it again",
    errors.Unavailable: "run `fuzi doctor`, then try again",
    errors.DatabaseUnavailable: "run `fuzi db status` (or check FUZI_DATABASE__URL), then `fuzi doctor`",
    errors.ExtractorUnavailable: "check FUZI_EXTRACT__TIKA_URL, or set FUZI_EXTRACT__ADAPTER=native",
    errors.EmbedderUnavailable: "check FUZI_EMBED__BASE_URL and the provider, then run the command again",
    errors.ChatUnavailable: "check FUZI_CHAT__BASE_URL and the chat server; --extractive answers without it",
    errors.ChatFailed: "check FUZI_CHAT__MODEL and FUZI_CHAT__API_KEY; --extractive answers without the model",
    errors.OriginalsUnavailable: "check FUZI_ORIGINALS__URL, free space and permissions, then run the command again",
    errors.EmbeddingFailed: "check FUZI_EMBED__MODEL, FUZI_EMBED__DIMENSION and FUZI_EMBED__API_KEY",
    errors.ModelMismatch: "do one of the two that the message names, or use another FUZI_HOME",
    errors.NotMigrated: "run `fuzi migrate`",
    errors.Misconfigured: "run `fuzi doctor` for a check of every part",
}


def next_step(error: errors.FuziError) -> str | None:
    """The advice for this error, or None when the message already names a command."""
    if "`fuzi " in error.message:
        return None
    return next(NEXT_STEPS[kind] for kind in type(error).__mro__ if kind in NEXT_STEPS)
