"""Sampler of the topic model of documents of sections of paragraphs."""
