"""Trains the local reranker on data sets, and measures by cross-validation what it is worth: docs/reranker.md."""
