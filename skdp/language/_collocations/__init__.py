"""Words in text without spaces, under collocations: kernels, sampler and stored samples."""
