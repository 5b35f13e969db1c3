"""Sampler of `IBPLatentFeatures` over the features of rows; the weights are integrated out."""
