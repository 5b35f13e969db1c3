"""Sampler of `HDPTopicModel`."""
