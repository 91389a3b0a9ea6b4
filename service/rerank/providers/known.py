"""The providers that can be reached over HTTP, by name."""

from __future__ import annotations

from service.rerank.providers.cohere import COHERE
from service.rerank.providers.dashscope import DASHSCOPE
from service.rerank.providers.jina import JINA
from service.rerank.providers.nvidia import NVIDIA
from service.rerank.providers.tei import TEI

SHAPES = {shape.name: shape for shape in (COHERE, JINA, TEI, NVIDIA, DASHSCOPE)}
