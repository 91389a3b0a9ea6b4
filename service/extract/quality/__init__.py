"""Quality: does a text look like something that a person wrote, and what to say when it does not."""
