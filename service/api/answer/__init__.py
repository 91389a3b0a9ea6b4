"""Answers over HTTP: whole, or as a stream of events that can be gone on with."""
