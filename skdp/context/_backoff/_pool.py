"""Samplers and predictions of a single tree of contexts, and of the product of several trees."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skdp._numeric import Floats, Ints, Places
from skdp._numeric._numba import as_readonly
from skdp._part import ChainComponent, ChainState
from skdp.context._backoff._columns import ContextTree, find_codes
from skdp.context._backoff._screening import (
    Chain,
    Events,
    PoolObjective,
    Screening,
    fit_pool_weights,
    log_pool,
)
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
    levels in their order.
    """

    @property
    def outcomes(self) -> list[Ints]:
        """The outcome of each cell, as an index into the classes."""
        return self._by_depth(self._sampler.context_index.outcome)

    @property
    def contexts(self) -> list[NDArray[Any]]:
        """The context of each cell, (n_cells, columns so far)."""
        tree = self._sampler.context_index
        return [tree.contexts_at(m)[places] for m, places in enumerate(self._places())]


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


def explain_paths(models: Iterable[CountedModel], contexts: Ints, cells: Ints) -> Floats:
    """Return the mean customers, tables, weight and probability of contexts, (4, n, 1 + n_depths).

    The base comes first; the probabilities refer to the outcomes of the cells.
    """
    total, n_models = np.zeros((4, len(contexts), contexts.shape[1] + 1)), 0
    for each in models:
        total += _explain(each, contexts, cells)
        n_models += 1
    return total / n_models


def _explain(counted: CountedModel, contexts: Ints, cells: Ints) -> Floats:
    model = counted.model
    is_seen, is_cell = contexts >= 0, cells >= 0
    found = np.zeros((4, len(contexts), contexts.shape[1] + 1))
    found[0, :, 1:] = np.where(is_seen, counted.customers[contexts], 0)
    found[1, :, 1:] = np.where(is_seen, counted.tables[contexts], 0)
    left = np.ones(found.shape[1:])
    left[:, 1:] = np.where(is_seen, model.backoff[contexts], 1.0)
    # All narrower contexts dilute the contribution of a context.
    below = np.ones_like(left)
    below[:, :-1] = np.cumprod(left[:, :0:-1], axis=1)[:, ::-1]
    found[2, :, 0] = below[:, 0]
    found[2, :, 1:] = (1.0 - left[:, 1:]) * below[:, 1:]
    found[3, :, 1:] = np.where(is_cell, model.mass[cells], 0.0) * below[:, 1:]
    return found


def name_levels(tree: ContextTree, names: NDArray[Any] | None) -> list[str]:
    """Return the names of the levels, the base first, from the `names` of the columns."""
    found = ["base"] + ["root"] * tree.has_root
    for level in tree.levels:
        parts = (f"column {j}" if names is None else str(names[j]) for j in level)
        found.append(", ".join(parts))
    return found


# Chains of columns, each a tree of contexts with its own franchise, and their product.

_CELLS = 2**23
"""Largest number of probabilities of left-out events, over all chains, that weights depend on."""
_FEWEST_EVENTS, _MOST_EVENTS = 500, 20_000
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
        most = np.clip(_CELLS // (len(classes) * len(chains)), _FEWEST_EVENTS, _MOST_EVENTS)
        sampled = events.sample(int(most))
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
    """Return distributions, (n_trees, n, n_outcomes), in which unknown columns of rows are dropped.

    A chain with unknown columns gives way to the chain of highest evidence whose columns are among
    its known ones. Without any, it predicts a new context, or else like the tree without columns.
    """
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
    """Return whether distributions of new contexts predict better than the tree without columns.

    A category that occurs once is new without its event, so these events are the evidence. Without
    any, there is no reason to believe that new categories are like the contexts that were seen.
    """
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

    def __init__(
        self, pool: ChainPool, samples: list[PoolSample], weights: PoolWeights, base: Floats
    ):
        self._pool = pool
        self._weights = weights
        self._models = [
            [sample[k].interpolated(tree, base) for sample in samples]
            for k, tree in enumerate(pool.trees)
        ]
        self.step = max(_CELLS_AT_ONCE // (len(pool.classes) * len(pool.trees)), 1)

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
        self,
        codes: Places,
        outcomes: Ints,
        values: list[Values],
        names: list[str],
        counts: Callable[[int], Iterator[CountedModel]],
    ) -> list[list[BackoffStep]]:
        """Return a step for the tree without columns and for each chain, row by row."""
        pool = self._pool
        rows = np.arange(len(codes))
        chances = np.empty((len(pool.trees), len(codes)))
        for i in range(0, len(codes), self.step):
            part = slice(i, i + self.step)
            by_chain = self.by_chain(codes[part])
            chances[:, part] = by_chain[:, rows[: by_chain.shape[1]], outcomes[part]]
        weights = [1.0 - self._weights.weights.sum(), *self._weights.weights]
        steps: list[list[BackoffStep]] = [[] for _ in rows]
        for k, chain in enumerate(pool.chains):
            paths = pool.contexts(k, codes)
            depth = (paths >= 0).sum(axis=1) - 1
            narrowest = paths[rows, np.maximum(depth, 0)]
            customers, tables = _mean_counts(counts(k))
            level = " > ".join(names[j] for j in chain) if chain else "root"
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
        parts = [self._pooled(codes[i : i + self.step]) for i in range(0, len(codes), self.step)]
        return np.concatenate(parts)

    def _pooled(self, codes: Places) -> Floats:
        logs = np.log(self.by_chain(codes))
        return np.exp(log_pool(logs[0], logs[1:] - logs[0], self._weights.weights))


def _mean_counts(models: Iterator[CountedModel]) -> tuple[Floats, Floats]:
    """Return the mean customers and tables of each restaurant."""
    pairs = [(each.customers, each.tables) for each in models]
    customers, tables = (np.mean(part, axis=0) for part in zip(*pairs, strict=True))
    return customers, tables


class PoolState(ChainState):
    """The state of the chains of columns after a sweep: a live, read-only view.

    Attributes
    ----------
    columns : list of tuples of int
        The columns of each chain; the first has none.
    chains : list of BackoffState
        The state of each chain's franchise, with tables, customers, contexts and outcomes.
    """

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

    def means(self) -> Iterator[tuple[Floats, Floats, Floats]]:
        """Yield the means of each chain: discounts, concentrations and tables."""
        for averages in self.chains:
            yield averages.means()
