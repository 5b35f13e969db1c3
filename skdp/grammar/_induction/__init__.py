"""Grammars of sentences: layout, counts, updates and coordinate ascent."""
