"""Divisions of a series into independent parts, all of them at once.

The evidence of a span has a closed form, and the number of divisions into spans is 2^(T - 1), but
sums over them factorize at each boundary. A gap at which a change may come has one with probability
rho, so a part of length n has the weight (1 - rho)^(n - min_length), and each change rho.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, logsumexp

from skdp._numeric import Floats, Places
from skdp.sequence._kernels import _changes as kernels

NEGLIGIBLE = 1e-12
"""A start of a part is dropped at the step at which its posterior weight falls below this."""

_LEAST = 1e-140
"""Least posterior weight of a probability of a change along the way, so that it may recover."""

_LOST = 1e-11
"""Probability, at most, of numbers of changes that are left out."""

# The evidence of spans, up to a factor that is the same for all divisions.


class Part(NamedTuple):
    """What is known of the mean in a part, (C,) or (n, C)."""

    means: Floats  # (n, C), at its steps
    ends: Floats  # (2, C), at its first step, and at the step after its last one
    variances: Floats  # (2, C), of these


class Spans(Protocol):
    """Spans of one series under one model."""

    constant: float  # what the log evidence of each division of the series lacks

    def weigh(self, starts: Places, ends: Places) -> Floats:
        """Return the log evidence of spans, (n,)."""

    def learn(self, start: int, end: int) -> Part:
        """Return what is known of the mean in a span."""


class GaussianModel(NamedTuple):
    """A level or a line with normal noise, in each part and column its own."""

    center: Floats  # (D,)
    scale: Floats  # (D,), of the columns
    clip: float  # values farther from the center, in units of the scale, count as this far
    is_linear: bool
    autocorrelation: float
    noise: float  # b0, in units of the scale
    shape: float = 1.0  # a0
    level: float = 1.0  # prior variance of the level, in units of that of the noise
    slope: float = 0.01  # the same of the slope per step

    def of(self, values: Floats) -> GaussianSpans:
        """Return the spans of a series."""
        return GaussianSpans(self, values)


class GaussianSpans:
    """Spans of a series of numbers, (T, D)."""

    def __init__(self, model: GaussianModel, values: Floats):
        self._model = model
        scaled = np.clip((values - model.center) / model.scale, -model.clip, model.clip)
        self._values = np.ascontiguousarray(scaled.T)
        seen = ~np.isnan(self._values)
        self.constant = -float(np.log(model.scale) @ seen.sum(axis=1))
        self._sums = np.stack(
            [self._add_up(*column) for column in zip(scaled.T, seen, strict=True)]
        )
        n = np.arange(len(values) + 1)
        a0, b0 = model.shape, model.noise
        table = gammaln(a0 + n / 2) - gammaln(a0) + a0 * np.log(b0) - n / 2 * np.log(2 * np.pi)
        self._rest = (
            model.autocorrelation, model.is_linear, model.level, model.slope, b0, a0, table,
        )  # fmt: skip
        self._by_length = self._tabulate(table) if seen.all() else None

    def _tabulate(self, table: Floats) -> Floats:
        """Return what depends on the length of a span without missing values, (T + 1, 5)."""
        model, t = self._model, np.arange(len(table) - 1, dtype=float)
        phi = model.autocorrelation
        free = 1.0 - phi * phi
        f0 = np.append(np.sqrt(free), np.full(len(t) - 1, 1.0 - phi))
        f1 = np.append(0.0, t[1:] - phi * t[:-1])
        g00, g01, g11 = (np.append(0.0, np.cumsum(f)) for f in (f0 * f0, f0 * f1, f1 * f1))
        a00, a11 = g00 + 1.0 / model.level, g11 + 1.0 / model.slope
        if not model.is_linear:
            g01, a11 = np.zeros_like(g01), np.full_like(a11, 1.0 / model.slope)
        determinant = a00 * a11 - g01 * g01
        rest = table + 0.5 * np.log(free) - 0.5 * np.log(determinant * model.level * model.slope)
        shapes = model.shape + 0.5 * np.arange(len(table))
        inverse = np.array([a11, -g01, a00]) / determinant
        return np.ascontiguousarray(np.array([*inverse, rest, shapes]).T)

    def _add_up(self, y: Floats, seen: NDArray[np.bool_]) -> Floats:
        """Return the running sums of the statistics of a column, and their errors."""
        phi, t = self._model.autocorrelation, np.arange(len(y), dtype=float)
        y = np.where(seen, y, 0.0)
        goes_on = seen & np.append(False, seen[:-1])
        before, step = np.append(0.0, y[:-1]), np.append(0.0, t[:-1])
        free = np.sqrt(1.0 - phi * phi) * seen
        f0 = np.where(goes_on, 1.0 - phi, free)
        f1 = np.where(goes_on, t - phi * step, free * t)
        y = np.where(goes_on, y - phi * before, free * y)
        terms = [seen, seen & ~goes_on, f0 * f0, f0 * y, y * y, f0 * f1, f1 * f1, f1 * y]
        sums = np.empty((2, len(terms), len(t) + 1))
        kernels.add_up_exactly(np.array(terms, dtype=float), *sums)
        return sums

    def weigh(self, starts: Places, ends: Places) -> Floats:
        """Return the log evidence of spans."""
        logs = np.empty(len(starts))
        if self._by_length is not None:
            phi, is_linear, *_ = self._rest
            kernels.weigh_complete_gaussian(
                starts, ends, self._sums, self._values, phi, is_linear, self._model.noise,
                self._by_length, np.empty(len(starts)), logs,
            )  # fmt: skip
        else:
            out = np.empty(kernels.N_RESULTS)
            kernels.weigh_gaussian(starts, ends, self._sums, self._values, *self._rest, out, logs)
        return logs

    def learn(self, start: int, end: int) -> Part:
        """Return what is known of the mean."""
        found = np.empty((len(self._values), kernels.N_RESULTS))
        kernels.fit_gaussian(start, end, self._sums, self._values, *self._rest, found)
        level, slope, b, v00, v01, v11, a = found.T
        center, scale = self._model.center, self._model.scale
        steps = np.arange(end - start)[:, np.newaxis]
        at = np.array([0, end - start])[:, np.newaxis]
        spread = v00 + 2.0 * at * v01 + at * at * v11
        return Part(
            center + scale * (level + slope * steps),
            center + scale * (level + slope * at),
            scale**2 * spread * b / np.maximum(a - 1.0, 0.5),
        )


class PoissonModel(NamedTuple):
    """Counts with a rate for each part and column, Gamma(shape, rates)."""

    shape: float
    rates: Floats  # (D,)

    def of(self, values: Floats) -> PoissonSpans:
        """Return the spans of a series."""
        return PoissonSpans(self, values)


class PoissonSpans:
    """Spans of a series of counts, (T, D)."""

    def __init__(self, model: PoissonModel, values: Floats):
        self._model = model
        seen = ~np.isnan(values)
        counts = np.where(seen, values, 0.0)
        self._counts, self._seen = _run(counts), _run(seen.astype(float))
        self.constant = -float(gammaln(counts + 1.0).sum())

    def weigh(self, starts: Places, ends: Places) -> Floats:
        """Return the log evidence of spans."""
        logs = np.empty(len(starts))
        kernels.weigh_poisson(starts, ends, self._counts, self._seen, *self._model, logs)
        return logs

    def learn(self, start: int, end: int) -> Part:
        """Return what is known of the rates."""
        a = self._model.shape + self._counts[end] - self._counts[start]
        b = self._model.rates + self._seen[end] - self._seen[start]
        return _constant(a / b, a / b**2, end - start)


class CellModel(NamedTuple):
    """Counts of cells in groups, whose shares are Dirichlet(prior) in each part."""

    prior: float
    sizes: Places  # (G,), cells of each group
    are_counts: bool  # whether X has a column for each cell, not for each group

    def of(self, values: Floats) -> CellSpans:
        """Return the spans of a series."""
        return CellSpans(self, values)


class CellSpans:
    """Spans of a series of symbols (T, G), or of counts (T, V)."""

    def __init__(self, model: CellModel, values: Floats):
        n_cells, seen = int(model.sizes.sum()), ~np.isnan(values)
        self._first = np.cumsum(np.append(0, model.sizes[:-1]))
        counts = np.where(seen, values, 0.0)
        self.constant = 0.0
        if model.are_counts:
            self.constant += float(gammaln(counts.sum(axis=1) + 1.0).sum())
            self.constant -= float(gammaln(counts + 1.0).sum())
        else:
            t, g = np.nonzero(seen)
            cells = np.zeros((len(values), n_cells))
            cells[t, self._first[g] + values[t, g].astype(np.int64)] = 1.0
            counts = cells
        self._counts = _run(counts.astype(np.int64))
        self._totals = np.add.reduceat(self._counts, self._first, axis=1)
        self._priors = model.prior * model.sizes
        self._prior = model.prior
        n = np.arange(min(int(self._totals[-1].max()), _LARGEST_TABLE) + 1)
        self._tables = [
            gammaln(prior + n) - gammaln(prior) for prior in (model.prior, self._priors[:, None])
        ]
        self._sizes = model.sizes

    def weigh(self, starts: Places, ends: Places) -> Floats:
        """Return the log evidence of spans."""
        logs = np.empty(len(starts))
        kernels.weigh_cells(
            starts, ends, self._counts, self._totals, self._prior, self._priors, *self._tables, logs
        )
        return logs

    def learn(self, start: int, end: int) -> Part:
        """Return what is known of the shares."""
        n = np.repeat(self._totals[end] - self._totals[start] + self._priors, self._sizes)
        p = (self._counts[end] - self._counts[start] + self._prior) / n
        return _constant(p, p * (1.0 - p) / (n + 1.0), end - start)


_LARGEST_TABLE = 100_000


def _run(rows: NDArray[Any]) -> NDArray[Any]:
    """Return running sums that begin with 0."""
    return np.concatenate([np.zeros((1, rows.shape[1]), rows.dtype), np.cumsum(rows, axis=0)])


def _constant(means: Floats, variances: Floats, n: int) -> Part:
    return Part(np.tile(means, (n, 1)), np.tile(means, (2, 1)), np.tile(variances, (2, 1)))


# The prior of divisions.


class Rule(NamedTuple):
    """Lengths of parts, and probabilities of a change with their prior."""

    min_length: int
    max_length: int  # or a number that no length reaches
    rates: Floats  # (G,), rho in ascending order
    prior: Floats  # (G,), sums to 1

    @property
    def log_starts(self) -> Floats:
        """The log weight of a change, (G,)."""
        # Lengths up to a maximum have a geometric distribution that is cut there.
        n = float(self.max_length - self.min_length) + 1.0
        return np.log(self.rates) - np.log(-np.expm1(n * np.log1p(-self.rates)))

    def log_parts(self, lengths: Places, g: int) -> Floats:
        """Return the log weight of lengths for one probability of a change."""
        return (lengths - self.min_length) * np.log1p(-self.rates[g])


class Sums(NamedTuple):
    """Sums over the divisions of what is before, or after, each boundary."""

    bases: Floats  # (T + 1,), -inf if the boundary is impossible
    rows: Floats  # (T + 1, G)
    weights: Floats  # (T + 1, G), the rows times the weight of a change
    totals: Floats  # (T + 1,), their sums

    def close(self, place: int, starts: Floats) -> None:
        """Give a boundary the weight of a change."""
        self.weights[place] = np.maximum(self.rows[place], _LEAST) * starts
        self.totals[place] = self.weights[place].sum()


class Division:
    """All divisions of one series under one model."""

    def __init__(self, spans: Spans, rule: Rule, n_steps: int, power: float):
        self.spans, self.rule, self.n_steps, self.power = spans, rule, n_steps, power
        self._log_stay = float(np.log1p(-rule.rates[0]))
        ratios = np.log1p(-rule.rates) - self._log_stay
        self._stays = np.exp(np.arange(n_steps)[:, np.newaxis] * ratios)
        self._stays[self._stays < _LEAST] = 0.0
        self._starts = np.exp(rule.log_starts)
        self.last = np.minimum(np.arange(n_steps) + rule.max_length, n_steps)
        self.before = self._sum_before()

    def _weigh(self, starts: Any, ends: Any) -> Floats:
        """Return the evidence of spans; one of the arguments is an array."""
        if isinstance(ends, int):
            ends = np.full(len(starts), ends)
        else:
            starts = np.full(len(ends), starts)
        return self.power * self.spans.weigh(starts, ends)

    def _empty(self) -> Sums:
        shape = (self.n_steps + 1, len(self.rule.rates))
        return Sums(
            np.full(shape[0], -np.inf), np.zeros(shape), np.zeros(shape), np.zeros(shape[0])
        )

    def _sum(
        self, logs: Floats, places: Places, lengths: Places, sums: Sums, row: Floats
    ) -> tuple[float, Floats]:
        """Write the row of a boundary; return its base and the shares of the spans."""
        shares = np.empty(len(logs))
        base = kernels.sum_spans(
            logs, places, lengths - self.rule.min_length, sums.bases, sums.weights,
            sums.totals, self._log_stay, self._stays, shares, row,
        )  # fmt: skip
        return base, shares

    def _sum_before(self) -> Sums:
        """Return the sums of what is before each boundary; shorten `last` by what is dropped."""
        sums, last = self._empty(), self.last
        sums.bases[0], sums.weights[0], sums.totals[0] = 0.0, self.rule.prior, 1.0
        live = np.zeros(0, dtype=np.int64)
        for j in range(self.rule.min_length, self.n_steps + 1):
            new = j - self.rule.min_length
            if np.isfinite(sums.bases[new]):
                live = np.append(live, new)
            if len(live) == 0:
                continue
            logs = self._weigh(live, j)
            sums.bases[j], shares = self._sum(logs, live, j - live, sums, sums.rows[j])
            sums.close(j, self._starts)
            is_dropped = shares < NEGLIGIBLE
            last[live[is_dropped]] = j
            live = live[~is_dropped & (last[live] > j)]
        return sums

    @property
    def log_evidence(self) -> Floats:
        """The log evidence, with the prior, of each probability of a change, (G,)."""
        row = np.maximum(self.before.rows[-1], np.finfo(float).tiny)
        return self.before.bases[-1] + np.log(row)

    def sum_after(self) -> Sums:
        """Return the sums of what is after each boundary."""
        sums, n = self._empty(), self.n_steps
        sums.bases[n], sums.weights[n] = 0.0, 1.0
        sums.totals[n] = len(self.rule.rates)
        reached = np.flatnonzero(np.isfinite(self.before.bases))
        is_open = np.zeros(n + 1, dtype=bool)
        is_open[n] = True
        for i in reached[reached <= n - self.rule.min_length][::-1]:
            ends = self._ends(i, reached)
            ends = ends[is_open[ends]]
            if len(ends) == 0:
                continue
            is_open[i] = True
            logs = self._weigh(i, ends)
            sums.bases[i], _ = self._sum(logs, ends, ends - i, sums, sums.rows[i])
            sums.close(i, self._starts)
        return sums

    def _ends(self, i: int, reached: Places) -> Places:
        """Return the boundaries at which a part that starts at i may end."""
        first, last = np.searchsorted(reached, [i + self.rule.min_length, self.last[i] + 1])
        return reached[first:last]

    def change_probabilities(self, after: Sums, factors: Floats) -> Floats:
        """Return P(a part starts here), (T,), 0 at the first step. `factors`: see `_factors`."""
        before, inner = self.before, slice(1, self.n_steps)
        with np.errstate(invalid="ignore", over="ignore"):
            logs = before.bases[inner] + after.bases[inner] - before.bases[-1]
        sums = (before.weights[inner] * after.rows[inner]) @ factors
        out = np.zeros(self.n_steps)
        out[1:] = np.where(np.isfinite(logs), np.exp(logs) * sums, 0.0)
        return np.clip(out, 0.0, 1.0)

    def quiet_probabilities(
        self, after: Sums, factors: Floats, ranges: Places, probabilities: Floats
    ) -> Floats:
        """Return P(no part starts at first to last) of each range, (n,)."""
        out, row = np.zeros(len(ranges)), np.empty(len(self.rule.rates))
        before = self.before
        reached = np.flatnonzero(np.isfinite(after.bases) & np.isfinite(before.bases))
        for i in reached[:-1]:
            if i > 0 and probabilities[i] < NEGLIGIBLE:
                continue
            ends = self._ends(i, reached)
            if len(ends) == 0:
                continue
            first = np.searchsorted(ranges[:, 0], i, "right")
            over = range(first, np.searchsorted(ranges[:, 1], ends[-1]))
            if len(over) == 0:
                continue
            logs = self._weigh(i, ends)
            for k in over:
                far = ends > ranges[k, 1]
                base, _ = self._sum(logs[far], ends[far], ends[far] - i, after, row)
                total = (before.weights[i] * row) @ factors
                out[k] += np.exp(before.bases[i] + base - before.bases[-1]) * total
        return np.clip(out, 0.0, 1.0)

    def _forward(self) -> Iterator[tuple[int, Places, Floats]]:
        """Yield each possible boundary with the starts before it and the evidence of the spans."""
        starts = np.zeros(0, dtype=np.int64)
        for j in range(self.rule.min_length, self.n_steps + 1):
            new = j - self.rule.min_length
            if np.isfinite(self.before.bases[new]):
                starts = np.append(starts, new)
            starts = starts[self.last[starts] >= j]
            if len(starts):
                yield j, starts, self._weigh(starts, j)

    def best(self, g: int) -> Places:
        """Return the changes of the most probable division given a probability of a change."""
        value = np.full(self.n_steps + 1, -np.inf)
        before = np.zeros(self.n_steps + 1, dtype=np.int64)
        value[0] = 0.0
        for j, starts, logs in self._forward():
            scores = value[starts] + logs + self.rule.log_parts(j - starts, g)
            scores[starts > 0] += self.rule.log_starts[g]
            k = int(np.argmax(scores))
            value[j], before[j] = scores[k], starts[k]
        return _trace(before, self.n_steps)

    def best_of(self, n_parts: int) -> Places:
        """Return the changes of the most probable division into so many parts."""
        n, rule = self.n_steps, self.rule
        value = np.full((n_parts + 1, n + 1), -np.inf)
        before = np.zeros((n_parts + 1, n + 1), dtype=np.int64)
        value[0, 0] = 0.0
        for j in range(rule.min_length, n + 1):  # what is dropped is improbable with other numbers
            starts = np.arange(max(0, j - rule.max_length), j - rule.min_length + 1)
            scores = value[:-1, starts] + self._weigh(starts, j)
            best = np.argmax(scores, axis=1)
            value[1:, j] = scores[np.arange(n_parts), best]
            before[1:, j] = starts[best]
        if not np.isfinite(value[-1, -1]):
            raise ValueError(
                f"n_parts={n_parts} parts of {rule.min_length} or more steps (min_length), and at "
                f"most max_length, do not make up a series of {n} steps."
            )
        changes, j = [], n
        for k in range(n_parts, 1, -1):
            j = int(before[k, j])
            changes.append(j)
        return np.array(changes[::-1], dtype=np.int64)

    def count_changes(self, weights: Floats) -> Floats:
        """Return the distribution of the number of changes; `weights` (G,) those of the rates."""
        g = int(np.argmax(weights))
        rule, n = self.rule, self.n_steps
        width, lost = 16, 1.0
        while lost > _LOST:
            numbers, bases, means = (
                np.zeros((n + 1, width)),
                np.full(n + 1, -np.inf),
                np.zeros(n + 1),
            )
            firsts, room = np.zeros(n + 1, dtype=np.int64), np.empty(3 * width)
            numbers[0, 0], bases[0] = 1.0, 0.0
            for j, starts, logs in self._forward():
                logs = logs + rule.log_parts(j - starts, g)
                logs[starts > 0] += rule.log_starts[g]
                bases[j], means[j], firsts[j] = kernels.add_numbers(
                    logs, starts, bases, means, firsts, numbers, room, numbers[j]
                )
            lost, width = 1.0 - numbers[-1].sum(), 2 * width
        found = np.append(np.zeros(firsts[-1]), numbers[-1])[1 : n + 1]
        # Given the number of changes, a division does not depend on the probability of one.
        k = np.arange(len(found))
        odds = rule.log_starts - rule.min_length * np.log1p(-rule.rates)
        with np.errstate(divide="ignore"):
            logs = np.log(found)[:, np.newaxis] + k[:, np.newaxis] * (odds - odds[g])
        return np.exp(logs - logsumexp(logs, axis=0)) @ (weights / weights.sum())

    def sample(self, g: int, n_samples: int, rng: np.random.Generator) -> list[Places]:
        """Draw divisions given a probability of a change."""
        found, known = [], {}
        reached = np.flatnonzero(np.isfinite(self.before.bases[:-1]))
        for _ in range(n_samples):
            changes, j = [], self.n_steps
            while j > 0:
                if j not in known:
                    starts = reached[: np.searchsorted(reached, j - self.rule.min_length, "right")]
                    starts = starts[self.last[starts] >= j]
                    logs = self.before.bases[starts] + np.log(self.before.weights[starts, g])
                    logs += self._weigh(starts, j) + self.rule.log_parts(j - starts, g)
                    known[j] = starts, np.cumsum(np.exp(logs - logs.max()))
                starts, sums = known[j]
                j = int(starts[np.searchsorted(sums, rng.random() * sums[-1], "right")])
                if j > 0:
                    changes.append(j)
            found.append(np.array(changes[::-1], dtype=np.int64))
        return found


def _trace(before: Places, end: int) -> Places:
    """Return the boundaries inside that lead to the last one."""
    changes = []
    while (end := int(before[end])) > 0:
        changes.append(end)
    return np.array(changes[::-1], dtype=np.int64)
