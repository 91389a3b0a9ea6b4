"""Tidy: what no text may hold, and which characters are Han."""
