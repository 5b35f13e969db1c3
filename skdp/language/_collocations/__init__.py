"""Words in text without spaces, under collocations: kernels, walker and stored samples."""
