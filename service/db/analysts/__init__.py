"""Queries as the analysts' role: they read, for a limited time, and change nothing."""

from service.db.analysts.query import ROLE, Column, Rows, ask_as_analyst, list_views

__all__ = ["ROLE", "Column", "Rows", "ask_as_analyst", "list_views"]
