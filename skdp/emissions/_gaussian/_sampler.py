"""Samplers of Gaussian states: priors, first partitions, and draws of means and covariances."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import multigammaln

from skdp._numeric import Floats, Places
from skdp._numeric._numba import as_readonly
from skdp._numeric._random import draw_categorical, make_generator, next_double
from skdp.emissions._common import Stream
from skdp.emissions._common._clusters import (
    ClusterTerms,
    NormalColumns,
    augmented_terms,
    cell_terms,
    gaussian_terms,
)
from skdp.emissions._common._columns import (
    FREEDOM,
    SCALE_RATIO,
    ConstantColumns,
    Ranges,
    Sums,
    check_numbers,
    sum_powered,
)
from skdp.emissions._common._marginals import StudentMarginals
from skdp.emissions._common._protocol import Coupling, SummedSampler
from skdp.emissions._gaussian._model import (
    IMPOSSIBLE,
    GaussianModel,
    factorize_precisions,
    list_missing,
    log_determinants,
    make_definite,
    write_log_densities,
)
from skdp.emissions._kernels import _gaussian as kernels
from skdp.emissions._kernels import _gaussian_clusters as drawn
from skdp.emissions._kernels import _links as affinities
from skdp.emissions._kernels._gaussian import SMALLEST_PIVOT, log_evidence_of_gaussians

# Priors of means and covariances, and of a drawn scale of covariances.


WIDEST_SPREAD = 12
"""Largest width of blocks on a grid in mixtures: each row that moves takes steps of its cube."""

_SMALLEST_EIGENVALUE = 3e-4
"""Smallest eigenvalue of correlations: three times that of shrinkage in a constant direction."""

_FREEDOM_RATIOS = 1.0, 2.0, 4.0, 8.0, 16.0
"""Values of nu - W - 1 in units of the first one."""

_FEW_ROWS, _VERY_FEW_ROWS = 20, 6


def are_few(n_rows: float, width: int) -> bool:
    """Return whether there are so few rows that the largest nu outweighs them."""
    return n_rows < _FEW_ROWS * width


def are_very_few(n_rows: float, width: int) -> bool:
    """Return whether the rows are so few that S must be drawn if nu is: see `GaussianEmission`."""
    return n_rows < _VERY_FEW_ROWS * width


class GaussianPrior(NamedTuple):
    """Parameters m, c, nu, S of the prior, in B blocks of W columns: see `_kernels/_gaussian`."""

    mean: Floats  # (B, W)
    precision: float
    dof: float
    scale: Floats  # (B, W, W)

    def with_dof(self, dof: float) -> GaussianPrior:
        """Return the prior with other degrees of freedom and the same mean of covariances."""
        if dof == self.dof:
            return self
        least = self.mean.shape[1] + 1.0
        return self._replace(dof=dof, scale=(dof - least) / (self.dof - least) * self.scale)


class ScalePrior(NamedTuple):
    """Prior of nu, and of the scales S_b = F + R Q R^T of the covariances given the first nu."""

    # Q ~ Wishart(n, I / n), truncated at `_kernels/_gaussian_clusters.LOWEST`.

    freedoms: tuple[float, ...]  # values of nu, equally probable; a single one if nu is not drawn
    n_free: Places  # (B,): n, the rows of Q; W if no columns are constant or collinear
    roots: Floats  # (B, W, W): R, in the first n columns
    fixed: Floats  # (B, W, W): F, for directions in which the data imply 0 for any clusters
    log_dets: Floats  # (B,): log det E[S]; E[S] is the S that is used if S is not drawn
    inverses: Floats  # (B, W, W): E[S]^-1

    @classmethod
    def about(
        cls, expected: Floats, varies: NDArray[np.bool_], dof: float, *, draws_dof: bool = False
    ) -> ScalePrior:
        """Return the prior with mean `expected`, (B, W, W), of S given `dof`, the first nu."""
        least = expected.shape[-1] + 1.0
        ratios = _FREEDOM_RATIOS if draws_dof else (1.0,)
        freedoms = tuple(least + ratio * (dof - least) for ratio in ratios)
        n_free = np.zeros(len(varies), dtype=np.int64)
        roots, fixed = np.zeros(expected.shape), np.zeros(expected.shape)
        for b in range(len(varies)):
            lengths = np.sqrt(np.diag(expected[b]))
            correlations = expected[b] / np.multiply.outer(lengths, lengths)
            d = np.flatnonzero(varies[b])
            eigenvalues, directions = np.linalg.eigh(correlations[np.ix_(d, d)])
            columns = np.zeros((len(lengths), len(d)))
            columns[d] = lengths[d, np.newaxis] * directions * np.sqrt(eigenvalues)
            is_free = eigenvalues > _SMALLEST_EIGENVALUE
            n_free[b] = is_free.sum()
            roots[b, :, : n_free[b]] = columns[:, is_free]
            fixed[b] = np.diag(np.where(varies[b], 0.0, lengths**2))  # uncorrelated
            fixed[b] += columns[:, ~is_free] @ columns[:, ~is_free].T
        log_dets = np.linalg.slogdet(expected)[1]
        return cls(freedoms, n_free, roots, fixed, log_dets, np.asarray(np.linalg.inv(expected)))

    def given(self, dof: float) -> ScalePrior:
        """Return the prior of S given nu, in which S / (nu - W - 1) has the same distribution."""
        if dof == self.freedoms[0]:
            return self
        width = self.roots.shape[-1]
        ratio = (dof - width - 1.0) / (self.freedoms[0] - width - 1.0)
        return self._replace(
            freedoms=(dof,),
            roots=math.sqrt(ratio) * self.roots,
            fixed=ratio * self.fixed,
            log_dets=self.log_dets + width * math.log(ratio),
            inverses=self.inverses / ratio,
        )

    def log_ratios(self, scale: Floats) -> Floats:
        """Return log det Q of each block, (B,)."""
        return np.linalg.slogdet(scale)[1] - self.log_dets

    def log_density(self, scale: Floats) -> float:
        """Return the log density of Q for S, up to the constant of the truncation."""
        # With respect to dQ / det(Q)^((n + 1) / 2), it does not depend on the units of the data.
        n = self.n_free[self.n_free > 0].astype(np.float64)
        log_ratios = self.log_ratios(scale)[self.n_free > 0]
        traces = np.einsum("bde,bed->b", self.inverses, scale)[self.n_free > 0]
        traces -= scale.shape[1] - n  # number of fixed directions
        logs = 0.5 * n * (log_ratios - traces + n * np.log(0.5 * n))
        return float(logs.sum() - sum(multigammaln(0.5 * x, int(x)) for x in n))

    def ratio(self, scale: Floats) -> float:
        """Return the geometric mean of the ratio of S to E[S] over all directions."""
        return math.exp(float(self.log_ratios(scale).mean()) / scale.shape[1])


# First partitions: k-means in which columns count by their variances within clusters.


_N_RESTARTS, _N_TIGHT_MOVES, _FIRST_MOVES = 20, 20, 3
_SMALLEST = 1e-6
"""Smallest variance of a column within clusters, in units of its variance."""
_TIE = 1e-9
"""Least decrease of the mean log variance by which a restart is better, not only rounded otherwise.

