"""``fuzi reembed``: change the embedding model, and show how far the change is."""
