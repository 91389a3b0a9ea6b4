from __future__ import annotations

import os
import unicodedata
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from service.cli.work.files import find_files, spell


def write(path: Path, content: str = "文") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding="utf-8")
    return path


def sources(*paths: Path, prefix: str = "") -> list[str]:
    return [file.source for file in find_files(paths, prefix)]


def test_sources_are_relative_to_the_given_folder_and_sorted(tmp_path: Path) -> None:
    for name in ("b.txt", "a/z.md", "a/b/c.md", "制度/差旅.docx"):
        write(tmp_path / name)
    assert sources(tmp_path) == ["a/b/c.md", "a/z.md", "b.txt", "制度/差旅.docx"]


def test_a_given_file_goes_by_its_name(tmp_path: Path) -> None:
    assert sources(write(tmp_path / "deep" / "差旅.md", "四个字节")) == ["差旅.md"]
    assert find_files([tmp_path / "deep" / "差旅.md"])[0].size_bytes == 12


def test_a_prefix_stands_in_front_of_every_source(tmp_path: Path) -> None:
    write(tmp_path / "a.txt")
    assert sources(tmp_path, prefix="合同/2024/") == ["合同/2024/a.txt"]
    assert sources(tmp_path, prefix="/") == ["a.txt"]


def test_hidden_files_are_passed_over_unless_given(tmp_path: Path) -> None:
    hidden = [write(tmp_path / name) for name in (".git/config", ".env", "a/.b.md", "~$报告.docx")]
    write(tmp_path / "a" / "c.md")
    assert sources(tmp_path) == ["a/c.md"]
    assert sources(hidden[1]) == [".env"]
    assert sources(tmp_path / ".git") == ["config"]


def test_loops_of_links_end_and_every_real_folder_is_read_once_by_its_own_name(tmp_path: Path) -> None:
    write(tmp_path / "root" / "z" / "one.md")
    (tmp_path / "root" / "a").symlink_to("z")
    (tmp_path / "root" / "z" / "up").symlink_to("..")
    (tmp_path / "root" / "self").symlink_to(".")
    assert sources(tmp_path / "root") == ["z/one.md"]


def test_a_link_that_leads_out_is_followed(tmp_path: Path) -> None:
    write(tmp_path / "elsewhere" / "one.md")
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / "link").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "root" / "two.md").symlink_to(tmp_path / "elsewhere" / "one.md")
    assert sources(tmp_path / "root") == ["link/one.md", "two.md"]


def test_a_dangling_link_is_named_and_a_pipe_is_not_opened(tmp_path: Path) -> None:
    (tmp_path / "gone.md").symlink_to("nowhere.md")
    os.mkfifo(tmp_path / "pipe.txt")
    (file,) = find_files([tmp_path])
    assert (file.source, file.size_bytes) == ("gone.md", 0)
    assert file.complaint is not None
    assert "No such file" in file.complaint
    assert find_files([tmp_path / "pipe.txt"])[0].complaint == "it is neither a file nor a folder"


def test_the_same_file_given_twice_is_taken_once(tmp_path: Path) -> None:
    file = write(tmp_path / "a.md")
    assert sources(tmp_path, file, tmp_path) == ["a.md"]


def test_two_files_of_one_source_do_not_replace_each_other(tmp_path: Path) -> None:
    first, second = write(tmp_path / "one" / "a.md"), write(tmp_path / "two" / "a.md")
    kept, refused = find_files([first.parent, second.parent])
    assert (kept.path, kept.complaint) == (first, None)
    assert refused.path == second
    assert refused.complaint is not None
    assert str(first) in refused.complaint


def test_sources_are_in_nfc_and_names_of_old_archives_are_readable(tmp_path: Path) -> None:
    write(tmp_path / unicodedata.normalize("NFD", "café.txt"))
    with open(os.fsencode(tmp_path) + b"/" + "报告.txt".encode("gb18030"), "wb") as file:
        file.write(b"x")
    assert sources(tmp_path) == ["café.txt", "报告.txt"]


@given(st.binary(min_size=1, max_size=40).filter(lambda name: b"\0" not in name and b"/" not in name))
def test_every_file_name_becomes_text_that_utf8_can_hold(name: bytes) -> None:
    spelled = spell(os.fsdecode(name))
    assert spelled.encode("utf-8")
    assert unicodedata.is_normalized("NFC", spelled)
