"""The trace of a fit, its diagnostics and its export to ArviZ, and the alignment of labels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.fft import irfft, next_fast_len, rfft
from scipy.optimize import linear_sum_assignment
from scipy.stats import f, norm, rankdata, t

from skdp._numeric import Floats
from skdp._numeric._numba import as_readonly, njit

# Conversion of draws to the data container of ArviZ.


def make_inference_data(
    caller: str,
    groups: Mapping[str, Mapping[str, NDArray[Any]]],
    sweeps: NDArray[Any],
    dims: Mapping[str, list[str]] | None = None,
) -> Any:
    """Return groups of draws, (n_chains, n_draws, ...), as ArviZ stores them.
    `caller` is the method that an ImportError names, `dims` the names of axes after the first two.
    """
    try:
        import arviz
    except ImportError as error:
        raise ImportError(
            f"{caller} needs arviz: install it with `pip install skdp[arviz]`."
        ) from error
    data: dict[str, Any] = {name: dict(group) for name, group in groups.items()}
    options: dict[str, Any] = {"coords": {"draw": sweeps}, "dims": dims}
    try:
        return arviz.from_dict(**data, **options)
    except TypeError:  # ArviZ 1.0 and later
        return arviz.from_dict(data, **options)


# Diagnostics of traces: R-hat, effective sample sizes, climbs and disagreement of chains.


N_BATCHES = 12
"""Number of batches of kept sweeps whose means are tested for a climb, if there are enough."""

_NUMBERS_OF_BATCHES = (N_BATCHES, 9, 6)
"""With fewer sweeps there are fewer batches; with less than 6 no climb can be detected."""

_LEVEL = 0.002
"""Level of the one-sided test for a climb, for all chains of a fit together."""


class Drift(NamedTuple):
    """The climb of a chain: the mean of its last third minus that of its first, and its error."""

    height: float
    error: float


def find_climbs(log_joints: Floats) -> dict[int, Drift]:
    """Return the chains that still climb, by a t test of the means of batches of sweeps."""
    n_chains, n_kept = log_joints.shape
    n_batches = next((n for n in _NUMBERS_OF_BATCHES if n <= n_kept), 0)
    if n_batches == 0:
        return {}
    # The error comes from the steps between neighbors among the last two thirds of the batch means,
    # which neither a steady climb nor a late burn-in enlarges. It is about right if these means
    # have a correlation of 1/2, and too large below. With 12, 9 and 6 batches there is one false
    # alarm in 20,000, 4,600 and 1,400 chains at a correlation of 0, in 700, 580 and 470 at 0.5, in
    # 140, 190 and 300 at 0.7, and in 30, 60 and 190 at 0.9 (400,000 simulations each).
    n_steps = 2 * n_batches // 3 - 1
    least = t.isf(_LEVEL / n_chains, n_steps - 1)
    found = {}
    for c, values in enumerate(log_joints):
        if not np.isfinite(values).all():
            continue
        climb = _measure_climb(values, n_batches)
        if climb.height > max(least * climb.error, _spread(values)):
            found[c] = climb
    return found


def _measure_climb(values: Floats, n_batches: int) -> Drift:
    centered = values - values[-1]  # sums of log joints in the millions would lose digits
    ends = np.linspace(0, len(values), n_batches + 1).round().astype(int)
    means = np.array([centered[begin:end].mean() for begin, end in pairwise(ends)])
    third = n_batches // 3
    height = means[-third:].mean() - means[:third].mean()
    return Drift(float(height), float(np.diff(means[third:]).std(ddof=1)))


def _spread(values: Floats) -> float:
    """Return the standard deviation about the means of the first and the last third."""
    third = len(values) // 3
    return float(np.sqrt((values[:third].var() + values[-third:].var()) / 2.0))


class Gap(NamedTuple):
    """The gap between chains: the lowest and the highest of their means, and R-hat."""

    low: float
    high: float
    r_hat: float


_N_QUARTERS = 4
_LEAST_FOR_A_GAP = 16
"""Smallest number of sweeps: shorter quarters are hardly informative."""


def find_gap(draws: Floats) -> Gap | None:
    """Return the gap between the chains of draws, or None if it may be due to chance."""
    n_chains, n_draws = draws.shape
    if n_chains == 1 or n_draws < _LEAST_FOR_A_GAP or not np.isfinite(draws).all():
        return None
    centered = draws - draws[0, -1]  # sums of log joints in the millions would lose digits
    quarters = np.stack([q.mean(axis=1) for q in np.array_split(centered, _N_QUARTERS, axis=1)])
    # The variance of the means of chains is compared with what their quarters lead us to expect,
    # doubled because successive quarters are not independent (an F test), and with that within
    # chains (R-hat > 1.4 without splitting or ranks). With 2 chains of 16, 24 and 48 sweeps, 8, 4
    # and 0.4 of 10,000 converged fits give a false alarm at a correlation of 0.5 between neighbors,
    # 86, 40 and 8 at 0.8, 390, 180 and 43 at 0.9; with 4 chains 4, 0.6 and 0 at 0.5, 170, 53 and 5
    # at 0.8, 1,100, 460 and 68 at 0.9 (200,000 simulations each).
    error = 2.0 * quarters.var(axis=0, ddof=1).mean() / _N_QUARTERS
    means = centered.mean(axis=1)
    between = means.var(ddof=1)
    least = f.isf(_LEVEL, n_chains - 1, (_N_QUARTERS - 1) * n_chains)
    if between <= max(least * error, centered.var(axis=1).mean()):
        return None
    low, high = means.min() + draws[0, -1], means.max() + draws[0, -1]
    return Gap(float(low), float(high), rank_r_hat(draws))


# R-hat and effective sample size: Vehtari, Gelman, Simpson, Carpenter and Bürkner (2021),
# Rank-normalization, folding, and localization: an improved R-hat, Bayesian Analysis 16.

_LEAST_DRAWS = 4


def rank_r_hat(draws: Floats) -> float:
    """Return rank-normalized split R-hat, the larger of bulk and tails, or NaN if undefined."""
    if draws.shape[1] < _LEAST_DRAWS or not np.isfinite(draws).all():
        return np.nan
    halves = _split(draws)
    folded = np.abs(halves - np.median(halves))
    return max(_r_hat(_normalize(halves)), _r_hat(_normalize(folded)))


def bulk_ess(draws: Floats) -> float:
    """Return the effective sample size of the bulk, all chains together, or NaN if undefined."""
    if draws.shape[1] < _LEAST_DRAWS or not np.isfinite(draws).all():
        return np.nan
    z = _normalize(_split(draws))
    if np.ptp(z) == 0.0:
        return float(z.size)
    n_draws = z.shape[1]
    covariances = _autocovariances(z).mean(axis=0)
    within = covariances[0] * n_draws / (n_draws - 1.0)
    total = covariances[0] + z.mean(axis=1).var(ddof=1)
    correlations = 1.0 - (within - covariances) / total
    correlations[0] = 1.0
    # Geyer's initial monotone sequence: sums of neighbors decrease, and end at the first that is
    # not positive. The first member of the last pair counts, as in Stan and ArviZ.
    evens = correlations[0 : n_draws - n_draws % 2 : 2]
    sums = evens + correlations[1::2][: len(evens)]
    last = max((n_draws - 3) // 2, 0)
    end = int(np.argmax(np.append(sums[:last] <= 0.0, True)))
    rest = evens[end] if max(evens[end], sums[end]) > 0.0 else 0.0
    time = -1.0 + 2.0 * np.minimum.accumulate(sums[:end]).sum() + rest
    return float(z.size / max(time, 1.0 / np.log10(z.size)))


def _split(draws: Floats) -> Floats:
    """Return the halves of all chains as chains; an odd number of draws loses the middle one."""
    half = draws.shape[1] // 2
    return np.concatenate([draws[:, :half], draws[:, -half:]])


def _normalize(draws: Floats) -> Floats:
    """Return the normal scores of the ranks among all draws."""
    ranks = rankdata(draws).reshape(draws.shape)
    return np.asarray(norm.ppf((ranks - 0.375) / (draws.size + 0.25)))


def _r_hat(chains: Floats) -> float:
    n_draws = chains.shape[1]
    within = chains.var(axis=1, ddof=1).mean()
    between = chains.mean(axis=1).var(ddof=1)
    if np.ptp(chains, axis=1).max() == 0.0:  # rounding may leave some variance
        return np.inf if between > 0.0 else np.nan
    return float(np.sqrt(between / within + (n_draws - 1.0) / n_draws))


def _autocovariances(chains: Floats) -> Floats:
    """Return the (n_chains, n_draws) autocovariances, which divide by n_draws at every lag."""
    n_draws = chains.shape[1]
    length = next_fast_len(2 * n_draws, real=True)
    spectra = np.abs(rfft(chains - chains.mean(axis=1, keepdims=True), length)) ** 2
    return np.asarray(irfft(spectra, length)[:, :n_draws]) / n_draws


# The trace: scalars of every kept sweep of every chain, and their summary.


class ScalarSummary(NamedTuple):
    """Summary statistics of one scalar of a trace."""

    mean: float
    sd: float
    r_hat: float
    ess_bulk: float


class TraceSummary(Mapping[str, ScalarSummary]):
    """Summary of all scalars of a trace, by name: ``summary["log_joint"].r_hat``.

    Parameters
    ----------
    rows : dict of str to ScalarSummary
    """

    def __init__(self, rows: dict[str, ScalarSummary]):
        self._rows = rows

    def __getitem__(self, name: str) -> ScalarSummary:
        """Return the row of one scalar."""
        return self._rows[name]

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names."""
        return iter(self._rows)

    def __len__(self) -> int:
        """Return the number of scalars."""
        return len(self._rows)

    def __repr__(self) -> str:
        width = max(map(len, self), default=0)
        lines = [f"{'':<{width}}{'mean':>14}{'sd':>12}{'r_hat':>8}{'ess_bulk':>10}"]
        for name, row in self.items():
            cells = f"{row.mean:14.8g}{row.sd:12.4g}{row.r_hat:8.3f}{row.ess_bulk:10.0f}"
            lines.append(f"{name:<{width}}{cells}")
        return "\n".join(lines)


