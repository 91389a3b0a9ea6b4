"""Flows between the service and archives: backup and restore of everything, export and import of one collection."""
