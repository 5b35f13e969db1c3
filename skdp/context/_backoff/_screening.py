"""Weighted products of distributions, and the choice of the chains of columns for a product."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.sparse import csr_matrix

from skdp._numeric import Floats, Places

# Products of distributions, and the weights that predict outcomes best.


_PENALTY = 1.0
"""Rate of the exponential prior of each weight."""


def log_pool(log_reference: Floats, log_ratios: Floats, weights: Floats) -> Floats:
    """Return log p(w) = log p_0(w) + sum_k weight_k log(p_k(w) / p_0(w)) - constant, (n, W)."""
    pooled = log_reference.astype(float)
    for ratio, weight in zip(log_ratios, weights, strict=True):
        if weight > 0.0:
            pooled += weight * ratio
    pooled -= pooled.max(axis=1, keepdims=True)
    pooled -= np.log(np.exp(pooled).sum(axis=1, keepdims=True))
    return pooled


class PoolObjective(NamedTuple):
    """Log probability of outcomes under weighted products; it is concave in the weights."""

    log_reference: Floats  # (n, n_outcomes)
    log_ratios: Floats  # (n_chains, n, n_outcomes), log(p_k / p_0)
    outcomes: Places  # (n,)
    counts: Floats  # (n,), how often each event occurred

    @classmethod
    def of(
        cls, reference: Floats, chains: list[Floats], outcomes: Places, counts: Floats
    ) -> PoolObjective:
        """Return the objective, given distributions."""
        log_reference = np.log(reference)
        ratios = np.empty((len(chains), *reference.shape), np.float32)
        for k, distributions in enumerate(chains):
            ratios[k] = np.log(distributions) - log_reference
        return cls(log_reference, ratios, outcomes, counts)

    def residuals(self, weights: Floats) -> tuple[float, Floats, Floats]:
        """Return the log probability, the pooled distributions, and (is outcome - pooled)."""
        log_p = log_pool(self.log_reference, self.log_ratios, weights)
        rows = np.arange(len(self.outcomes))
        value = float(self.counts @ log_p[rows, self.outcomes])
        pooled = np.exp(log_p)
        left = -pooled
        left[rows, self.outcomes] += 1.0
        return value, pooled, left

    def loss(self, weights: Floats) -> tuple[float, Floats]:
        """Return the penalized negative log probability and its gradient."""
        value, _, left = self.residuals(weights)
        left *= self.counts[:, None]
        flat = left.ravel().astype(np.float32)
        gradient = np.array([ratio.ravel() @ flat for ratio in self.log_ratios], float)
        return _PENALTY * float(weights.sum()) - value, _PENALTY - gradient

    def gains(self, weights: Floats, chains: list[Floats]) -> Floats:
        """Return the approximate gain in log probability by each of further chains."""
        _, pooled, left = self.residuals(weights)
        left *= self.counts[:, None]
        gains = np.zeros(len(chains))
        for k, distributions in enumerate(chains):
            ratio = np.log(distributions) - self.log_reference
            slope = float(np.vdot(left, ratio)) - _PENALTY
            mean = np.einsum("nw,nw->n", pooled, ratio)
            spread = np.einsum("nw,nw,nw->n", pooled, ratio, ratio) - mean**2
            curvature = float(self.counts @ spread)
            if slope > 0.0 and curvature > 0.0:
                gains[k] = 0.5 * slope**2 / curvature
        return gains


def fit_pool_weights(objective: PoolObjective, start: Floats | None = None) -> Floats:
    """Return the weights >= 0 that maximize the penalized log probability of the outcomes."""
    n_chains = len(objective.log_ratios)
    if n_chains == 0:
        return np.empty(0)
    first = np.full(n_chains, 1.0 / n_chains) if start is None else start
    found = minimize(
        objective.loss, first, jac=True, method="L-BFGS-B", bounds=[(0.0, None)] * n_chains,
        options={"maxiter": 200},
    )  # fmt: skip
    return np.asarray(found.x, float)


# The choice of chains by a fast approximation of their leave-one-out evidence.

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
_LEAST_APPROXIMATE_GAIN = 0.2
"""Nats that a longer chain must gain, with the weights of other chains as they are, to be tried."""
_LEAST_GAIN = 2.0
"""Least gain of a chain in nats, in addition to the logarithm of the number of candidates."""


@dataclass(frozen=True)
class Events:
    """Distinct events in an order that does not depend on the order of rows."""

    codes: Places  # (n_events, n_columns)
    sizes: Places  # (n_columns,), categories of each column
    outcomes: Places  # (n_events,)
    counts: Places  # (n_events,)
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
        """Return at most `most` events, chosen at random with a fixed seed, in order."""
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


class _CandidateChain(NamedTuple):
    """A chain, the contexts of all events, and the distributions of some left-out events."""

    chain: Chain
    node: Places  # (n_events,), the context of each event
    broader: Floats  # (n_sampled, n_outcomes), of contexts one column shorter, counting tables
    distributions: Floats  # (n_sampled, n_outcomes)
    evidence: float  # mean log probability of the outcomes


class _Cells(NamedTuple):
    """The cells of contexts: the outcomes observed in each."""

    node: Places  # (n_events,), the context of each event
    of_event: Places  # (n_events,), the cell of each event
    n_nodes: int
    node_of: Places  # (n_cells,), the context of each cell
    outcome: Places  # (n_cells,)

    @classmethod
    def of(cls, node: Places, n_nodes: int, events: Events) -> _Cells:
        """Return the cells of the contexts of all events."""
        key = node * events.n_outcomes + events.outcomes
        found, cell = np.unique(key, return_inverse=True)
        return cls(node, cell, n_nodes, found // events.n_outcomes, found % events.n_outcomes)

    def in_cell(self, customers: Floats) -> Floats:
        """Return the sum over the events of each cell."""
        return np.asarray(np.bincount(self.of_event, customers, len(self.node_of)), float)


class Screening:
    """Greedy choice of chains whose weighted product predicts left-out events.

    Distributions interpolate the counts of nested contexts without the event, like a franchise with
    one table in each cell: a broad context counts the narrower contexts with an outcome.
    """

    def __init__(self, events: Events):
        self._events = events
        most = int(np.clip(_CELLS // events.n_outcomes, _FEWEST_EVENTS, _MOST_EVENTS))
        self._sampled = events.sample(most)
        self._outcomes = events.outcomes[self._sampled]
        self._weights = events.counts[self._sampled].astype(float)
        self._scale = float(events.counts.sum() / self._weights.sum())
        self._root = self._find_root()

    def choose(self) -> list[Chain]:
        """Return chains of one column each, then longer ones, each in the order of choice."""
        n_columns = self._events.codes.shape[1]
        columns = [j for j in range(n_columns) if self._events.sizes[j] > 1]
        by_evidence = sorted(
            (self._extend(self._root, j) for j in columns), key=lambda each: -each.evidence
        )
        singles = {each.chain[0]: each for each in by_evidence}
        followers = list(singles)[:_MOST_COLUMNS]
        chosen = self._helpful(by_evidence)[:_MOST_SINGLES]
        objective = self._objective(chosen)
        weights = fit_pool_weights(objective)
        waiting = [self._extend(singles[i], j) for i in followers for j in followers if i != j]
        n_considered = len(waiting)
        for _ in range(_MOST_LONGER):
            waiting = self._rank(waiting, objective, weights)
            if not waiting:
                break
            best = waiting.pop(0)
            further = self._objective([*chosen, best])
            new_weights = fit_pool_weights(further, np.append(weights, 0.0))
            gain = objective.loss(weights)[0] - further.loss(new_weights)[0]
            if gain * self._scale < np.log(n_considered) + _LEAST_GAIN:
                continue
            chosen, objective, weights = [*chosen, best], further, new_weights
            longer = [self._extend(best, j) for j in followers if j not in best.chain]
            waiting += longer
            n_considered += len(longer)
        chains = [each.chain for each, w in zip(chosen, weights, strict=True) if w > 0.0]
        # A chain with an unknown column is replaced by shorter ones.
        needed = [j for j in singles if any(j in chain for chain in chains)]
        return [*((j,) for j in needed), *(chain for chain in chains if len(chain) > 1)]

    def _helpful(self, singles: list[_CandidateChain]) -> list[_CandidateChain]:
        """Return the chains that predict better than the best of as many chains by chance."""
        n = self._events.counts.sum()
        least = (np.log(max(len(singles), 1)) + _LEAST_GAIN) / n
        return [each for each in singles if each.evidence > self._root.evidence + least]

    def _objective(self, chosen: list[_CandidateChain]) -> PoolObjective:
        return PoolObjective.of(
            self._root.distributions,
            [each.distributions for each in chosen],
            self._outcomes,
            self._weights,
        )

    def _rank(
        self, waiting: list[_CandidateChain], objective: PoolObjective, weights: Floats
    ) -> list[_CandidateChain]:
        """Return the candidates that may help, the best first, with the other weights as given."""
        gains = objective.gains(weights, [each.distributions for each in waiting]) * self._scale
        order = np.argsort(-gains, kind="stable")[:_MOST_CANDIDATES]
        return [waiting[k] for k in order if gains[k] > _LEAST_APPROXIMATE_GAIN]

    def _find_root(self) -> _CandidateChain:
        """Return the chain without columns."""
        events = self._events
        none = np.zeros(len(events.counts), np.int64)
        uniform = np.full((len(self._sampled), events.n_outcomes), 1.0 / events.n_outcomes)
        return self._add_level((), none, 1, uniform)

    def _extend(self, above: _CandidateChain, column: int) -> _CandidateChain:
        """Return a chain with one more column."""
        events = self._events
        key = above.node * int(events.sizes[column]) + events.codes[:, column]
        found, node = np.unique(key, return_inverse=True)
        cells = _Cells.of(node, len(found), events)
        # A table for each cell below: these are the customers of the contexts above.
        opens = cells.in_cell(events.counts.astype(float))[cells.of_event[self._sampled]] == 1.0
        first_of_cell = np.zeros(len(events.counts))
        first_of_cell[np.unique(cells.of_event, return_index=True)[1]] = 1.0
        upper = _Cells.of(above.node, int(above.node.max()) + 1, events)
        broader, _ = self._interpolate(above.broader, upper, first_of_cell, opens)
        return self._add_level((*above.chain, column), node, len(found), broader)

    def _add_level(
        self, chain: Chain, node: Places, n_nodes: int, broader: Floats
    ) -> _CandidateChain:
        """Return a chain that ends in the contexts `node`, given the distributions above them."""
        events = self._events
        cells = _Cells.of(node, n_nodes, events)
        leaves = np.ones(len(self._sampled), bool)
        found, score = self._interpolate(broader, cells, events.counts.astype(float), leaves)
        return _CandidateChain(chain, node, broader, found, score / self._weights.sum())

    def _interpolate(
        self, broader: Floats, cells: _Cells, customers: Floats, leaves: NDArray[np.bool_]
    ) -> tuple[Floats, float]:
        """Return distributions of the sampled events' contexts, and the score of the best law.

        Events add `customers` to their cells. Where `leaves`, one leaves with the event that is
        predicted, and the law is chosen for these events.
        """
        mine, rows = self._outcomes, np.arange(len(self._outcomes))
        in_cell = cells.in_cell(customers)
        node = cells.node[self._sampled]
        own = in_cell[cells.of_event[self._sampled]] - leaves
        n_customers = np.bincount(cells.node_of, in_cell, cells.n_nodes)[node] - leaves
        n_tables = np.bincount(cells.node_of, minlength=cells.n_nodes)[node] - (own == 0.0)
        before = broader[rows, mine]
        weights = self._weights * leaves if leaves.any() else self._weights
        best = (-np.inf, 0.0, 1.0)
        for d in _DISCOUNTS:
            for theta in _CONCENTRATIONS:
                p = np.maximum(own - d, 0.0) + (theta + d * n_tables) * before
                best = max(best, (float(weights @ np.log(p / (theta + n_customers))), d, theta))
        score, d, theta = best
        first = np.searchsorted(cells.node_of, np.arange(cells.n_nodes + 1))
        counts = csr_matrix(
            (in_cell - d, cells.outcome, first), shape=(cells.n_nodes, broader.shape[1])
        )
        found = np.asarray(counts[node].toarray(), float)
        back = theta + d * n_tables
        found += back[:, None] * broader
        found[rows, mine] = np.maximum(own - d, 0.0) + back * before
        found /= (theta + n_customers)[:, None]
        return found, score
