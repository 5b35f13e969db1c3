"""Samplers of table counts of a Pitman-Yor process with given dishes (Du, 2012, chapter 3)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skdp._checks import (
    as_array,
    check_concentration,
    check_count,
    check_discount,
    check_integers,
    check_memory,
)
from skdp._numeric._random import Role, derive_stream, make_seed_sequence
from skdp.processes._kernels_table_counts import run_btigs, run_cmgs, run_ssa
from skdp.processes._stirling import StirlingRatios

_SAMPLERS = ("btigs", "cmgs", "ssa")


def sample_table_counts(
    counts: ArrayLike,
    base: ArrayLike,
    *,
    discount: float,
    concentration: float,
    sampler: str = "btigs",
    n_sweeps: int = 1,
    random_state: int | np.random.RandomState | np.random.Generator | None = None,
) -> NDArray[np.int64]:
    """Sample the number of tables for each dish of a Chinese restaurant, given its customers.

    The stationary distribution of all three samplers is [1]_, equation (3.3),

        p(t | n) propto (b | a)_T prod_k S^{n_k}_{t_k} H_k^{t_k},    T = sum_k t_k.

    The chain starts with one table per dish.

    Parameters
    ----------
    counts : array_like of int, shape (n_dishes,)
        Numbers of customers n_k of each dish.
    base : array_like of shape (n_dishes,)
        Probability H_k of each dish under the base distribution: in [0, 1], and positive if the
        dish has customers.
    discount : float
        Discount a, in [0, 1).
    concentration : float
        Concentration b, > -discount.
    sampler : {"btigs", "cmgs", "ssa"}, default="btigs"
        Blocked table indicators, collapsed multiplicities or seating arrangements. All are exact. A
        sweep of "cmgs" draws each t_k from its full conditional, so it mixes best; the time of a
        sweep grows with the number of customers in all three.
    n_sweeps : int, default=1
        Number of sweeps.
    random_state : int, RandomState, Generator or None, default=None
        Source of randomness.

    Returns
    -------
    table_counts : ndarray of int64, shape (n_sweeps, n_dishes)
        State of the chain after each sweep.

    Raises
    ------
    ValueError
        If an argument is out of range.

    References
    ----------
    .. [1] L. Du, "Non-parametric Bayesian Methods for Structured Topic Models", PhD thesis,
       Australian National University, 2012.

    Examples
    --------
    >>> from skdp.processes import sample_table_counts
    >>> counts, base = [50, 5, 0], [0.5, 0.3, 0.2]
    >>> draws = sample_table_counts(counts, base, discount=0.5, concentration=10.0, n_sweeps=3)
    >>> draws.shape
    (3, 3)
    """
    counts = check_integers(counts, "counts")
    base = as_array(base, "base")
    if counts.ndim != 1 or len(counts) == 0 or base.shape != counts.shape:
        raise ValueError(
            "counts and base must be 1-D, not empty and of the same length, "
            f"got shapes {counts.shape} and {base.shape}."
        )
    if (
        base.dtype.kind not in "iuf"
        or not np.all((base >= 0.0) & (base <= 1.0))
        or np.any((base == 0.0) & (counts > 0))
    ):
        raise ValueError("base must hold probabilities, positive where a dish has customers.")
    base = base.astype(np.float64)
    a = check_discount(discount)
    b = check_concentration(concentration, above=-a)
    if not isinstance(sampler, str) or sampler not in _SAMPLERS:
        raise ValueError(f"sampler must be one of {_SAMPLERS}, got {sampler!r}.")
    n_sweeps = check_count(n_sweeps, "n_sweeps", at_least=1)
    check_memory(8.0 * n_sweeps * len(counts), f"n_sweeps={n_sweeps} of {len(counts)} counts")
    out = np.empty((n_sweeps, len(counts)), dtype=np.int64)
    rng = derive_stream(make_seed_sequence(random_state), Role.SWEEP)
    customer_ptr = np.concatenate([[0], np.cumsum(counts)])
    if sampler == "ssa":
        run_ssa(counts, base, a, b, customer_ptr, out, rng)
        return out
    ratios = StirlingRatios.for_counts(int(counts.max()), a)
    if sampler == "cmgs":
        run_cmgs(counts, base, a, b, customer_ptr, ratios.values, ratios.row_ptr, out, rng)
    else:
        run_btigs(counts, base, a, b, ratios.values, ratios.row_ptr, out, rng)
    return out
