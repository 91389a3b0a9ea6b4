"""Structure: XHTML, HTML, Markdown and plain text to draft blocks, and draft blocks to text with exact spans."""
