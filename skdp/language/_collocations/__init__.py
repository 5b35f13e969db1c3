"""Segmentation into words and collocations: kernels, sampler and stored samples."""
