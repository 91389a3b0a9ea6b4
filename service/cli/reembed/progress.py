"""The progress bar of a change of the embedding model."""

from __future__ import annotations

from service.cli.progress_bar import StagedBar


class ReembedProgress(StagedBar):
    """A `Watch`: its bar is over all chunks."""

    def filled(self, done: int, total: int) -> None:
        """See `Watch`."""
        self._count(done, total)
