"""Documents for agents: a Model Context Protocol server that finds and reads, and generates nothing."""

from service.agent.library import Library, OwnLibrary
from service.agent.mounted import AGENT_PATH, AgentEndpoint, serve_agents
from service.agent.server import create_server, serve_on_stdio

__all__ = ["AGENT_PATH", "AgentEndpoint", "Library", "OwnLibrary", "create_server", "serve_agents", "serve_on_stdio"]
