"""Files as people have them: nine kinds of text with marked entities."""
