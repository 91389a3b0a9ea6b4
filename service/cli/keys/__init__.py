"""``fuzi keys``: who may use the REST service."""
