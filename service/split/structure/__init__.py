"""Cut a text by its headings and blocks."""

from service.split.structure.outline import Outline, find_outline
from service.split.structure.strategy import cut_by_structure

__all__ = ["Outline", "cut_by_structure", "find_outline"]
