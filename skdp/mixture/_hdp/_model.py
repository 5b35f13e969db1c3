"""Predictions for new groups given a stored sample of a mixture whose groups share components."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy.special import logsumexp

from skdp._checks import check_jobs
from skdp._numeric._bayes import log_posterior
from skdp._numeric._random import find_second_halves
from skdp._numeric._typing import Floats, Places
from skdp.data import SequencePanel
from skdp.data._ragged import offsets
from skdp.mixture._hdp._kernels_fold_in import fold_in_groups
from skdp.mixture._table._weights import RowCopies

N_SWEEPS, BURN_IN = 100, 20
"""Numbers of sweeps of a fold-in and of its discarded first sweeps."""

_WORK = 20_000_000
"""Approximate rows times components times sweeps of a call: a tenth of a second."""

_LEAST = 1e-200
"""Smallest total probability of the known components that is used as a divisor."""

_BLOCK = 10_000
"""Number of rows per block, which limits the memory for densities."""


@dataclass(frozen=True, eq=False)
class HDPMixtureModel:
    """Components of the training rows, and the distribution of new groups given them.

    Groups have shares theta ~ Dirichlet(alpha beta). One more component stands for all that have no
    training rows: its rows are independent draws from the prior predictive.
    """

    labels: NDArray[np.int32]  # (N,), of the training rows
    weights: Floats  # (K + 1,), beta, and last beta_u of all other components
    concentration: float  # alpha
    emission: Any  # distributions of the next row of each component or, last, a new one

    @property
    def prior(self) -> Floats:
        """Dirichlet prior alpha beta of the shares of a group, (K + 1,)."""
        return self.concentration * self.weights

    def log_obs(self, values: Floats) -> Floats:
        """Return log p(x) of rows under the components, (N, K + 1)."""
        blocks = range(0, len(values), _BLOCK)
        parts = [self.emission.log_obs(values[i : i + _BLOCK]) for i in blocks]
        return np.concatenate([np.empty((0, len(self.weights))), *parts])

    def responsibilities(self, ptr: Places, values: Floats, key: NDArray[np.uint64]) -> Floats:
        """Return the probabilities of components given all rows of new groups, (N, K + 1)."""
        logs, n_columns = self.log_obs(values), len(self.weights)
        largest = logs.max(axis=1, keepdims=True, initial=-np.inf)
        possible = np.isfinite(largest)  # a row that is impossible in all components is ignored
        chances = np.exp(np.where(possible, logs - np.where(possible, largest, 0.0), 0.0))
        contents = bits_of(values).ravel()
        out, prior = np.zeros((len(values), n_columns)), self.prior
        labels = np.full(len(values), -1, dtype=np.int64)
        counts, weights = np.empty(n_columns), np.empty(n_columns)
        lengths, rng = np.array([0, values.shape[1]]), np.empty(4, dtype=np.uint64)
        # With a tiny prior, the first row would nearly fix the component of its whole group.
        first_prior = prior * max(1.0, 1.0 / self.concentration)
        for first, last, begin, end in _calls(ptr, n_columns):
            fold_in_groups(
                first, last, begin, end, BURN_IN, ptr, contents, chances, first_prior, prior,
                labels, counts, weights, key, lengths, out, rng,
            )  # fmt: skip
        return out / (N_SWEEPS - BURN_IN)

    def known_and_new(
        self, ptr: Places, values: Floats, key: NDArray[np.uint64]
    ) -> tuple[Floats, Floats]:
        """Return probabilities of components given a known one, (N, K), and of a new one, (N,)."""
        found = self.responsibilities(ptr, values, key)
        known, new = found[:, :-1], found[:, -1].copy()
        totals = known.sum(axis=1, keepdims=True)
        far = np.flatnonzero(totals[:, 0] < _LEAST)
        known = known / np.maximum(totals, _LEAST)
        if len(far):  # only new components were drawn, up to rounding
            groups = np.searchsorted(ptr, far, side="right") - 1
            log_shares = np.log(self.shares(ptr, found)[groups, :-1])
            logs = self.log_obs(values[far])[:, :-1] + log_shares
            known[far] = np.exp(log_posterior(logs, log_shares))
        return known, new

    def find_components(self, rows: Places, copies: RowCopies) -> Places:
        """Return the most probable known components of rows of X, given their groups' shares."""
        assert copies.ptr is not None
        groups = np.searchsorted(copies.ptr, np.arange(len(copies.values)), side="right") - 1
        ptr = offsets(np.bincount(groups[copies.sources], minlength=len(copies.ptr) - 1))
        log_shares = np.log(self.shares(ptr, np.eye(len(self.weights))[self.labels]))[:, :-1]
        logs = self.log_obs(copies.values[rows])[:, :-1] + log_shares[groups[rows]]
        return np.argmax(log_posterior(logs, log_shares[groups[rows]]), axis=1)

    def shares(self, ptr: Places, responsibilities: Floats) -> Floats:
        """Return the posterior mean shares of new groups, (J, K + 1)."""
        sums = np.zeros((len(ptr) - 1, len(self.weights)))
        groups = np.repeat(np.arange(len(sums)), np.diff(ptr))
        np.add.at(sums, groups, responsibilities)
        return np.asarray((sums + self.prior) / (np.diff(ptr)[:, np.newaxis] + self.concentration))

    def log_completions(
        self, ptr: Places, given: Floats, scored: Floats, key: NDArray[np.uint64]
    ) -> Floats:
        """Return log p of `scored`, second halves of groups with offsets `ptr`, given the first."""
        n_scored = np.diff(ptr) // 2
        given_ptr = offsets(np.diff(ptr) - n_scored)
        shares = self.shares(given_ptr, self.responsibilities(given_ptr, given, key))
        groups = np.repeat(np.arange(len(n_scored)), n_scored)
        return np.asarray(logsumexp(self.log_obs(scored) + np.log(shares[groups]), axis=1))

    def sample(self, n_rows: int, rng: np.random.Generator) -> Floats:
        """Return the rows of a new group, (n_rows, D)."""
        shares = rng.dirichlet(np.maximum(self.prior, 1e-12))
        components = rng.choice(len(shares), n_rows, p=shares)
        return np.asarray(self.emission.sample(components, rng))


