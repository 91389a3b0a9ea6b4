"""Why a search answered as it did: facts of the database, settings in force, and the reason of each passage."""

from service.explain.explanation import explain
from service.explain.facts import Facts, look

__all__ = ["Facts", "explain", "look"]
