"""Emissions of columns of 0 and 1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln

from skdp._checks import check_beta_prior
from skdp._numeric import Floats, Ints, Places
from skdp.data._validation import SparseRows
from skdp.emissions._common import Stream
from skdp.emissions._common._clusters import ClusterTerms, SymbolColumns, cell_terms, count_terms
from skdp.emissions._common._columns import (
    Observations,
    PartedEmission,
    refuse_cells,
    refuse_stored,
)
from skdp.emissions._common._marginals import BinaryMarginals, StatesMixin, fill_by_means
from skdp.emissions._discrete._categorical import DiscreteSampler
from skdp.emissions._kernels import _discrete as kernels
from skdp.emissions._kernels import _links as affinities

DEFAULT_PRIOR = 1.0, 1.0

_ROWS_OF_ONE_COLUMN = 3
"""Number of rows of a table of one column: 0, 1 and missing."""


class BernoulliEmission(PartedEmission):
    r"""Columns of 0 and 1, with a probability for each column in each state.

    Columns are independent given the state. In state j,

    .. math::

        x_{td} \sim \mathrm{Bernoulli}(\theta_{jd}), \quad
        \theta_{jd} \sim \mathrm{Beta}(p, q)

    Parameters
    ----------
    prior : (p, q), default=(1.0, 1.0)
        Parameters of the Beta prior of the probabilities of 1, from 1e-8 to 1e8. The prior mean is
        p / (p + q).

    See Also
    --------
    RegressionEmission : Columns of 0 and 1 that depend on other columns.
    CategoricalEmission : One column with more than two symbols.

    Notes
    -----
    Observations are 0 and 1, or False and True. NaN marks a missing value, in some or all columns
    of a row; values must be missing at random.

    A single column of 0 and 1 does not identify clusters. So a sample of a `DPMixture` or
    `PitmanYorMixture` of one column, without known labels, has a single cluster. With another
    `prior` than the default, clusters are sampled, but they follow from this prior alone.

    A stored sample holds the posterior means of theta given the states, which are the probabilities
    that the next observation is 1.
    """

    allows_nan = True
    """NaN is a missing value."""

    allows_sparse = True
    """A mixture of rows takes sparse X."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {"prior": [tuple, list]}

    def __init__(self, prior: tuple[float, float] = DEFAULT_PRIOR):
        self.prior = prior

    def _make_sampler_of(self, data: Observations, n_states: int) -> BernoulliSampler:
        prior = check_beta_prior(self.prior, "BernoulliEmission: prior")
        return BernoulliSampler(n_states, data.n_features, prior)


def check_ones(rows: SparseRows) -> SparseRows:
    """Return the rows of a sparse table of 0 and 1, or raise a ValueError."""
    refuse_stored(rows.arrays[2] != 1.0, rows, "X must hold 0 and 1")
    return rows


def find_places(values: Floats) -> Ints:
    """Return the rows of `log_table` for the observations, or raise a ValueError."""
    missing, ones = np.isnan(values), values == 1.0
    rule = "X must hold 0 and 1, or NaN for missing values; got {value} in {place}."
    refuse_cells(~(missing | ones | (values == 0.0)), values, rule)
    n_columns = values.shape[1]
    places = 2 * np.arange(n_columns, dtype=np.int32) + ones
    places[missing] = 2 * n_columns
    return places


