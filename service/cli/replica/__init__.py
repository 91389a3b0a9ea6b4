"""``fuzi replica …``: a second PostgreSQL that answers searches."""