Restarts that find the same clusters number them in different orders."""


def find_tight_clusters(values: Floats, n_clusters: int, rng: np.random.Generator) -> Places:
    """Return labels of at most `n_clusters` clusters, the tightest of several restarts."""
    # Columns that separate clusters count the most, by their inverse variances within clusters.
    values = values[:, ~np.isnan(values).all(axis=0)]
    values = values - np.nanmean(values, axis=0)
    deviations = np.nanstd(values, axis=0)
    is_constant = deviations <= 1e-9 * np.nanmax(np.abs(values), axis=0, initial=0.0)
    values = np.nan_to_num(values[:, ~is_constant] / deviations[~is_constant])
    best, least = np.zeros(len(values), dtype=np.int64), np.inf
    for _ in range(_N_RESTARTS if values.shape[1] else 0):
        labels, variances = _move_centers(values, _seed_centers(values, n_clusters, rng))
        log_det = float(np.log(variances).sum())
        if log_det < least - _TIE * values.shape[1]:
            best, least = labels, log_det
    return np.unique(best, return_inverse=True)[1]


def _seed_centers(values: Floats, n_clusters: int, rng: np.random.Generator) -> Floats:
    """Return rows drawn by k-means++, in proportion to their squared distances."""
    chosen = [int(rng.integers(len(values)))]
    distances = np.full(len(values), np.inf)
    for _ in range(n_clusters - 1):
        distances = np.minimum(distances, ((values - values[chosen[-1]]) ** 2).sum(axis=1))
        if distances.max() == 0.0:
            break
        chosen.append(int(rng.choice(len(values), p=distances / distances.sum())))
    return values[chosen]


def _move_centers(values: Floats, centers: Floats) -> tuple[Places, Floats]:
    """Return the labels and the variances within clusters after moves of the centers."""
    variances = np.ones(values.shape[1])
    for move in range(_N_TIGHT_MOVES):
        weighted = centers / variances
        scores = 2.0 * values @ weighted.T - (weighted * centers).sum(axis=1)
        labels = scores.argmax(axis=1)
        members = labels == np.arange(len(centers))[:, np.newaxis]
        sizes = members.sum(axis=1)
        means = (members @ values) / np.maximum(sizes, 1)[:, np.newaxis]
        centers = np.where(sizes[:, np.newaxis] > 0, means, centers)
        within = np.maximum(((values - centers[labels]) ** 2).mean(axis=0), _SMALLEST)
        if move >= _FIRST_MOVES:
            variances = within
    return labels, within


# The sampler of all columns.

_N_MOVES = 3  # number of moves of the initial centers
_N_DRAWS = 20  # number of draws of S given an initial partition

_NUMBERS = 2, 3, 4, 6, 9, 13
"""Numbers of clusters of these partitions."""


class GaussianSampler(SummedSampler):
    """Sampler of the means and covariances of all states, and of the scale of the covariances."""

    smallest_pivot = 0.0
    """Smallest relative pivot of a posterior scale before it is computed by updates.

    A missing value is drawn on the scale of its row, so next to an absurd value it is absurd, too.
    """

    _data_attributes: ClassVar[tuple[str, ...]] = (
        "_values", "_missing", "_filled", "is_incomplete",
    )  # fmt: skip

    def __init__(
        self,
        n_states: int,
        prior: GaussianPrior,
        scale_prior: ScalePrior | None = None,
        start_factors: Floats | None = None,
        constants: ConstantColumns | None = None,
        *,
        full: bool = True,
    ):
        self.prior, self.scale_prior = prior, scale_prior  # current; None: S and nu are known
        # Without constant columns, which models have; `full`: their covariances are matrices.
        self.constants, self.full = constants, full
        self.held = False  # whether `draw` leaves S and nu unchanged
        self.spread: Floats | None = None  # (B, W): R of columns on a grid, see `_columns`
        self.resolution_is_given = False
        # In mixtures, the observations with missing values as last drawn; kernels write to it.
        self.completed: Any = None
        self.n_states = n_states
        n_blocks, width = prior.mean.shape
        n_components = n_states * n_blocks
        self.counts = np.zeros(n_components)
        self.centers = np.zeros((n_components, width))
        self.scatter = np.zeros((n_components, width, width))
        self.means = np.tile(prior.mean, (n_states, 1))
        if start_factors is None:
            start_factors = factorize_precisions(prior.scale / prior.dof)
        self._start_factors = start_factors  # of precisions before the first draw, (B, W, W)
        self.precision_factors = np.tile(start_factors, (n_states, 1, 1))
        self.log_dets = log_determinants(self.precision_factors)

    def attach(self, values: Floats) -> None:
        if self.constants is not None:
            values = self.constants.leave_out(values)
        check_numbers(values)
        self._values = values
        width = self.means.shape[1]
        self._missing = list_missing(values, width)
        self.smallest_pivot = 0.0 if self._missing is None else SMALLEST_PIVOT
        self.is_incomplete = self._missing is not None and not bool(
            np.isin(self._missing.n_seen, (0, width)).all()
        )
        self._filled: Any = None
        if self.completed is not None and self.completed.shape != values.shape:
            self.completed = None  # those of other observations

    @property
    def has_few_rows(self) -> bool:
        """Whether a chain that begins with one state may not find the others."""
        return are_few(len(self._values), self.prior.mean.shape[1])

    def find_clusters(self, rng: Stream) -> list[Places]:
        """Return partitions of the observations into few and into more clusters."""
        generator = make_generator(rng)
        return [find_tight_clusters(self._values, n, generator) for n in _NUMBERS]

    def list_first_priors(self) -> list[GaussianPrior]:
        """Return priors with which to seek first states: smallest, median and largest nu."""
        if not self.draws_dof:
            return [self.prior]
        assert self.scale_prior is not None
        freedoms = self.scale_prior.freedoms  # with the smallest, small states overfit
        return [self.prior.with_dof(freedoms[i]) for i in (0, len(freedoms) // 2, -1)]

    def restrict(self, steps: Places, n_states: int) -> GaussianSampler:
        """Return a sampler for some of the observations, completed if missing values were drawn."""
        other, values, missing = self.of_states(n_states), self._known()[steps], None
        other.smallest_pivot = self.smallest_pivot
        if self.completed is None and self._missing is not None:
            if self._filled is None:  # incomplete blocks count as missing
                blocks = values.reshape(len(steps), -1, self.means.shape[1])
                blocks[np.isnan(blocks).any(axis=2)] = np.nan
            missing = list_missing(values, self.means.shape[1])
        other._values, other._filled, other._missing = as_readonly(values), None, missing
        other.is_incomplete = False  # completed, or without incomplete blocks
        return other

    def of_states(self, n_states: int) -> GaussianSampler:
        """Return a sampler without observations, whose prior is fixed at the current one."""
        other = GaussianSampler(
            n_states, self.prior, None, self._start_factors, self.constants, full=self.full
        )
        other.spread = self.spread
        return other

    def measure(self, states: Places) -> Ranges:
        return Ranges.of(self._known(), states, *self.centers.shape)

    def add_up(self, states: Places, measured: Ranges) -> Sums:
        return measured.add_up(self._known(), states)

    def take(self, measured: Ranges, sums: Sums) -> None:
        measured.settle(sums, self.counts, self.centers, self.scatter)
        self._spread_values()

    def take_rows_as_exact(self, where: str) -> None:
        """Forget the resolution; raise ValueError if it was given."""
        if self.spread is not None and self.resolution_is_given:
            raise ValueError(
                f"resolution: mixtures take values as exact {where}. Leave it 'auto' or None, or "
                'use the covariance_type "diag".'
            )
        self.spread = None

    def _spread_values(self) -> None:
        """Add R of all rows to the scatter, if columns are on a grid."""
        if self.spread is not None:
            counts = self.counts.reshape(-1, len(self.spread), 1)
            diagonals = np.einsum("kdd->kd", self.scatter)
            diagonals += (counts * self.spread).reshape(diagonals.shape)

    def _subtract_traces(self, out: Floats) -> None:
        """Subtract tr(Sigma^-1 R) / 2 of blocks that are observed from log densities, (N, J)."""
        if self.spread is None:
            return
        factors = self.precision_factors.reshape(self.n_states, *self.prior.scale.shape)
        losses = 0.5 * np.einsum("kbde,be->kb", factors**2, self.spread)
        seen: Floats = np.ones((1, losses.shape[1]))
        if self._missing is not None:
            hidden = np.isnan(self._values).reshape(len(self._values), losses.shape[1], -1)
            seen = np.where(hidden.all(axis=2), 0.0, 1.0)
        out -= seen @ losses.T

    def _known(self) -> Floats:
        """Return the observations, with missing values filled in if they were drawn."""
        if self.completed is not None:
            return as_readonly(self.completed)
        return as_readonly(self._values if self._filled is None else self._filled)

    def write_log_predictive(self, out: Floats) -> None:
        """Write the log densities of all steps at the expected parameters of each state."""
        self._write_expected()
        self.write_log_obs(out)

    def _write_expected(self) -> None:
        """Write the expected means and the factors of the expected precisions."""
        width = self.means.shape[1]
        kernels.expect_gaussians(
            *self._statistics(), *self.prior, self.means,
            self.precision_factors, self.log_dets, np.empty((width, width)),
        )  # fmt: skip

    def start(self, states: Places, rng: Stream) -> None:
        """Write initial states: the nearest of centers that are spread over the observations."""
        self._start_from(self._values, states, rng)

    def _start_from(self, values: Floats, states: Places, rng: Stream) -> None:
        filler = self.prior.mean.ravel()
        weights = 1.0 / np.diagonal(self.prior.scale, axis1=1, axis2=2).ravel()
        centers = np.empty((self.n_states, len(filler)))
        scratch = np.empty(centers.shape), np.empty(centers.shape)
        distances = np.empty(len(states))
        kernels.seed_centers(values, weights, filler, centers, distances, rng)
        kernels.find_nearest(values, weights, centers, states)
        for _ in range(_N_MOVES):
            kernels.move_centers(values, states, centers, *scratch)
            kernels.find_nearest(values, weights, centers, states)
        self.means[:] = centers.reshape(self.means.shape)  # missing values are drawn about them

    def draw(self, states: Places, rng: Stream, coupling: Coupling | None = None) -> None:
        """Draw the missing values, then mu and Sigma, given the states."""
        if self._filled is None:
            self.complete(states, rng)
        self.condition(states)
        self._filled = None
        self.draw_parameters(rng)

    def draw_parameters(self, rng: Stream) -> None:
        """Draw nu and S, unless known or frozen, then mu and Sigma, given the statistics."""
        if self.scale_prior is not None and not self.held:
            self._draw_shared(self.scale_prior, self._statistics(), rng)
        width = self.means.shape[1]
        possible = kernels.draw_gaussians(
            *self._statistics(), *self.prior, self.smallest_pivot, self.means,
            self.precision_factors, self.log_dets, np.empty((3, width, width)), rng,
        )  # fmt: skip
        if not possible:
            raise ValueError(IMPOSSIBLE)

    def _draw_shared(
        self, scale_prior: ScalePrior, statistics: tuple[Floats, ...], rng: Stream
    ) -> None:
        """Draw nu and S given the statistics of states, with mu and Sigma integrated out."""
        scratch = self._scratch_of_evidence()
        self._draw_dof(
            scale_prior.freedoms,
            lambda prior: log_evidence_of_gaussians(*statistics, *prior, *scratch),
            rng,
        )
        self._draw_scale(scale_prior, statistics, rng)

    def _scratch_of_evidence(self) -> tuple[Any, ...]:
        """Return the last arguments of `log_evidence_of_gaussians`."""
        shape = self.prior.scale.shape[1:]
        return self.smallest_pivot, np.empty(shape), np.empty(shape), np.empty(shape[0])

    def _draw_scale(
        self, scale_prior: ScalePrior, statistics: tuple[Floats, ...], rng: Stream
    ) -> None:
        """Draw S given nu and the statistics of states, with mu and Sigma integrated out."""
        known, least = (*statistics, *self.prior), (self.smallest_pivot,)
        self._set_scale(scale_prior, drawn.draw_scale, known, least, rng)

    def _set_scale(
        self, scale_prior: ScalePrior, draw: Any, known: Any, least: Any, rng: Stream
    ) -> None:
        out, (_, *matrices) = self.prior.scale.copy(), scale_prior.given(self.prior.dof)[:4]
        if not draw(*known, *matrices, *least, np.empty((5, *out.shape[1:])), rng, out):
            raise ValueError(IMPOSSIBLE)
        self.prior = self.prior._replace(scale=out)

    def _draw_dof(
        self, freedoms: tuple[float, ...], weigh: Callable[[GaussianPrior], float], rng: Stream
    ) -> None:
        """Draw nu, with the prior mean of the covariances held fixed."""
        if len(freedoms) > 1:
            priors = [self.prior.with_dof(dof) for dof in freedoms]
            logs = np.array([weigh(prior) for prior in priors])
            if not np.isfinite(logs).all():
                raise ValueError(IMPOSSIBLE)
            weights = np.exp(logs - logs.max())
            self.prior = priors[draw_categorical(weights, weights.sum(), rng)]

    def _weigh_covariances(self, prior: GaussianPrior) -> float:
        """Return log p(Sigma of all states | nu, S), up to a constant."""
        width, dof = prior.scale.shape[-1], prior.dof
        factors = self.precision_factors.reshape(self.n_states, -1, width, width)
        traces = np.einsum("kbfd,bde,kbfe->", factors, prior.scale, factors)
        logs = 0.5 * dof * (np.linalg.slogdet(prior.scale)[1] - width * np.log(2.0))
        each = self.n_states * float((logs - multigammaln(0.5 * dof, width)).sum())
        return each + float((dof - width - 1.0) * self.log_dets.sum() - 0.5 * traces)

    def _statistics(self) -> tuple[Floats, ...]:
        """Return counts, masses, centers and scatter."""
        return self.counts, self.counts, self.centers, self.scatter

    def _block_weights(self) -> Floats | None:
        """Return the factors of the precisions at each step, (N, B), or None if all are 1."""
        return None

    def complete_with(self, states: Places, key: Stream, first: int = 0) -> None:
        self._filled = self._completed(states, key, first)

    def _completed(self, states: Places, key: Stream, first: int) -> Floats:
        """Return the observations, with drawn values in partly observed blocks."""
        if not self.is_incomplete:
            return self._values
        assert self._missing is not None
        width = self.means.shape[1]
        values = self._values.copy()
        scratch = np.empty((width, width)), np.empty(width)
        known = self.means, self.precision_factors, self._block_weights()
        kernels.impute(
            values, states, *self._missing, *known, *scratch, first, key, np.empty_like(key)
        )
        values.flags.writeable = self._values.flags.writeable  # or kernels would be compiled twice
        return values

    def write_log_obs(self, out: Floats) -> None:
        known = self.means, self.precision_factors, self.log_dets, None
        write_log_densities(self._values, self._missing, known, out)
        self._subtract_traces(out)

    def log_evidence(self) -> float:
        """Return log p(x | z) with the last drawn missing values, plus log p(nu, S) if drawn."""
        result = log_evidence_of_gaussians(
            *self._statistics(), *self.prior, *self._scratch_of_evidence()
        )
        if self.scale_prior is not None:
            result += self.scale_prior.given(self.prior.dof).log_density(self.prior.scale)
            result -= math.log(len(self.scale_prior.freedoms))
        return float(result)

    def scalars(self) -> dict[str, float]:
        if self.scale_prior is None:
            return {}
        scale_prior, dof, scalars = self.scale_prior, self.prior.dof, {}
        if scale_prior.n_free.any():
            scalars["emission_scale"] = scale_prior.given(dof).ratio(self.prior.scale)
        if self.draws_dof:
            scalars["emission_degrees_of_freedom"] = dof
        return scalars

    def model(self) -> GaussianModel:
        """Return the distributions of the next observation given states and last drawn values."""
        means, covariances, freedoms, divisors, precisions = self._expect()
        # The scale of the next observation includes that of the mean: Sigma (1 + 1 / (c + n)).
        ratios = divisors / freedoms * (1.0 + 1.0 / precisions)
        return self._with_constants(GaussianModel(means, covariances, freedoms, ratios))

    def _with_constants(self, model: GaussianModel) -> GaussianModel:
        """Return the model of all columns."""
        if self.constants is None:
            return model
        return WideGaussianModel.of(model, self.constants, full=self.full)

    def _list_posteriors(self) -> tuple[Floats, Floats, Floats, Floats]:
        """Return means, scales, degrees of freedom and precisions of all components."""
        counts, masses, centers, scatter = self._statistics()
        mean, precision, dof, scale = self.prior
        away, precisions = centers - np.tile(mean, (self.n_states, 1)), precision + masses
        lower, weights = np.tril(scatter), (precision * masses / precisions)[:, np.newaxis] * away
        scales = np.tile(scale, (self.n_states, 1, 1)) + (lower + _transpose(np.tril(lower, -1)))
        scales = make_definite(scales + weights[:, :, np.newaxis] * away[:, np.newaxis])
        means = np.tile(mean, (self.n_states, 1)) + (masses / precisions)[:, np.newaxis] * away
        return means, scales, dof + counts, precisions

    def _expect(self) -> tuple[Floats, ...]:
        """Return means, covariances, degrees of freedom, divisors and precisions of states."""
        # A divisor is the ratio of the posterior scale to the covariance.
        means, scales, dofs, precisions = self._list_posteriors()
        n_blocks, width = self.prior.mean.shape
        n_dims, heads = n_blocks * width, [self.n_states]
        # E[Sigma | z], or E[Sigma^-1 | z]^-1 if that does not exist.
        divisors = np.where(dofs > width + 1, dofs - width - 1, dofs)
        covariances = scales / divisors[:, np.newaxis, np.newaxis]
        shape = [*heads, n_dims, n_dims]
        if n_blocks > 1:
            heads = shape = [*heads, n_dims]
        arrays = dofs - (width - 1.0), divisors, precisions
        means, covariances = means.reshape(self.n_states, n_dims), covariances.reshape(shape)
        return means, covariances, *(array.reshape(heads) for array in arrays)

    def cluster_terms(self) -> ClusterTerms:
        width = self.prior.mean.shape[1]
        if width > WIDEST_SPREAD:
            self.take_rows_as_exact(f"with full covariances of more than {WIDEST_SPREAD} columns")
        if self._missing is None and self.spread is None:
            return gaussian_terms(self._values, *self.prior)
        if width == 1:
            return cell_terms([self.columns_of_cells()], len(self._values))
        if self.completed is None:
            self.completed = self._completed_by_means()
        weights = np.ones((len(self._values), len(self.prior.mean)))
        return augmented_terms(
            self.completed, weights, np.isnan(self._values), 0.0, self.prior, self.spread
        )

    def _completed_by_means(self) -> Floats:
        """Return the observations with the mean of its column, or its prior mean, for NaN."""
        hidden = np.isnan(self._values)
        n_seen = (~hidden).sum(axis=0)
        sums = np.where(hidden, 0.0, self._values).sum(axis=0)
        means = np.where(n_seen > 0, sums / np.maximum(n_seen, 1), self.prior.mean.ravel())
        return np.where(hidden, means, self._values)

    def take_latent(self, rows: NDArray[np.intp], part: GaussianSampler) -> None:
        """Take the missing values of some rows from a sampler over these rows."""
        if self.completed is not None and part.completed is not None:
            self.completed[rows] = part.completed

    def draw_shared(self, labels: Places, n_clusters: int, rng: Stream) -> None:
        """Draw nu and S given the clusters of the rows, unless they are known."""
        if self.scale_prior is not None:
            self.draw_shared_given(self.of_clusters(labels, n_clusters), rng)

    def draw_shared_given(self, clusters: GaussianSampler, rng: Stream) -> None:
        """Draw nu and S given a sampler that holds the statistics of clusters, unless known."""
        if self.scale_prior is not None:
            self._draw_shared(self.scale_prior, clusters._statistics(), rng)

    @property
    def has_gaps(self) -> bool:
        """Whether values are missing."""
        return self._missing is not None

    @property
    def draws_gaps(self) -> bool:
        """Whether mixtures draw missing values, since they depend on the rest of the row."""
        return self.prior.mean.shape[1] > 1

    def columns_of_cells(self) -> NormalColumns | None:
        """Return the columns and their prior if they are independent, otherwise None."""
        mean, precision, dof, scale = self.prior
        if mean.shape[1] > 1:
            return None
        spread = np.zeros(mean.size) if self.spread is None else self.spread.ravel()
        return NormalColumns(self._values, mean.ravel(), precision, dof, scale.ravel(), spread)

    def condition_with_powers(self, states: Places, powers: Floats) -> None:
        """Set the states of the observations, whose columns are independent, given their powers."""
        counts, centers, scatter = sum_powered(self._values, states, powers, self.n_states)
        self.counts[:] = counts.ravel()
        self.centers[:] = centers.reshape(-1, 1)
        self.scatter[:] = scatter.reshape(-1, 1, 1)
        self._spread_values()

    @property
    def draws_dof(self) -> bool:
        """Whether nu is drawn."""
        return self.scale_prior is not None and len(self.scale_prior.freedoms) > 1

    def fit_shared(self, labels: Places, n_clusters: int, rng: Stream) -> None:
        """Draw S given the clusters until its first value is forgotten."""
        part = self.of_clusters(labels, n_clusters)
        part._forget_scale(rng)
        self.prior = part.prior

    def of_clusters(self, labels: Places, n_clusters: int) -> GaussianSampler:
        """Return a sampler that draws nu and S given clusters of all observations."""
        part = self.restrict(np.arange(len(labels)), n_clusters)
        part.scale_prior = self.scale_prior
        part.condition(labels)
        return part

    def _forget_scale(self, rng: Stream) -> None:
        """Draw S with the first, smallest nu, because S hardly moves if nu is large."""
        assert self.scale_prior is not None
        self.prior = self.prior.with_dof(self.scale_prior.freedoms[0])
        for _ in range(_N_DRAWS):
            self._draw_scale(self.scale_prior, self._statistics(), rng)

    @property
    def draws_scale(self) -> bool:
        """Whether S is drawn."""
        return self.scale_prior is not None and bool(self.scale_prior.n_free.any())

    @property
    def needs_settling(self) -> bool:
        """Whether S is drawn, and its first value may outweigh the rows of the statistics."""
        n_blocks, width = self.prior.mean.shape
        return self.draws_scale and are_few(self.counts.sum() / n_blocks, width)

    def settle_shared(self, rng: Stream) -> float:
        """Draw nu and S until their first values are forgotten; return the mean log evidence."""
        assert self.scale_prior is not None
        self._forget_scale(rng)
        logs = []
        for _ in range(_N_DRAWS):
            self._draw_shared(self.scale_prior, self._statistics(), rng)
            logs.append(self.log_evidence())
        return float(np.mean(logs[_N_DRAWS // 2 :]))

    def move_shared(self, rng: Stream) -> GaussianPrior | None:
        """Draw S or nu given all Sigma; return the previous prior, or None if neither is drawn."""
        if self.scale_prior is None or self.held:
            return None
        before, freedoms = self.prior, self.scale_prior.freedoms
        # A coin decides: one after the other would not have the same density forward and back.
        if len(freedoms) > 1 and next_double(rng) < 0.5:
            self._draw_dof(freedoms, self._weigh_covariances, rng)
            return before
        known = self.precision_factors, before.dof
        self._set_scale(self.scale_prior, drawn.draw_scale_given_precisions, known, (), rng)
        return before

    def restore_shared(self, before: GaussianPrior) -> None:
        self.prior = before

    def parameters(self) -> tuple[Floats, ...]:
        """Return mu, factors of Sigma^-1 and their log determinants, (J, B, ...) each."""
        shape = self.n_states, len(self.prior.mean)
        arrays = self.means, self.precision_factors, self.log_dets
        return tuple(array.reshape(*shape, *array.shape[1:]) for array in arrays)

    def log_posterior(self) -> float:
        """Return the log density of mu and Sigma^-1 given the states and completed values."""
        width = self.prior.mean.shape[1]
        means, scales, dofs, precisions = self._list_posteriors()
        factors, log_dets = self.precision_factors, self.log_dets
        deviations = np.einsum("kde,ke->kd", factors, self.means - means)
        logs = 0.5 * width * np.log(precisions / (2.0 * np.pi)) + log_dets
        logs -= 0.5 * precisions * (deviations**2).sum(axis=1)
        traces = np.einsum("kde,kde->k", np.matmul(factors, scales), factors)
        logs += (dofs - width - 1.0) * log_dets - 0.5 * traces
        logs += 0.5 * dofs * (np.linalg.slogdet(scales)[1] - width * np.log(2.0))
        return float((logs - multigammaln(0.5 * dofs, width)).sum())

    def known_model(self, parameters: tuple[Floats, ...]) -> GaussianModel:
        means, factors, _ = parameters
        n_states, n_blocks, width = means.shape
        shape = (width, width) if n_blocks == 1 else (n_blocks,)
        model = GaussianModel(
            means.reshape(n_states, -1), _invert(factors).reshape(n_states, *shape)
        )
        return self._with_constants(model)

    def log_affinity(self, parameters: tuple[Floats, ...]) -> Floats:
        means, factors, log_dets = parameters
        n_states, _, width = means.shape
        out, scratch = np.empty((n_states, n_states)), (np.empty((width, width)), np.empty(width))
        means = np.ascontiguousarray(means)
        if not affinities.compare_gaussians(means, _invert(factors), -log_dets, *scratch, out):
            raise ValueError(
                "The mean of the covariances of two states is not positive definite to rounding: "
                "scale the columns of X, or give a larger covariance_prior."
            )
        return out


def _transpose(matrices: Floats) -> Floats:
    return matrices.swapaxes(-1, -2)


def _invert(precision_factors: Floats) -> Floats:
    """Return Sigma = U^-1 U^-T of triangular matrices U, (..., W, W)."""
    roots: Any = np.linalg.inv(precision_factors)
    return np.matmul(roots, _transpose(roots))


# Model of vectors some of whose columns are constant in the data.


@dataclass(frozen=True, eq=False, kw_only=True)
class WideGaussianModel(GaussianModel):
    """Gaussian vectors, and columns with the same distribution in all states.

    The other attributes are those of `GaussianModel` for all columns. With full covariances,
    `degrees_of_freedom` and `scale_ratios` are those of the columns that vary.

    Attributes
    ----------
    varying : GaussianModel
        Distributions of the columns that vary.
    constants : ConstantColumns
    """

    varying: GaussianModel
    constants: ConstantColumns

    @classmethod
    def of(cls, model: GaussianModel, constants: ConstantColumns, *, full: bool) -> Self:
        """Return the model of all columns; `full`: covariances are matrices, even of one column."""
        covariances, freedoms, ratios = (
            model.covariances, model.degrees_of_freedom, model.scale_ratios,
        )  # fmt: skip
        if full:
            covariances = constants.insert_square(covariances, 1.0)
        else:
            shape = model.means.shape  # one column has matrices
            covariances = constants.insert(covariances.reshape(shape), 1.0)
            if freedoms is not None and ratios is not None:
                freedoms = constants.insert(freedoms.reshape(shape), FREEDOM)
                ratios = constants.insert(ratios.reshape(shape), SCALE_RATIO)
        means = constants.insert(model.means, constants.values)
        return cls(means, covariances, freedoms, ratios, varying=model, constants=constants)

    @property
    def _is_known(self) -> bool:
        """Whether there is no uncertainty about parameters."""
        return self.degrees_of_freedom is None

    @property
    def scales(self) -> Floats:
        if self.covariances.ndim == 2 or self._is_known:
            return super().scales
        return self.constants.insert_square(self.varying.scales, SCALE_RATIO)

    def log_obs(self, values: Floats) -> Floats:
        check_numbers(values)
        logs = self.varying.log_obs(self.constants.leave_out(values))
        return logs + self.constants.log_density(values, known=self._is_known)

    def sample(self, states: Places, rng: np.random.Generator) -> Floats:
        own = self.varying.sample(states, rng)
        rest = self.constants.sample(len(states), rng, known=self._is_known)
        return self.constants.insert(own, rest)

    def marginals(self) -> StudentMarginals:
        own, insert = self.varying.marginals(), self.constants.insert
        rest = self.constants.distribution(known=self._is_known)
        freedoms = None if own.freedoms is None else insert(own.freedoms, rest.freedoms)
        return StudentMarginals(self.means, insert(own.scales, rest.scales), freedoms)

    def fill(self, values: Floats, weights: Floats) -> Floats:
        own = self.varying.fill(self.constants.leave_out(values), weights)
        # Weights of some callers add up to less than 1; their means are those times this sum.
        rest = np.multiply.outer(weights.sum(axis=1), self.constants.values)
        return np.where(np.isnan(values), self.constants.insert(own, rest), values)

    def draw_missing(self, values: Floats, states: Places, rng: np.random.Generator) -> Floats:
        own = self.varying.draw_missing(self.constants.leave_out(values), states, rng)
        rest = self.constants.sample(len(states), rng, known=self._is_known)
        return np.where(np.isnan(values), self.constants.insert(own, rest), values)
