"""Refined grammars: expected subsymbols, maximum likelihood, mean field, and ascents."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, psi, softmax

from skdp._numeric import Floats, Ints
from skdp._numeric._arrays import unique_rows
from skdp.grammar._chart._ascents import (
    MAX_LOGIT,
    MIN_WEIGHT,
    CoordinateAscent,
    Expectation,
    climb,
)
from skdp.grammar._kernels import _subsymbols as kernels
from skdp.grammar._refinement._treebank import CoarseRules, Treebank, TreebankLexicon

# Expected and most probable subsymbols of observed trees under given weights.


class RefinedTables(NamedTuple):
    """A number for every refined rule: a weight, its logarithm, or a count."""

    root: Floats  # (R, K), by the root's subsymbol
    emission: Floats  # (E, K), by the symbol's subsymbol
    unary: Floats  # (U, K, K), by the subsymbols of child and parent
    binary: Floats  # (B, K, K, K), by the subsymbols of left child, right child and parent

    @classmethod
    def zeros(cls, rules: CoarseRules, n_components: int) -> RefinedTables:
        """Return tables of zeros."""
        sizes = (len(rules.roots), len(rules.emission), len(rules.unary), len(rules.binary))
        return cls(
            *(np.zeros((n, *[n_components] * d)) for n, d in zip(sizes, (1, 1, 2, 3), strict=True))
        )

    @property
    def n_components(self) -> int:
        """Number of subsymbols."""
        return self.root.shape[1]


class ScaledWeights(NamedTuple):
    """Weights divided by the largest of their coarse rule, and its logarithm."""

    weights: RefinedTables
    log_scale: RefinedTables  # one number a coarse rule

    @classmethod
    def of(cls, logs: RefinedTables) -> ScaledWeights:
        """Return scaled weights from their logarithms; unscaled they may exceed a float's range."""
        scales = [part.max(axis=tuple(range(1, part.ndim)), initial=-np.inf) for part in logs]
        scales = [np.where(np.isneginf(scale), 0.0, scale) for scale in scales]
        weights = [
            np.exp(part - scale.reshape(-1, *[1] * (part.ndim - 1)))
            for part, scale in zip(logs, scales, strict=True)
        ]
        return cls(RefinedTables(*weights), RefinedTables(*scales))


def expect(
    trees: Treebank, logs: RefinedTables, merges: tuple[NDArray[Any], ...] | None = None
) -> tuple[float, RefinedTables]:
    """Return the log of the summed weights of all labelings, and the expected uses of rules."""
    # `merges`, of which the last array gets losses, are as in `_kernels/_subsymbols`.
    scaled = ScaledWeights.of(logs)
    counts = RefinedTables(*(np.zeros(part.shape) for part in logs))
    n = logs.n_components
    messages = np.empty((2, trees.largest, n))
    log_sum = np.empty(trees.n_trees)
    kernels.expect_labels(
        *trees[1:], scaled.weights, *messages, np.empty((n, n)), counts, log_sum, merges
    )
    for count, weight in zip(counts, scaled.weights, strict=True):
        count *= weight
    return float(log_sum.sum()) + _log_scale(trees, scaled), counts


def expect_best(trees: Treebank, logs: RefinedTables) -> tuple[float, RefinedTables]:
    """Return the log weight of the best labelings, and the uses of rules in them."""
    scaled = ScaledWeights.of(logs)
    labels = np.empty(len(trees.rule), dtype=np.int32)
    log_best = np.empty(trees.n_trees)
    inside = np.empty((trees.largest, logs.n_components))
    kernels.find_labels(*trees[1:], scaled.weights, inside, labels, log_best)
    return float(log_best.sum()) + _log_scale(trees, scaled), _count(trees, labels, logs)


def _log_scale(trees: Treebank, scaled: ScaledWeights) -> float:
    """Return the logarithm of the scale of the weights of all trees' rules."""
    root, *others = scaled.log_scale
    total = root[trees.root_rule].sum()
    for nodes, scale in zip(_nodes_by_kind(trees), others, strict=True):
        total += scale[trees.rule[nodes]].sum()
    return float(total)


