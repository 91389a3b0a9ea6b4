"""Commands that move data: backup and restore of everything, export and import of one collection."""
