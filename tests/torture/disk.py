"""The disk of the originals, which can be full: a small file system where mounting is allowed, else a limit.

Both make real writes of the serving process fail: ENOSPC from the file system, or EFBIG by RLIMIT_FSIZE, which the
process gets while it runs.
"""

from __future__ import annotations

import errno
import resource
import shutil
import subprocess
from pathlib import Path

import psutil

_SIZE = "48m"
_SMALLEST_FILE = 1


class SmallDisk:
    """The folder of the originals, on a file system of its own if this machine lets us."""

    def __init__(self, home: Path) -> None:
        self.folder = home / "originals"
        self.folder.mkdir()
        mount = ["mount", "-t", "tmpfs", "-o", f"size={_SIZE},mode=0755", "fuzi-torture", str(self.folder)]
        try:
            self.is_mounted = subprocess.run(mount, capture_output=True, check=False).returncode == 0
        except FileNotFoundError:
            self.is_mounted = False
        self.kind = "a full file system, and a limit" if self.is_mounted else "a limit"
        self._filler = self.folder / "filler"

    def fill(self, writer: int, *, by_limit: bool) -> None:
        """From now on the process ``writer`` can write nothing more."""
        if by_limit or not self.is_mounted:
            _limit(writer, _SMALLEST_FILE)
            return
        with self._filler.open("ab", buffering=0) as file:
            try:
                while True:
                    file.write(bytes(1024 * 1024))
            except OSError as error:
                if error.errno != errno.ENOSPC:
                    raise

    def free(self, writer: int) -> None:
        """There is room again."""
        self._filler.unlink(missing_ok=True)
        _limit(writer, resource.RLIM_INFINITY)

    def close(self, *, keep: bool) -> None:
        """Give the file system back; what it holds is copied into the home first when it is to be kept."""
        if not self.is_mounted:
            return
        if keep:
            shutil.copytree(self.folder, self.folder.with_name("originals-kept"), dirs_exist_ok=True)
        subprocess.run(["umount", "--lazy", str(self.folder)], check=True)


def _limit(pid: int, size: int) -> None:
    """Limit a process, and those that it has started, which inherit it."""
    try:
        for process in (psutil.Process(pid), *psutil.Process(pid).children()):
            process.rlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
    except psutil.NoSuchProcess:
        return  # killed meanwhile
