"""``fuzi ask`` and ``fuzi mcp``: questions of people and of agents."""
