"""One file per group of pages: parse the request, call a flow, show what came."""
