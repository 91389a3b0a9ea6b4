"""Files on this machine that last as long as an upload or a job, and what kill -9 leaves of them."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from pathlib import Path

UPLOAD_PREFIX = "fuzi-upload-"
JOB_PREFIX = "fuzi-job-"

STALE_AFTER_SECONDS = 86_400.0
"""Longer than any upload or job needs its file."""


def remove_left_behind(upload_folder: Path | None, older_than_seconds: float = STALE_AFTER_SECONDS) -> int:
    """Remove this user's temporary files and folders that no process can need any more; return how many.

    Args:
        upload_folder: where uploads are kept meanwhile; None is the system's temporary folder, where jobs work.
        older_than_seconds: seconds since the last change.
    """
    latest = time.time() - older_than_seconds
    folders = {Path(tempfile.gettempdir()), upload_folder or Path(tempfile.gettempdir())}
    found = [path for folder in folders for prefix in (UPLOAD_PREFIX, JOB_PREFIX) for path in folder.glob(f"{prefix}*")]
    return sum(_remove(path, latest) for path in found)


def _remove(path: Path, latest: float) -> bool:
    try:
        about = path.lstat()
        is_mine = not hasattr(os, "geteuid") or about.st_uid == os.geteuid()
        if not is_mine or about.st_mtime > latest:
            return False
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()
    except OSError:
        return False  # another process was faster, or it is not ours to remove
    return True
