"""A replica for searches: make it, drop it, and see how it is."""
