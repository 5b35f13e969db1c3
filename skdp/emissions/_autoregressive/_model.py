"""Model of autoregressive vectors in a stored sample: predictive distributions of states."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from skdp._numeric._typing import Floats, Places
from skdp.emissions._autoregressive._lags import LagDesign, stack_regressors
from skdp.emissions._autoregressive._regressions import draw_noise, weigh
from skdp.emissions._gaussian._model import check_numbers
from skdp.emissions._marginals import StudentMarginals


@dataclass(frozen=True, eq=False)
class StartingLags:
    """The Gaussian from which the first values of a new sequence are drawn, lag 1 first.

    Attributes
    ----------
    mean : (L D,) array
    root : (L D, L D) array
        Lower triangular Cholesky factor of the covariance.
    """

    mean: Floats
    root: Floats


class LagSteps(NamedTuple):
    """Transition moments of a = [1, lags]: E[a'] = G a, and noise of covariance (1 + a^T V a) S."""

    maps: Floats  # (J, K, K): G
    precisions: Floats  # (J, K, K): V
    covariances: Floats  # (J, D, D): S; infinite with two degrees of freedom or less


class StepMaps(NamedTuple):
    """The regressions of all states at one step, with all lags from 1 to L."""

    intercepts: Floats  # (J, D): constants plus trends
    coefs: Floats  # (J, D, D L)
    factors: Floats  # (J, K, D L + 1): maps of [1, lags] to vectors whose squared length is h


@dataclass(frozen=True, eq=False)
class AutoregressiveModel:
    r"""Linear predictions from the preceding values, and the uncertainty of their coefficients.

    Given a = [1, x_t-1, ..., x_t-L], the next observation x_t of a state follows a multivariate
    Student t distribution, its posterior predictive. The location is
    ``intercepts + coefs @ [x_t-1, ..., x_t-L]``, with a trend plus ``trends`` times the number of
    the step in its sequence, from 1, and the scale matrix is ``scales`` times
    1 + h, where h = \|F a\|^2, with F in `coef_factors`, is large if few observations of the state
    have had similar lags.

    Attributes
    ----------
    coefs : (J, D, D L) array
        Posterior means of the coefficients of each state, lag 1 first; with chosen lags, only
        theirs, in increasing order.
    intercepts : (J, D) array
        Posterior means of the constants.
    covariances : (J, D, D) array
        Covariances of the noise of each state.
    degrees_of_freedom : (J,) array
    scale_ratios : (J,) array
        Ratios of `scales` to `covariances`.
    coef_factors : (J, K, K) array
        F, lower triangular. F^T F is V_n, the covariance of the coefficients of one equation
        (intercept first, trend last) in units of its noise.
    starting_lags : StartingLags
        Distribution of the first values of new sequences.
    design : LagDesign or None
        The regressors. None: all lags from 1 to L.
    trends : (J, D) array or None
        Posterior means of the trends of each state, per step.
    """

    coefs: Floats
    intercepts: Floats
    covariances: Floats
    degrees_of_freedom: Floats
    scale_ratios: Floats
    coef_factors: Floats
    starting_lags: StartingLags
    design: LagDesign | None = None
    trends: Floats | None = None

    @property
    def n_lags(self) -> int:
        """The largest lag L."""
        return self._design.n_lags

    @property
    def lags(self) -> tuple[int, ...]:
        """The lags, in the order of `coefs`."""
        return self._design.lags

    @property
    def _design(self) -> LagDesign:
        if self.design is not None:
            return self.design
        return LagDesign(tuple(range(1, self.coefs.shape[2] // self.coefs.shape[1] + 1)))

    def maps_at(self, time: int) -> StepMaps:
        """Return the regressions of a step, by its number from 1 in its sequence (for trends)."""
        design, (n_states, n_dims) = self._design, self.intercepts.shape
        if self.trends is None and len(design.lags) == design.n_lags:
            return StepMaps(self.intercepts, self.coefs, self.coef_factors)
        intercepts, columns = self.intercepts, design.columns(n_dims)
        n_lagged = n_dims * design.n_lags
        coefs = np.zeros((n_states, n_dims, n_lagged))
        coefs[:, :, columns] = self.coefs
        factors = np.zeros((n_states, self.coef_factors.shape[1], n_lagged + 1))
        factors[:, :, 0] = self.coef_factors[:, :, 0]
        factors[:, :, columns + 1] = self.coef_factors[:, :, 1 : len(columns) + 1]
        if self.trends is not None:
            intercepts = intercepts + time * self.trends
            factors[:, :, 0] += time * self.coef_factors[:, :, -1]
        return StepMaps(intercepts, coefs, factors)

    @property
    def scales(self) -> Floats:
        """(J, D, D) array: scale matrices for h = 0."""
        return self.covariances * self.scale_ratios[:, np.newaxis, np.newaxis]

    def log_obs(self, values: Floats, ptr: Places | None = None, n_before: int = 0) -> Floats:
        """Return the log density of every step given the preceding steps, by state, (N, J).
        It is 0 for given steps, and if values or lags are missing; only trends need `n_before`.
        """
        if ptr is None:
            ptr = np.array([0, len(values)])
        check_numbers(values)
        regressors, has_lags = stack_regressors(values, ptr, self._design)
        if self.trends is not None:
            regressors[:, -1] += n_before
        rows = np.hstack([regressors, values])
        rows[~has_lags | np.isnan(rows).any(axis=1)] = np.nan
        parts = [self.intercepts[:, :, np.newaxis], self.coefs]
        if self.trends is not None:
            parts.append(self.trends[:, :, np.newaxis])
        means = np.concatenate(parts, axis=2)
        return weigh(rows, means, self.coef_factors, self.scales, np.array(self.degrees_of_freedom))

    def sample(
        self, states: NDArray[np.int64], rng: np.random.Generator, before: Floats | None = None
    ) -> Floats:
        """Return one observation for each state, (N, D), of a new sequence or after `before`."""
        n_dims, n_lags = self.intercepts.shape[1], self.n_lags
        out = np.empty((len(states), n_dims))
        first = n_before = 0
        if before is None:
            lags = self.starting_lags.mean + self.starting_lags.root @ rng.standard_normal(
                n_lags * n_dims
            )
            first = min(n_lags, len(states))
            out[:first] = lags.reshape(n_lags, n_dims)[::-1][:first]
        else:
            n_before = len(before)
            lags = before[::-1][:n_lags].ravel()
        lags = lags[np.newaxis]
        for t in range(first, len(states)):
            x = self.draw_next(states[t : t + 1], lags, rng, n_before + t + 1)
            out[t] = x[0]
            lags = np.hstack([x, lags[:, :-n_dims]])
        return out

    def draw_next(
        self, states: NDArray[np.int64], lags: Floats, rng: np.random.Generator, time: int = 0
    ) -> Floats:
        """Return an observation for each state, (n, D), given all lags, (n, D L), lag 1 first."""
        intercepts, coefs, factors = self.maps_at(time)
        noise = draw_noise(states, lags, factors, self.scales, self.degrees_of_freedom, rng)
        means = intercepts[states] + np.einsum("ndk,nk->nd", coefs[states], lags)
        drawn: Floats = means + noise
        return drawn

    def marginals_after(self, lags: Floats, time: int = 0) -> StudentMarginals:
        """Return the distributions of single columns of the next observation, given (D L,) lags."""
        intercepts, coefs, factors = self.maps_at(time)
        leverages = factors @ np.append(1.0, lags)
        sizes = 1.0 + (leverages**2).sum(axis=1)
        variances = np.diagonal(self.scales, axis1=1, axis2=2) * sizes[:, np.newaxis]
        freedoms = np.broadcast_to(self.degrees_of_freedom[:, np.newaxis], variances.shape)
        return StudentMarginals(intercepts + coefs @ lags, np.sqrt(variances), freedoms)

    def steps_about(self, origin: Floats, time: int = 0) -> LagSteps:
        """Return transition moments of a = [1, lags] relative to a near origin: digits are kept."""
        intercepts, coefs, factors = self.maps_at(time)
        n_states, n_dims = intercepts.shape
        width = coefs.shape[2] + 1
        origins = np.tile(origin, self.n_lags)
        maps = np.zeros((n_states, width, width))
        maps[:, 0, 0] = 1.0
        maps[:, 1 : n_dims + 1, 0] = intercepts + coefs @ origins - origin
        maps[:, 1 : n_dims + 1, 1:] = coefs
        maps[:, n_dims + 1 :, 1:-n_dims] = np.eye(width - 1 - n_dims)
        factors = factors.copy()
        factors[:, :, 0] += factors[:, :, 1:] @ origins
        freedoms = self.degrees_of_freedom
        ratios = np.where(freedoms > 2.0, freedoms / np.maximum(freedoms - 2.0, 1e-300), np.inf)
        covariances = self.scales * ratios[:, np.newaxis, np.newaxis]
        return LagSteps(maps, factors.swapaxes(1, 2) @ factors, covariances)

    def reorder(self, order: NDArray[np.intp]) -> Self:
        """Return the model with its states in another order."""
        return replace(
            self,
            coefs=self.coefs[order],
            intercepts=self.intercepts[order],
            covariances=self.covariances[order],
            degrees_of_freedom=self.degrees_of_freedom[order],
            scale_ratios=self.scale_ratios[order],
            coef_factors=self.coef_factors[order],
            trends=None if self.trends is None else self.trends[order],
        )
