"""Maximum likelihood refinements by cycles of splits and merges."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skdp._fit import FitState
from skdp._numeric import Floats, Ints
from skdp.grammar._chart._ascents import Ascents, warn_unless_converged
from skdp.grammar._refinement._ascent import (
    MaximumLikelihoodRefinement,
    RefinedTables,
    count_coarse,
    count_nodes,
    expect,
    symbols_of_nodes,
)
from skdp.grammar._refinement._treebank import CoarseRules, Treebank, TreebankLexicon
from skdp.inference._convergence import warn_unconverged

# Splits, merges and smoothing of subsymbols.


class SubsymbolRegrouping(NamedTuple):
    """New subsymbols derived from old subsymbols."""

    sizes: NDArray[np.int64]  # (S,), new numbers of subsymbols; those from there on are never used
    as_child: Floats  # (S, K, K'), share of an old subsymbol's weight that a new one gets
    as_parent: Floats  # (S, K, K')
    partner: Ints  # (S, K'), the other half of a split subsymbol, -1: none

    def apply(self, logs: RefinedTables, rules: CoarseRules) -> RefinedTables:
        """Return the logarithms of the new weights."""
        tables = [np.exp(part) for part in logs]
        for table, axis, symbols, is_parent in rules.axes:
            maps = (self.as_parent if is_parent else self.as_child)[symbols]
            tables[table] = _map(tables[table], axis, maps)
        with np.errstate(divide="ignore"):
            return RefinedTables(*(np.log(part) for part in tables))


def _map(table: Floats, axis: int, maps: Floats) -> Floats:
    """Return a table after mapping one of its axes by a matrix for each rule."""
    rows = np.moveaxis(table, axis, -1)
    maps = maps.reshape(len(maps), *[1] * (rows.ndim - 3), *maps.shape[1:])
    made = rows[:, None] @ maps if rows.ndim == 2 else rows @ maps
    if rows.ndim == 2:
        made = made[:, 0]
    return np.ascontiguousarray(np.moveaxis(made, -1, axis))


def split_in_two(sizes: NDArray[np.int64], nodes: Floats, n_components: int) -> SubsymbolRegrouping:
    """Return splits of all subsymbols, or of the most frequent, up to `n_components` per symbol."""
    made = np.minimum(2 * sizes, n_components)
    shape = (len(sizes), nodes.shape[1], int(made.max()))
    as_child, as_parent = np.zeros(shape), np.zeros(shape)
    partner = np.full((shape[0], shape[2]), -1, dtype=np.int32)
    for s, (size, new) in enumerate(zip(sizes, made, strict=True)):
        is_split = np.zeros(size, dtype=np.int64)
        is_split[np.argsort(-nodes[s, :size], kind="stable")[: new - size]] = 1
        origin = np.repeat(np.arange(size), 1 + is_split)
        places = np.arange(new)
        as_parent[s, origin, places] = 1.0
        as_child[s, origin, places] = 1.0 / (1 + is_split[origin])
        first = np.flatnonzero(origin[1:] == origin[:-1])
        partner[s, first], partner[s, first + 1] = first + 1, first
    return SubsymbolRegrouping(made, as_child, as_parent, partner)


def merge_pairs(
    sizes: NDArray[np.int64], partner: Ints, is_merged: NDArray[np.bool_], share: Floats
) -> SubsymbolRegrouping:
    """Return merges of pairs of neighbors, marked by `is_merged` at the first of the two."""
    # As a parent, a merged subsymbol is their average, weighted by their shares of the nodes.
    n_symbols, n = partner.shape
    used = np.arange(n) < sizes[:, None]
    dropped = np.zeros_like(is_merged)
    dropped[:, 1:] = is_merged[:, :-1]
    place = np.cumsum(used & ~dropped, axis=1) - 1
    made = place.max(axis=1) + 1
    as_child = np.zeros((n_symbols, n, int(made.max())))
    s, z = np.nonzero(used)
    as_child[s, z, place[s, z]] = 1.0
    weight = np.where(is_merged | dropped, share, 1.0)
    return SubsymbolRegrouping(
        made, as_child, as_child * weight[:, :, None], np.full((n_symbols, n), -1, dtype=np.int32)
    )


def shares_of_pairs(partner: Ints, nodes: Floats) -> Floats:
    """Return the share of each of two halves in their nodes, (S, K)."""
    others = np.take_along_axis(nodes, np.maximum(partner, 0), axis=1)
    total = nodes + others
    return np.divide(nodes, total, out=np.full_like(nodes, 0.5), where=total > 0.0)


def find_losses(trees: Treebank, logs: RefinedTables, partner: Ints, share: Floats) -> Floats:
    """Return the loss of log likelihood of every merge, (S, K), at the first of the two."""
    # Each node is considered separately, with the rest of the tree unchanged (Petrov et al. 2006):
    # this is exact if no tree has two nodes of the symbol.
    losses = np.zeros(partner.shape)
    expect(trees, logs, (symbols_of_nodes(trees), partner, share, losses))
    return losses


def choose_merges(
    trees: Treebank, logs: RefinedTables, partner: Ints, merge_share: float
) -> tuple[NDArray[np.bool_], Floats]:
    """Return a mask of the pairs to merge, which lose least, and the halves' shares of nodes."""
    share = shares_of_pairs(partner, count_nodes(trees.rules, expect(trees, logs)[1]))
    losses = find_losses(trees, logs, partner, share)
    is_first = partner > np.arange(partner.shape[1])
    pairs = np.flatnonzero(is_first)
    cheapest = pairs[np.argsort(losses.reshape(-1)[pairs], kind="stable")]
    chosen = np.zeros(partner.size, dtype=bool)
    chosen[cheapest[: round(merge_share * len(pairs))]] = True
    return chosen.reshape(partner.shape), share


