"""Guard: parser processes that are reused, limited in time and memory, and replaced when they die."""
