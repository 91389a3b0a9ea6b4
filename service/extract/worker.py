"""The parser process: reads requests from standard input, one after the other, and writes the answers.
The first frame it writes says that it is ready.

Started as ``python -m service.extract.worker SETTINGS_JSON``; ends when its standard input is closed.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import signal
import sys
from typing import Any, BinaryIO

from service.config import ExtractSettings
from service.errors import ExtractionCrashed, ExtractionLimit, FuziError
from service.extract.guard.messages import LENGTH_BYTES, Task, error_message, frame, task_of, text_message
from service.extract.read.document import DocumentReader
from service.extract.tika.answer import Tika
from service.extract.tika.native import NativeTika

_GRACE_SECONDS = 5
_DEEPEST_CALL = 5000


def main() -> None:
    """Serve until standard input ends."""
    settings = ExtractSettings.model_validate_json(sys.argv[1])
    answers = _private_output()
    _limit_memory(settings.memory_mb)
    sys.setrecursionlimit(_DEEPEST_CALL)
    reader = DocumentReader(settings, _tika(settings))
    requests = sys.stdin.buffer
    answers.write(frame({"ready": True}))
    answers.flush()
    while header := requests.read(LENGTH_BYTES):
        message = json.loads(requests.read(int.from_bytes(header, "big")))
        task = task_of(message)
        _set_alarm(math.ceil(task.limit_seconds) + _GRACE_SECONDS)
        answer = _answer(reader, task, settings)
        _set_alarm(0)
        answers.write(frame(answer))
        answers.flush()


def _tika(settings: ExtractSettings) -> Tika:
    """The Tika of these settings; only its own client library is loaded."""
    if settings.adapter == "server":
        from service.extract.tika.server import ServerTika  # noqa: PLC0415

        return ServerTika(settings)
    return NativeTika(settings)


def _answer(reader: DocumentReader, task: Task, settings: ExtractSettings) -> dict[str, Any]:
    """The answer; one with ``is_last`` says that this process can be trusted with no other file."""
    try:
        return text_message(reader.read(task))
    except FuziError as error:
        return error_message(error)
    except MemoryError:
        limit = ExtractionLimit(f"reading needed more memory than {settings.memory_mb} MB", limit_mb=settings.memory_mb)
        return {**error_message(limit), "is_last": True}
    except RecursionError:
        return error_message(ExtractionLimit("the file is nested too deep"))
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"[:300]
        return error_message(ExtractionCrashed("the parser failed on this file", reason=reason))


def _private_output() -> BinaryIO:
    """Standard output for answers only: whatever a library prints goes to standard error from here on."""
    private = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return private


def _limit_memory(memory_mb: int) -> None:
    """Limit the data of this process and of its children.

    Not the address space: the native image of Tika reserves 32 GB of it and uses 130 MB.
    """
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource  # noqa: PLC0415  not on every platform

        resource.setrlimit(resource.RLIMIT_DATA, (memory_mb << 20, memory_mb << 20))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _set_alarm(seconds: int) -> None:
    """Have the kernel end this process, should the service die and leave it alone with an endless file."""
    if hasattr(signal, "alarm"):
        signal.alarm(seconds)


if __name__ == "__main__":
    main()