def smooth(
    logs: RefinedTables, rules: CoarseRules, rule_share: float, word_share: float
) -> RefinedTables:
    """Return a grammar of rules mixed with their means over the subsymbols of the left side."""
    tables = [np.exp(part) for part in (logs.emission, logs.unary, logs.binary)]
    owners = [table[:, 0] for table in (rules.emission, rules.unary, rules.binary)]

    def sums() -> Floats:
        return count_nodes(rules, RefinedTables(logs.root, *tables))

    is_used = sums() > 0.0  # unused subsymbols have no weights
    for place, share in enumerate((word_share, rule_share, rule_share)):
        shape = tables[place].shape
        axes = (shape[0], *[1] * (len(shape) - 2), shape[-1])
        used = is_used[owners[place]].reshape(axes)
        mean = tables[place].sum(axis=-1, keepdims=True) / used.sum(axis=-1, keepdims=True)
        tables[place] = np.where(used, (1.0 - share) * tables[place] + share * mean, 0.0)
    # A symbol with both words and children may not sum to 1 with two different shares.
    totals = np.where(is_used, sums(), 1.0)
    for table, owner in zip(tables, owners, strict=True):
        shape = table.shape
        table /= totals[owner].reshape(shape[0], *[1] * (len(shape) - 2), shape[-1])
    with np.errstate(divide="ignore"):
        return RefinedTables(logs.root, *(np.log(table) for table in tables))


# Cycles of splits and merges.

_NOISE = 0.5
"""Largest difference of log weights between the halves and the split subsymbol."""

_SMOOTHING = (0.01, 0.1)
"""Shares of the mean over a symbol's subsymbols in the smoothed rules, for children and words."""


_N_SPLIT, _N_MERGED = 20, 15
"""Numbers of iterations between splits and merges, and after merges: more iterations fit the trees
better, but new sentences worse."""


class SplitMergeSchedule(NamedTuple):
    """Schedule of splits and merges."""

    n_components: int  # the most subsymbols of a symbol
    n_cycles: int
    merge_share: float  # share of the splits of a cycle that are undone

    @property
    def most_steps(self) -> int:
        """Largest number of iterations, which is 1 without cycles."""
        return max(self.n_cycles * (_N_SPLIT + _N_MERGED), 1)


