"""PDF: lines of laid-out pages → paragraphs, without what the layout added."""
