"""Trying settings of the search on one half of the questions, and the best of them on the other half."""
