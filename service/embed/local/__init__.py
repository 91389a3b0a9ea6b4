"""The model on this machine."""
