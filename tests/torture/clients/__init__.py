"""Those who use the service during a run, and the memory of what they were told."""
