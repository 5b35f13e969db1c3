"""Student t emissions: sampler, model and kernels."""