def _nodes_by_kind(trees: Treebank) -> list[NDArray[np.int64]]:
    """Return the nodes that emit, nodes with one child, and nodes with two children."""
    kinds = (trees.left >= 0).astype(np.int64) + (trees.right >= 0)
    return [np.flatnonzero(kinds == kind) for kind in range(3)]


def symbols_of_nodes(trees: Treebank) -> NDArray[np.int32]:
    """Return the symbol of every node."""
    symbols = np.empty(len(trees.rule), dtype=np.int32)
    tables = (trees.rules.emission, trees.rules.unary, trees.rules.binary)
    for nodes, table in zip(_nodes_by_kind(trees), tables, strict=True):
        symbols[nodes] = table[trees.rule[nodes], 0]
    return symbols


def count_nodes(rules: CoarseRules, counts: RefinedTables) -> NDArray[np.float64]:
    """Return sums over the rules of each subsymbol, (S, K): nodes, if counts are uses."""
    nodes = np.zeros((rules.n_symbols, counts.n_components))
    np.add.at(nodes, rules.emission[:, 0], counts.emission)
    np.add.at(nodes, rules.unary[:, 0], counts.unary.sum(axis=1))
    np.add.at(nodes, rules.binary[:, 0], counts.binary.sum(axis=(1, 2)))
    return nodes


def _count(trees: Treebank, labels: NDArray[np.int32], like: RefinedTables) -> RefinedTables:
    counts = RefinedTables(*(np.zeros(part.shape) for part in like))
    starts = np.repeat(trees.tree_ptr[:-1], np.diff(trees.tree_ptr))
    emitting, lone, double = _nodes_by_kind(trees)

    def child(table: NDArray[np.int32], nodes: NDArray[np.int64]) -> NDArray[np.int32]:
        return labels[starts[nodes] + table[nodes]]

    np.add.at(counts.root, (trees.root_rule, labels[trees.tree_ptr[1:] - 1]), 1.0)
    np.add.at(counts.emission, (trees.rule[emitting], labels[emitting]), 1.0)
    np.add.at(counts.unary, (trees.rule[lone], child(trees.left, lone), labels[lone]), 1.0)
    np.add.at(
        counts.binary,
        (trees.rule[double], child(trees.left, double), child(trees.right, double),
         labels[double]),
        1.0,
    )  # fmt: skip
    return counts


# Maximum likelihood, with or without pseudo-counts.


class MaximumLikelihoodRefinement:
    """Probabilities of refined rules that maximize likelihood x prod phi^pseudo_count."""

    def __init__(
        self,
        rules: CoarseRules,
        pseudo_count: float,
        n_components: int,
        logs: RefinedTables | None = None,  # None: the grammar is not fitted yet
        counts: RefinedTables | None = None,
        sizes: NDArray[np.int64] | None = None,  # (S,), numbers of subsymbols; None: n_components
    ):
        self.rules = rules
        self.pseudo_count = pseudo_count
        self.n_components = n_components
        self.sizes = np.full(rules.n_symbols, n_components) if sizes is None else sizes
        is_used = np.arange(n_components) < self.sizes[:, None]
        self.top_weights = np.where(is_used, 1.0 / self.sizes[:, None], 0.0)
        self.counts = counts
        self._logs = logs

    def updated(self, used: RefinedTables) -> MaximumLikelihoodRefinement:
        """Return the grammar that maximizes the bound, given q(z)."""
        counts = RefinedTables(*(part + self.pseudo_count for part in used))
        sums = count_nodes(self.rules, counts)
        with np.errstate(divide="ignore"):
            totals = np.log(np.where(sums > 0.0, sums, 1.0))
            logs = RefinedTables(
                np.log(counts.root) - np.log(counts.root.sum()),
                np.log(counts.emission) - totals[self.rules.emission[:, 0]],
                np.log(counts.unary) - totals[self.rules.unary[:, 0], None],
                np.log(counts.binary) - totals[self.rules.binary[:, 0], None, None],
            )
        return self.with_logs(logs, used)

    def with_logs(self, logs: RefinedTables, counts: Any) -> MaximumLikelihoodRefinement:
        """Return a grammar with other probabilities and counts."""
        return MaximumLikelihoodRefinement(
            self.rules, self.pseudo_count, self.n_components, logs, counts, self.sizes
        )

    def lower_bound(self, log_likelihood: float) -> float:
        """Return the log likelihood, including that of any pseudo-counts."""
        if self.pseudo_count == 0.0:
            return log_likelihood
        return log_likelihood + self.pseudo_count * sum(
            float(part.sum()) for part in self.weights()
        )

    def weights(self) -> RefinedTables:
        """Return the logarithms of the rules' probabilities."""
        assert self._logs is not None
        return self._logs

    log_means = weights


