"""Samplers and predictions of a tree of contexts, and the choice and product of several trees."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.sparse import csr_matrix

from skdp._numeric import Floats, Ints, Places
from skdp._numeric._numba import as_readonly
from skdp._part import ChainComponent, ChainState
from skdp.context._backoff._columns import ContextTree, find_codes
from skdp.data._coding import Column, Values
from skdp.processes._franchise import (
    ContextIndex,
    FranchiseSampler,
    FranchiseState,
    InterpolatedModel,
    LawAverages,
    TableSample,
)
from skdp.processes._kernels_interpolated import OutcomeCells, add_left_out

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
    """Greedy choice of chains whose weighted product predicts left-out events."""

    # Distributions interpolate the counts of nested contexts without the event, like a franchise
    # with one table in each cell: a broad context counts the narrower contexts with an outcome.

    def __init__(self, events: Events):
        self._events = events
        most = int(np.clip(_CELLS // events.n_outcomes, _FEWEST_EVENTS, _MOST_EVENTS))
        self._sampled = events.sample(most)
        self._outcomes = events.outcomes[self._sampled]
        self._weights = events.counts[self._sampled].astype(float)
        self._scale = float(events.counts.sum() / self._weights.sum())
        none = np.zeros(len(events.counts), np.int64)
        base = np.full((len(self._sampled), events.n_outcomes), 1.0 / events.n_outcomes)
        self._root = self._add_level((), none, 1, base)

    def choose(self) -> list[Chain]:
        """Return chains of one column each, then longer ones, each in the order of choice."""
        n_columns = self._events.codes.shape[1]
        columns = [j for j in range(n_columns) if self._events.sizes[j] > 1]
        by_evidence = sorted(
            (self._extend(self._root, j) for j in columns), key=lambda each: -each.evidence
        )
        singles = {each.chain[0]: each for each in by_evidence}
        followers = list(singles)[:_MOST_COLUMNS]
        # Single columns predict better than the best of as many by chance.
        least = np.log(max(len(by_evidence), 1)) + _LEAST_GAIN
        least = self._root.evidence + least / self._events.counts.sum()
        chosen = [each for each in by_evidence if each.evidence > least][:_MOST_SINGLES]
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
        """Return distributions of the sampled events' contexts, and the score of the best law."""
        # Events add `customers` to their cells. Where `leaves`, one leaves with the event that is
        # predicted, and the law is chosen for these events.
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


# Models of a single tree.


def uniform(n: int) -> Floats:
    """Return the uniform distribution of n outcomes."""
    return np.full(n, 1.0 / n)


# Predictive distributions of left-out events, from samples that are given all events.


def leave_one_out_terms(
    index: ContextIndex, samples: list[TableSample], cells: Ints, base: Floats
) -> tuple[Floats, Floats]:
    """Return the sums over samples of 1 / p(x) and of p(w) / p(x), without the event x."""
    n_depths = index.layout.n_depths
    inverse, total = np.zeros(len(cells)), np.zeros((len(cells), index.n_outcomes))
    reach, row = np.empty(n_depths + 1), np.empty(index.n_outcomes)
    rows = np.empty((n_depths + 1, index.n_outcomes))
    for sample in samples:
        franchise = sample.franchise(index, base)
        nodes, laws = franchise.nodes_and_laws()
        counts = OutcomeCells(
            franchise.customers, franchise.tables, index.layout.node, index.outcome
        )
        add_left_out(
            as_readonly(cells), index.cell_ptr, counts, nodes, laws, base, reach, rows, row,
            inverse, total,
        )  # fmt: skip
    return inverse, total


# The sampler of a single tree, and its public state.


class BackoffState(FranchiseState):
    """The state of a chain after a sweep: a live, read-only view; `copy` detaches it.

    Lists have an array for each level, the broadest first: the root, if there is one, then the
    levels in their order. A context has the values of the columns so far.
    """

    @property
    def outcomes(self) -> list[Ints]:
        """The outcome of each cell, as an index into the classes."""
        return self._by_depth(self._sampler.context_index.outcome)


class BackoffSampler(FranchiseSampler):
    """Markov chain of the back-off classifier; its contexts are a `ContextTree`."""

    def state(self) -> BackoffState:
        """Return a read-only view of the state."""
        return BackoffState(self)


# Explanations of predictions by the contributions of the restaurants on a path.


