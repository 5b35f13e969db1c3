"""Similarities of states: a module each, and what the walker asks of them."""
