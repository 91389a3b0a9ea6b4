"""Archives: tar files whose every byte is accounted for. They carry backups and exported collections.

An archive is a plain tar (any `tar` lists and unpacks it), laid out in one way only: `format.json` first, then the
members, `manifest.json` with size and SHA-256 of each member, and `manifest.sha256` last. Headers hold a name and a
size, everything else in them is fixed. So a reader can tell what each byte must be, and a changed one is found
wherever it lies. Links, folders, devices and names that leave the archive cannot be expressed.
"""

from service.archive.reader import Archive, Member, open_archive
from service.archive.writer import ArchiveWriter, new_archive

__all__ = ["Archive", "ArchiveWriter", "Member", "new_archive", "open_archive"]
