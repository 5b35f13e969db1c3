"""n-gram models: the trie of all observed contexts, and interpolation along it."""
