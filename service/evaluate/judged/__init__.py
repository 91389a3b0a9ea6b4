"""Feedback as questions with known answers, and as a data set."""

from service.evaluate.judged.data_set import write_data_set
from service.evaluate.judged.questions import judged_questions

__all__ = ["judged_questions", "write_data_set"]