def score_completions(
    models: Sequence[HDPMixtureModel], ptr: Places, values: Floats, key: Any, n_jobs: Any
) -> tuple[Floats, Places]:
    """Return log densities of second halves of groups, averaged over samples, and their rows."""
    given, scored = split_groups(ptr, values)
    parts: Any = Parallel(n_jobs=check_jobs(n_jobs), prefer="threads")(
        delayed(model.log_completions)(ptr, values[given], values[scored], key + np.uint64(m))
        for m, model in enumerate(models)
    )
    return logsumexp(parts, axis=0) - np.log(len(parts)), scored


def sum_scores(logs: Floats, scored: Places, panel: SequencePanel, is_single: bool) -> Floats:
    """Return the sums over samples: in a single array each row, otherwise each group."""
    samples = scored if is_single else np.searchsorted(panel.ptr, scored, side="right") - 1
    sums = np.zeros(len(panel.values) if is_single else len(panel))
    np.add.at(sums, samples, logs)
    return sums


def split_groups(ptr: Places, values: Floats) -> tuple[Places, Places]:
    """Split groups at random, whatever their order; return the rows of first and second halves."""
    groups = np.repeat(np.arange(len(ptr) - 1), np.diff(ptr))
    order = np.lexsort((*values.T[::-1], groups))
    is_scored = find_second_halves(ptr, bits_of(values[order]))
    return order[~is_scored], order[is_scored]


def bits_of(values: Floats) -> NDArray[np.uint64]:
    """Return rows as integers that are equal if and only if the rows are: -0 becomes 0."""
    return (np.where(np.isnan(values), np.nan, values) + 0.0).view(np.uint64)


def _calls(ptr: Places, n_columns: int) -> list[tuple[int, int, int, int]]:
    """Return groups and sweeps for the calls of a fold-in; Ctrl-C is handled between calls."""
    most = max(1, _WORK // (n_columns * N_SWEEPS))
    calls, first, n_groups = [], 0, len(ptr) - 1
    while first < n_groups:
        last = int(np.searchsorted(ptr, ptr[first] + most, side="right")) - 1
        if last > first:
            calls.append((first, last, 0, N_SWEEPS))  # all sweeps of several small groups
        else:
            last = first + 1  # a few sweeps of a large group at a time
            step = max(1, most * N_SWEEPS // int(ptr[last] - ptr[first]))
            begins = range(0, N_SWEEPS, step)
            calls += [(first, last, begin, min(begin + step, N_SWEEPS)) for begin in begins]
        first = last
    return calls
