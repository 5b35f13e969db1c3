"""Durations of states: a module each, and what the chain asks of them."""
