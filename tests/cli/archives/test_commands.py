"""`fuzi backup`, `restore`, `export` and `import`: what they say, and their exit codes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from service.cli.archives.progress import amount
from tests.cli.running import Fuzi, answer
from tests.conftest import Databases


@pytest.fixture
def there(databases: Databases) -> Iterator[str]:
    with databases.fresh(migrated=False) as dsn:
        yield dsn


def test_a_database_goes_into_a_file_and_comes_back(fuzi: Fuzi, database: str, there: str, tmp_path: Path) -> None:
    here = {"FUZI_DATABASE__URL": database}
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("insert into rag.collection (name) values ('法务')")
    first = fuzi("backup", "all.tar", "--json", env=here)
    assert first.exit_code == 0, first.stderr
    report = answer(first)
    assert report["facts"]["counts"]["collections"] == 1
    assert report["size_bytes"] == (tmp_path / "all.tar").stat().st_size
    again = fuzi("backup", "all.tar", "--json", env=here)
    assert (again.exit_code, answer(again)["error"]["code"]) == (1, "invalid_input")
    assert "whole" in fuzi("backup", "all.tar", "--overwrite", env=here).stdout

    restored = fuzi("restore", "all.tar", env={"FUZI_DATABASE__URL": there})
    assert restored.exit_code == 0, restored.stderr
    assert "restored 0 documents" in restored.stdout
    refused = fuzi("restore", "all.tar", "--json", env={"FUZI_DATABASE__URL": there})
    assert (refused.exit_code, answer(refused)["error"]["code"]) == (1, "database_not_empty")
    other = {"FUZI_DATABASE__URL": there, "FUZI_EMBED__MODEL": "another"}
    mismatch = fuzi("restore", "all.tar", "--replace", "--json", env=other)
    assert (mismatch.exit_code, answer(mismatch)["error"]["code"]) == (1, "model_mismatch")

    exported = fuzi("export", "法务", "kb.tar", "--json", env={"FUZI_DATABASE__URL": there})
    assert (exported.exit_code, answer(exported)["document_count"]) == (0, 0)
    imported = fuzi("import", "kb.tar", "--collection", "副本", "--json", env=here)
    assert imported.exit_code == 0, imported.stderr
    assert answer(imported)["collection"] == "副本"
    nowhere = fuzi("export", "nothing", "no.tar", "--json", env=here)
    assert (nowhere.exit_code, answer(nowhere)["error"]["code"]) == (1, "collection_not_found")
    # each file is known by what it is
    for arguments in (("restore", "kb.tar"), ("import", "all.tar")):
        wrong = fuzi(*arguments, "--json", env=here)
        assert (wrong.exit_code, answer(wrong)["error"]["code"]) == (1, "invalid_archive")


def test_lost_originals_end_a_backup_and_an_export_with_their_code(
    fuzi: Fuzi, database: str, there: str, tmp_path: Path
) -> None:
    here = {"FUZI_DATABASE__URL": database}
    originals = tmp_path / "originals"
    here["FUZI_ORIGINALS__URL"] = originals.as_uri()
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text(f"值班安排在星期一公布，见{name}。")
    assert fuzi("ingest", "a.txt", "b.txt", env=here).exit_code == 0
    [gone, rotten] = sorted(path for path in originals.rglob("*.txt"))
    gone.unlink()
    rotten.write_bytes(b"something else")

    saved = fuzi("backup", "all.tar", "--json", env=here)
    report = answer(saved)
    assert (saved.exit_code, report["error"]["code"]) == (1, "originals_incomplete")
    assert (report["missing"], report["damaged"]) == (
        [gone.relative_to(originals).as_posix()],
        [rotten.relative_to(originals).as_posix()],
    )
    told = fuzi("backup", "all.tar", "--overwrite", env=here)
    assert (told.exit_code, "2 documents" in told.stdout) == (1, True)
    assert "originals_incomplete" in told.stderr
    assert gone.name in told.stderr
    exported = fuzi("export", "default", "kb.tar", "--json", env=here)
    assert (exported.exit_code, answer(exported)["error"]["code"]) == (1, "originals_incomplete")

    # all the rest can be had back
    target = {"FUZI_DATABASE__URL": there, "FUZI_ORIGINALS__URL": (tmp_path / "there").as_uri()}
    restored = fuzi("restore", "all.tar", "--json", env=target)
    assert (restored.exit_code, answer(restored)["facts"]["counts"]["documents"]) == (0, 2)
    imported = fuzi("import", "kb.tar", "--collection", "副本", "--json", env=target)
    assert imported.exit_code == 0, imported.stderr
    assert answer(imported)["outcomes"] == {"created": 2}  # without the two originals


@pytest.mark.parametrize("arguments", [("backup", "f"), ("restore", "f"), ("export", "default", "f"), ("import", "f")])
def test_a_server_cannot_do_it(fuzi: Fuzi, arguments: tuple[str, ...]) -> None:
    result = fuzi(*arguments, "--url", "http://127.0.0.1:8000")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "database itself" in " ".join(result.stderr.split())


def test_progress_counts_what_is_done() -> None:
    assert amount("indexes", 0, None) == ""
    assert amount("database", 2_000_000, None) == "2.0 MB"
    assert amount("verify", 500_000, 2_000_000) == "500.0 kB / 2.0 MB"
    assert amount("storing", 3, 10) == "3 / 10"
