"""The walker of `HDPTopicModel`."""