class Trace(Mapping[str, NDArray[np.float64]]):
    """Scalars of every kept sweep of every chain: ``trace["log_joint"]`` is (n_chains, n_kept).

    A read-only mapping from names to arrays.

    Parameters
    ----------
    sweeps : (n_kept,) array of int
        The kept sweeps, counted from 1.
    values : dict of str to (n_chains, n_kept) arrays

    Attributes
    ----------
    sweeps : (n_kept,) array of int
    n_chains : int
    """

    def __init__(self, sweeps: NDArray[np.int64], values: dict[str, NDArray[np.float64]]):
        self.sweeps = as_readonly(sweeps)
        self._values = {name: as_readonly(array) for name, array in values.items()}
        self.n_chains = next(iter(values.values())).shape[0]

    def __reduce__(self) -> tuple[Any, ...]:
        return Trace, (self.sweeps, self._values)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Trace)
            and np.array_equal(self.sweeps, other.sweeps)
            and self.keys() == other.keys()
            and all(np.array_equal(self[name], other[name]) for name in self)
        )

    __hash__ = None  # type: ignore[assignment]  # marks the class as unhashable

    @classmethod
    def from_chains(cls, rows: list[list[dict[str, float]]], sweeps: list[list[int]]) -> Trace:
        """Collect the traces of several chains, up to the length of the shortest.

        Parameters
        ----------
        rows : list of lists of dict
            For each chain, the scalars of each kept sweep.
        sweeps : list of lists of int
            For each chain, its kept sweeps, counted from 1.

        Returns
        -------
        Trace
        """
        n_kept = min(len(chain) for chain in rows)
        names = rows[0][0]
        values = {
            name: np.array([[row[name] for row in chain[:n_kept]] for chain in rows])
            for name in names
        }
        return cls(np.array(sweeps[0][:n_kept], dtype=np.int64), values)

    def __getitem__(self, name: str) -> NDArray[np.float64]:
        """Return the (n_chains, n_kept) values of one scalar."""
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names."""
        return iter(self._values)

    def __len__(self) -> int:
        """Return the number of scalars."""
        return len(self._values)

    def __repr__(self) -> str:
        names = ", ".join(self)
        return f"Trace({names}; {self.n_chains} chains x {len(self.sweeps)} kept sweeps)"

    def summary(self) -> TraceSummary:
        """Return the mean, standard deviation, R-hat and effective sample size of every scalar.

        All kept sweeps of all chains have the same weight. R-hat is rank-normalized and split [1]_:
        if it is above 1.01, chains, or the halves of a chain, disagree. `ess_bulk`, the number of
        independent draws that estimate a mean as precisely as the kept sweeps do, should be 100 per
        chain.

        Returns
        -------
        TraceSummary
            A read-only mapping from names to tuples (mean, sd, r_hat, ess_bulk), shown as a table.
            ``pandas.DataFrame(summary.values(), index=summary)`` turns it into a data frame.

        Notes
        -----
        The values are those of ArviZ, except that ArviZ has no R-hat for a single chain; here its
        halves are compared. With fewer than 4 kept sweeps, or if one of the values is not finite,
        R-hat and `ess_bulk` are NaN. For a scalar that does not vary, such as a given
        hyperparameter, R-hat is NaN and `ess_bulk` is the number of draws.

        References
        ----------
        .. [1] A. Vehtari, A. Gelman, D. Simpson, B. Carpenter, P.-C. Bürkner (2021).
           Rank-normalization, folding, and localization: an improved R-hat for assessing
           convergence of MCMC. Bayesian Analysis 16.

        Examples
        --------
        >>> from skdp.topics import GibbsLDA
        >>> documents = [[[0, 1, 0], [2, 3, 2]], [[2, 3, 3], [1, 0]]]  # segments of word ids
        >>> model = GibbsLDA(3, doc_topic_prior=1.0, n_chains=4, random_state=0)
        >>> summary = model.fit(documents).trace_.summary()
        >>> summary["log_joint"].r_hat < 1.1
        True
        """
        rows = {}
        for name, draws in self.items():
            sd = float(draws.std(ddof=1)) if draws.size > 1 else np.nan
            rows[name] = ScalarSummary(float(draws.mean()), sd, rank_r_hat(draws), bulk_ess(draws))
        return TraceSummary(rows)

    def to_arviz(self) -> Any:
        """Return the trace in the data container of ArviZ, for its diagnostics and plots.

        The coordinates of the draws are the kept sweeps, counted from 1. Some models also have a
        method ``to_arviz(X)``, which adds the log likelihoods that ``arviz.loo`` needs.

        Returns
        -------
        arviz.InferenceData, or the DataTree of ArviZ 1

        Raises
        ------
        ImportError
            If arviz is not installed (``pip install skdp[arviz]``).
        """
        return make_inference_data("Trace.to_arviz", {"posterior": self}, self.sweeps)


# Matching of labels between samples: labels of mixture components are exchangeable.


_BLOCK = 1024


@njit
def _add_products(current, reference, out):
    """Add the sum over rows of the outer products of rows to `out`, skipping zeros."""
    # Not by BLAS, whose threads would compete with joblib's: a hundred times slower when busy.
    for w in range(current.shape[0]):
        for k in range(current.shape[1]):
            x = current[w, k]
            if x > 0.0:
                for m in range(reference.shape[1]):
                    out[k, m] += x * reference[w, m]


def align_labels(
    reference: NDArray[np.floating], current: NDArray[np.floating]
) -> NDArray[np.intp]:
    """Match rows of probabilities: row k of `current` matches row ``result[k]`` of `reference`.
    The Hungarian method minimizes the sum of squared Hellinger distances.
    """
    similarity = np.zeros((len(current), len(reference)))
    for begin in range(0, current.shape[1], _BLOCK):  # in blocks, which avoids whole copies
        block = slice(begin, begin + _BLOCK)
        roots = (np.sqrt(rows[:, block].T, order="C") for rows in (current, reference))
        _add_products(*roots, similarity)
    return linear_sum_assignment(similarity, maximize=True)[1]
