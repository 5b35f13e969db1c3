"""n-grams: the trie of all contexts that were seen, and models that interpolate along it."""
