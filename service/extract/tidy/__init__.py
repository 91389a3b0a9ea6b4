"""Tidy: pure functions over text and draft blocks: cleaning, reflow, page furniture, quality."""