class SubsymbolSplitMerge:
    """Fit of a refined grammar by cycles of splits and merges, from the coarse grammar."""

    # In a cycle all subsymbols are split in two, with noise; some iterations of EM follow; the
    # splits with the least gain in likelihood are undone; more iterations follow, the last with
    # smoothing.

    def __init__(
        self,
        trees: Treebank,
        lexicon: TreebankLexicon,
        schedule: SplitMergeSchedule,
        rng: np.random.Generator,
    ):
        self.lexicon = lexicon
        self.coarse_counts = self._counts = count_coarse(trees)
        self._sizes = np.ones(trees.rules.n_symbols, dtype=np.int64)
        self.grammar = MaximumLikelihoodRefinement(trees.rules, 0.0, 1, sizes=self._sizes)
        self.coarse_logs = self._logs = self.grammar.updated(self._counts).weights()
        self.schedule, self._rng = schedule, rng
        self._partner = np.full((trees.rules.n_symbols, 1), -1, dtype=np.int32)
        self._n_phases = 0  # number of phases begun, alternately of splits and merges
        self._n_left = 0 if schedule.n_cycles else 1
        self.n_iter = 0
        self.lower_bounds: list[float] = []
        self._last = -np.inf  # last log likelihood of this phase

    @property
    def bound(self) -> float:
        """The last log likelihood, or -inf if there is none yet."""
        return self.lower_bounds[-1] if self.lower_bounds else -np.inf

    @property
    def converged(self) -> bool:
        """Whether all cycles are done."""
        return self._n_left == 0 and self._n_phases == 2 * self.schedule.n_cycles

    @property
    def _is_merged(self) -> bool:
        return self._n_phases > 0 and self._n_phases % 2 == 0

    def step(self, trees: Treebank, tol: float) -> None:
        """Do an iteration, after splits or merges if a new phase begins."""
        if self._n_left == 0:
            self._begin_phase(trees)
        grammar = self.grammar.updated(self._counts)
        if self._is_merged and self._n_left == 1:
            logs = smooth(grammar.weights(), trees.rules, *_SMOOTHING)
            grammar = grammar.with_logs(logs, grammar.counts)
        log_likelihood, self._counts = expect(trees, grammar.weights())
        self.grammar, self._logs = grammar, grammar.weights()
        rise, self._last = log_likelihood - self._last, log_likelihood
        self.lower_bounds.append(log_likelihood)
        self.n_iter += 1
        self._n_left -= 1
        if rise <= tol:
            self._n_left = min(self._n_left, int(self._is_merged))  # one iteration for smoothing

    def _begin_phase(self, trees: Treebank) -> None:
        """Split or merge subsymbols."""
        self._n_phases += 1
        self._last = -np.inf
        if self._is_merged:
            is_merged, share = choose_merges(
                trees, self._logs, self._partner, self.schedule.merge_share
            )
            made = merge_pairs(self._sizes, self._partner, is_merged, share)
            self._n_left = _N_MERGED
        else:
            nodes = count_nodes(trees.rules, self._counts)
            made = split_in_two(self._sizes, nodes, self.schedule.n_components)
            self._n_left = _N_SPLIT
        logs = made.apply(self._logs, trees.rules)
        if not self._is_merged:
            noise = self._rng.uniform
            logs = RefinedTables(*(part + noise(-_NOISE, _NOISE, part.shape) for part in logs))
        self._sizes, self._partner = made.sizes, made.partner
        self.grammar = MaximumLikelihoodRefinement(
            trees.rules, 0.0, logs.n_components, sizes=self._sizes
        )
        self._counts = expect(trees, logs)[1]


# Fits of `HDPPCFGRefiner`.


class RefinementAscents(Ascents):
    """Ascents of refined grammars, or cycles of splits and merges."""

    keeps_runs = False
    """False: an interrupted fit only continues from a checkpoint."""

    def warn_unless_converged(self, estimator: Any, state: FitState) -> None:
        """Warn if one of the grammars has not converged."""
        run = min(state.runs, key=lambda run: run.converged)
        if not isinstance(run, SubsymbolSplitMerge):
            warn_unless_converged(estimator, run)
        elif not run.converged:
            warn_unconverged(
                estimator,
                "cycles",
                "the cycles of splits and merges are not done. Raise max_iter.",
                n_iter=run.n_iter,
                n_cycles=run.schedule.n_cycles,
            )
