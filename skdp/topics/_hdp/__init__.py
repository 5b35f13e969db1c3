"""The sampler of `HDPTopicModel`."""
