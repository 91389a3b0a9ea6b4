"""Web: pages without what surrounds their content."""
