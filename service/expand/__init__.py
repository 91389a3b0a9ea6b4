"""Child candidates to parent passages."""

from service.expand.passages import expand

__all__ = ["expand"]
