"""``fuzi sql``: a query as the analysts' role, and its answer as a table, CSV or JSON."""
