"""The splitters of LangChain and LlamaIndex, chunks of 200 characters with 50 of overlap.

Runs in the peers' virtual environment; ``split_benchmark`` uses it where all packages are in one.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.benchmarks.bench.load.drive import speak

CHINESE_SEPARATORS = ["\n\n", "\n", "。", "！", "？", "；", "，", " ", ""]
CHUNK_SIZE = 200


def rivals() -> dict[str, Callable[[str], int]]:
    """Numbers of chunks they cut a text into; LlamaIndex counts characters here, faster than its default tokenizer."""
    from langchain_text_splitters import RecursiveCharacterTextSplitter  # noqa: PLC0415 - where it is installed
    from llama_index.core.node_parser import SentenceSplitter  # noqa: PLC0415

    chinese = RecursiveCharacterTextSplitter(
        separators=CHINESE_SEPARATORS, chunk_size=CHUNK_SIZE, chunk_overlap=CHUNK_SIZE // 4
    )
    default = RecursiveCharacterTextSplitter(chunk_size=CHUNK_SIZE, chunk_overlap=CHUNK_SIZE // 4)
    llama = SentenceSplitter(chunk_size=CHUNK_SIZE, chunk_overlap=CHUNK_SIZE // 4, tokenizer=list)
    return {
        "LangChain, Chinese separators": lambda text: len(chinese.split_text(text)),
        "LangChain, defaults": lambda text: len(default.split_text(text)),
        "LlamaIndex SentenceSplitter": lambda text: len(llama.split_text(text)),
    }


async def handle(request: dict[str, Any]) -> dict[str, Any]:
    """``open`` says who is here; ``split`` gives the processor time of each for all texts of a file."""
    if request["do"] == "open":
        return {}
    texts = json.loads(Path(request["texts"]).read_text(encoding="utf-8"))
    seconds = {}
    for name, count in rivals().items():
        count("预热。")
        begin = time.process_time()
        for text in texts:
            count(text)
        seconds[name] = time.process_time() - begin
    return {"seconds": seconds}


if __name__ == "__main__":
    speak(handle)
