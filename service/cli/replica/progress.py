"""The progress bar of a replica that is being made."""

from __future__ import annotations

from service.cli.progress_bar import StagedBar


class ReplicaProgress(StagedBar):
    """A `Watch`: its bar is over all rows."""

    def copied(self, done: int, total: int) -> None:
        """See `Watch`."""
        self._count(done, total)
