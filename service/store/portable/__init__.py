"""Documents as they travel from one Fuzi to another: text, chunks and vectors, without keys of a database."""
