"""Archives: what goes in comes out, a plain tar reads them, and no byte can change unnoticed."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from service.archive import open_archive
from service.archive.blocks import BLOCK, format_facts, header, json_bytes
from service.archive.writer import new_archive
from service.errors import Conflict, InvalidArchive, InvalidInput, Unavailable

CONTENTS = {"database.dump": b"dump" * 1000, "originals/rag/2024/01/31/a.md": "正文".encode(), "originals/empty": b""}


def write(path: Path, contents: dict[str, bytes] = CONTENTS, *, overwrite: bool = False) -> Path:
    with new_archive(path, "fuzi-test", 1, overwrite=overwrite) as archive:
        for name, content in contents.items():
            with archive.member(name) as member:
                for start in range(0, len(content), 700):
                    member.write(content[start : start + 700])
        archive.finish({"colour": "蓝"})
    return path


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return write(tmp_path_factory.mktemp("archive") / "a").read_bytes()


def test_members_and_facts_come_back(tmp_path: Path) -> None:
    archive = open_archive(write(tmp_path / "a"), "fuzi-test", 1)
    assert {name: b"".join(archive.pieces(name)) for name in archive.members} == CONTENTS
    assert archive.manifest["colour"] == "蓝"
    assert [member.name for member in archive.below("originals")] == list(CONTENTS)[1:]
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o600
    with pytest.raises(InvalidArchive):
        archive.member("nothing")


def test_any_tar_reads_it(tmp_path: Path) -> None:
    with tarfile.open(write(tmp_path / "a")) as tar:
        names = ["format.json", *CONTENTS, "manifest.json", "manifest.sha256"]
        assert tar.getnames() == names
        for name, content in CONTENTS.items():
            read = tar.extractfile(name)
            assert read is not None
            assert read.read() == content


@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(position=st.integers(min_value=0), bit=st.integers(0, 7))
def test_a_changed_bit_is_found_wherever_it_is(whole: bytes, tmp_path: Path, position: int, bit: int) -> None:
    changed = bytearray(whole)
    changed[position % len(whole)] ^= 1 << bit
    refused(tmp_path, bytes(changed))


def test_every_byte_of_headers_and_padding_counts(whole: bytes, tmp_path: Path) -> None:
    content = {
        place
        for name, text in CONTENTS.items()
        for start in [whole.index(header(name, len(text))) + BLOCK]
        for place in range(start, start + len(text))
    }
    # a step that meets every field of a header over the headers
    for place in sorted(set(range(len(whole))) - content)[::7]:
        refused(tmp_path, whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])


def test_a_cut_or_longer_file_is_refused(whole: bytes, tmp_path: Path) -> None:
    for length in (0, 1, BLOCK, *range(0, len(whole), 997), len(whole) - 1):
        refused(tmp_path, whole[:length])
    refused(tmp_path, whole + b"\0")
    refused(tmp_path, whole + bytes(BLOCK))


def refused(folder: Path, content: bytes) -> None:
    path = folder / "changed"
    path.write_bytes(content)
    with pytest.raises(InvalidArchive):
        open_archive(path, "fuzi-test", 1)


def _evil(change: Callable[[tarfile.TarInfo], None]) -> bytes:
    """An archive whose second member is not what `ArchiveWriter` can write."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.GNU_FORMAT) as tar:
        first = tarfile.TarInfo("format.json")
        body = json_bytes(format_facts("fuzi-test", 1))
        first.size, first.mode = len(body), 0o600
        tar.addfile(first, io.BytesIO(body))
        member = tarfile.TarInfo("originals/x")
        member.mode = 0o600
        change(member)
        tar.addfile(member, io.BytesIO(b"evil"[: member.size]))
    return buffer.getvalue()


