"""Mixtures whose groups share their components: the walker, and what its samples say."""
