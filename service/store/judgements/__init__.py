"""What people think of passages: kept with the search that returned them, and read back as judged questions."""

from service.store.judgements.keep import keep_judgement
from service.store.judgements.read import JudgedPassage, judged_passages

__all__ = ["JudgedPassage", "judged_passages", "keep_judgement"]