class BackoffStep(NamedTuple):
    """A context on the path from the base to the narrowest level, and its share of a prediction.

    Attributes
    ----------
    level : str
        "base", "root", or the columns that the level adds.
    context : tuple
        The values of these and all preceding columns.
    customers : float
        Number of customers of the context: its events, or the tables of the contexts below it if
        there are levels below. 0 for an unseen context.
    tables : float
        Number of tables, which count as customers of the context in the level above.
    weight : float
        The share of the context's own counts in the prediction. The weights of all levels sum to 1.
    probability : float
        Contribution of these counts to the probability of the predicted class.
    """

    level: str
    context: tuple[Any, ...]
    customers: float
    tables: float
    weight: float
    probability: float


class CountedModel(NamedTuple):
    """A model, with the customers and tables of its restaurants."""

    model: InterpolatedModel
    customers: Ints
    tables: Ints


def count_models(tree: ContextTree, samples: Iterable[TableSample]) -> Iterator[CountedModel]:
    """Yield the models of samples."""
    base = uniform(tree.n_outcomes)
    for sample in samples:
        franchise = sample.franchise(tree, base)
        model = sample.interpolated(tree, base)
        yield CountedModel(model, franchise.node_customers, franchise.node_tables)


class TreePredictor:
    """The predictive distribution of a tree: the mean of models, which are read once."""

    def __init__(self, tree: ContextTree, models: Iterable[CountedModel]):
        self._tree = tree
        self._models = models

    def _mean(self, add: Callable[[CountedModel, Floats], None], *shape: int) -> Floats:
        """Return the mean of what `add` adds to zeros for each model."""
        total, n_models = np.zeros(shape), 0
        for each in self._models:
            add(each, total)
            n_models += 1
        return np.asarray(total / n_models)

    def find(self, values: list[Values]) -> Ints:
        """Return the contexts of rows of X by depth."""
        return self._tree.find(values)

    def probabilities(self, contexts: Ints, outcomes: Ints) -> Floats:
        """Return the probabilities of outcomes at the ends of paths."""
        cells = self._tree.find_cells(outcomes, contexts)

        def add(each: CountedModel, total: Floats) -> None:
            each.model.add_to_probabilities(outcomes, contexts, cells, total)

        return self._mean(add, len(outcomes))

    def distributions(self, contexts: Ints) -> Floats:
        """Return the distributions at the ends of paths."""

        def add(each: CountedModel, total: Floats) -> None:
            each.model.add_to_distributions(contexts, total)

        return self._mean(add, len(contexts), self._tree.n_outcomes)

    def explain(
        self, contexts: Ints, outcomes: Ints, values: list[Values], names: NDArray[Any] | None
    ) -> list[list[BackoffStep]]:
        """Return a step for the base and for each level, row by row."""
        tree = self._tree
        cells, is_seen = tree.find_cells(outcomes, contexts), contexts >= 0

        def add(each: CountedModel, total: Floats) -> None:
            total[0, :, 1:] += np.where(is_seen, each.customers[contexts], 0)
            total[1, :, 1:] += np.where(is_seen, each.tables[contexts], 0)
            left = np.ones(total.shape[1:])
            left[:, 1:] = np.where(is_seen, each.model.backoff[contexts], 1.0)
            # All narrower contexts dilute the contribution of a context.
            below = np.ones_like(left)
            below[:, :-1] = np.cumprod(left[:, :0:-1], axis=1)[:, ::-1]
            total[2, :, 0] += below[:, 0]
            total[2, :, 1:] += (1.0 - left[:, 1:]) * below[:, 1:]
            total[3, :, 1:] += np.where(cells >= 0, each.model.mass[cells], 0.0) * below[:, 1:]

        # Customers, tables, weight and probability of contexts, the base first.
        found = self._mean(add, 4, len(contexts), contexts.shape[1] + 1)
        found[3, :, 0] = found[2, :, 0] * (1.0 / tree.n_outcomes)
        shown = [column for level in tree.levels for column in level]
        widths = [0] * (1 + tree.has_root)
        widths += np.cumsum([len(level) for level in tree.levels]).tolist()
        labels = ["base"] + ["root"] * tree.has_root
        labels += [", ".join(_name_columns(level, names)) for level in tree.levels]
        return [
            [
                BackoffStep(
                    label, tuple(values[j][i] for j in shown[:n]), *found[:, i, m].tolist()
                )
                for m, (label, n) in enumerate(zip(labels, widths, strict=True))
            ]
            for i in range(len(contexts))
        ]  # fmt: skip


def _name_columns(columns: Iterable[int], names: NDArray[Any] | None) -> list[str]:
    return [f"column {j}" if names is None else str(names[j]) for j in columns]


# Chains of columns, each a tree of contexts with its own franchise, and their product.

