"""pg_dump and pg_restore: find ones that are new enough, run them without showing the password."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from sqlalchemy import make_url

from service.db.embedded.bundle import bundled_programs
from service.errors import DatabaseUnavailable, Misconfigured

_DEBIAN = Path("/usr/lib/postgresql")
APPLICATION = "fuzi-programs"
"""Name of their sessions."""
_MOST_WORDS = 2000

type Program = Literal["pg_dump", "pg_restore"]


@dataclass(frozen=True, slots=True)
class Programs:
    """PostgreSQL's own programs for one server.

    Looked for in ``folder`` (setting ``database.programs``), else in the embedded bundle, on the PATH, and where
    Debian keeps versions side by side.
    """

    server_major: int
    folder: Path | None = None

    async def find(self, name: Program) -> Path:
        """The first program of this name that is at least as new as the server.

        Raises:
            Misconfigured: there is none; the message says what to install.
        """
        seen = []
        for candidate in _candidates(name, self.folder):
            major = await _major(candidate)
            if major is not None and major >= self.server_major:
                return candidate
            seen.append(f"{candidate} {'does not run' if major is None else f'is version {major}'}")
        raise Misconfigured(
            f"{name} of PostgreSQL {self.server_major} or newer is needed ({'; '.join(seen) or 'none is installed'}): "
            f"install postgresql-client-{self.server_major}, or name its folder in FUZI_DATABASE__PROGRAMS"
        )


def _candidates(name: str, folder: Path | None) -> Iterator[Path]:
    if folder is not None:
        yield folder / name
        return
    bundled = bundled_programs()
    if bundled is not None:
        yield bundled / name
    on_path = shutil.which(name)
    if on_path is not None:
        yield Path(on_path)
    versions = [path for path in _DEBIAN.glob(f"*/bin/{name}") if path.parts[-3].isdigit()]
    yield from sorted(versions, key=lambda path: int(path.parts[-3]), reverse=True)


async def _major(program: Path) -> int | None:
    """Major version of a program; None when it does not run."""
    try:
        process = await asyncio.create_subprocess_exec(
            program, "--version", stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL
        )
        said, _ = await process.communicate()
    except OSError:
        return None
    found = re.search(rb"\(PostgreSQL\) (\d+)", said)
    return int(found[1]) if found and process.returncode == 0 else None


class Running:
    """A program at work. Its complaints are collected meanwhile."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        assert process.stderr is not None  # noqa: S101 - asked for below
        self._complaints = asyncio.create_task(process.stderr.read())

    async def output(self, piece_bytes: int = 1024 * 1024) -> AsyncIterator[bytes]:
        """What it writes, in pieces."""
        assert self._process.stdout is not None  # noqa: S101 - asked for below
        while piece := await self._process.stdout.read(piece_bytes):
            yield piece

    async def feed(self, pieces: Iterable[bytes]) -> None:
        """Give it all of ``pieces`` and then the end of its input. One that ends early is not fed any further."""
        stdin = self._process.stdin
        assert stdin is not None  # noqa: S101 - asked for below
        try:
            for piece in pieces:
                stdin.write(piece)
                await stdin.drain()
            stdin.close()
            await stdin.wait_closed()
        except (BrokenPipeError, ConnectionResetError):
            return  # it says why when it is asked for its end

    async def end(self) -> tuple[int, str]:
        """Wait for its end; returns its exit code and what it complained of."""
        code = await self._process.wait()
        words = (await self._complaints).decode("utf-8", errors="replace").strip()
        return code, words[:_MOST_WORDS]

    async def must_end_well(self, what: str) -> None:
        """Wait for its end.

        Raises:
            DatabaseUnavailable: it failed.
        """
        code, words = await self.end()
        if code != 0:
            raise DatabaseUnavailable(f"{what} failed: {words or f'it ended with {code}'}")

    async def kill(self) -> None:
        """End it at once, if it still runs."""
        if self._process.returncode is None:
            self._process.kill()
        await self._process.wait()
        await asyncio.gather(self._complaints, return_exceptions=True)


@asynccontextmanager
async def running(program: Path, arguments: Sequence[str | Path], dsn: str | None = None) -> AsyncIterator[Running]:
    """Run a program, on the database ``dsn`` if one is given; it never outlives the block."""
    environment = {**os.environ, "LC_ALL": "C", "PGAPPNAME": APPLICATION}
    command = [str(program), *map(str, arguments)]
    if dsn is not None:
        url = make_url(dsn).set(drivername="postgresql")
        if url.password is not None:
            environment["PGPASSWORD"] = str(url.password)  # arguments can be seen by everybody on the machine
        command.append("--dbname=" + url.set(password=None).render_as_string(hide_password=False))
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=environment,
        start_new_session=True,  # Ctrl-C is ours to handle
    )
    program_at_work = Running(process)
    try:
        yield program_at_work
    finally:
        await program_at_work.kill()