class BernoulliSampler(DiscreteSampler):
    """Sampler of the probabilities of 1 in all states and columns."""

    _data_attributes: ClassVar[tuple[str, ...]] = ("_places",)

    def __init__(self, n_states: int, n_columns: int, prior: tuple[float, float]):
        self.prior = prior
        self.counts: NDArray[Any] = np.zeros((2 * n_columns + 1, n_states), dtype=np.int64)
        self.log_probs = np.zeros(self.counts.shape)

    @property
    def mixes_to_itself(self) -> bool:
        """Whether clusters of rows are not identified: of one column, with the default prior."""
        return len(self.counts) == _ROWS_OF_ONE_COLUMN and tuple(self.prior) == DEFAULT_PRIOR

    def attach(self, values: Floats | SparseRows) -> None:
        is_sparse = isinstance(values, SparseRows)
        self._places: Any = check_ones(values) if is_sparse else find_places(values)  # type: ignore

    def of_states(self, n_states: int) -> BernoulliSampler:
        return BernoulliSampler(n_states, len(self.counts) // 2, self.prior)

    def restrict(self, steps: Places, n_states: int) -> BernoulliSampler:
        other = self.of_states(n_states)
        other._places = self._places[steps]
        return other

    def add_up(self, states: Places, measured: int) -> tuple[Places]:
        """Return the number of times each state has each value of each column, (2 D + 1, J)."""
        counts = np.zeros_like(self.counts)
        if isinstance(self._places, SparseRows):
            ptr, columns, ones = self._places.arrays
            found = np.empty((len(counts) // 2, counts.shape[1]), dtype=np.int64)
            kernels.count_events(ptr, columns.astype(np.int32), ones, states, found)
            sizes = np.bincount(states[states >= 0], minlength=counts.shape[1])
            counts[0:-1:2], counts[1::2] = sizes - found, found
        else:
            kernels.count_bits(self._places, states, counts)
        return (counts,)

    def write_log_predictive(self, out: Floats) -> None:
        """Write the log probabilities of all steps given the observations of each state."""
        kernels.add_rows(self._places, log_table(self._expect()), out)

    def draw_parameters(self, rng: Stream) -> None:
        """Draw theta given the stored statistics."""
        kernels.draw_log_probs_of_bits(self.counts, *self.prior, self.log_probs, rng)

    def write_log_obs(self, out: Floats) -> None:
        kernels.add_rows(self._places, self.log_probs, out)

    def log_evidence(self) -> float:
        of_one, of_zero = self.prior
        zeros, ones = self.counts[0:-1:2], self.counts[1::2]
        terms = betaln(of_one + ones, of_zero + zeros) - betaln(of_one, of_zero)
        return float(terms.sum())

    def model(self) -> BernoulliModel:
        """Return E[theta | z]."""
        return BernoulliModel(self._expect())

    def _expect(self) -> Floats:
        """Return E[theta | z], (J, D)."""
        of_one, of_zero = self.prior
        zeros, ones = self.counts[0:-1:2].T, self.counts[1::2].T
        return np.asarray((of_one + ones) / (of_one + of_zero + ones + zeros))

    def cluster_terms(self) -> ClusterTerms:
        if isinstance(self._places, SparseRows):
            ones, zeros = np.full((len(self.counts) // 2, 2), self.prior).T
            constants = np.zeros(len(self._places))
            ptr, columns, amounts = self._places.arrays
            events = ptr, columns, amounts
            return count_terms(events, constants, ones, zeros, is_binary=True)
        return cell_terms([self.columns_of_cells()], len(self._places))

    def columns_of_cells(self) -> SymbolColumns:
        """Return the columns as categories 0 and 1, and their prior."""
        if isinstance(self._places, SparseRows):
            raise ValueError(
                "sample_weight: sparse X takes whole weights only. Round the weights, or pass "
                "X.toarray()."
            )
        n_columns, (of_one, of_zero) = len(self.counts) // 2, self.prior
        codes = self._places - 2 * np.arange(n_columns, dtype=np.int32)
        codes = np.where(self._places < 2 * n_columns, codes, -1)
        return SymbolColumns(codes, [np.array([of_zero, of_one])] * n_columns)

    def condition_with_powers(self, states: Places, powers: Floats) -> None:
        """Set the states of the observations given the powers of their likelihoods."""
        n_rows, n_states = self.counts.shape
        counts, known = np.zeros((n_rows, n_states)), states >= 0
        for places in self._places[known].T:
            np.add.at(counts, (places, states[known]), powers[known])
        self.counts = counts

    def parameters(self) -> tuple[Floats, ...]:
        """Return alternating log(1 - theta) and log theta, (J, 2 D)."""
        return (self.log_probs[:-1].T,)

    def log_posterior(self) -> float:
        """Return the log density of the log odds of theta given the states."""
        of_one, of_zero = self.prior
        zeros, ones = of_zero + self.counts[0:-1:2], of_one + self.counts[1::2]
        logs = zeros * self.log_probs[0:-1:2] + ones * self.log_probs[1::2]
        return float((logs - betaln(ones, zeros)).sum())

    def known_model(self, parameters: tuple[Floats, ...]) -> BernoulliModel:
        return BernoulliModel(np.exp(parameters[0][:, 1::2]))

    def log_affinity(self, parameters: tuple[Floats, ...]) -> Floats:
        out = np.empty((len(parameters[0]), len(parameters[0])))
        affinities.compare_bits(np.ascontiguousarray(parameters[0]), out)
        return out


def log_table(probs: Floats) -> Floats:
    """Return alternating rows of log(1 - theta) and log theta, and a row of zeros, (2 D + 1, J)."""
    table = np.zeros((2 * probs.shape[1] + 1, len(probs)))
    with np.errstate(divide="ignore"):
        table[0:-1:2] = np.log1p(-probs.T)
        table[1::2] = np.log(probs.T)
    return table


@dataclass(frozen=True, eq=False)
class BernoulliModel(StatesMixin):
    """Independent columns of 0 and 1 with known probabilities.

    Attributes
    ----------
    probs : (J, D) array
        Probabilities of 1 in each state.
    """

    probs: Floats

    def log_obs(self, values: Floats | SparseRows) -> Floats:
        """Return the log probability of the observed values of every step in every state."""
        if isinstance(values, SparseRows):
            zeros = np.log1p(-self.probs)
            odds = check_ones(values).table @ (np.log(self.probs) - zeros).T
            return np.asarray(odds + zeros.sum(axis=1))
        out = np.empty((len(values), len(self.probs)))
        kernels.add_rows(find_places(values), log_table(self.probs), out)
        return out

    def sample(self, states: Places, rng: np.random.Generator) -> Floats:
        """Return an observation for each state, (N, D)."""
        uniform = rng.random((len(states), self.probs.shape[1]))
        return (uniform < self.probs[states]).astype(np.float64)

    def marginals(self) -> BinaryMarginals:
        """Return the distributions of single columns of the next observation."""
        return BinaryMarginals(self.probs)

    def fill(self, values: Floats, weights: Floats) -> Floats:
        """Return observations, (N, D), with NaN replaced by its mean, the probability of 1."""
        return fill_by_means(values, weights, self.probs)
