"""Results as JSON files, found again by name and compared."""
