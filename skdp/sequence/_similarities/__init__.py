"""Similarities of states: a module each, and what the sampler asks of them."""
