"""What the commands do between parsing and showing."""
