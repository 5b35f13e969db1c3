"""Similarities of states, and their interface."""
