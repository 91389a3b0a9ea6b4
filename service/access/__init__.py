"""Who may use the service: keys, how often each may ask, and the log of who changed what."""

from service.access.audit import AuditLog, Outcome
from service.access.keyring import Keyring
from service.access.rate import RateLimit
from service.access.rows import KeyRecord

__all__ = ["AuditLog", "KeyRecord", "Keyring", "Outcome", "RateLimit"]
