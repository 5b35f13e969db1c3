"""Mixtures whose groups share their components: the sampler, and what its samples say."""
