"""The walker of `IBPLatentFeatures`: features of rows, weights summed out."""
