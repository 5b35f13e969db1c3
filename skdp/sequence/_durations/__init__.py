"""Durations of states: a module for each kind, and their interface."""
