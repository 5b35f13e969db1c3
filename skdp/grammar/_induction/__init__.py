"""Grammars of sentences: layout, counts, updates, ascents and Gibbs sampling."""
