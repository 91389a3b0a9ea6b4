"""Child candidates to parent passages, with the words of the query in them."""

from service.expand.highlights import highlighted
from service.expand.passages import expand

__all__ = ["expand", "highlighted"]
