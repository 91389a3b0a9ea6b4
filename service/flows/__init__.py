"""Flows around the two of `service/ingest.py` and `service/search.py`: what happens to documents and jobs."""
