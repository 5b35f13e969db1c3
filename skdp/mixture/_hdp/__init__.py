"""Sampler of the mixtures whose groups share components, and predictions from its samples."""
