"""Tika: the same question put to Tika in process or to a Tika server."""
