"""What pages are made with: templates, languages, marked texts."""
