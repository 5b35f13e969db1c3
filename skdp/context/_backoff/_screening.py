"""Choice of chains of columns by a fast approximation of their leave-one-out evidence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from skdp._numeric._typing import Floats, Places
from skdp.context._backoff._pooling import PoolObjective, fit_pool_weights

Chain = tuple[int, ...]
"""Columns in the order of their levels."""

_DISCOUNTS = (0.0, 0.3, 0.6, 0.85)
_CONCENTRATIONS = (0.1, 1.0, 10.0, 100.0, 1000.0)
_CELLS = 2**18
"""Number of probabilities of a chain, events times classes, that the choice is based on."""
_FEWEST_EVENTS, _MOST_EVENTS = 500, 5000
_MOST_COLUMNS = 12
"""Number of columns that may follow another one; with more, the most informative ones."""
_MOST_SINGLES = 24
_MOST_LONGER = 16
_MOST_CANDIDATES = 48
_LEAST_GAIN = 4.0
"""Nats that a longer chain must gain; about half the logarithm of some thousand events."""


@dataclass(frozen=True)
class Events:
    """Distinct events in an order that does not depend on the order of rows.

    Attributes
    ----------
    codes : (n_events, n_columns) int64
    sizes : (n_columns,) int64
        The number of categories of each column.
    outcomes, counts : (n_events,) int64
    n_outcomes : int
    """

    codes: Places
    sizes: Places
    outcomes: Places
    counts: Places
    n_outcomes: int

    @classmethod
    def of(
        cls, codes: list[Places], sizes: Places, outcomes: Places, counts: Places, n_outcomes: int
    ) -> Events:
        """Return the distinct events of rows, in the order of their codes and outcomes."""
        table = np.column_stack([*codes, outcomes])
        order = np.lexsort(table.T[::-1])
        table = table[order]
        is_first = np.ones(len(table), bool)
        is_first[1:] = np.any(table[1:] != table[:-1], axis=1)
        begins = np.flatnonzero(is_first)
        table = table[begins]
        return cls(
            table[:, :-1], sizes, table[:, -1], np.add.reduceat(counts[order], begins), n_outcomes
        )

    def sample(self, most: int) -> Places:
        """Return at most `most` events, evenly spread over shuffled events, in order."""
        n = len(self.counts)
        if n <= most:
            return np.arange(n)
        return np.sort(np.random.default_rng(0).permutation(n)[:most])

    def columns_seen_once(self, events: Places) -> NDArray[np.bool_]:
        """Return whether no other event has the category of each column, (n, n_columns)."""
        found = np.empty((len(events), self.codes.shape[1]), bool)
        for j, size in enumerate(self.sizes):
            seen = np.bincount(self.codes[:, j], weights=self.counts, minlength=int(size))
            found[:, j] = seen[self.codes[events, j]] == 1.0
        return found


class _Candidate(NamedTuple):
    """A chain, the contexts of all events, and the distributions of some events, left out.

    Attributes
    ----------
    chain : Chain
    node : (n_events,) int64
    distributions : (n_sampled, n_outcomes) array
    evidence : float
        Mean log probability of the outcomes.
    """

    chain: Chain
    node: Places
    distributions: Floats
    evidence: float


class Screening:
    """Greedy choice of chains whose weighted product predicts left-out events.

    Distributions interpolate the counts of nested contexts without the event that is predicted,
    as in a franchise with one discount and one concentration for each level and one table in each
    cell. The chains chosen are then fitted by the exact sampler.

    Parameters
    ----------
    events : Events
    """

    def __init__(self, events: Events):
        self._events = events
        most = int(np.clip(_CELLS // events.n_outcomes, _FEWEST_EVENTS, _MOST_EVENTS))
        self._sampled = events.sample(most)
        self._outcomes = events.outcomes[self._sampled]
        self._weights = events.counts[self._sampled].astype(float)
        self._root = self._find_root()

    def choose(self) -> list[Chain]:
        """Return chains of one column each, then longer ones, each in the order of choice."""
        n_columns = self._events.codes.shape[1]
        columns = [j for j in range(n_columns) if self._events.sizes[j] > 1]
        singles = [self._extend(self._root, j) for j in columns]
        by_evidence = sorted(singles, key=lambda each: -each.evidence)
        singles = by_evidence[:_MOST_SINGLES]
        if not singles:
            return []
        followers = [each.chain[0] for each in by_evidence[:_MOST_COLUMNS]]
        chosen = list(singles)
        objective = self._objective(chosen)
        weights = fit_pool_weights(objective)
        waiting = [
            self._extend(each, j)
            for each in by_evidence[:_MOST_COLUMNS]
            for j in followers
            if j != each.chain[0]
        ]
        for _ in range(_MOST_LONGER):
            waiting = self._rank(waiting, objective, weights)
            if not waiting:
                break
            best = waiting.pop(0)
            chosen.append(best)
            objective = self._objective(chosen)
            weights = fit_pool_weights(objective, np.append(weights, 0.0))
            waiting += [self._extend(best, j) for j in followers if j not in best.chain]
        needed = {j for each, w in zip(chosen, weights, strict=True) if w > 0.0 for j in each.chain}
        return [
            each.chain
            for each, weight in zip(chosen, weights, strict=True)
            if weight > 0.0 or (len(each.chain) == 1 and each.chain[0] in needed)
        ]

    def _objective(self, chosen: list[_Candidate]) -> PoolObjective:
        return PoolObjective.of(
            self._root.distributions,
            [each.distributions for each in chosen],
            self._outcomes,
            self._weights,
        )

    def _rank(
        self, waiting: list[_Candidate], objective: PoolObjective, weights: Floats
    ) -> list[_Candidate]:
        """Return the candidates that help, the best first."""
        gains = objective.gains(weights, [each.distributions for each in waiting])
        scale = self._events.counts.sum() / self._weights.sum()
        order = np.argsort(-gains, kind="stable")[:_MOST_CANDIDATES]
        return [waiting[k] for k in order if gains[k] * scale > _LEAST_GAIN]

    def _find_root(self) -> _Candidate:
        """Return the chain without columns."""
        events = self._events
        none = np.zeros(len(events.counts), np.int64)
        uniform = np.full((len(self._sampled), events.n_outcomes), 1.0 / events.n_outcomes)
        return self._add_level(_Candidate((), none, uniform, 0.0), (), none, 1)

    def _extend(self, above: _Candidate, column: int) -> _Candidate:
        """Return a chain with one more column."""
        events = self._events
        key = above.node * int(events.sizes[column]) + events.codes[:, column]
        found, node = np.unique(key, return_inverse=True)
        return self._add_level(above, (*above.chain, column), node, len(found))

    def _add_level(self, above: _Candidate, chain: Chain, node: Places, n_nodes: int) -> _Candidate:
        events, mine = self._events, self._outcomes
        cell_key, cell = np.unique(node * events.n_outcomes + events.outcomes, return_inverse=True)
        in_cell = np.bincount(cell, weights=events.counts)
        cell_node = cell_key // events.n_outcomes
        in_node = np.bincount(node, weights=events.counts, minlength=n_nodes)
        of_node = np.bincount(cell_node, minlength=n_nodes)
        own = in_cell[cell[self._sampled]] - 1.0
        customers = in_node[node[self._sampled]] - 1.0
        tables = of_node[node[self._sampled]] - (own == 0.0)
        rows = np.arange(len(mine))
        before = above.distributions[rows, mine].astype(float)
        best = (-np.inf, 0.0, 1.0)
        for d in _DISCOUNTS:
            for theta in _CONCENTRATIONS:
                p = np.maximum(own - d, 0.0) + (theta + d * tables) * before
                score = float(self._weights @ np.log(p / (theta + customers)))
                best = max(best, (score, d, theta))
        score, d, theta = best
        total = theta + customers
        counts = csr_matrix(
            (in_cell - d, cell_key % events.n_outcomes, np.searchsorted(
                cell_node, np.arange(n_nodes + 1)
            )),
            shape=(n_nodes, events.n_outcomes),
        )  # fmt: skip
        found = np.asarray(counts[node[self._sampled]].toarray(), float)
        found += (theta + d * tables)[:, None] * above.distributions
        found[rows, mine] = np.maximum(own - d, 0.0) + (theta + d * tables) * before
        found /= total[:, None]
        return _Candidate(chain, node, found, score / self._weights.sum())
