"""How each provider wants to be asked, and how it answers."""
