"""Queries as the analysts' role: they read, for a limited time, and change nothing."""

from service.db.analysts.login import ROLE, analyst_login
from service.db.analysts.query import Column, Rows, ask_as_analyst, list_views

__all__ = ["ROLE", "Column", "Rows", "analyst_login", "ask_as_analyst", "list_views"]
