"""Fuzi from Python: ``from fuzi.client import FuziClient`` talks to a running server.

Nothing else is meant to be imported by others; the service itself lives in the package ``service``.
"""
