"""Quadrature under the priors of the hyper-parameters: nodes, and weights that sum to 1."""

from math import lgamma

import numpy as np
from scipy.special import roots_sh_jacobi


def gamma_quadrature(shape: float, rate: float, step: float = 0.2):
    """Trapezoids in log b, which converge geometrically: here to full precision."""
    log_b = np.arange(np.log(1e-16) / shape, np.log((60.0 + 5.0 * shape) / rate), step)
    b = np.exp(log_b)
    log_density = shape * np.log(rate) - lgamma(shape) + shape * log_b - rate * b
    return b, step * np.exp(log_density)


def beta_quadrature(p: float, q: float, n_nodes: int = 24):
    """Gauss's rule: exact for polynomials in a, such as the joint of few words at a given b."""
    nodes, weights = roots_sh_jacobi(n_nodes, p + q - 1.0, p)
    return nodes, weights / weights.sum()
