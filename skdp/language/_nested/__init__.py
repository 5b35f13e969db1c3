"""Words in text without spaces: numbering, kernels, walker and stored samples."""
