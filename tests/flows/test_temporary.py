"""What kill -9 leaves in the temporary folder is removed when it is old, and nothing else is."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest

from service.flows.temporary import JOB_PREFIX, STALE_AFTER_SECONDS, UPLOAD_PREFIX, remove_left_behind


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def grow_old(path: Path) -> None:
    long_ago = path.stat().st_mtime - STALE_AFTER_SECONDS - 60
    os.utime(path, (long_ago, long_ago))


def test_only_old_files_of_uploads_and_jobs_go(temporary: Path, tmp_path: Path) -> None:
    uploads = tmp_path / "uploads"
    uploads.mkdir()
    job, upload, elsewhere = (
        temporary / f"{JOB_PREFIX}a",
        temporary / f"{UPLOAD_PREFIX}b",
        uploads / f"{UPLOAD_PREFIX}c",
    )
    job.mkdir()
    (job / "original").write_bytes(b"x")
    fresh, foreign = temporary / f"{JOB_PREFIX}fresh", temporary / "other"
    for path in (upload, elsewhere, foreign):
        path.write_bytes(b"x")
    fresh.mkdir()
    for path in (job, upload, elsewhere, foreign):
        grow_old(path)

    assert remove_left_behind(uploads) == 3
    assert sorted(temporary.iterdir()) == [fresh, foreign]
    assert list(uploads.iterdir()) == []


def test_a_link_goes_and_what_it_points_at_stays(temporary: Path, tmp_path: Path) -> None:
    target = tmp_path / "precious"
    target.mkdir()
    link = temporary / f"{JOB_PREFIX}link"
    link.symlink_to(target)
    os.utime(link, (0, 0), follow_symlinks=False)

    assert remove_left_behind(None) == 1
    assert target.is_dir()
