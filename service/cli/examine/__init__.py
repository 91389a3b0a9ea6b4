"""What ``fuzi doctor`` looks at beyond its parts: what is stored, what waits, and what this process may do."""
