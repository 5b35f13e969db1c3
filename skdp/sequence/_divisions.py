"""Divisions of a series into independent parts, all of them at once, and the table of changes.

The evidence of a span has a closed form, and the number of divisions into spans is 2^(T - 1), but
sums over them factorize at each boundary. A gap at which a change may come has one with probability
rho, so a part of length n has the weight (1 - rho)^(n - min_length), and each change rho.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, overload

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray
from scipy.special import gammaln, logsumexp

from skdp._numeric import Floats, Places
from skdp.data import SequencePanel
from skdp.sequence._kernels import _changes as kernels

NEGLIGIBLE = 1e-12
"""A start of a part is dropped at the step at which its posterior weight falls below this, divided
by what later steps may add to it: about sqrt(T) for each parameter of a part."""

RARE = 1e-4
"""Parts with a smaller probability are left out of the sizes of changes."""

_SMALL, _LEAST, _LARGE = 1e-100, 1e-250, 1e150
"""Weights of probabilities of a change are rescaled where one falls below the first, and until then
are at least the second; those of the boundaries before are then at most the third."""

_SHORTEST = 1e-140
"""Smaller probabilities of a stay, relative to that of the smallest rate, count as 0."""

_LOST = 1e-9
"""Probability, at most, of numbers of changes that are left out."""

# The evidence of spans, up to a factor that is the same for all divisions.


class Parts(NamedTuple):
    """What is known of the mean at the first step of spans, and at the step after the last one."""

    means: Floats  # (2, n, C)
    variances: Floats  # (2, n, C)


class SeriesSpans(Protocol):
    """Spans of one series under one model."""

    constant: float  # what the log evidence of each division of the series lacks
    n_parameters: int  # of a part

    def weigh(self, starts: Places, ends: Places) -> Floats:
        """Return the log evidence of spans, (n,)."""

    def learn(self, starts: Places, ends: Places) -> Parts:
        """Return the posterior of the mean in spans; between the ends, it is on a line."""


class GaussianSpanModel(NamedTuple):
    """A level or a line with normal noise, in each part and column its own."""

    center: Floats  # (D,)
    scale: Floats  # (D,), of the columns
    clip: Floats  # (D,), values farther from the median of five around them count as this far
    is_linear: bool
    autocorrelation: float
    noise: float  # b0, in units of the scale
    shape: float  # a0
    level: float  # prior variance of the level, in units of that of the noise
    slope: float  # the same of the slope per step

    def of(self, values: Floats) -> GaussianSpans:
        """Return the spans of a series."""
        return GaussianSpans(self, values)


def smooth(values: Floats) -> Floats:
    """Return the median of what is observed of five steps around each step; else NaN."""
    wide = np.pad(values, ((2, 2), (0, 0)), constant_values=np.nan)
    windows = np.sort(sliding_window_view(wide, 5, axis=0), axis=-1)  # NaN last
    n = np.count_nonzero(~np.isnan(windows), axis=-1)
    ranks = np.stack([np.maximum(n - 1, 0) // 2, n // 2], axis=-1)
    return np.take_along_axis(windows, ranks, axis=-1).mean(axis=-1)


class GaussianSpans:
    """Spans of a series of numbers, (T, D)."""

    def __init__(self, model: GaussianSpanModel, values: Floats):
        self._model = model
        if np.isfinite(model.clip).all():
            middle = smooth(values)
            values = np.clip(values, middle - model.clip, middle + model.clip)
        scaled = (values - model.center) / model.scale
        self._values = np.ascontiguousarray(scaled.T)
        seen = ~np.isnan(self._values)
        self.constant = -float(np.log(model.scale) @ seen.sum(axis=1))
        self._sums = np.stack(
            [self._add_up(*column) for column in zip(scaled.T, seen, strict=True)]
        )
        n = np.arange(len(values) + 1)
        a0, b0 = model.shape, model.noise
        table = gammaln(a0 + n / 2) - gammaln(a0) + a0 * np.log(b0) - n / 2 * np.log(2 * np.pi)
        known = model.autocorrelation, model.is_linear, model.level, model.slope
        self._prior = kernels.SpanPrior(*known, b0, a0, table)
        self._by_length = self._tabulate(table) if seen.all() else None
        self.n_parameters = (2 + model.is_linear) * len(self._values)

    def _tabulate(self, table: Floats) -> Floats:
        """Return the terms of spans without missing values, by length, (T + 1, 5)."""
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
        logs = np.empty(len(starts))
        if self._by_length is not None:
            phi, is_linear, *_ = self._prior
            kernels.weigh_complete_gaussian(
                starts, ends, self._sums, self._values, phi, is_linear, self._model.noise,
                self._by_length, np.empty(len(starts)), logs,
            )  # fmt: skip
        else:
            out = np.empty(kernels.N_RESULTS)
            kernels.weigh_gaussian(starts, ends, self._sums, self._values, self._prior, out, logs)
        return logs

    def learn(self, starts: Places, ends: Places) -> Parts:
        found = np.empty((len(starts), len(self._values), kernels.N_RESULTS))
        kernels.fit_gaussian(starts, ends, self._sums, self._values, self._prior, found)
        level, slope, b, v00, v01, v11, a = np.moveaxis(found, -1, 0)
        center, scale = self._model.center, self._model.scale
        at = np.array([np.zeros(len(starts)), ends - starts])[..., np.newaxis]
        spread = v00 + 2.0 * at * v01 + at * at * v11
        return Parts(
            center + scale * (level + slope * at),
            scale**2 * spread * b / np.maximum(a - 1.0, 0.5),
        )


class PoissonSpanModel(NamedTuple):
    """Counts with a rate for each part and column, Gamma(shape, rates)."""

    shape: float
    rates: Floats  # (D,)

    def of(self, values: Floats) -> PoissonSpans:
        return PoissonSpans(self, values)


class PoissonSpans:
    """Spans of a series of counts, (T, D)."""

    def __init__(self, model: PoissonSpanModel, values: Floats):
        self._model = model
        seen = ~np.isnan(values)
        counts = np.where(seen, values, 0.0)
        self._counts, self._seen = _run(counts), _run(seen.astype(float))
        self.constant = -float(gammaln(counts + 1.0).sum())
        self.n_parameters = values.shape[1]

    def weigh(self, starts: Places, ends: Places) -> Floats:
        logs = np.empty(len(starts))
        kernels.weigh_poisson(starts, ends, self._counts, self._seen, *self._model, logs)
        return logs

    def learn(self, starts: Places, ends: Places) -> Parts:
        a = self._model.shape + self._counts[ends] - self._counts[starts]
        b = self._model.rates + self._seen[ends] - self._seen[starts]
        return Parts(np.stack([a / b] * 2), np.stack([a / b**2] * 2))


class CellModel(NamedTuple):
    """Counts of cells in groups, whose shares are Dirichlet(prior) in each part."""

    prior: float
    sizes: Places  # (G,), cells of each group
    are_counts: bool  # whether X has a column for each cell, not for each group
    hides_first: bool  # whether the shares of the first cells of groups are left out

    def of(self, values: Floats) -> CellSpans:
        return CellSpans(self, values)


class CellSpans:
    """Spans of a series of symbols (T, G), or of counts (T, V)."""

    def __init__(self, model: CellModel, values: Floats):
        n_cells, seen = int(model.sizes.sum()), ~np.isnan(values)
        self.n_parameters = n_cells - len(model.sizes)
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
        n = np.arange(min(int(self._totals[-1].max()), _LARGEST_TABLE) + 1)
        self._tables = [
            gammaln(prior + n) - gammaln(prior) for prior in (model.prior, self._priors[:, None])
        ]
        self._model = model

    def weigh(self, starts: Places, ends: Places) -> Floats:
        logs = np.empty(len(starts))
        kernels.weigh_cells(
            starts, ends, self._counts, self._totals, self._model.prior, self._priors,
            *self._tables, logs,
        )  # fmt: skip
        return logs

    def learn(self, starts: Places, ends: Places) -> Parts:
        n = self._totals[ends] - self._totals[starts] + self._priors
        n = np.repeat(n, self._model.sizes, axis=1)
        p = (self._counts[ends] - self._counts[starts] + self._model.prior) / n
        moments = np.array([p, p * (1.0 - p) / (n + 1.0)])
        if self._model.hides_first:
            moments = np.delete(moments, self._first, axis=2)
        return Parts(*(np.stack([each] * 2) for each in moments))


_LARGEST_TABLE = 100_000


def _run(rows: NDArray[Any]) -> NDArray[Any]:
    """Return running sums that begin with 0."""
    return np.concatenate([np.zeros((1, rows.shape[1]), rows.dtype), np.cumsum(rows, axis=0)])


# The prior of divisions.


class DivisionRule(NamedTuple):
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

    def log_allowed(self, n_steps: int) -> Floats:
        """Return the log prior probability of all divisions that are allowed, (G,)."""
        stay = 1.0 - self.rates
        starts = np.zeros((n_steps + 1, len(self.rates)))  # sums of what is before a start
        starts[0] = 1.0
        total = np.zeros(len(self.rates))
        for j in range(self.min_length, n_steps + 1):
            total = total * stay + starts[j - self.min_length]
            if j > self.max_length:
                lost = self.max_length - self.min_length + 1
                total = total - starts[j - self.max_length - 1] * stay**lost
            starts[j] = total * np.exp(self.log_starts)
        return np.log(total)

    def log_parts(self, lengths: Places, g: Any = slice(None)) -> Floats:
        """Return the log weight of lengths for a probability of a change, or for all, (n, G)."""
        return np.multiply.outer(lengths - self.min_length, np.log1p(-self.rates[g]))

    def log_survival(self, lengths: Places) -> Floats:
        """Return the log probability that a part is at least so long, (n, G)."""
        free = self.max_length - self.min_length + 1
        gaps, stay = np.maximum(lengths - self.min_length, 0), np.log1p(-self.rates)
        with np.errstate(divide="ignore"):  # for max_length + 1
            rest = np.log(-np.expm1(np.multiply.outer(free - gaps, stay)))
        return np.multiply.outer(gaps, stay) + rest - np.log(-np.expm1(free * stay))


class Sums:
    """Sums over the divisions of what is before, or after, each boundary."""

    def __init__(self, n_steps: int, place: int, rule: DivisionRule, row: Floats):
        shape = (n_steps + 1, len(rule.rates))
        self.logs = np.full(shape, -np.inf)  # without the weight of a change at the boundary
        # For the kernel, the sums are exp(base + offsets) weights, with the weight of a change.
        self.bases, self.totals = np.full(shape[0], -np.inf), np.zeros(shape[0])
        self.weights, self._offsets = np.zeros(shape), np.zeros(shape[1])
        self._starts = np.exp(rule.log_starts)
        self.logs[place], self.bases[place] = np.log(row), 0.0
        self.weights[place], self.totals[place] = row, row.sum()

    def write(self, place: int, base: float, row: Floats, others: slice) -> None:
        """Write the sums of a boundary; later sums use those of the boundaries `others`."""
        row = np.maximum(row, _LEAST)
        self.bases[place], self.logs[place] = base, base + self._offsets + np.log(row)
        if row.min() < _SMALL:  # what is improbable now may become probable
            self._offsets += np.log(row)
            self.weights[others] = np.minimum(self.weights[others] / row, _LARGE)
            self.totals[others] = self.weights[others].sum(axis=1)
            row = np.ones(len(row))
        self.weights[place] = row * self._starts
        self.totals[place] = self.weights[place].sum()


class DividedSeries:
    """All divisions of one series under one model."""

    def __init__(self, spans: SeriesSpans, rule: DivisionRule, known: Places, power: float):
        n_steps = len(known)  # 1 where a part starts, 0 where none does, -1 elsewhere
        self.spans, self.rule, self.n_steps, self.power = spans, rule, n_steps, power
        self._log_stay = float(np.log1p(-rule.rates[0]))
        ratios = np.log1p(-rule.rates) - self._log_stay
        self._stays = np.exp(np.arange(n_steps)[:, np.newaxis] * ratios)
        self._stays[self._stays < _SHORTEST] = 0.0
        self._least = least_share(spans, n_steps, power)
        starts, changes = np.arange(n_steps), np.append(np.flatnonzero(known == 1), n_steps)
        next_changes = changes[np.searchsorted(changes[:-1], starts, "right")]
        self._latest = np.minimum(starts + rule.max_length, next_changes)
        self._may_end = np.append(known != 0, True)
        self.last = self._latest.copy()
        self.before = self._sum_before()

    def _weigh(self, starts: Any, ends: Any) -> Floats:
        """Return the evidence of spans; one of the arguments is an array."""
        if isinstance(ends, int):
            ends = np.full(len(starts), ends)
        else:
            starts = np.full(len(ends), starts)
        return self.power * self.spans.weigh(starts, ends)

    def _sum(
        self, logs: Floats, places: Places, lengths: Places, sums: Sums
    ) -> tuple[float, Floats, Floats]:
        """Return the base and the row of a boundary, and bounds of the shares of the spans."""
        shares, row = np.empty(len(logs)), np.empty(len(self.rule.rates))
        base = kernels.sum_spans(
            logs, places, lengths - self.rule.min_length, sums.bases, sums.weights,
            sums.totals, self._log_stay, self._stays, shares, row,
        )  # fmt: skip
        return base, row, shares

    def _sum_before(self) -> Sums:
        """Return the sums of what is before each boundary; shorten `last` by what is dropped."""
        rule, last = self.rule, self.last
        sums = Sums(self.n_steps, 0, rule, rule.prior)
        live = np.zeros(0, dtype=np.int64)
        for j in range(rule.min_length, self.n_steps + 1):
            new = j - rule.min_length
            if np.isfinite(sums.bases[new]):
                live = np.append(live, new)
            live = live[last[live] >= j]
            if len(live) == 0 or not self._may_end[j]:
                continue
            base, row, shares = self._sum(self._weigh(live, j), live, j - live, sums)
            sums.write(j, base, row, slice(live[0], j))
            last[live[shares < self._least]] = j
        return sums

    @property
    def log_evidence(self) -> Floats:
        """The log evidence, with the prior, of each probability of a change, (G,)."""
        return self.before.logs[-1]

    def sum_after(self) -> Sums:
        """Return the sums of what is after each boundary."""
        n = self.n_steps
        sums = Sums(n, n, self.rule, np.ones(len(self.rule.rates)))
        reached = np.flatnonzero(np.isfinite(self.before.bases))
        for i in reached[reached <= n - self.rule.min_length][::-1]:
            ends = self._ends(i, reached)
            ends = ends[np.isfinite(sums.bases[ends])]
            if len(ends) > 0:
                base, row, _ = self._sum(self._weigh(i, ends), ends, ends - i, sums)
                sums.write(i, base, row, slice(i + 1, ends[-1] + 1))
        return sums

    def _ends(self, i: int, reached: Places) -> Places:
        """Return the boundaries at which a part that starts at i may end."""
        first, last = np.searchsorted(reached, [i + self.rule.min_length, self.last[i] + 1])
        return reached[first:last]

    def change_probabilities(self, after: Sums, weights: Floats) -> Floats:
        """Return P(a part starts here), (T,), 0 at the first step; `weights` (G,) of the rates."""
        logs = self.before.logs + after.logs + self.rule.log_starts - self.log_evidence
        out = np.exp(np.minimum(logs[:-1], 0.0)) @ weights
        out[0] = 0.0
        return out

    def quiet_probabilities(
        self, after: Sums, weights: Floats, ranges: Places, probabilities: Floats
    ) -> Floats:
        """Return P(no part starts at first to last) of each range, (n,)."""
        out, rule = np.zeros(len(ranges)), self.rule
        reached = np.flatnonzero(np.isfinite(after.bases) & np.isfinite(self.before.bases))
        for i in reached[:-1]:
            if i > 0 and probabilities[i] < NEGLIGIBLE:
                continue
            ends = self._ends(i, reached)
            first = np.searchsorted(ranges[:, 0], i, "right")
            over = slice(first, np.searchsorted(ranges[:, 1], ends[-1]) if len(ends) else 0)
            if len(ranges[over]) == 0:
                continue
            stays = (ends - i - rule.min_length)[:, np.newaxis] * np.log1p(-rule.rates)
            logs = self._weigh(i, ends)[:, np.newaxis] + after.logs[ends] + stays
            logs[ends < self.n_steps] += rule.log_starts
            logs += self.before.logs[i] - self.log_evidence
            if i > 0:
                logs += rule.log_starts
            shares = np.exp(np.minimum(logs, 0.0)) @ weights
            sums = np.append(np.cumsum(shares[::-1])[::-1], 0.0)
            out[over] += sums[np.searchsorted(ends, ranges[over, 1], "right")]
        return np.minimum(out, 1.0)

    def sizes(self, after: Sums, place: int) -> tuple[Floats, Floats, Floats]:
        """Return P(a part starts here), (G,), and the moments of new minus old mean, (G, C) each.

        Given the change, what is before and after it is independent.
        """
        reached = np.flatnonzero(np.isfinite(after.bases) & np.isfinite(self.before.bases))
        starts = reached[: np.searchsorted(reached, place - self.rule.min_length, "right")]
        starts = starts[self.last[starts] >= place]
        ends = self._ends(place, reached)
        p, old, old_variances = self._learn_side(self.before, starts, np.full(len(starts), place))
        q, new, new_variances = self._learn_side(after, np.full(len(ends), place), ends)
        logs = p + q + self.rule.log_starts - self.log_evidence
        return np.exp(np.minimum(logs, 0.0)), new - old, new_variances + old_variances

    def _learn_side(
        self, sums: Sums, starts: Places, ends: Places
    ) -> tuple[Floats, Floats, Floats]:
        """Return the log sum, (G,), and moments of the mean next to the change, (G, C)."""
        is_before = sums is self.before
        others = starts if is_before else ends
        logs = self.power * self.spans.weigh(starts, ends)[:, np.newaxis] + sums.logs[others]
        logs += self.rule.log_parts(ends - starts)
        logs[(others > 0) & (others < self.n_steps)] += self.rule.log_starts
        total = logsumexp(logs, axis=0)
        shares = np.exp((logs - logs.max(axis=0)) / self.power)
        shares /= shares.sum(axis=0)
        used = np.flatnonzero(shares.max(axis=1) > RARE)
        shares = shares[used] / shares[used].sum(axis=0)
        means, variances = (x[int(is_before)] for x in self.spans.learn(starts[used], ends[used]))
        shift = means[np.argmax(shares.sum(axis=1))]  # so that squares keep their digits
        mean = shares.T @ (means - shift)
        variance = shares.T @ (variances + (means - shift) ** 2) - mean**2
        return total, mean + shift, np.maximum(variance, 0.0)

    def _forward(self) -> Iterator[tuple[int, Places, Floats]]:
        """Yield each possible boundary with the starts before it and the evidence of the spans."""
        starts = np.zeros(0, dtype=np.int64)
        for j in range(self.rule.min_length, self.n_steps + 1):
            new = j - self.rule.min_length
            if np.isfinite(self.before.bases[new]):
                starts = np.append(starts, new)
            starts = starts[self.last[starts] >= j]
            if len(starts) and self._may_end[j]:
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
        for j in (rule.min_length + np.flatnonzero(self._may_end[rule.min_length :])).tolist():
            # With what is dropped otherwise, because it is improbable with other numbers.
            starts = np.flatnonzero(self._latest[: j - rule.min_length + 1] >= j)
            if len(starts) == 0:
                continue
            scores = value[:-1, starts] + self._weigh(starts, j)
            best = np.argmax(scores, axis=1)
            value[1:, j] = scores[np.arange(n_parts), best]
            before[1:, j] = starts[best]
        if not np.isfinite(value[-1, -1]):
            raise ValueError(
                f"n_parts={n_parts} parts of {rule.min_length} or more steps (min_length), and at "
                f"most max_length, do not make up a series of {n} steps with the known changes."
            )
        changes, j = [], n
        for k in range(n_parts, 1, -1):
            j = int(before[k, j])
            changes.append(j)
        return np.array(changes[::-1], dtype=np.int64)

    def count_changes(self, weights: Floats) -> Floats:
        """Return the distribution of the number of changes; `weights` (G,) those of the rates."""
        g, rule, n = int(np.argmax(weights)), self.rule, self.n_steps
        # Given the number of changes, a division does not depend on the probability of one.
        odds = rule.log_starts - rule.min_length * np.log1p(-rule.rates)
        ratios = self.log_evidence - np.log(rule.prior) - n * np.log1p(-rule.rates)
        ratios += rule.min_length * np.log1p(-rule.rates)
        weights = weights / weights.sum()
        used = weights > NEGLIGIBLE
        width, lost = 16, 1.0
        while lost > _LOST and width < 4 * (n + 16):
            found = self._count_changes(g, width)
            k = np.arange(len(found))
            with np.errstate(divide="ignore"):
                logs = np.log(found)[:, np.newaxis] + k[:, np.newaxis] * (odds - odds[g])
            logs = np.minimum((logs - ratios + ratios[g])[:, used], 0.0)
            found = np.exp(logs) @ weights[used]
            lost, width = 1.0 - found.sum(), 2 * width
        return found / found.sum()

    def _count_changes(self, g: int, width: int) -> Floats:
        """Return the distribution given a rate, but for numbers that do not fit in a width."""
        rule, n = self.rule, self.n_steps
        numbers, room = np.zeros((n + 1, width)), np.empty(3 * width)
        bases, means = np.full(n + 1, -np.inf), np.zeros(n + 1)
        firsts = np.zeros(n + 1, dtype=np.int64)
        numbers[0, 0], bases[0] = 1.0, 0.0
        for j, starts, logs in self._forward():
            logs = logs + rule.log_parts(j - starts, g)
            logs[starts > 0] += rule.log_starts[g]
            bases[j], means[j], firsts[j] = kernels.add_numbers(
                logs, starts, bases, means, firsts, numbers, room, numbers[j]
            )
        return np.append(np.zeros(firsts[-1]), numbers[-1])[1 : n + 1]

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
                    logs = self.before.logs[starts, g] + (starts > 0) * self.rule.log_starts[g]
                    logs += self._weigh(starts, j) + self.rule.log_parts(j - starts, g)
                    known[j] = starts, np.cumsum(np.exp(logs - logs.max()))
                starts, sums = known[j]
                j = int(starts[np.searchsorted(sums, rng.random() * sums[-1], "right")])
                if j > 0:
                    changes.append(j)
            found.append(np.array(changes[::-1], dtype=np.int64))
        return found


class RunningParts(NamedTuple):
    """Parts that may go on, in a series of which the end is not known."""

    starts: Places  # (n,)
    logs: Floats  # (n, G), log sums over the divisions of what is before, with that of a change


def go_on(
    spans: SeriesSpans, rule: DivisionRule, parts: RunningParts, first: int, n: int, power: float
) -> tuple[RunningParts, Floats]:
    """Return the parts that may go on after n steps, and their shares for each rate, (., G).

    Starts from `first` on are found again.
    """
    is_kept = parts.starts < first
    starts, logs = parts.starts[is_kept], parts.logs[is_kept]

    def weigh(end: int) -> Floats:
        return logs + power * spans.weigh(starts, np.full(len(starts), end))[:, np.newaxis]

    for j in range(first, n):
        lengths = j - starts
        ended = weigh(j) + rule.log_parts(lengths)
        ended[(lengths < rule.min_length) | (lengths > rule.max_length)] = -np.inf
        starts = np.append(starts, j)
        logs = np.vstack([logs, logsumexp(ended, axis=0) + rule.log_starts])
    is_kept = n - starts <= rule.max_length + 1  # or it has ended, where starts are found again
    starts, logs = starts[is_kept], logs[is_kept]
    weights = weigh(n) + rule.log_survival(n - starts)
    shares = np.exp(weights - logsumexp(weights, axis=0))
    is_kept = (shares.max(axis=1) > least_share(spans, n, power)) | (n - starts > rule.max_length)
    return RunningParts(starts[is_kept], logs[is_kept]), shares[is_kept]


def least_share(spans: SeriesSpans, n_steps: int, power: float) -> float:
    """Return the share of what is before a boundary below which a start of a part is dropped."""
    later = 0.5 * power * spans.n_parameters * np.log(n_steps + 1.0)
    return float(NEGLIGIBLE * np.exp(-later))


def _trace(before: Places, end: int) -> Places:
    """Return the boundaries inside that lead to the last one."""
    changes = []
    while (end := int(before[end])) > 0:
        changes.append(end)
    return np.array(changes[::-1], dtype=np.int64)


# The table of changes.

NORMAL_90 = 1.6448536269514722
"""Half of a 90 % interval, in standard deviations."""


def find_changes(states: Places, ptr: Places) -> Places:
    """Return the steps whose state is not that of the step before in their sequence."""
    changes = np.flatnonzero(np.diff(states)) + 1
    return changes[~np.isin(changes, ptr)]


class ChangePoint(NamedTuple):
    """A change: a row of a `ChangeTable`."""

    position: int  # first step of the new part
    interval: tuple[int, int]  # first and last step of the 90 % interval of the position
    probability: float  # that there is a change in the interval
    size: Floats  # new minus old mean at this step, of each column of `transform`
    size_interval: Floats  # (2, n), its 90 % interval
    date: Any = None  # of the position; None without dates
    date_interval: Any = None


class ChangeTable(Sequence[ChangePoint]):
    """Changes of a series, shown as a table.

    Parameters
    ----------
    rows : list of ChangePoint
    names : list of str
        The columns in which sizes are given.
    """

    def __init__(self, rows: list[ChangePoint], names: list[str]):
        self._rows = rows
        self._names = names

    @overload
    def __getitem__(self, place: int) -> ChangePoint: ...

    @overload
    def __getitem__(self, place: slice) -> ChangeTable: ...

    def __getitem__(self, place: int | slice) -> ChangePoint | ChangeTable:
        """Return a row, or a table of some of them."""
        rows = self._rows[place]
        return ChangeTable(rows, self._names) if isinstance(rows, list) else rows

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self._rows)

    @property
    def positions(self) -> Places:
        """The first steps of the new parts, (n,)."""
        return np.array([row.position for row in self], dtype=np.int64)

    def to_frame(self) -> Any:
        """Return a pandas DataFrame with a row for each change.

        Returns
        -------
        pandas.DataFrame
            Columns position, first, last, probability, and for each column of the series its size,
            lower and upper; dates are the index.
        """
        import pandas as pd

        columns: dict[str, Any] = {
            "position": self.positions,
            "first": [row.interval[0] for row in self],
            "last": [row.interval[1] for row in self],
            "probability": [row.probability for row in self],
        }
        for c, name in enumerate(self._names):
            columns[f"size {name}"] = [row.size[c] for row in self]
            columns[f"lower {name}"] = [row.size_interval[0, c] for row in self]
            columns[f"upper {name}"] = [row.size_interval[1, c] for row in self]
        dates = [row.date for row in self]
        has_dates = len(dates) > 0 and dates[0] is not None
        return pd.DataFrame(columns, index=pd.Index(dates, name="date") if has_dates else None)

    def __repr__(self) -> str:
        cells = [
            ["change", "90 % interval", "probability", *(f"size {n}" for n in self._names[:3])]
        ]
        for row in self:
            place, ends = (
                (row.position, row.interval) if row.date is None else (row.date, row.date_interval)
            )
            interval, sizes = map(_show, ends), [f"{size:+.4g}" for size in row.size[:3]]
            cells.append([_show(place), " to ".join(interval), f"{row.probability:.2f}", *sizes])
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        return "\n".join(
            "  ".join(f"{cell:>{width}}" for cell, width in zip(line, widths, strict=True)).rstrip()
            for line in cells
        )


def _show(place: Any) -> str:
    """Return a position or a date as text."""
    return str(place).removesuffix(" 00:00:00")


def find_dates(X: Any, panel: SequencePanel, is_single: bool) -> list[Any]:
    """Return the index of each sequence that is a data frame with dates, or None."""
    frames = [X] if is_single else X
    if isinstance(frames, SequencePanel):
        return [None] * len(panel)
    indexes = [getattr(frame, "index", None) for frame in frames]
    kinds = ("DatetimeIndex", "PeriodIndex", "TimedeltaIndex")
    return [index if type(index).__name__ in kinds else None for index in indexes]


def find_intervals(p: Floats, changes: Places) -> Places:
    """Return the shortest range about each change with 90 % of the changes near it, (n, 2), given
    the probability p of a change at each step.
    """
    sums = np.append(0.0, np.cumsum(p))
    borders = np.append(1, np.append((changes[:-1] + changes[1:] + 1) // 2, len(p)))
    out = np.empty((len(changes), 2), dtype=np.int64)
    for k, change in enumerate(changes):
        begin, end = borders[k], borders[k + 1]
        wanted = 0.9 * min(sums[end] - sums[begin], 1.0)
        firsts = np.arange(begin, change + 1)
        # The first range that holds enough, for each first step.
        lasts = np.searchsorted(sums, sums[firsts] + wanted * (1.0 - 1e-12), "left") - 1
        lasts = np.maximum(lasts, change)
        lasts[lasts >= end] = len(p) + end
        best = int(np.argmin(lasts - firsts))
        out[k] = (firsts[best], lasts[best]) if lasts[best] < end else (begin, end - 1)
    return out


def make_tables(
    ptr: Places, dates: list[Any], changes: Places, intervals: Places, probabilities: Floats,
    sizes: Floats, names: list[str],
) -> list[ChangeTable]:  # fmt: skip
    """Return the table of each sequence; `sizes`, (n, 3, D), are a size and its interval."""
    tables = []
    for begin, end, index in zip(ptr[:-1].tolist(), ptr[1:].tolist(), dates, strict=True):
        rows = []
        for k in np.flatnonzero((changes >= begin) & (changes < end)):
            place, (first, last) = int(changes[k]) - begin, (intervals[k] - begin).tolist()
            known = (first, last), float(probabilities[k]), sizes[k, 0], sizes[k, 1:]
            when = () if index is None else (index[place], (index[first], index[last]))
            rows.append(ChangePoint(place, *known, *when))
        tables.append(ChangeTable(rows, names))
    return tables


@dataclass(frozen=True, eq=False)
class RunLengths:
    """The age of the current part of a series, given its steps so far.

    Attributes
    ----------
    proba : (n,) array
        The probabilities that the current part began 0, 1, 2, ... steps before the last one.
    n_steps : int
        Number of steps so far.
    """

    proba: Floats
    n_steps: int
    _values: Floats  # the last steps, as far back as a part may have begun
    _parts: tuple[RunningParts, ...]  # of each model that counts