# Ascents of refined grammars, with the treebank's data for parsing.

_NOISE = 0.5
"""Largest difference of log weights between new subsymbols and the split subsymbols."""

_SPLIT_FROM = 16
"""Number of subsymbols from which a fit starts with two or three and splits them."""

_N_SPLIT = 10
"""Number of iterations before subsymbols are split."""


class Refinement(CoordinateAscent):
    """Ascent of a refined grammar, from the coarse grammar and noise."""

    # For many subsymbols it starts with few, which are split in two until their number is reached.

    def __init__(
        self,
        make_grammar: Callable[[int], Any],  # from a number of subsymbols
        n_components: int,
        trees: Treebank,
        lexicon: TreebankLexicon,
        expect: Expectation,
        rng: np.random.Generator,
    ):
        self.lexicon = lexicon
        self.coarse_counts = count_coarse(trees)
        coarse = MaximumLikelihoodRefinement(trees.rules, 0.0, 1).updated(self.coarse_counts)
        self.coarse_logs = start = coarse.weights()
        for size in _sizes(n_components):
            start = split(start, size, rng)
            if size < n_components:
                ascent = CoordinateAscent(make_grammar(size), start)
                for _ in range(_N_SPLIT):
                    ascent.step(expect, 0.0)
                start = ascent.grammar.weights()
        super().__init__(make_grammar(n_components), start)

    def step(self, expect: Expectation, tol: float) -> None:
        """Do an iteration, and try to merge two subsymbols if the grammar supports it."""
        super().step(expect, tol)
        merge = getattr(self.grammar, "merged", None)
        grammar = None if merge is None else merge(self._counts, self.n_iter)
        if grammar is None:
            return
        log_likelihood, counts = expect(grammar.weights())
        bound = grammar.lower_bound(log_likelihood)
        if bound > self.lower_bounds[-1]:
            self.lower_bounds[-1] = bound
            self._jump(grammar, counts)


def count_coarse(trees: Treebank) -> RefinedTables:
    """Return the counts of the coarse rules in the trees, as tables with a single subsymbol."""
    return expect(trees, RefinedTables.zeros(trees.rules, 1))[1]