_CELLS_OF_WEIGHTS = 2**23
"""Largest number of probabilities of left-out events, over all chains, that weights depend on."""
_MOST_EVENTS_OF_WEIGHTS = 20_000
_CELLS_AT_ONCE = 2**22
"""Largest number of probabilities of all chains that a prediction keeps in memory."""
_LEAST_GAIN_OF_NEW = 2.0
"""Nats that distributions of new contexts must gain on events whose category occurs once.

About as much is gained by chance. The gain decides for each chain alone, so unlike the gains of the
candidates for a chain it need not exceed the best of many.
"""


@dataclass(frozen=True)
class ChainPool:
    """The trees of all chains, and the left-out events that determine their weights."""

    trees: list[ContextTree]  # the first has no columns; its distribution is the reference
    chains: list[Chain]  # columns of each tree
    columns: Sequence[Column]  # of X
    classes: NDArray[Any]  # (n_outcomes,)
    codes: Places  # (n, n_columns), of the events that the weights depend on
    is_single: NDArray[np.bool_]  # (n, n_columns), no other event has the same category
    outcomes: Places  # (n,)
    counts: Places  # (n,)

    @classmethod
    def of(
        cls,
        columns: Sequence[Column],
        codes: list[Places],
        outcomes: Places,
        counts: Places,
        classes: NDArray[Any],
        *,
        has_root: bool,
    ) -> ChainPool:
        """Choose chains and build their trees."""
        sizes = np.array([len(column.values) for column in columns])
        events = Events.of(codes, sizes, outcomes, counts, len(classes))
        chains: list[Chain] = [(), *Screening(events).choose()]
        trees = [
            ContextTree.of(
                [columns[j] for j in chain], [events.codes[:, j] for j in chain],
                tuple((j,) for j in chain), events.outcomes, events.counts, classes,
                has_root=has_root or not chain,
            )
            for chain in chains
        ]  # fmt: skip
        most = _CELLS_OF_WEIGHTS // (len(classes) * len(chains))
        sampled = events.sample(int(np.clip(most, _FEWEST_EVENTS, _MOST_EVENTS_OF_WEIGHTS)))
        return cls(
            trees, chains, columns, classes, events.codes[sampled],
            events.columns_seen_once(sampled), events.outcomes[sampled], events.counts[sampled],
        )  # fmt: skip

    def without_events(self) -> ChainPool:
        """Return the pool without the left-out events, which predictions do not need."""
        n = len(self.columns)
        none = np.empty(0, np.int64)
        return replace(
            self, codes=np.empty((0, n), np.int64), is_single=np.empty((0, n), bool),
            outcomes=none, counts=none,
        )  # fmt: skip

    def find(self, values: list[Values]) -> Ints:
        """Return the codes of rows in all columns, -1 for unseen categories."""
        return find_codes(self.columns, values)

    def contexts(self, k: int, codes: Places) -> Ints:
        """Return the contexts of rows in tree k."""
        return self.trees[k].find_codes([codes[:, j] for j in self.chains[k]], len(codes))

    def left_out(self, samples: list[PoolSample], base: Floats) -> NDArray[Any]:
        """Return the distributions of the left-out events, (n_trees, n, n_outcomes)."""
        found = np.empty((len(self.trees), len(self.outcomes), len(self.classes)), np.float32)
        for k, tree in enumerate(self.trees):
            cells = tree.find_cells(self.outcomes.astype(np.int32), self.contexts(k, self.codes))
            of_tree = [sample[k] for sample in samples]
            inverse, total = leave_one_out_terms(tree, of_tree, cells, base)
            found[k] = total / inverse[:, None]  # p(. | context of the event, all other events)
        return found


PoolSample = tuple[TableSample, ...]
"""A sample of each tree of a pool."""


@dataclass(frozen=True)
class PoolWeights:
    """The weights of chains, and the evidence for replacing a chain with unknown columns."""

    weights: Floats  # (n_trees - 1,), of all but the chain without columns
    evidence: Floats  # (n_trees,), mean log probability of the left-out events
    uses_new_contexts: NDArray[np.bool_]  # (n_trees,), see `replace_unknown`

    @classmethod
    def of(cls, pool: ChainPool, samples: list[PoolSample], base: Floats) -> PoolWeights:
        """Return the weights given the stored samples."""
        left_out = pool.left_out(samples, base)
        rows = np.arange(len(pool.outcomes))
        counts = pool.counts.astype(float)
        own = np.log(left_out[:, rows, pool.outcomes].astype(float))
        evidence = own @ counts / counts.sum()
        uses_new = find_new_contexts(own, counts, pool.chains, evidence, pool.is_single)
        replaced = replace_unknown(left_out, pool.chains, evidence, pool.is_single, uses_new)
        objective = PoolObjective.of(
            replaced[0].astype(float), list(replaced[1:]), pool.outcomes, counts
        )
        return cls(fit_pool_weights(objective), evidence, uses_new)


