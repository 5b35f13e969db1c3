"""The error of truncating the two-parameter GEM distribution."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skdp._checks import (
    check_concentration,
    check_count,
    check_discount,
    check_integers,
    check_memory,
)


def gem_truncation_error(
    n_components: ArrayLike, discount: float, concentration: float, n: int = 1
) -> NDArray[np.float64]:
    """Bound the error of truncating the two-parameter GEM distribution, in total variation.

    The infinite sequence of weights is truncated after the first K, the last of which takes the
    rest, as in ``sample_gem(K, ...)``. For one draw of a component, the error is the expected mass
    that is left out,

        E[R_K] = prod_{k=1}^K (b + k a) / (b + 1 + (k - 1) a),

    which is (b / (b + 1))^K without a discount. For n draws it is at most 1 - (1 - E[R_K])^n.

    Parameters
    ----------
    n_components : array_like of int
        Numbers of sticks K, >= 0. Time and memory are proportional to the largest unless the
        discount is 0.
    discount : float
        Discount a, in [0, 1).
    concentration : float
        Concentration b, > -discount.
    n : int, default=1
        Number of draws from the same weights, such as the points of a mixture, >= 1.

    Returns
    -------
    error : ndarray of the shape of `n_components`
        The total variation between n draws of components from truncated and from all weights,
        which is exact for n = 1 and an upper bound otherwise. The bound also holds for everything
        that depends on weights only through these draws, such as a partition or the observations
        of a mixture.

    Raises
    ------
    ValueError
        If an argument is out of range.

    See Also
    --------
    sample_gem : Draws the weights; with `tolerance`, the mass left out is bounded in each draw.

    Notes
    -----
    Draw components from all weights, and replace components after the first K by component K: this
    is a draw from the truncated weights, which differs from the original draw with probability
    E[1 - (1 - R_K)^n]. This is the total variation itself, because truncated weights never give a
    later component. It is at most 1 - (1 - E[R_K])^n by Jensen's inequality, which is at most
    n E[R_K]. The rest decreases geometrically without a discount, and as K^(1 - 1/a) with a
    discount. A similar bound for marginal densities is in [1]_.

    References
    ----------
    .. [1] H. Ishwaran and L. F. James, "Gibbs sampling methods for stick-breaking priors", Journal
       of the American Statistical Association 96, 2001.

    Examples
    --------
    >>> from skdp.processes import gem_truncation_error
    >>> gem_truncation_error([10, 100], discount=0.0, concentration=2.0, n=500).round(6)
    array([0.999841, 0.      ])
    >>> gem_truncation_error([10, 100], discount=0.5, concentration=2.0).round(6)
    array([0.333333, 0.047619])
    """
    sizes = check_integers(n_components, "n_components")
    a = check_discount(discount)
    b = check_concentration(concentration, above=-a)
    n = check_count(n, "n", at_least=1)
    if a == 0.0:
        log_rest = sizes * _log_left(np.array(1.0 / (1.0 + b)), np.array(b / (1.0 + b)))
    else:
        largest = int(sizes.max(initial=0))
        check_memory(40.0 * largest, f"n_components={largest} sticks")
        k = np.arange(1.0, largest + 1.0)
        total = b + 1.0 + a * (k - 1.0)
        sticks = _log_left((1.0 - a) / total, (b + a * k) / total)
        log_rest = np.concatenate([[0.0], np.cumsum(sticks)])[sizes]
    with np.errstate(divide="ignore"):  # if everything is left out, the error is 1
        return -np.expm1(n * np.log1p(-np.exp(log_rest)))


def _log_left(share: NDArray[np.float64], left: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return log(left), left = 1 - share, from the smaller of the two."""
    return np.where(share < 0.5, np.log1p(-share), np.log(left))
