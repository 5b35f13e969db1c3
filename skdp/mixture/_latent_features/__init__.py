"""The sampler of `IBPLatentFeatures`: features of rows, weights summed out."""
