"""Durations of states, and their interface."""
