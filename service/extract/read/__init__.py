"""Read: what happens to one file inside a parser process."""
