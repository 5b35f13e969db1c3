"""Words in text without spaces: numbering, kernels, sampler and stored samples."""
