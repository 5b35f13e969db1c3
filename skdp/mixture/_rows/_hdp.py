"""Mixtures whose groups share components: Markov chain, and predictions of stored samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy.special import gammaln, logsumexp

from skdp._checks import check_jobs
from skdp._numeric import Floats, Places
from skdp._numeric._arrays import log_posterior
from skdp._numeric._random import find_second_halves
from skdp.data import SequencePanel
from skdp.data._ragged import offsets
from skdp.mixture._kernels._hdp import fold_in_groups, kernels_of_groups
from skdp.mixture._kernels._hdp_sections import RowGroups
from skdp.mixture._kernels._moves import empty_group_counts
from skdp.mixture._rows._partition import LabeledRows, RowCopies
from skdp.mixture._rows._sampler import IMPOSSIBLE, ClusterSampler, count_tries
from skdp.processes._kernels_table_counts import log_density_of_weights
from skdp.processes._partitions import TopLevel, TopPriors


class HDPMixtureState:
    """The state of a chain after a sweep: a live, read-only view; `copy` detaches it."""

    def __init__(self, sampler: Any):
        self._sampler = sampler

    @property
    def labels(self) -> Places:
        """Component of every row, (N,), with all groups concatenated; from 0 without gaps."""
        view: Places = self._sampler.components.view()
        view.flags.writeable = False
        return view

    @property
    def top_weights(self) -> Floats:
        """Weights beta of the components, (K,); the remainder to 1 is the weight of all others."""
        view: Floats = self._sampler.top_of_components.weights.view()
        view.flags.writeable = False
        return view

    @property
    def concentration(self) -> float:
        """Concentration alpha of the groups' shares."""
        return float(self._sampler.top.concentration)

    @property
    def top_concentration(self) -> float:
        """Concentration gamma of the components' weights."""
        return float(self._sampler.top.top_concentration)

    def log_joint(self) -> float:
        """Return log p(X, labels, beta) given both concentrations (parameters integrated out)."""
        return float(self._sampler.log_joint())

    def copy(self) -> HDPMixtureState:
        """Return a state that later sweeps do not change."""
        return HDPMixtureState(self._sampler.copy())


# Stored samples, and predictions for new groups.


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


# The Markov chain.


_N_DRAWS = 120
"""Number of table draws for the weights of a partition that is not a sample."""


