"""Numerical tools: kernels and their cache, SIMD, elementary functions, and random draws."""
