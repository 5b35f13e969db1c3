"""Code that all emissions share: the interface of samplers, columns, marginals, clusters."""
