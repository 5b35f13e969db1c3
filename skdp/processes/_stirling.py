"""Generalized Stirling numbers: the table of ratios, and functions of arrays."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skdp._checks import check_count, check_discount, check_integers
from skdp._numeric._numba import njit
from skdp.processes._kernels_stirling import fill_ratios, log_stirling, open_ratio, share_ratio
from skdp.processes._kernels_stirling_patches import (
    HEAD,
    LARGEST_DISCOUNT,
    PAIRS,
    SMALLEST_COUNT,
    clear_patches,
    count_patches,
)

_WHOLE_ROWS = 1_000  # rows up to this n hold all t
_MAX_ROWS = 10_000
_ROW_PAIRS = 640_000  # rows beyond hold t up to this / n: under 1.5 million pairs in all


class StirlingRatios:
    """Table of the ratios U and V of generalized Stirling numbers for one discount.

    ``U = S^{n+1}_t / S^n_t`` and ``V = S^{n+1}_{t+1} / S^n_t`` lie side by side, row by row, small
    n together. Ratios beyond the table come from patches after it: polynomials with a relative
    error of 1e-9 (a <= 0.999), which are filled when they are first needed by the functions with
    which kernels read the table. The size depends only on the arguments, and the table has at most
    2 million pairs.

    Parameters
    ----------
    values : ndarray of shape (n_pairs, 2)
        The pairs (U, V), ``row_ptr[-1]`` of them, and the patches.
    row_ptr : ndarray of shape (n_rows + 1,)
        The pair of (n, t) is ``values[row_ptr[n] + t]``.
    n_max : int
        The largest count for which the table is valid.
    discount : float
        The discount a.
    """

    def __init__(
        self, values: NDArray[np.float64], row_ptr: NDArray[np.int64], n_max: int, discount: float
    ) -> None:
        self.values = values
        self.row_ptr = row_ptr
        self.n_max = n_max
        self.discount = discount

    @classmethod
    def for_counts(
        cls, n_max: int, discount: float, *, max_rows: int = _MAX_ROWS
    ) -> StirlingRatios:
        """Make the table for counts up to `n_max`.

        Parameters
        ----------
        n_max : int
            Largest number of customers of one dish, >= 0.
        discount : float
            Discount a, in [0, 1).
        max_rows : int, default=10000
            Number of customers, at least 1000, up to which ratios are tabulated. Ratios for more
            customers are in the patches.

        Returns
        -------
        ratios : StirlingRatios
        """
        n_max = check_count(n_max, "n_max")
        discount = check_discount(discount)
        row_ptr, n_pairs = plan_ratios(n_max, discount, max_rows)
        return cls._in_place(np.empty((n_pairs, 2)), row_ptr, n_max, discount)

    @classmethod
    def _in_place(
        cls, values: NDArray[np.float64], row_ptr: NDArray[np.int64], n_max: int, discount: float
    ) -> StirlingRatios:
        """Make a table in a given array, whose length and row offsets are from `plan_ratios`."""
        fill_ratios(values, row_ptr, discount, np.zeros(np.diff(row_ptr).max() + 1))
        if len(values) > row_ptr[-1]:
            clear_patches(values, row_ptr[-1], n_max, discount)
        return cls(values, row_ptr, int(n_max), discount)


def plan_ratios(n_max: int, discount: float, max_rows: int) -> tuple[NDArray[np.int64], int]:
    """Return the offsets of the rows of a table, and the number of its pairs with the patches."""
    n = np.arange(min(n_max, max_rows) + 1)
    # Widths depend only on n, so that weights do not depend on the rest of the batch.
    widths = np.where(n <= _WHOLE_ROWS, n, _ROW_PAIRS // np.maximum(n, 1))
    row_ptr = np.concatenate([[0], np.cumsum(widths + 1)]).astype(np.int64)
    n_patched = 0
    if n_max >= SMALLEST_COUNT and discount <= LARGEST_DISCOUNT:
        rows, columns = count_patches(n_max, discount)
        n_patched = HEAD + rows * columns * PAIRS
    return row_ptr, int(row_ptr[-1]) + n_patched


@njit
def _log_stirling_each(n, t, a, values, row_ptr, out):
    """Write log S^n_t for each pair."""
    for i in range(n.shape[0]):
        out[i] = log_stirling(values, row_ptr, n[i], t[i], a)


@njit
def _ratios_each(n, t, a, values, row_ptr, out):
    """Write U and V for each pair."""
    for i in range(n.shape[0]):
        out[0, i] = share_ratio(values, row_ptr, n[i], t[i], a)
        out[1, i] = open_ratio(values, row_ptr, n[i], t[i], a)


def log_stirling_numbers(n: ArrayLike, t: ArrayLike, discount: float) -> NDArray[np.float64]:
    """Compute logarithms of generalized Stirling numbers S^n_{t,a}.

    They satisfy ``S^{n+1}_t = S^n_{t-1} + (n - a t) S^n_t``, ``S^0_0 = 1`` ([1]_, equation (3.4)).
    For a = 0 they are the unsigned Stirling numbers of the first kind.

    Parameters
    ----------
    n : array_like of int
        Numbers of customers N, >= 0.
    t : array_like of int
        Numbers of tables T, >= 0, of a shape that broadcasts with that of `n`.
    discount : float
        Discount a of the Pitman-Yor process, in [0, 1).

    Returns
    -------
    log_numbers : ndarray of the broadcast shape
        Natural logarithms; -inf if T > N or T = 0 < N.

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
    >>> import numpy as np
    >>> from skdp.processes import log_stirling_numbers
    >>> np.exp(log_stirling_numbers(4, [1, 2, 3, 4], discount=0.0)).round(6)
    array([ 6., 11.,  6.,  1.])
    """
    n, t, discount = _check_pairs(n, t, discount)
    out = np.empty(n.shape)
    _log_stirling_each(n.flatten(), t.flatten(), discount, *_NO_TABLE, out.reshape(-1))
    return out


def stirling_ratios(
    n: ArrayLike, t: ArrayLike, discount: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Compute ratios of neighboring generalized Stirling numbers, the weights in Gibbs samplers.

    Parameters
    ----------
    n : array_like of int
        Numbers of customers N, >= 0.
    t : array_like of int
        Numbers of tables T, 1 <= T <= N (0 if N = 0), of a shape that broadcasts with that of `n`.
    discount : float
        Discount a of the Pitman-Yor process, in [0, 1).

    Returns
    -------
    share : ndarray of the broadcast shape
        ``S^{n+1}_t / S^n_t``: a customer joins an old table.
    open : ndarray of the broadcast shape
        ``S^{n+1}_{t+1} / S^n_t``: a customer opens a new table.

    Raises
    ------
    ValueError
        If an argument is out of range.

    See Also
    --------
    log_stirling_numbers : Computes the numbers themselves, and defines them.

    Examples
    --------
    >>> from skdp.processes import stirling_ratios
    >>> share, open = stirling_ratios(4, 2, discount=0.0)  # 50 / 11 and 35 / 11
    >>> round(float(share), 6), round(float(open), 6)
    (4.545455, 3.181818)
    """
    n, t, discount = _check_pairs(n, t, discount)
    if np.any((t > n) | ((t == 0) & (n > 0))):
        raise ValueError("t must be between 1 and n (0 where n is 0): other ratios are 0 / 0.")
    out = np.empty((2, *n.shape))
    _ratios_each(n.flatten(), t.flatten(), discount, *_NO_TABLE, out.reshape(2, -1))
    return out[0], out[1]


_NO_TABLE = (np.empty((0, 2)), np.zeros(1, dtype=np.int64))


def _check_pairs(
    n: ArrayLike, t: ArrayLike, discount: float
) -> tuple[NDArray[np.int64], NDArray[np.int64], float]:
    """Validate the arguments that the functions of this module share, and broadcast n and t."""
    n, t = np.broadcast_arrays(check_integers(n, "n"), check_integers(t, "t"))
    return n, t, check_discount(discount)
