"""Data sets and questions from files, with a complaint for every line that is not right."""
