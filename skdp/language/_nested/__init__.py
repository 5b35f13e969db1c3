"""Segmentation of text into words: numbering, kernels, sampler and stored samples."""
