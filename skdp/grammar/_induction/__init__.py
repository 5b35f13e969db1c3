"""Grammars of sentences: layout, counts, updates, coordinate ascent."""
