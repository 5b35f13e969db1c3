"""Chains of topics and cuts: which runs of units of a document have a subject in common."""
