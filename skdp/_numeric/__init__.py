"""Numbers: kernels and their cache, vector instructions, elementary functions, random draws."""
