"""Containers: files that hold files; every part is read like an upload of its own."""
