"""The database as a file and back: PostgreSQL's own programs, a snapshot to read, checks of what was restored."""
