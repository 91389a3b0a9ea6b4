"""The program as a person runs it: own processes, a real PostgreSQL, the real model."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import psycopg

from tests.cli.running import Program, answer, clean_environment, command, serving

LEAVE = "年假制度。工作满一年的员工每年有五天年假，满十年的有十天。年假须提前三天申请。"
PUMP = "# 水泵手册\n\n## 保养\n\n型号 ZX-4410 的水泵每半年更换一次轴承。润滑脂用三号锂基脂。\n"


def write_documents(folder: Path) -> Path:
    (folder / "制度").mkdir(parents=True)
    (folder / "制度" / "年假.txt").write_bytes(LEAVE.encode("gb18030"))
    (folder / "水泵.md").write_text(PUMP, encoding="utf-8")
    (folder / "坏的.docx").write_bytes(b"PK\x03\x04 cut off")
    (folder / ".hidden.md").write_text("看不见", encoding="utf-8")
    return folder


def test_a_folder_is_taken_in_searched_listed_and_deleted(program: Program, home: Path) -> None:
    folder = str(write_documents(home / "documents"))

    first = program("ingest", folder, "--json", "--metadata", '{"部门": "法务"}')
    assert first.returncode == 1, first.stderr
    outcomes = {result["source"]: result["outcome"] for result in answer(first)["results"]}
    assert outcomes == {"制度/年假.txt": "created", "水泵.md": "created", "坏的.docx": "failed"}
    assert next(r for r in answer(first)["results"] if r["outcome"] == "failed")["error"]["code"] == "corrupt"

    again = program("ingest", folder)
    assert again.returncode == 1
    assert [line.split()[:2] for line in again.stdout.splitlines()[1:6]] == [
        ["created", "0"], ["replaced", "0"], ["unchanged", "2"], ["updated", "0"], ["failed", "1"],
    ]  # fmt: skip
    assert "坏的.docx  corrupt" in again.stdout

    found = answer(program("search", "一年可以休几天假？", "--json", "--metadata-filter", '{"部门": "法务"}'))
    best = found["passages"][0]
    assert (best["source"], best["hits"][0]["vector_rank"]) == ("制度/年假.txt", 1)
    shown = program("search", "ZX-4410", "--top-n", "1", "--vector-weight", "0")
    assert shown.returncode == 0
    assert "水泵.md · default" in shown.stdout
    assert "vector – · BM25 1" in shown.stdout
    assert "型号 ⟦ZX-4410⟧ 的水泵" in shown.stdout

    listed = answer(program("documents", "--json", "--status", "ready"))
    assert {document["source"] for document in listed["documents"]} == {"制度/年假.txt", "水泵.md"}
    assert program("delete", "--source", "水泵.md", "--json").returncode == 2
    deleted = program("delete", "--source", "水泵.md", "--yes", "--json")
    assert [document["source"] for document in answer(deleted)["deleted"]] == ["水泵.md"]
    gone = program("delete", "--source", "水泵.md", "--yes", "--json")
    assert (gone.returncode, answer(gone)["error"]["code"]) == (1, "document_not_found")
    left = answer(program("search", "ZX-4410", "--json", "--vector-weight", "0"))
    assert left["passages"] == []

    report = answer(program("doctor", "--json"))
    parts = {check["part"]: check["state"] for check in report["checks"]}
    assert "fail" not in parts.values(), report
    assert {"home", "postgresql", "vector", "pg_search", "schema", "child_chunk_bm25", "embedding"} <= parts.keys()

    url = program("db", "url").stdout.strip()
    with psycopg.connect(url) as connection:
        assert connection.execute("select count(*) from rag.document").fetchone() == (2,)
    assert answer(program("db", "status", "--json"))["state"] == "ready"
    assert answer(program("db", "stop", "--json"))["stopped"] is True
    assert answer(program("db", "status", "--json"))["state"] == "stopped"


def test_the_same_commands_work_on_a_running_server(program: Program, home: Path, database: str) -> None:
    folder = str(write_documents(home / "documents"))
    with serving(home, FUZI_DATABASE__URL=database) as (process, url):
        ingested = program("ingest", folder, "--json", "--collection", "甲", "--url", url)
        assert ingested.returncode == 1, ingested.stderr
        assert answer(ingested)["totals"]["created"] == 2
        found = answer(program("search", "轴承多久换一次", "--json", "--collection", "甲", FUZI_URL=url))
        assert found["passages"][0]["source"] == "水泵.md"
        listed = answer(program("documents", "--json", "--source", "水泵", "--url", url))
        id_, copy = listed["documents"][0]["document_id"], home / "水泵的副本.md"
        for where in ((), ("--url", url)):
            saved = program("original", id_, str(copy), "--json", "--force", *where, FUZI_DATABASE__URL=database)
            assert answer(saved)["size_bytes"] == copy.stat().st_size
            assert copy.read_bytes() == (Path(folder) / "水泵.md").read_bytes()
        assert program("original", id_, str(copy), "--url", url).returncode == 2, "it is there already"
        deleted = program("delete", listed["documents"][0]["document_id"], "--yes", "--url", url)
        assert (deleted.returncode, deleted.stdout.split()[:2]) == (0, ["deleted", "水泵.md"])
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 130
    lost = program("search", "轴承", "--json", "--url", url)
    assert (lost.returncode, answer(lost)["error"]["code"]) == (1, "unavailable")


def ready_count(dsn: str) -> int:
    with psycopg.connect(dsn) as connection:
        row = connection.execute("select count(*) from rag.document where status = 'ready'").fetchone()
    return row[0] if row else 0


def test_an_interrupted_ingestion_goes_on_where_it_was(program: Program, home: Path, database: str) -> None:
    folder = home / "documents"
    folder.mkdir()
    for number in range(16):
        (folder / f"{number:02}.txt").write_text(f"第{number}号通知。" + LEAVE * 2, encoding="utf-8")
    process = subprocess.Popen(
        command("ingest", str(folder), "--json", "--concurrency", "2"),
        env=clean_environment(home, FUZI_DATABASE__URL=database),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )
    while ready_count(database) < 3:  # two are worked on at a time, so the command knows of one at least
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    printed, complaints = process.communicate(timeout=60)
    assert process.returncode == 130, complaints
    assert "Traceback" not in complaints
    document = json.loads(printed)
    assert document["interrupted"] is True
    done = document["totals"]["created"]
    assert 0 < done < 16

    whole = ready_count(database)
    assert done == whole, "what finished while it stopped is known as done"
    resumed = program("ingest", str(folder), "--json", FUZI_DATABASE__URL=database)
    assert resumed.returncode == 0, resumed.stderr
    totals = answer(resumed)["totals"]
    assert (totals["unchanged"], totals["unchanged"] + totals["created"]) == (whole, 16)
    assert ready_count(database) == 16


def test_a_reader_that_leaves_early_is_no_reason_to_shout(home: Path) -> None:
    reading, writing = os.pipe()
    process = subprocess.Popen(
        command("version", "--json"),
        env=clean_environment(home),
        stdout=writing,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )
    os.close(writing)
    os.close(reading)
    _, complaints = process.communicate(timeout=60)
    assert complaints == ""
    assert process.returncode == 1