class HDPMixtureSampler(ClusterSampler):
    """Markov chain over the components of grouped rows, their weights and both concentrations."""

    _data_attributes: ClassVar[tuple[str, ...]] = (
        *ClusterSampler._data_attributes, "ptr", "_groups"
    )  # fmt: skip

    def __init__(
        self,
        rows: LabeledRows,
        emission: Any,
        priors: TopPriors,
        concentration: float,
        top_concentration: float,
        init: Places | None,
        init_stream: NDArray[np.uint64],
        stream: NDArray[np.uint64],
        *,
        split_merge: bool = True,
    ):
        super().__init__(len(rows.values), emission, stream, split_merge=split_merge)
        self.priors = priors
        self.top = TopLevel(np.empty(0), 1.0, concentration, top_concentration)
        self.attach(rows)
        if init is None:
            self._begin(init_stream)
        else:
            self._begin_with(init, init_stream)
            n = self.n_clusters
            even = np.full(n, 1.0 / (n + 1.0))
            self.top = TopLevel(even, 1.0 / (n + 1.0), concentration, top_concentration)
        self._draw_hyper()

    def _part(
        self, rows: Places, emission: Any, init: Places | None, rng: NDArray[np.uint64]
    ) -> HDPMixtureSampler:
        n_groups = len(self.ptr) - 1
        lengths = np.bincount(self._groups[rows], minlength=n_groups)
        ptr = np.concatenate([[0], np.cumsum(lengths)])
        return HDPMixtureSampler(
            self._rows.take(rows)._replace(ptr=ptr), emission, self.priors, self.top.concentration,
            self.top.top_concentration, init, rng, rng, split_merge=self.split_merge,
        )  # fmt: skip

    def _take_above(self, part: HDPMixtureSampler) -> None:
        self.top = part.top

    def _seat_pinned(self) -> None:
        """Assign all rows with known labels; new components share the remaining weight evenly."""
        super()._seat_pinned()
        n_new = self.n_clusters - len(self.top.weights)
        if n_new > 0:
            share = self.top.rest / (n_new + 1.0)
            self.top = self._weighted(np.append(self.top.weights, np.full(n_new, share)), share)

    def attach(self, rows: LabeledRows) -> None:
        """Attach the observations and their known labels."""
        assert rows.ptr is not None
        self.ptr = rows.ptr
        self._groups = np.repeat(np.arange(len(self.ptr) - 1), np.diff(self.ptr))
        super().attach(rows)

    @property
    def _group_kernels(self) -> Any:
        return kernels_of_groups(self._terms.kind)

    def counts(self, n_columns: int) -> Places:
        """Return the number of rows of each group in each component, (J, n_columns)."""
        seated = self.labels >= 0
        codes = self._groups[seated] * n_columns + self.labels[seated]
        n_groups = len(self.ptr) - 1
        return np.bincount(codes, minlength=n_groups * n_columns).reshape(n_groups, n_columns)

    def _seat(self, order: NDArray[np.int64], rng: NDArray[np.uint64]) -> None:
        _, rows, prior = self._terms
        place, top = 0, self.top
        while place < len(order):
            room, weights, members, ends, scratch = self._make_room(1)
            groups = RowGroups(
                self._groups,
                self.counts(self._capacity).astype(np.float64),
                np.append(top.weights, np.zeros(self._capacity - len(top.weights))),
                np.array([top.rest]),
            )
            place, self.n_clusters = self._group_kernels.sweep(
                place, order, rows, prior, room, self.n_clusters, self.labels, self._log_alone,
                groups, top.concentration, top.top_concentration, weights, members, ends, scratch,
                rng,
            )  # fmt: skip
            if place < 0:
                raise ValueError(IMPOSSIBLE)
            top = self._weighted(groups.top[: self.n_clusters], float(groups.rest[0]))
        self.top = top

    def _weighted(self, weights: Floats, rest: float) -> TopLevel:
        """Return the top level with other weights."""
        return TopLevel(weights.copy(), rest, self.top.concentration, self.top.top_concentration)

    def _split_and_merge(self) -> None:
        top = self.top
        n_tries = count_tries(len(self.labels))
        group_counts = empty_group_counts(self._groups, len(self.ptr) - 1)
        weights = np.append(top.weights, np.zeros(n_tries))  # room
        first = weights, top.concentration, top.top_concentration
        self._move_clusters(
            self._group_kernels.split_and_merge, n_tries, group_counts, first, np.empty((3, 2))
        )
        self.top = self._weighted(weights[: self.n_clusters], top.rest)

    def _draw_hyper(self) -> None:
        self.top = self.top.drawn(self.ptr, self.labels, self.priors, self.stream)

    def log_prior(self) -> float:
        """Return the log density of components and weights given both concentrations."""
        top = self.top
        counts, prior = self.counts(self.n_clusters), top.concentration * top.weights
        j, k = np.nonzero(counts)
        result = float((gammaln(prior[k] + counts[j, k]) - gammaln(prior[k])).sum())
        total = gammaln(top.concentration + np.diff(self.ptr)) - gammaln(top.concentration)
        density = log_density_of_weights(top.weights, top.rest, top.top_concentration)
        return result - float(total.sum()) + density

    def scalars(self) -> dict[str, float]:
        """Return the scalars that the trace records."""
        return {
            "log_joint": self.log_joint(),
            "n_components": float(self.n_components),
            "concentration": float(self.top.concentration),
            "top_concentration": float(self.top.top_concentration),
            **self._scalars_of_emission(),
        }

    @property
    def top_of_components(self) -> TopLevel:
        """The top level of the components of a sample."""
        if self.is_single:
            return replace(self.top, weights=self.top.weights.sum(keepdims=True))
        return self.top

    def model(self) -> HDPMixtureModel:
        """Return the current sample."""
        return self._model(self.components, self.top_of_components)

    def _model(self, labels: NDArray[np.int64], top: TopLevel) -> HDPMixtureModel:
        return HDPMixtureModel(
            labels.astype(np.int32),
            np.append(top.weights, top.rest),
            float(top.concentration),
            self._predictive(labels, len(top.weights)),
        )

    def model_of(
        self,
        labels: NDArray[np.int64],
        concentration: float,
        top_concentration: float,
        rng: NDArray[np.uint64],
    ) -> HDPMixtureModel:
        """Return the predictive model of groups given a partition, with mean weights."""
        n = int(labels.max()) + 1
        even = np.full(n, 1.0 / (n + 1.0))
        top = TopLevel(even, 1.0 / (n + 1.0), concentration, top_concentration)
        return self._model(labels, top.expected(self.ptr, labels, _N_DRAWS, rng))

    def state(self) -> HDPMixtureState:
        """Return a live view of the state."""
        return HDPMixtureState(self)