def _sizes(n_components: int) -> list[int]:
    """Return growing numbers of subsymbols, each at most twice the previous number."""
    sizes = [n_components]
    while n_components >= _SPLIT_FROM and sizes[-1] > 3:
        sizes.append((sizes[-1] + 1) // 2)
    return sizes[::-1]


def split(logs: RefinedTables, n_components: int, rng: np.random.Generator) -> RefinedTables:
    """Return weights of more subsymbols, split as evenly as possible, with noise to differ."""
    origin = np.arange(n_components) * logs.n_components // n_components
    share = -np.log(np.bincount(origin))[origin]  # of the weight of a child
    tables = []
    for table, n_children in zip(logs, (1, 0, 1, 2), strict=True):
        made = table
        for axis in range(1, table.ndim):
            made = np.take(made, origin, axis=axis)
            if axis <= n_children:
                made = made + share.reshape(-1, *[1] * (table.ndim - 1 - axis))
        tables.append(made + rng.uniform(-_NOISE, _NOISE, made.shape))
    return RefinedTables(*tables)


# Top-level weights beta_s of the subsymbols of coarse symbols: prior and optimal values.
#
# Given q(phi), the lower bound depends on the rules' rows only by sums of expected logarithms for
# every child, or pair of children, over the rows z of all parents. With x = alpha beta_s',
#
#     L(beta) = sum_s log p(beta_s) + sum (x - 1) sum_z E[log phi_z] - n_rows log Gamma(x)
#
# and x = alpha beta_s' beta_s''' for pairs (Liang et al. 2009, 4.2.3). Its cost does not grow with
# the number of rules.


_MAX_STEPS = 12
"""Largest number of steps per iteration of the coordinate ascent: more steps hardly pay off."""


class ChildRows(NamedTuple):
    """Sums of rows over the subsymbols of only children, for every child symbol."""

    concentration: float
    symbols: Ints  # (n,)
    log_sum: Floats  # (n, K), expected logarithms summed over rows
    n_rows: Floats  # (n,)

    def value(self, beta: Floats) -> tuple[float, Floats]:
        """Return the rows' part of L(beta), for beta (S, K), and its derivatives."""
        x = self.concentration * beta[self.symbols]
        n_rows = self.n_rows[:, None]
        slopes = np.zeros_like(beta)
        np.add.at(slopes, self.symbols, self.concentration * (self.log_sum - n_rows * psi(x)))
        return float(np.sum(x * self.log_sum - n_rows * gammaln(x))), slopes


class PairRows(NamedTuple):
    """Sums of rows over the subsymbols of two children, for every pair of child symbols."""

    concentration: float
    left: Ints  # (n,)
    right: Ints  # (n,)
    log_sum: Floats  # (n, K, K)
    n_rows: Floats  # (n,)

    def value(self, beta: Floats) -> tuple[float, Floats]:
        """Return the rows' part of L(beta), for beta (S, K), and its derivatives."""
        lefts, rights = beta[self.left], beta[self.right]
        x = self.concentration * lefts[:, :, None] * rights[:, None, :]
        n_rows = self.n_rows[:, None, None]
        cells = self.concentration * (self.log_sum - n_rows * psi(x))
        slopes = np.zeros_like(beta)
        np.add.at(slopes, self.left, (cells @ rights[:, :, None])[:, :, 0])
        np.add.at(slopes, self.right, (lefts[:, None, :] @ cells)[:, 0, :])
        return float(np.sum(x * self.log_sum - n_rows * gammaln(x))), slopes


def log_gem(beta: Floats, concentration: float) -> tuple[float, Floats]:
    """Return log p(beta) of all rows under truncated GEM, and its derivatives (see `TopPrior`)."""
    n = beta.shape[1]
    if n == 1:
        return 0.0, np.zeros_like(beta)
    tails = np.cumsum(beta[:, ::-1], axis=1)[:, ::-1].copy()
    tails[:, 0] = 1.0
    logs = np.log(tails)
    value = (n - 1) * np.log(concentration) * len(beta)
    value += (concentration - 1.0) * logs[:, -1].sum() - logs[:, :-1].sum()
    slopes = -1.0 / tails
    slopes[:, -1] *= 1.0 - concentration
    slopes[:, 0] = 0.0
    return float(value), np.cumsum(slopes, axis=1)


def log_joint(
    beta: Floats, concentration: float, children: ChildRows, pairs: PairRows
) -> tuple[float, Floats]:
    """Return L(beta), up to terms independent of beta, and its derivatives."""
    parts = [log_gem(beta, concentration), children.value(beta), pairs.value(beta)]
    slopes = [slope for _, slope in parts]
    return sum(value for value, _ in parts), slopes[0] + slopes[1] + slopes[2]


def maximize(beta: Floats, concentration: float, children: ChildRows, pairs: PairRows) -> Floats:
    """Return weights at which L is not lower than at `beta`, near a local maximum."""
    shape = beta.shape
    share = 1.0 - shape[1] * MIN_WEIGHT

    def objective(logits: Floats) -> tuple[float, Floats]:
        free = softmax(logits.reshape(shape), axis=1)
        value, slopes = log_joint(MIN_WEIGHT + share * free, concentration, children, pairs)
        slopes = share * free * (slopes - np.sum(free * slopes, axis=1, keepdims=True))
        return -value, -slopes.ravel()

    start = np.log(np.maximum((beta - MIN_WEIGHT) / share, np.exp(-MAX_LOGIT)))
    found = climb(objective, start.ravel(), _MAX_STEPS)
    best = MIN_WEIGHT + share * softmax(found.reshape(shape), axis=1)
    before = log_joint(beta, concentration, children, pairs)[0]
    if log_joint(best, concentration, children, pairs)[0] < before:
        return beta
    return np.asarray(best)


# Structured mean field with Dirichlet q(phi) and points q(beta_s).
#
# Symbols (Liang et al. 2009, figure 4): phi^T types of rules, phi^E words, phi^u, phi^b coarse
# right-hand sides, phi^U, phi^B subsymbols of children, each given symbol and subsymbol of the
# parent. The root is the only child of an additional symbol without subsymbols. The state is beta
# and the expected counts under q(z): q(phi) is Dir(prior + counts).


_N_ROUNDS = 2
"""Number of alternating updates of q(phi) and q(beta) per iteration."""

_LEAST_NODES = 1e-6
"""Subsymbols with fewer expected nodes are not in use."""

_N_HELD = 20
"""Number of iterations with uniform beta: before they differ, GEM drops needed subsymbols."""

_N_UNMERGED = 50
"""Number of iterations before merges: on small data subsymbols take long to differ."""


Log = Callable[[Any], Any]


class RefinementPriors(NamedTuple):
    """Hyperparameters; `symbol` None: 1 divided by the number of right-hand sides."""

    top: float
    rule_type: float
    emission: float
    symbol: float | None
    unary: float
    binary: float


class Choice:
    """Dirichlet distributions over the rows of a table that have the same owner."""

    def __init__(self, owner: NDArray[np.int32], prior: float | None):
        self.owner = owner
        sizes = np.bincount(owner)
        self.n_owners = len(sizes)
        each = 1.0 / np.maximum(sizes, 1) if prior is None else np.full(self.n_owners, prior)
        self.prior = each[owner][:, None]
        self.total_prior = (each * sizes)[:, None]

    def totals(self, counts: Floats) -> Floats:
        """Return the sums over rows of (n, K) counts by owner, (n_owners, K)."""
        totals = np.zeros((self.n_owners, counts.shape[1]))
        np.add.at(totals, self.owner, counts)
        return totals

    def logs(self, counts: Floats, log: Log = psi) -> Floats:
        """Return E[log phi], (n, K), of Dir(prior + counts), or log E[phi] if `log` is np.log."""
        with np.errstate(divide="ignore"):  # owners without rows
            totals = log(self.total_prior + self.totals(counts))
        return np.asarray(log(self.prior + counts) - totals[self.owner])

    def log_evidence(self, counts: Floats) -> float:
        """Return log E[prod phi^counts] under the prior."""
        cells = gammaln(self.prior + counts) - gammaln(self.prior)
        owned = np.bincount(self.owner, minlength=self.n_owners) > 0
        totals = self.total_prior[owned]
        sums = self.totals(counts)[owned]
        return float(cells.sum() + np.sum(gammaln(totals) - gammaln(totals + sums)))


class VariationalRefinement:
    """The factors q(beta) and q(phi), given the expected counts of an E-step."""

    def __init__(
        self,
        rules: CoarseRules,
        priors: RefinementPriors,
        n_components: int,
        top_weights: Floats | None = None,
        counts: RefinedTables | None = None,  # None: the grammar is not fitted yet
        n_updates: int = 0,  # so far: the first updates leave beta unchanged
    ):
        self.rules = rules
        self.priors = priors
        self.n_components = n_components
        if top_weights is None:
            top_weights = np.full((rules.n_symbols, n_components), 1.0 / n_components)
        self.top_weights = top_weights
        self.counts: Any = counts
        self.n_updates = n_updates

    def updated(self, counts: RefinedTables) -> VariationalRefinement:
        """Return a grammar with a higher lower bound, given q(z)."""
        made = self._with(self.top_weights, counts)
        if self.n_components > 1 and self.n_updates >= _N_HELD:
            for _ in range(_N_ROUNDS):
                beta = maximize(made.top_weights, self.priors.top, *made._rows())
                made = self._with(beta, counts)
        return self._with(*self._sorted(made.top_weights, counts))

    def _with(self, beta: Floats, counts: RefinedTables) -> VariationalRefinement:
        return VariationalRefinement(
            self.rules, self.priors, self.n_components, beta, counts, self.n_updates + 1
        )

    def merged(self, counts: RefinedTables, attempt: int) -> VariationalRefinement | None:
        """Return the grammar after merging two subsymbols of a symbol, if that may pay off."""
        # Subsymbols that share the role of one are a local maximum, which coordinate ascent leaves
        # slowly or never. The rarest is merged if the evidence of the rules rises; whether the
        # bound rises also depends on the loss of entropy of q(z).
        if self.n_components == 1 or self.n_updates <= _N_UNMERGED:
            return None
        n_symbols = self.rules.n_symbols
        symbol = attempt % n_symbols
        sizes = self._with(self.top_weights, counts)._sizes(symbol)
        used = [z for z in np.argsort(-sizes, kind="stable") if sizes[z] >= _LEAST_NODES]
        if len(used) < 2:
            return None
        # Symbols and targets alternate with `attempt`.
        source, target = used[-1], used[(attempt // n_symbols) % (len(used) - 1)]
        beta = self.top_weights.copy()
        beta[symbol, target] += beta[symbol, source] - MIN_WEIGHT
        beta[symbol, source] = MIN_WEIGHT
        made = self._with(beta, joined(counts, self.rules, symbol, source, target))
        before = self._with(self.top_weights, counts)._log_evidence()
        return made if made._log_evidence() > before else None

    def _sizes(self, symbol: int) -> Floats:
        """Return the expected nodes of the subsymbols of a symbol."""
        rules, counts = self.rules, self.counts
        return np.asarray(
            counts.emission[rules.emission[:, 0] == symbol].sum(axis=0)
            + counts.unary[rules.unary[:, 0] == symbol].sum(axis=(0, 1))
            + counts.binary[rules.binary[:, 0] == symbol].sum(axis=(0, 1, 2))
        )

    def _rows(self) -> tuple[ChildRows, PairRows]:
        """Return the sums of the rows of subsymbols, for every child and pair of children."""
        rules, n = self.rules, self.n_components
        root, unary, binary = self._log_subsymbols()
        symbols = np.concatenate([rules.unary[:, 1], rules.roots])
        log_sum = np.concatenate([unary.sum(axis=2), root])
        n_rows = np.concatenate([np.full(len(unary), float(n)), np.ones(len(root))])
        pairs, places, *_ = unique_rows(rules.binary[:, 1:])
        pair_sum = np.zeros((len(pairs), n, n))
        np.add.at(pair_sum, places, binary.sum(axis=3))
        pair_rows = np.bincount(places, minlength=len(pairs)).astype(np.float64) * n
        return (
            ChildRows(self.priors.unary, symbols, log_sum, n_rows),
            PairRows(self.priors.binary, pairs[:, 0], pairs[:, 1], pair_sum, pair_rows),
        )

    def _sorted(self, beta: Floats, counts: RefinedTables) -> tuple[Floats, RefinedTables]:
        """Renumber subsymbols such that p(beta) rises; nothing else depends on their order."""
        order = np.argsort(-beta, axis=1, kind="stable")
        by_rank = np.take_along_axis(beta, order, axis=1)
        keep = np.array(
            [
                log_gem(a[None], self.priors.top)[0] <= log_gem(b[None], self.priors.top)[0]
                for a, b in zip(by_rank, beta, strict=True)
            ]
        )
        order[keep] = np.arange(self.n_components)
        if np.all(order == np.arange(self.n_components)):
            return beta, counts
        return np.take_along_axis(beta, order, axis=1), renamed(counts, order, self.rules)

    # Expectations

    def _choices(self) -> list[tuple[Choice, Floats]]:
        """Return the choices of roots, types, words and coarse children, with their counts."""
        rules, priors, counts = self.rules, self.priors, self.counts
        lone, double = counts.unary.sum(axis=1), counts.binary.sum(axis=(1, 2))
        owners = [rules.emission[:, 0], rules.unary[:, 0], rules.binary[:, 0]]
        each = (priors.emission, priors.symbol, priors.symbol)
        parts = list(zip(map(Choice, owners, each), (counts.emission, lone, double), strict=True))
        symbols = [np.unique(owner) for owner in owners]
        types = Choice(np.concatenate(symbols), priors.rule_type)
        used = [
            choice.totals(part)[mine] for (choice, part), mine in zip(parts, symbols, strict=True)
        ]
        root = Choice(np.zeros(len(rules.roots), dtype=np.int32), priors.symbol)
        root_counts = counts.root.sum(axis=1, keepdims=True)
        return [(root, root_counts), (types, np.concatenate(used)), *parts]

    def _rows_of_subsymbols(self) -> Iterator[tuple[float, Floats, Floats, Floats]]:
        """Yield concentration, prior, counts, and totals of both: of root, one and two children."""
        rules, beta, counts, priors = self.rules, self.top_weights, self.counts, self.priors
        pairs = beta[rules.binary[:, 1], :, None] * beta[rules.binary[:, 2], None, :]
        for alpha, base, table, axes in (
            (priors.unary, beta[rules.roots], counts.root, 1),
            (priors.unary, beta[rules.unary[:, 1], :, None], counts.unary, 1),
            (priors.binary, pairs[..., None], counts.binary, (1, 2)),
        ):
            yield alpha, alpha * base, table, alpha + table.sum(axis=axes, keepdims=True)

    def _log_subsymbols(self, log: Log = psi) -> list[Floats]:
        """Return E[log phi^U] of root and only children, and E[log phi^B]; see `Choice.logs`."""
        return [
            log(prior + table) - log(total) for _, prior, table, total in self._rows_of_subsymbols()
        ]

    def weights(self) -> RefinedTables:
        """Return E[log rule]."""
        return self._log_rules(psi)

    def log_means(self) -> RefinedTables:
        """Return log E[rule]."""
        return self._log_rules(np.log)

    def _log_rules(self, log: Log) -> RefinedTables:
        root_logs, type_logs, emission, unary_logs, binary_logs = (
            choice.logs(used, log) for choice, used in self._choices()
        )
        root, unary, binary = self._log_subsymbols(log)
        n_types = [len(np.unique(table[:, 0])) for table in self.rules[2:5]]
        by_type = np.split(type_logs, np.cumsum(n_types)[:-1])
        emission, unary_logs, binary_logs = (
            logs + part[np.unique(table[:, 0], return_inverse=True)[1]]
            for logs, part, table in zip(
                (emission, unary_logs, binary_logs), by_type, self.rules[2:5], strict=True
            )
        )
        root += root_logs
        unary += unary_logs[:, None]
        binary += binary_logs[:, None, None]
        return RefinedTables(root, emission, unary, binary)

    def lower_bound(self, log_likelihood: float) -> float:
        """Return the lower bound of log p(trees, beta), for beta of all symbols."""
        # `log_likelihood` is that of all labelings under `weights`, i.e. with the optimal q(z).
        tables = zip(self.counts, self.weights(), strict=True)
        used = sum(float(np.vdot(c, w)) for c, w in tables)
        return log_likelihood - used + self._log_evidence()

    def _log_evidence(self) -> float:
        """Return log p(beta) and the log of E[prod phi^counts] under the prior."""
        total = log_gem(self.top_weights, self.priors.top)[0]
        total += sum(choice.log_evidence(used) for choice, used in self._choices())
        below = 0.0
        for alpha, prior, table, sums in self._rows_of_subsymbols():
            n_parents = table.shape[-1] if table.ndim > 2 else 1
            below += float(gammaln(prior + table).sum() - n_parents * gammaln(prior).sum())
            below += float(np.sum(gammaln(alpha) - gammaln(sums)))
        return total + below


def joined(
    counts: RefinedTables, rules: CoarseRules, symbol: int, source: int, target: int
) -> RefinedTables:
    """Return counts after moving one subsymbol's uses to another."""
    made = RefinedTables(*(part.copy() for part in counts))
    for table, axis, symbols, _ in rules.axes:
        cells, mine = np.moveaxis(made[table], axis, 1), symbols == symbol
        cells[mine, target] += cells[mine, source]
        cells[mine, source] = 0.0
    return made


def renamed(counts: RefinedTables, order: NDArray[np.intp], rules: CoarseRules) -> RefinedTables:
    """Return counts after subsymbol ``order[s, i]`` of symbol s has become i."""
    tables = list(counts)
    for table, axis, symbols, _ in rules.axes:
        shape = [len(symbols)] + [1] * (tables[table].ndim - 1)
        shape[axis] = order.shape[1]
        places = order[symbols].reshape(shape)
        tables[table] = np.take_along_axis(tables[table], places, axis=axis)
    return RefinedTables(*tables)