@pytest.mark.parametrize(
    "values",
    [
        {"name": "../x"},
        {"name": "originals/../../x"},
        {"name": "/etc/passwd"},
        {"name": "originals//x"},
        {"name": "originals/./x"},
        {"name": "originals/.hidden"},
        {"name": "c:\\x"},
        {"name": "x" * 101},
        {"type": tarfile.SYMTYPE, "linkname": "/etc/passwd"},
        {"type": tarfile.LNKTYPE, "linkname": "../x"},
        {"type": tarfile.DIRTYPE},
        {"type": tarfile.CHRTYPE},
        {"type": tarfile.FIFOTYPE},
        {"mode": 0o4755},
        {"uname": "root"},
    ],
    ids=str,
)
def test_members_that_leave_the_archive_are_refused(tmp_path: Path, values: dict[str, object]) -> None:
    def change(member: tarfile.TarInfo) -> None:
        for name, value in values.items():
            setattr(member, name, value)

    refused(tmp_path, _evil(change))
    assert list(tmp_path.iterdir()) == [tmp_path / "changed"]


@pytest.mark.parametrize("content", [b"%PDF-1.7 something else", b"", bytes(1024), b"\x1f\x8b" + bytes(2000)])
def test_foreign_files_are_refused(tmp_path: Path, content: bytes) -> None:
    refused(tmp_path, content)


def test_other_formats_and_newer_versions_are_named(tmp_path: Path) -> None:
    path = write(tmp_path / "a")
    with pytest.raises(InvalidArchive, match="this is a fuzi-test, not a fuzi-backup"):
        open_archive(path, "fuzi-backup", 1)
    with pytest.raises(InvalidArchive, match="newer version"):
        open_archive(path, "fuzi-test", 0)
    with pytest.raises(InvalidInput):
        open_archive(tmp_path / "nowhere", "fuzi-test", 1)


def test_a_file_that_changes_after_it_was_checked_is_found(tmp_path: Path) -> None:
    path = write(tmp_path / "a")
    archive = open_archive(path, "fuzi-test", 1)
    with path.open("r+b") as file:
        file.seek(archive.member("database.dump").offset)
        file.write(b"X")
    with pytest.raises(InvalidArchive):
        list(archive.pieces("database.dump"))


def test_nothing_half_written_gets_the_name(tmp_path: Path) -> None:
    path = write(tmp_path / "a")
    before = path.read_bytes()
    with pytest.raises(InvalidInput, match="--overwrite"):
        write(path)
    with pytest.raises(RuntimeError):
        _break_off(path)
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["a"]
    write(path, {"x": b"new"}, overwrite=True)
    assert path.read_bytes() != before
    with pytest.raises(InvalidInput):
        write(tmp_path / "no folder" / "a")
    with pytest.raises(InvalidInput):
        write(tmp_path)


def _break_off(path: Path) -> None:
    with new_archive(path, "fuzi-test", 1, overwrite=True) as archive, archive.member("x") as member:
        member.write(b"half")
        raise RuntimeError


def test_a_killed_writer_leaves_the_old_file_and_does_not_block_the_next(tmp_path: Path) -> None:
    path = write(tmp_path / "a")
    before = path.read_bytes()
    code = (
        "import os, sys\n"
        "from pathlib import Path\n"
        "from service.archive import new_archive\n"
        "with new_archive(Path(sys.argv[1]), 'fuzi-test', 1, overwrite=True) as archive:\n"
        "    with archive.member('x') as member:\n"
        "        member.write(b'half' * 100_000)\n"
        "        os.kill(os.getpid(), 9)\n"
    )
    killed = subprocess.run([sys.executable, "-c", code, str(path)], check=False, env={**os.environ, "PYTHONPATH": "."})
    assert killed.returncode == -9
    assert path.read_bytes() == before
    write(path, {"x": b"new"}, overwrite=True)
    assert list(open_archive(path, "fuzi-test", 1).members) == ["x"]


def test_two_writers_of_one_file_do_not_mix(tmp_path: Path) -> None:
    with new_archive(tmp_path / "a", "fuzi-test", 1) as archive:
        with pytest.raises(Conflict):
            write(tmp_path / "a")
        archive.finish({})
    open_archive(tmp_path / "a", "fuzi-test", 1)


def test_a_full_disk_is_named() -> None:
    with pytest.raises((Unavailable, InvalidInput)):
        write(Path("/proc/self/fuzi"))


def test_names_that_no_reader_takes_cannot_be_written() -> None:
    for name in ("", "/a", "a/", "../a", "a b", "中文", "a" * 101):
        with pytest.raises(ValueError, match="name of a member"):
            header(name, 0)
