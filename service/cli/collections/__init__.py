"""``fuzi collections``: what collections there are, and the settings they have of their own."""
