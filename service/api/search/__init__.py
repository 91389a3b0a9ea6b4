"""Searches over HTTP."""