def replace_unknown(
    distributions: NDArray[Any],
    chains: list[Chain],
    evidence: Floats,
    is_unknown: NDArray[np.bool_],
    uses_new_contexts: NDArray[np.bool_],
) -> NDArray[Any]:
    """Return (n_trees, n, n_outcomes) distributions without the unknown columns of rows."""
    # A chain with unknown columns gives way to the chain of highest evidence whose columns are
    # among its known ones. Without any, it predicts a new context, or else like the tree without
    # columns.
    found = distributions.copy()
    for k, rows, source in _find_replacements(chains, evidence, is_unknown):
        if source is not None:
            found[k, rows] = distributions[source, rows]
        elif not uses_new_contexts[k]:
            found[k, rows] = distributions[0, rows]
    return found


def find_new_contexts(
    log_chances: Floats,
    counts: Floats,
    chains: list[Chain],
    evidence: Floats,
    is_single: NDArray[np.bool_],
) -> NDArray[np.bool_]:
    """Return whether distributions of new contexts predict better than the tree without columns."""
    # A category that occurs once is new without its event, so these events are the evidence.
    # Without any, there is no reason to believe that new categories are like contexts seen before.
    gain = np.zeros(len(chains))
    for k, rows, source in _find_replacements(chains, evidence, is_single):
        if source is None:
            gain[k] += counts[rows] @ (log_chances[k, rows] - log_chances[0, rows])
    return gain > _LEAST_GAIN_OF_NEW


def _find_replacements(
    chains: list[Chain], evidence: Floats, is_unknown: NDArray[np.bool_]
) -> Iterator[tuple[int, Places, int | None]]:
    """Yield a chain, rows with the same unknown columns in it, and its replacement or None."""
    for k, chain in enumerate(chains):
        if not chain:
            continue
        patterns, of_row = np.unique(is_unknown[:, chain], axis=0, return_inverse=True)
        for number, pattern in enumerate(patterns):
            if not pattern.any():
                continue
            known = {j for j, unknown in zip(chain, pattern, strict=True) if not unknown}
            others = [i for i, other in enumerate(chains) if other and known.issuperset(other)]
            rows = np.flatnonzero(of_row.ravel() == number)
            yield k, rows, max(others, key=lambda i: evidence[i]) if others else None


