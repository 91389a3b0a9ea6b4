"""OOXML: write into a copy of a Word or PowerPoint file what Tika would lose (numbers, levels, order of slides)."""
