"""Judging, metrics and statistics; pure."""