class PoolPredictor:
    """The predictive distribution of a fitted pool."""

    def __init__(self, pool: ChainPool, samples: list[PoolSample], weights: PoolWeights):
        self._pool = pool
        self._samples = samples
        self._weights = weights
        self._step = max(_CELLS_AT_ONCE // (len(pool.classes) * len(pool.trees)), 1)

    @cached_property
    def _models(self) -> list[list[InterpolatedModel]]:
        """The models of the samples of each tree."""
        base = uniform(len(self._pool.classes))
        return [
            [sample[k].interpolated(tree, base) for sample in self._samples]
            for k, tree in enumerate(self._pool.trees)
        ]

    def _parts(self, n: int) -> list[slice]:
        """Return parts of n rows that do not take much memory."""
        return [slice(i, i + self._step) for i in range(0, n, self._step)]

    def find(self, values: list[Values]) -> Ints:
        """Return the codes of rows in all columns."""
        return self._pool.find(values)

    def by_chain(self, codes: Places) -> Floats:
        """Return the distribution under each tree, (n_trees, n, n_outcomes)."""
        pool = self._pool
        found = np.zeros((len(pool.trees), len(codes), len(pool.classes)))
        for k, models in enumerate(self._models):
            contexts = pool.contexts(k, codes)
            for model in models:
                model.add_to_distributions(contexts, found[k])
            found[k] /= len(models)
        weights = self._weights
        return replace_unknown(
            found, pool.chains, weights.evidence, codes < 0, weights.uses_new_contexts
        )

    def explain(
        self, codes: Places, outcomes: Ints, values: list[Values], names: NDArray[Any] | None
    ) -> list[list[BackoffStep]]:
        """Return a step for the tree without columns and for each chain, row by row."""
        pool = self._pool
        rows = np.arange(len(codes))
        chances = np.empty((len(pool.trees), len(codes)))
        for part in self._parts(len(codes)):
            by_chain = self.by_chain(codes[part])
            chances[:, part] = by_chain[:, rows[: by_chain.shape[1]], outcomes[part]]
        weights = [1.0 - self._weights.weights.sum(), *self._weights.weights]
        steps: list[list[BackoffStep]] = [[] for _ in rows]
        for k, chain in enumerate(pool.chains):
            paths = pool.contexts(k, codes)
            depth = (paths >= 0).sum(axis=1) - 1
            narrowest = paths[rows, np.maximum(depth, 0)]
            models = count_models(pool.trees[k], (sample[k] for sample in self._samples))
            pairs = [(each.customers, each.tables) for each in models]
            customers, tables = (np.mean(part, axis=0) for part in zip(*pairs, strict=True))
            level = " > ".join(_name_columns(chain, names)) if chain else "root"
            n_seen = depth + 1 - pool.trees[k].has_root
            for i in range(len(codes)):
                place, is_seen = narrowest[i], depth[i] >= 0
                steps[i].append(BackoffStep(
                    level, tuple(values[j][i] for j in chain[: n_seen[i]]),
                    float(customers[place]) if is_seen else 0.0,
                    float(tables[place]) if is_seen else 0.0,
                    float(weights[k]), float(chances[k, i]),
                ))  # fmt: skip
        return steps

    def distributions(self, codes: Places) -> Floats:
        """Return the distributions of rows, (n, n_outcomes)."""
        return np.concatenate([self._pooled(codes[part]) for part in self._parts(len(codes))])

    def _pooled(self, codes: Places) -> Floats:
        logs = np.log(self.by_chain(codes))
        return np.exp(log_pool(logs[0], logs[1:] - logs[0], self._weights.weights))

    def probabilities(self, codes: Places, outcomes: Ints) -> Floats:
        """Return the probabilities of outcomes of rows."""
        found = np.empty(len(outcomes))
        for part in self._parts(len(outcomes)):
            mine = outcomes[part]
            found[part] = self._pooled(codes[part])[np.arange(len(mine)), mine]
        return found


class PoolState(ChainState):
    """The state of the chains of columns after a sweep: a live, read-only view."""

    @property
    def columns(self) -> list[Chain]:
        """The columns of each chain; the first has none."""
        return list(self._sampler.pool.chains)

    @property
    def chains(self) -> list[BackoffState]:
        """The state of each chain's franchise."""
        return [each.state() for each in self._sampler.samplers]


class PoolSampler(ChainComponent):
    """Markov chains of all franchises of a pool, which share only the data."""

    _data_attributes = ("pool",)

    def __init__(self, pool: ChainPool, start: Callable[[ContextTree, int], BackoffSampler]):
        self.pool = pool
        self.samplers = [start(tree, k) for k, tree in enumerate(pool.trees)]

    def copy(self) -> PoolSampler:
        """Return a sampler with its own arrays; data are shared."""
        other = super().copy()
        other.samplers = [each.copy() for each in self.samplers]
        return other

    def attach(self, pool: ChainPool) -> None:
        """Attach the data."""
        self.pool = pool
        for each, tree in zip(self.samplers, pool.trees, strict=True):
            each.attach(tree)

    def detach(self) -> None:
        """Drop the data."""
        super().detach()
        for each in self.samplers:
            each.detach()

    def sweep(self) -> None:
        """Draw all tables, discounts and concentrations of all chains once."""
        for each in self.samplers:
            each.sweep()

    def log_joint(self) -> float:
        """Return the sum of the log joints of the chains."""
        return sum(each.log_joint() for each in self.samplers)

    def scalars(self) -> dict[str, float]:
        """Return the total log joint and the log joint of each chain."""
        joints = [each.log_joint() for each in self.samplers]
        named = {f"log_joint_{k}": joint for k, joint in enumerate(joints)}
        return {"log_joint": sum(joints), **named}

    def model(self) -> PoolSample:
        """Return the current sample of each chain."""
        return tuple(each.model() for each in self.samplers)

    def state(self) -> PoolState:
        """Return a read-only view of the state."""
        return PoolState(self)


class PoolAverages:
    """Running means of discounts, concentrations and numbers of tables of each chain."""

    def __init__(self) -> None:
        self.chains: list[LawAverages] = []

    def add(self, sampler: PoolSampler) -> None:
        """Add the sampler's current state to the means."""
        if not self.chains:
            self.chains = [LawAverages() for _ in sampler.samplers]
        for averages, each in zip(self.chains, sampler.samplers, strict=True):
            averages.add(each)
