r"""Structured mean field for refined treebank grammars, with Dirichlet q(phi) and points q(beta_s).

Symbols (Liang et al. 2009, figure 4): phi^T types of rules, phi^E words, phi^u, phi^b coarse
right-hand sides, phi^U, phi^B subsymbols of children, each given symbol and subsymbol of the
parent. The root is the only child of an additional symbol without subsymbols. The state is beta and
the expected counts under q(z): q(phi) is Dir(prior + counts).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, psi

from skdp._numeric._typing import Floats
from skdp._numeric._unique_rows import unique_rows
from skdp.grammar._refinement._messages import RefinedTables
from skdp.grammar._refinement._top_weights import ChildRows, PairRows, log_gem, maximize
from skdp.grammar._refinement._treebank import CoarseRules
from skdp.grammar._top_weights import MIN_WEIGHT

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
        self.counts = counts
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
        """Return the grammar after merging two subsymbols of a symbol, if that may pay off.

        Subsymbols that share the role of one are a local maximum, which coordinate ascent leaves
        slowly or never. The rarest is merged if the evidence of the rules rises; whether the bound
        rises also depends on the loss of entropy of q(z).
        """
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
        joined = self._with(beta, _join(counts, self.rules, symbol, source, target))
        if joined._log_evidence() <= self._with(self.top_weights, counts)._log_evidence():
            return None
        return joined

    def _sizes(self, symbol: int) -> Floats:
        """Return the expected nodes of the subsymbols of a symbol."""
        rules, counts = self.rules, self.counts
        assert counts is not None
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
        rules = self.rules
        root = np.take_along_axis(counts.root, order[rules.roots], axis=1)
        emission = np.take_along_axis(counts.emission, order[rules.emission[:, 0]], axis=1)
        unary = _rename(counts.unary, order, rules.unary)
        binary = _rename(counts.binary, order, rules.binary)
        return np.take_along_axis(beta, order, axis=1), RefinedTables(root, emission, unary, binary)

    # Expectations

    def _choices(self) -> list[tuple[Choice, Floats]]:
        """Return the choices of roots, types, words and coarse children, with their counts."""
        rules, priors, counts = self.rules, self.priors, self.counts
        assert counts is not None
        lone, double = counts.unary.sum(axis=1), counts.binary.sum(axis=(1, 2))
        owners = [rules.emission[:, 0], rules.unary[:, 0], rules.binary[:, 0]]
        emission, unary, binary = (
            Choice(owner, prior)
            for owner, prior in zip(
                owners, (priors.emission, priors.symbol, priors.symbol), strict=True
            )
        )
        parts = [(emission, counts.emission), (unary, lone), (binary, double)]
        symbols = [np.unique(owner) for owner in owners]
        types = Choice(np.concatenate(symbols), priors.rule_type)
        used = [
            choice.totals(part)[mine] for (choice, part), mine in zip(parts, symbols, strict=True)
        ]
        root = Choice(np.zeros(len(rules.roots), dtype=np.int32), priors.symbol)
        root_counts = counts.root.sum(axis=1, keepdims=True)
        return [(root, root_counts), (types, np.concatenate(used)), *parts]

    def _priors_of_subsymbols(self) -> tuple[Floats, Floats, Floats]:
        """Return the priors of root, only child and two children, with an axis for the parent."""
        rules, beta = self.rules, self.top_weights
        pairs = beta[rules.binary[:, 1], :, None] * beta[rules.binary[:, 2], None, :]
        return (
            self.priors.unary * beta[rules.roots],
            self.priors.unary * beta[rules.unary[:, 1], :, None],
            self.priors.binary * pairs[..., None],
        )

    def _totals_of_subsymbols(self) -> tuple[Floats, Floats, Floats]:
        """Return the sum of prior and counts over each row."""
        counts, priors = self.counts, self.priors
        assert counts is not None
        return (
            priors.unary + counts.root.sum(axis=1, keepdims=True),
            priors.unary + counts.unary.sum(axis=1, keepdims=True),
            priors.binary + counts.binary.sum(axis=(1, 2), keepdims=True),
        )

    def _log_subsymbols(self, log: Log = psi) -> list[Floats]:
        """Return E[log phi^U] of root and only children, and E[log phi^B]; see `Choice.logs`."""
        counts = self.counts
        assert counts is not None
        tables = (counts.root, counts.unary, counts.binary)
        return [
            log(prior + table) - log(total)
            for prior, table, total in zip(
                self._priors_of_subsymbols(), tables, self._totals_of_subsymbols(), strict=True
            )
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
        """Return the lower bound of log p(trees, beta), for beta of all symbols.

        `log_likelihood` is that of all labelings under `weights`, i.e. with the optimal q(z).
        """
        counts, weights = self.counts, self.weights()
        assert counts is not None
        used = sum(float(np.vdot(c, w)) for c, w in zip(counts, weights, strict=True))
        return log_likelihood - used + self._log_evidence()

    def _log_evidence(self) -> float:
        """Return log p(beta) and the log of E[prod phi^counts] under the prior."""
        total = log_gem(self.top_weights, self.priors.top)[0]
        total += sum(choice.log_evidence(used) for choice, used in self._choices())
        return total + self._log_evidence_of_subsymbols()

    def _log_evidence_of_subsymbols(self) -> float:
        counts = self.counts
        assert counts is not None
        concentrations = (self.priors.unary, self.priors.unary, self.priors.binary)
        total = 0.0
        for prior, table, sums, concentration in zip(
            self._priors_of_subsymbols(),
            (counts.root, counts.unary, counts.binary),
            self._totals_of_subsymbols(),
            concentrations,
            strict=True,
        ):
            n_parents = table.shape[-1] if table.ndim > 2 else 1
            total += float(gammaln(prior + table).sum() - n_parents * gammaln(prior).sum())
            total += float(np.sum(gammaln(concentration) - gammaln(sums)))
        return total


def _join(
    counts: RefinedTables, rules: CoarseRules, symbol: int, source: int, target: int
) -> RefinedTables:
    """Return counts after moving one subsymbol's uses to another."""
    made = RefinedTables(*(part.copy() for part in counts))
    binary = rules.binary
    for table, axis, owners in (
        (made.root, 1, rules.roots),
        (made.emission, 1, rules.emission[:, 0]),
        (made.unary, 1, rules.unary[:, 1]),
        (made.unary, 2, rules.unary[:, 0]),
        (made.binary, 1, binary[:, 1]),
        (made.binary, 2, binary[:, 2]),
        (made.binary, 3, binary[:, 0]),
    ):
        cells, mine = np.moveaxis(table, axis, 1), owners == symbol
        cells[mine, target] += cells[mine, source]
        cells[mine, source] = 0.0
    return made


def _rename(table: Floats, order: NDArray[np.intp], rules: NDArray[np.int32]) -> Floats:
    """Return counts of rules with renumbered subsymbols; the parent's axis is the last."""
    n_axes = table.ndim - 1
    for axis, column in enumerate([*range(1, n_axes), 0], start=1):
        shape = [len(rules)] + [1] * n_axes
        shape[axis] = order.shape[1]
        table = np.take_along_axis(table, order[rules[:, column]].reshape(shape), axis=axis)
    return table
