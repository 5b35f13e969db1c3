"""Ascents of grammars, Dirichlet distributions of rules, and top-level weights of symbols."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import gammaln, logsumexp, psi, softmax

from skdp._fit import FitAlgorithm, FitState
from skdp._numeric import Floats
from skdp.inference._convergence import warn_unconverged

# Fits by coordinate ascents.


class AscentPlan(NamedTuple):
    """The arguments of all steps of an ascent."""

    learn: Any  # the first argument of `step`: an Expectation or a Treebank
    tol: float  # an ascent has converged when the bound rises by at most this, in nats
    max_steps: int


class Ascents(FitAlgorithm):
    """Ascents to local maxima of the lower bound, from several starts."""

    step_name = "iteration"

    def __init__(
        self,
        start: Callable[[], FitState],
        learn: Any,
        tol: float,
        max_steps: int,
        n_jobs: int | None,
    ):
        self._start = start
        self._plan = AscentPlan(learn, tol, max_steps)
        self.max_steps = max_steps
        self.n_jobs = n_jobs

    def start(self) -> FitState:
        """Return the state before the first iteration."""
        return self._start()

    def plan(self, run: Any) -> AscentPlan:
        """Return the arguments of all steps."""
        return self._plan

    @staticmethod
    def advance(run: Any, plan: AscentPlan, n_steps: int) -> Any:
        """Return an ascent after at most `n_steps` more iterations, fewer if it converges."""
        for _ in range(n_steps):
            if run.converged or run.n_iter >= plan.max_steps:
                break  # others may continue
            run.step(plan.learn, plan.tol)
        return run

    @staticmethod
    def n_steps(run: Any) -> int:
        """Return the number of iterations of an ascent so far."""
        return int(run.n_iter)

    @staticmethod
    def has_result(run: Any) -> bool:
        """Return whether an ascent has a lower bound."""
        return bool(run.lower_bounds)

    def is_done(self, run: Any) -> bool:
        """Return whether an ascent has converged or used up its iterations."""
        return bool(run.converged) or super().is_done(run)

    def progress(self, runs: list[Any]) -> str:
        """Return the highest lower bound."""
        bounds = [run.lower_bounds[-1] for run in runs if run.lower_bounds]
        return f"lower bound {max(bounds):.8g}" if bounds else "annealing"


# Coordinate ascent, alternating between the grammar and its expected counts.


Expectation = Callable[[Any], tuple[float, Any]]
"""Function from weights of rules to the log likelihood of all data and the expected counts."""


class CoordinateAscent:
    """Ascent of a grammar to a local maximum of the lower bound, with first weights `start`."""

    def __init__(self, grammar: Any, start: Any):
        self.grammar = grammar
        self.n_iter = 0
        self.lower_bounds: list[float] = []
        self.converged = False
        self._rise = np.inf
        self._start = start
        self._counts: Any = None

    @property
    def bound(self) -> float:
        """The last lower bound, or -inf if there is none yet."""
        return self.lower_bounds[-1] if self.lower_bounds else -np.inf

    def step(self, expect: Expectation, tol: float) -> None:
        """Do an iteration: update rules given trees, then trees given rules, and the bound."""
        if self._counts is None:
            self._counts = expect(self._start)[1]
        grammar = self.grammar.updated(self._counts)
        self.n_iter += 1
        bound, counts = self._expect(grammar, expect)
        if bound is not None:
            self._rise = bound - self.lower_bounds[-1] if self.lower_bounds else np.inf
            self.judge(tol)
            if self._rise < 0.0:  # by rounding, at the top: the previous grammar is as good
                return
            self.lower_bounds.append(bound)
        self.grammar, self._counts = grammar, counts

    def judge(self, tol: float) -> None:
        """Update the convergence flag, since the tolerance may have changed."""
        self.converged = bool(self._rise <= tol)

    def _expect(self, grammar: Any, expect: Expectation) -> tuple[float | None, Any]:
        """Return the bound, or None, and the expected counts under a grammar."""
        log_likelihood, counts = expect(grammar.weights())
        return grammar.lower_bound(log_likelihood), counts

    def _jump(self, grammar: Any, counts: Any) -> None:
        """Continue from another grammar with a higher bound."""
        self.grammar, self._counts = grammar, counts
        self._rise = np.inf
        self.converged = False


def warn_unless_converged(estimator: Any, run: CoordinateAscent) -> None:
    """Warn if the ascent that a fit shows ended before the bound converged."""
    if not run.converged:
        warn_unconverged(
            estimator,
            "lower_bound",
            "the lower bound has not converged. Raise max_iter or tol.",
            n_iter=run.n_iter,
            tol=estimator.tol,
        )


# Warnings about sentences that a grammar cannot parse.


_N_NAMED = 10
"""Largest number of sentences that a warning names."""


def warn_of_unparsed(unparsed: NDArray[np.bool_], consequence: str, stacklevel: int) -> None:
    """Warn of sentences without a parse, and name the first of them; `stacklevel` 1: the caller."""
    numbers = np.flatnonzero(unparsed).tolist()
    if not numbers:
        return
    named = ", ".join(map(str, numbers[:_N_NAMED])) + (", ..." if len(numbers) > _N_NAMED else "")
    warnings.warn(
        f"{len(numbers)} of {len(unparsed)} sentences have no parse under the grammar and "
        f"{consequence}: {'sentence' if len(numbers) == 1 else 'sentences'} {named}.",
        stacklevel=stacklevel + 1,
    )


# Dirichlet distributions with a given prior and additional counts.
#
# A family of rows shares a prior: counts are (n_rows, ...), and the prior has the shape of a row.


def _as_rows(prior: Floats, counts: Floats) -> tuple[Floats, Floats]:
    """Return prior and counts with the cells of a row along the last axis."""
    return prior.reshape(1, -1), counts.reshape(len(counts), -1)


def expected_log(prior: Floats, counts: Floats) -> Floats:
    """Return E[log phi], where phi ~ Dir(prior + counts) (Liang et al. 2009, (36))."""
    prior, rows = _as_rows(prior, counts)
    posterior = prior + rows
    logs = psi(posterior) - psi(posterior.sum(axis=1, keepdims=True))
    # As low as -1 / prior for zero counts, so the exponential may underflow.
    return np.asarray(logs.reshape(counts.shape))


def mean(prior: Floats, counts: Floats) -> Floats:
    """Return E[phi], where phi ~ Dir(prior + counts); shapes as in `expected_log`."""
    prior, rows = _as_rows(prior, counts)
    posterior = prior + rows
    return (posterior / posterior.sum(axis=1, keepdims=True)).reshape(counts.shape)


def draw_log(prior: Floats, counts: Floats, rng: np.random.Generator) -> Floats:
    """Return the logarithms of a draw of phi ~ Dir(prior + counts)."""
    prior, rows = _as_rows(prior, counts)
    shapes = prior + rows
    # A gamma variate of shape a equals one of shape a + 1 times u^(1 / a), so logarithms do not
    # underflow, however small the prior.
    logs = np.log(rng.standard_gamma(shapes + 1.0))
    logs += np.log1p(-rng.random(shapes.shape)) / shapes
    return np.asarray((logs - logsumexp(logs, axis=1, keepdims=True)).reshape(counts.shape))


def draw_tables(prior: Floats, counts: Floats, rng: np.random.Generator) -> Floats:
    """Draw table counts m ~ Antoniak(counts, prior): given m, the joint has the factor prior^m."""
    prior, rows = _as_rows(prior, counts)
    cells = np.flatnonzero(rows)
    n_customers = rows.ravel()[cells].astype(np.int64)
    begins = np.cumsum(n_customers) - n_customers
    number = np.arange(n_customers.sum()) - np.repeat(begins, n_customers)
    a = np.repeat(np.broadcast_to(prior, rows.shape).ravel()[cells], n_customers)
    # Customer i = 0, ..., c - 1 opens a table with probability a / (a + i).
    opens = rng.random(len(number)) * (a + number) < a
    tables = np.zeros(rows.size)
    np.add.at(tables, np.repeat(cells, n_customers)[opens], 1.0)
    return tables.reshape(counts.shape)


def log_evidence(prior: Floats, counts: Floats) -> float:
    """Return log B(prior + counts) / B(prior), summed over rows, B the Beta function."""
    # It is log E[prod phi^counts] under the prior, and the maximum over all q of E_q[sum counts log
    # phi] - KL(q, prior), attained by q = Dir(prior + counts).
    prior, rows = _as_rows(prior, counts)
    total = prior.sum()
    cells = gammaln(prior + rows) - gammaln(prior)
    return float(cells.sum() + np.sum(gammaln(total) - gammaln(total + rows.sum(axis=1))))


def log_predictive(prior: Floats, counts: Floats, new: Floats) -> float:
    """Return log E[prod phi^new] under Dir(prior + counts), summed over rows."""
    prior, rows = _as_rows(prior, counts)
    new = new.reshape(rows.shape)
    used, cells = np.flatnonzero(new.any(axis=1)), np.nonzero(new)
    before, added = prior[0, cells[1]] + rows[cells], new[cells]
    total, more = prior.sum() + rows[used].sum(axis=1), new[used].sum(axis=1)
    result = np.sum(gammaln(before + added) - gammaln(before))
    return float(result - np.sum(gammaln(total + more) - gammaln(total)))


def negative_divergence(prior: Floats, counts: Floats) -> float:
    """Return -KL(Dir(prior + counts), Dir(prior)) of all rows; shapes as in `log_evidence`."""
    return log_evidence(prior, counts) - float(np.sum(counts * expected_log(prior, counts)))


# Top-level weights beta of the symbols: their prior, and their optimal value given counts.
#
# The posterior of the rules is always Dir(prior(beta) + counts), so the part of the lower bound
# that depends on beta is
#
#     L(beta) = log p(beta) + sum of log B(alpha beta beta' + C_z) / B(alpha beta beta')
#
# over the rows z of all families: it is maximized jointly over beta and q(phi), while Liang et al.
# (2009, 4.2.3) keep q(phi) fixed.


MIN_WEIGHT = 1e-8
"""Floor of the weights, since the density of the prior is unbounded for vanishing weights."""

_MIN_DRAWN = 1e-100
"""Smallest drawn weight, so that products of two weights do not underflow."""

_MAX_STEPS = 30
MAX_LOGIT = 40.0


class Family(NamedTuple):
    """Rows of Dir(concentration beta_left), or of Dir(concentration beta_left beta_right')."""

    concentration: float
    left: int
    right: int | None
    counts: Floats  # (n_rows, n_left), or (n_rows, n_left, n_right)

    def prior(self, weights: Sequence[Floats]) -> Floats:
        """Return the prior of a row, given the weights of every inventory of symbols."""
        if self.right is None:
            return self.concentration * weights[self.left]
        return self.concentration * np.outer(weights[self.left], weights[self.right])


class TopPrior(NamedTuple):
    """GEM(concentration), truncated, or Dir(concentration / K): `kind` is "gem" or "dirichlet"."""

    kind: str
    concentration: float | None  # None: the weights are known, not drawn, and never change

    def log_density(self, beta: Floats) -> float:
        """Return log p(beta), a density of the first K - 1 weights."""
        n, gamma = len(beta), self.concentration
        if n == 1 or gamma is None:
            return 0.0
        if self.kind == "dirichlet":
            shape = gamma / n
            norm = gammaln(gamma) - n * gammaln(shape)
            return float(norm + (shape - 1.0) * np.log(beta).sum())
        logs = np.log(_tails(beta))  # log T_z, T_z = sum_{z' >= z} beta_z' (Liang et al. 2009, B.4)
        return float((n - 1) * np.log(gamma) + (gamma - 1.0) * logs[-1] - logs[:-1].sum())

    def gradient(self, beta: Floats) -> Floats:
        """Return the derivatives of `log_density`, as if the K weights were free ((48)-(51))."""
        n, gamma = len(beta), self.concentration
        if n == 1 or gamma is None:
            return np.zeros(n)
        if self.kind == "dirichlet":
            return np.asarray((gamma / n - 1.0) / beta)
        slopes = -1.0 / _tails(beta)
        slopes[-1] *= 1.0 - gamma
        slopes[0] = 0.0
        return np.cumsum(slopes)

    def log_density_of_logits(self, beta: Floats) -> float:
        """Return the log density of log (beta_z / beta_K), z < K: bounded, unlike that of beta."""
        if len(beta) == 1 or self.concentration is None:
            return 0.0
        return self.log_density(beta) + float(np.log(beta).sum())

    def log_evidence(self, orders: Floats) -> float:
        """Return log E[prod beta^orders], the log likelihood of the concentration."""
        n, gamma = len(orders), self.concentration
        if n == 1 or gamma is None:
            return 0.0
        if self.kind == "dirichlet":
            return log_evidence(np.full(n, gamma / n), orders[None])
        return log_evidence(np.array([1.0, gamma]), _stick_counts(orders))

    def draw(self, orders: Floats, rng: np.random.Generator) -> Floats:
        """Return weights drawn given the number of orders of each symbol from the top."""
        n, gamma = len(orders), self.concentration
        if n == 1 or gamma is None:
            return np.full(n, 1.0 / n)
        if self.kind == "dirichlet":
            logs = draw_log(np.full(n, gamma / n), orders[None], rng)[0]
        else:
            taken, left = draw_log(np.array([1.0, gamma]), _stick_counts(orders), rng).T
            logs = np.append(taken, 0.0) + np.append(0.0, np.cumsum(left))
        beta = np.maximum(np.exp(logs), _MIN_DRAWN)
        return beta / beta.sum()

    def best_order(self, beta: Floats) -> NDArray[np.intp]:
        """Return an order of the symbols with no lower density, which only matters for GEM."""
        order = np.argsort(-beta, kind="stable")
        if self.kind == "gem" and self.log_density(beta[order]) > self.log_density(beta):
            return order
        return np.arange(len(beta))


def _stick_counts(orders: Floats) -> Floats:
    """Return how often each stick except the last was taken and passed by, (K - 1, 2)."""
    passed = np.cumsum(orders[::-1])[::-1][1:]
    return np.stack([orders[:-1], passed], axis=1)


def _tails(beta: Floats) -> Floats:
    """Return T_z = sum of beta_z' over z' >= z; T_1 = 1 is a constant."""
    tails = np.cumsum(beta[::-1])[::-1].copy()
    tails[0] = 1.0
    return tails


def log_joint(prior: TopPrior, families: Sequence[Family], weights: Sequence[Floats]) -> float:
    """Return L(beta), without the terms that are the same for all weights."""
    total = sum(prior.log_density(beta) for beta in weights)
    for family in families:
        base = family.prior(weights)
        total += float(np.sum(gammaln(base + family.counts) - gammaln(base)))
    return float(total)


def gradient(
    prior: TopPrior, families: Sequence[Family], weights: Sequence[Floats]
) -> list[Floats]:
    """Return the derivatives of L(beta), as if all weights were free (ERRATA of (52)-(54))."""
    slopes = [prior.gradient(beta) for beta in weights]
    for family in families:
        base = family.prior(weights)
        cells = family.concentration * np.sum(psi(base + family.counts) - psi(base), axis=0)
        if family.right is None:
            slopes[family.left] = slopes[family.left] + cells
        else:
            slopes[family.left] = slopes[family.left] + cells @ weights[family.right]
            slopes[family.right] = slopes[family.right] + cells.T @ weights[family.left]
    return slopes


def climb(objective: Any, start: Floats, max_steps: int) -> Floats:
    """Return logits at which an objective with derivatives is lower, by steps from `start`."""
    found = minimize(
        objective,
        start,
        jac=True,
        method="L-BFGS-B",
        bounds=[(-MAX_LOGIT, MAX_LOGIT)] * start.size,
        options={"maxiter": max_steps},
    )
    return np.asarray(found.x)


def maximize(
    prior: TopPrior, families: Sequence[Family], weights: Sequence[Floats]
) -> list[Floats]:
    """Return weights at which L is not lower than at `weights`, at or near a local maximum."""
    if prior.concentration is None:
        return list(weights)
    sizes = [len(beta) for beta in weights]
    ends = np.cumsum(sizes)[:-1]
    shares = [1.0 - n * MIN_WEIGHT for n in sizes]

    # Steps in the logits are multiplicative: weights near the edge move as easily as others.
    def weights_of(logits: Floats) -> list[Floats]:
        parts = np.split(logits, ends)
        return [
            MIN_WEIGHT + share * softmax(part) for share, part in zip(shares, parts, strict=True)
        ]

    def objective(logits: Floats) -> tuple[float, Floats]:
        at = weights_of(logits)
        slopes = []
        for slope, beta, share in zip(gradient(prior, families, at), at, shares, strict=True):
            free = (beta - MIN_WEIGHT) / share
            slopes.append(share * free * (slope - free @ slope))
        return -log_joint(prior, families, at), -np.concatenate(slopes)

    start = np.concatenate(
        [
            np.log(np.maximum(beta - MIN_WEIGHT, np.exp(-MAX_LOGIT) * share))
            for beta, share in zip(weights, shares, strict=True)
        ]
    )
    best = weights_of(climb(objective, start, _MAX_STEPS))
    if log_joint(prior, families, best) < log_joint(prior, families, weights):
        return list(weights)
    return best
