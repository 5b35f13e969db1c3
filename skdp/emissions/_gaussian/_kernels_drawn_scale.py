r"""Draws of the scale of covariances: see `ScalePrior`, and `_kernels` for the symbols.

| name | symbol | shape | meaning |
|---|---|---|---|
| n_free | n_b | (B,) int64 | rows of Q_b |
| roots | R_b | (B, W, W) | in the first n_b columns |
| fixed | F_b | (B, W, W) | fixed part of S_b |
| total | P | (W, W) | sum of the precisions on which the draw of S is conditioned |
| least | | float | see `factorize_posterior` |
"""

# mypy: ignore-errors

from skdp._numeric._numba import njit_inlined_source, njit_loop
from skdp.emissions._gaussian._kernels import draw_precision_factor, factorize
from skdp.emissions._gaussian._kernels_posterior import factorize_posterior

LOWEST = 1e-4
"""Lower bound of the harmonic mean of the eigenvalues of Q, whose expected value is 1."""


@njit_loop
def draw_scale(
    counts, masses, centers, scatter, mean, precision, dof, scale, n_free, roots, fixed, least,
    scratch, rng, out,
):  # fmt: skip
    """Draw S given the states, with mu and Sigma integrated out; False: a scale is not definite.
    Draws of Sigma_k, given which S is drawn, are discarded. `out` is a copy of `scale`.
    """
    width = mean.shape[1]
    factor, bartlett, precision_factor = scratch[0], scratch[1], scratch[2]
    total, product = scratch[3], scratch[4]
    for b in range(mean.shape[0]):
        total[:] = 0.0
        freedom = float(n_free[b])
        for k in range(b, counts.shape[0], mean.shape[0]):
            if counts[k] > 0.0:
                if not factorize_posterior(
                    k, (masses, centers, scatter), mean, precision, scale, least, factor, product,
                    bartlett[0],
                ):  # fmt: skip
                    return False
                draw_precision_factor(
                    factor, width, dof + counts[k], bartlett, precision_factor, rng
                )
                add_square(precision_factor, width, total)
                freedom += dof
        if n_free[b] > 0 and not draw_free_scale(
            n_free[b], freedom, roots[b], fixed[b], total, product, factor, bartlett,
            precision_factor, rng, out[b],
        ):  # fmt: skip
            return False
    return True


@njit_loop
def draw_scale_given_precisions(precision_factors, dof, n_free, roots, fixed, scratch, rng, out):
    """Draw S given all Sigma; the other arguments and the result are as in `draw_scale`."""
    n_blocks, width = out.shape[0], out.shape[1]
    n_components = precision_factors.shape[0]
    factor, bartlett, precision_factor = scratch[0], scratch[1], scratch[2]
    total, product = scratch[3], scratch[4]
    for b in range(n_blocks):
        total[:] = 0.0
        for k in range(b, n_components, n_blocks):
            add_square(precision_factors[k], width, total)
        freedom = n_free[b] + dof * (n_components // n_blocks)
        if n_free[b] > 0 and not draw_free_scale(
            n_free[b], freedom, roots[b], fixed[b], total, product, factor, bartlett,
            precision_factor, rng, out[b],
        ):  # fmt: skip
            return False
    return True


@njit_inlined_source
def add_square(factor, n, out):
    """Add U^T U of a lower triangular matrix of n rows to `out`."""
    for d in range(n):
        for e in range(n):
            x = 0.0
            for f in range(max(d, e), n):
                x += factor[f, d] * factor[f, e]
            out[d, e] += x


@njit_inlined_source
def draw_free_scale(
    n, freedom, roots, fixed, total, product, factor, bartlett, precision_factor, rng, out
):
    """Write F + R Q R^T, Q ~ Wishart(freedom, (n I + R^T P R)^-1); False: there is no inverse."""
    width = out.shape[0]
    for d in range(width):
        for i in range(n):
            product[d, i] = 0.0
            for e in range(width):
                product[d, i] += total[d, e] * roots[e, i]
    for i in range(width):
        for j in range(width):
            factor[i, j] = float(n) if i == j else 0.0
            if i < n and j < n:
                for d in range(width):
                    factor[i, j] += roots[d, i] * product[d, j]
    if not factorize(factor):
        return False
    draw_precision_factor(factor, n, freedom, bartlett, precision_factor, rng)
    if sum_inverse_squares(precision_factor, n, factor) * LOWEST > n:
        return True  # the block keeps its S
    for d in range(width):
        for i in range(n):  # of R U^T
            product[d, i] = 0.0
            for j in range(i + 1):
                product[d, i] += roots[d, j] * precision_factor[i, j]
    for d in range(width):
        for e in range(width):
            x = fixed[d, e]
            for i in range(n):
                x += product[d, i] * product[e, i]
            out[d, e] = x
    return True


@njit_inlined_source
def sum_inverse_squares(factor, n, inverse):
    """Return the trace of (U^T U)^-1 of a lower triangular U of n rows; `inverse` is scratch."""
    result = 0.0
    for j in range(n):
        for i in range(j, n):
            x = 1.0 if i == j else 0.0
            for e in range(j, i):
                x -= factor[i, e] * inverse[e, j]
            inverse[i, j] = x / factor[i, i]
            result += inverse[i, j] * inverse[i, j]
    return result
