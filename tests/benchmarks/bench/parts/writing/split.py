"""Splitting beside LangChain and LlamaIndex, by processor time: all take the same texts, in turns."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from service.types import ExtractedText
from tests.benchmarks.bench.load.subject import subject
from tests.benchmarks.bench.options import Bench
from tests.benchmarks.bench.rows import Row, against
from tests.benchmarks.split_benchmark import inputs, ours, seconds

_SPLITTERS = {"laws": ours("sentence"), "manual": ours("structure")}
_CHARACTERS = 400_000


def run(bench: Bench) -> Iterator[Row]:
    """Characters a second; Fuzi makes parents, children and token estimates, the others one level of chunks."""
    file = bench.folder / "texts.json"
    for name, documents, characters in _texts():
        bench.tell(f"split: {name}")
        splitter, kind = _SPLITTERS[name], "sentence" if name == "laws" else "structure"
        file.write_text(json.dumps([each.text for each in documents], ensure_ascii=False), encoding="utf-8")
        splitter(documents[0])
        mine, others = float("inf"), dict[str, float]()
        with subject("tests.benchmarks.bench.peers.split_peer", log=bench.log, python=bench.peers_python) as peer:
            for _ in range(bench.rounds):
                mine = min(mine, seconds(splitter, documents, 1)[0])
                for rival, took in peer.ask(do="split", texts=str(file))["seconds"].items():
                    others[rival] = min(others.get(rival, took), took)
        for rival, took in others.items():
            rates = characters / mine / 1e6, characters / took / 1e6
            yield against("split", f"{name}, strategy {kind}", rates[0], "M characters/s", rival, rates[1])


def _texts() -> Iterator[tuple[str, Sequence[ExtractedText], int]]:
    """Some documents of both kinds, with their characters."""
    for each in inputs([]):
        name = each.name.partition(",")[0]
        if name in _SPLITTERS:
            chosen, characters = list[ExtractedText](), 0
            for document in each.documents:
                chosen.append(document)
                characters += len(document.text)
                if characters > _CHARACTERS:
                    break
            yield name, chosen, characters
