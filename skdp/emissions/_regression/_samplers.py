"""Regressions of targets on inputs: samplers and models of normal, binary and count targets."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy.linalg import solve_triangular

from skdp._checks import as_floats
from skdp._numeric import Floats, Places
from skdp._numeric._numba import as_readonly
from skdp._numeric._random import draw_key, make_seed_sequence
from skdp._part import ChainComponent
from skdp.emissions._common import Stream
from skdp.emissions._common._columns import as_rows, check_numbers, find_columns, refuse_cells
from skdp.emissions._common._marginals import StatesMixin
from skdp.emissions._common._protocol import Coupling, write_states_of_windows
from skdp.emissions._discrete._poisson import MOST, stirling_rest
from skdp.emissions._gaussian._autoregressive_model import (
    RegressionPrior,
    RegressionSampler,
    draw_noise,
    weigh,
)
from skdp.emissions._kernels import _logistic as logistic_kernels
from skdp.emissions._kernels import _poisson as poisson_kernels

# Columns of observations as inputs and targets.


class Roles(NamedTuple):
    """The columns of the targets and of the inputs."""

    targets: Places  # (D,)
    inputs: Places  # (P,)
    names: list[str] | None  # of the columns of X, for messages
    output: str  # "normal", "bernoulli" or "poisson"

    @classmethod
    def read(
        cls, targets: Any, inputs: Any, output: str, n_columns: int, names: list[str] | None
    ) -> Roles:
        """Return the roles of the columns of X, or raise; without inputs all others are inputs."""
        where = "RegressionEmission"
        left = find_columns(targets, n_columns, names, f"{where}: targets")
        if inputs is None:
            right = np.setdiff1d(np.arange(n_columns), left)
            if len(right) == 0:
                raise ValueError(f"{where}: all {n_columns} columns of X are targets: no inputs.")
        else:
            right = find_columns(inputs, n_columns, names, f"{where}: inputs")
        roles = cls(left, right, names, output)
        both = np.intersect1d(left, right)
        if len(both):
            raise ValueError(f"{where}: {roles.call(both[0])} is both a target and an input.")
        rest = np.setdiff1d(np.arange(n_columns), np.concatenate([left, right]))
        if len(rest):
            raise ValueError(
                f"{where}: {roles.call(rest[0])} of X is neither a target nor an input: leave it "
                "out of X."
            )
        return roles

    def call(self, column: int) -> str:
        """Return the words for a column in messages."""
        return f"column {column}" + ("" if self.names is None else f" ({self.names[column]!r})")

    def split(self, values: Floats) -> tuple[Floats, Floats]:
        """Return inputs, (N, P), and targets, (N, D) with NaN where missing, or raise an error."""
        inputs, targets = values[:, self.inputs], values[:, self.targets]
        missing = np.isnan(inputs)
        if missing.any():
            t, d = np.argwhere(missing)[0]
            raise ValueError(
                f"X contains NaN in {self.call(self.inputs[d])}, an input of RegressionEmission, "
                f"in row {t}, counted through all samples: only targets may be missing. Impute "
                "inputs first."
            )
        check_numbers(values)
        missing = np.isnan(targets)
        if self.output != "normal":
            wrong, numbers = (targets != 0.0) & (targets != 1.0), "0 and 1,"
            if self.output == "poisson":
                wrong = (targets < 0.0) | (targets > MOST) | (targets != np.floor(targets))
                numbers = f"counts, integers from 0 to {MOST:g},"
            rule = f"X must hold {numbers} or NaN for missing values, in the targets of "
            rule += f"RegressionEmission(output='{self.output}'); got "
            names = [self.call(column) for column in self.targets]
            refuse_cells(wrong & ~missing, targets, rule + "{value} in {place}.", names)
            return inputs, targets
        in_part = missing.any(axis=1) & ~missing.all(axis=1)
        if in_part.any():
            t = int(np.argmax(in_part))
            d = int(np.argmax(missing[t]))
            raise ValueError(
                "X must hold all targets of a step or none, because normal targets are correlated; "
                f"got NaN only in part in row {t}, counted through all samples, in "
                f"{self.call(self.targets[d])}."
            )
        return inputs, targets


def to_regressors(inputs: Floats, root: Floats) -> Floats:
    """Return L^-1 [1, inputs] of each step, (N, K), for a lower triangular L."""
    # If L is the factor of the prior precision, coefficients of these have the prior N(0, I).
    rows = np.hstack([np.ones((len(inputs), 1)), inputs])
    solved = solve_triangular(root, rows.T, lower=True, check_finite=False)
    return np.ascontiguousarray(solved.T)


def as_inputs(roles: Roles, inputs: Any, states: Any = None) -> Floats:
    """Return a user's inputs, one for each state if given, as a new (N, P) array, or raise."""
    array = np.array(as_floats(inputs, "inputs"), dtype=np.float64)
    width = len(roles.inputs)
    if array.ndim == 1 and width == 1:
        array = array[:, np.newaxis]
    if array.ndim != 2 or array.shape[1] != width:
        raise ValueError(f"inputs must be of shape (n, {width}), got {array.shape}.")
    if not np.isfinite(array).all():
        raise ValueError("inputs must be finite numbers.")
    if states is not None and np.shape(states) != (len(array),):
        raise ValueError(
            f"states must be of shape ({len(array)},), one for each row of inputs, got "
            f"{np.shape(states)}."
        )
    return array


# The base class of the models in stored samples.


@dataclass(frozen=True, eq=False)
class RegressionModel(StatesMixin):
    """Base class of the models: what their predictors share.

    Attributes
    ----------
    roles : Roles
        Columns of targets and inputs.
    coefs : (J, D, P) array
        Posterior means of the coefficients of the inputs for each target.
    intercepts : (J, D) array
        Posterior means of the intercepts.
    """

    roles: Roles
    coefs: Floats
    intercepts: Floats

    @property
    def _all_coefs(self) -> Floats:
        """Coefficients of [1, inputs], (J, D, P + 1)."""
        return np.concatenate([self.intercepts[:, :, np.newaxis], self.coefs], axis=2)

    @property
    def target_columns(self) -> Places:
        """Columns of the targets."""
        return self.roles.targets

    def predict(self, inputs: Floats) -> Floats:
        """Return the mean targets of every state given inputs, (N, J, D)."""
        raise NotImplementedError

    def fill(self, values: Floats, weights: Floats) -> Floats:
        """Return observations with missing targets replaced by their means over the states."""
        out = np.array(values)
        inputs, targets = self.roles.split(values)
        missing = np.isnan(targets)
        rows = np.flatnonzero(missing.any(axis=1))
        means = np.einsum("nj,njd->nd", weights[rows], self.predict(inputs[rows]))
        out[np.ix_(rows, self.roles.targets)] = np.where(missing[rows], means, targets[rows])
        return out

    def draw_targets(self, states: Any, inputs: Any, random_state: Any = None) -> Floats:
        """Return targets for states and inputs, (N, D).

        Parameters
        ----------
        states : (N,) array of int
        inputs : (N, P) array
        random_state : int, RandomState, Generator or None, default=None

        Raises
        ------
        ValueError
            If inputs are not finite, if the numbers of states and of inputs differ, or if
            `random_state` is none of these.
        """
        rng = np.random.default_rng(make_seed_sequence(random_state))
        inputs = as_inputs(self.roles, inputs, states)
        return self._draw_targets(np.asarray(states), inputs, rng)

    def _draw_targets(self, states: Places, inputs: Floats, rng: np.random.Generator) -> Floats:
        raise NotImplementedError

    def sample(self, states: Any, rng: Any) -> Any:
        """Raise a TypeError, because inputs of new steps are unknown."""
        raise TypeError(
            "sample has no inputs for new steps: draw targets with emission_.draw_targets(states, "
            "inputs, random_state) of the fitted model."
        )

    def marginals(self) -> Any:
        """Raise a TypeError, because inputs of new steps are unknown."""
        raise TypeError(
            "forecast has no inputs for the next steps: emission_.predict(inputs) has the mean "
            "targets of each state, given inputs."
        )


# Base classes of regressions with Gaussian coefficients: prior, data and model.


class CoefPrior(NamedTuple):
    """Parameters of the Gaussian prior, with the intercept first."""

    coefs: Floats  # (D, K)
    precision_root: Floats  # (K, K), lower Cholesky factor of their precision, for one target

    def regress(self, inputs: Floats) -> tuple[Floats, Floats]:
        """Return the regressors of all steps, (N, K), and the predictors under the mean, (N, D)."""
        offsets = self.coefs[:, 0] + inputs @ self.coefs[:, 1:].T
        return as_rows(to_regressors(inputs, self.precision_root)), as_rows(offsets)

    def in_units_of_inputs(self, means: Floats, factors: Floats) -> tuple[Floats, Floats, Floats]:
        """Return coefficients, intercepts, and F (see `CoefModel`), from units of the prior."""
        coefs, root = self
        own = coefs + np.array([solve_triangular(root, each.T, trans="T", lower=True).T
                                for each in means])  # fmt: skip
        inverse_root = solve_triangular(root, np.eye(len(root)), lower=True)
        inverse_factors = np.linalg.solve(factors, np.broadcast_to(inverse_root, factors.shape))
        return own[:, :, 1:].copy(), own[:, :, 0].copy(), inverse_factors


class CoefRegressions(ChainComponent):
    """Regressions of some observations on their regressors, given their states."""

    starts_with_one_state = True
    _data: tuple[Floats, ...]
    """Regressors, predictors under the prior mean, and targets: see the kernels."""

    def __init__(self, n_states: int, roles: Roles, prior: CoefPrior):
        self.n_states, self.roles, self.prior = n_states, roles, prior
        self.target_columns = roles.targets
        shape, width = (n_states, *prior.coefs.shape), prior.coefs.shape[1]
        self.precisions, self.linears = np.zeros((*shape, width)), np.zeros(shape)
        self.factors, self.means = np.zeros((*shape, width)), np.zeros(shape)
        self.factors[:] = self.precisions[:] = np.eye(width)
        self.coefs = np.zeros(shape)
        self._is_complete = False

    def _take_data(self, steps: Places) -> tuple[Floats, ...]:
        return tuple(as_rows(array[steps]) for array in self._data)

    def complete(self, states: Places, rng: Stream) -> None:
        """Do nothing: latent variables are given."""

    def start(self, states: Places, rng: Stream) -> None:
        write_states_of_windows(self, self.n_states, states, rng)


def check_definite(are_definite: bool) -> None:
    """Raise a ValueError unless the precisions of the coefficients are positive definite."""
    if not are_definite:
        raise ValueError(
            "The regression of a state is not determined to rounding: scale the columns of X, "
            "or give a larger coef_precision_prior."
        )


@dataclass(frozen=True, eq=False)
class CoefModel(RegressionModel):
    r"""Predictors of targets that are linear in the inputs, and the uncertainty of coefficients.

    The predictor of a target is N(intercepts + coefs @ inputs, \|F a\|^2), with a = [1, inputs] and
    F in `coef_factors`. The other attributes are those of `RegressionModel`.

    Attributes
    ----------
    coef_factors : (J, D, P + 1, P + 1) array
        F, lower triangular. F^T F is the covariance of the coefficients of a target (intercept
        first).
    """

    coef_factors: Floats

    def _join(self, inputs: Floats) -> tuple[Floats, Floats]:
        """Return the rows a, (N, P + 1), and coefficients, (J, D, P + 1), intercepts first."""
        return as_rows(np.hstack([np.ones((len(inputs), 1)), inputs])), self._all_coefs


# Linear regressions with a conjugate prior: sampler and model.


class NormalRegressionSampler(RegressionSampler):
    """Sampler of the coefficients and covariances of all states."""

    # Rows are regressors and residuals in units of the prior; without targets they are NaN, which
    # has the density 1.
    _data_attributes: ClassVar[tuple[str, ...]] = ("_rows",)

    def __init__(
        self, n_states: int, roles: Roles, prior: RegressionPrior, spread: Floats | None = None
    ):
        super().__init__(n_states, prior, spread)
        self.roles, self.target_columns = roles, roles.targets

    def attach(self, values: Floats) -> None:
        coefs, precision_root, _, scale_root = self.prior
        inputs, targets = self.roles.split(values)
        regressors = to_regressors(inputs, precision_root)[:, 1:]
        left = targets - coefs[:, 0] - inputs @ coefs[:, 1:].T
        left = solve_triangular(scale_root, left.T, lower=True, check_finite=False).T
        rows = np.hstack([regressors, left])
        rows[np.isnan(targets).any(axis=1)] = np.nan
        self._rows = as_rows(rows)

    def restrict(self, steps: Places, n_states: int) -> NormalRegressionSampler:
        other = NormalRegressionSampler(n_states, self.roles, self.prior, self.spread)
        other._rows = as_readonly(self._rows[steps])
        return other

    def model(self) -> NormalRegressionModel:
        means, *rest = self.posterior(np.linalg.solve)
        return NormalRegressionModel(
            self.roles, means[:, :, 1:].copy(), means[:, :, 0].copy(), *rest
        )


@dataclass(frozen=True, eq=False)
class NormalRegressionModel(RegressionModel):
    r"""Linear predictions of targets from inputs, and the uncertainty of their coefficients.

    Given a = [1, inputs], the targets of a state follow a multivariate Student t distribution,
    their posterior predictive. The location is ``intercepts + coefs @ inputs``, and the scale
    matrix is ``covariances * scale_ratios`` times 1 + h, where h = \|F a\|^2, with F in
    `coef_factors`, is large if few observations of the state have had similar inputs. The other
    attributes are those of `RegressionModel`.

    Attributes
    ----------
    covariances : (J, D, D) array
        Covariances of the noise.
    degrees_of_freedom : (J,) array
    scale_ratios : (J,) array
        Ratios of the scale matrices to `covariances`.
    coef_factors : (J, P + 1, P + 1) array
        F, lower triangular. F^T F is the covariance of the coefficients of one target (intercept
        first) in units of its noise.
    """

    covariances: Floats
    degrees_of_freedom: Floats
    scale_ratios: Floats
    coef_factors: Floats

    def log_obs(self, values: Floats) -> Floats:
        """Return the log density of the targets of every step given its inputs, (N, J)."""
        inputs, targets = self.roles.split(values)
        rows = np.hstack([inputs, targets])
        rows[np.isnan(targets).any(axis=1)] = np.nan
        freedoms = np.array(self.degrees_of_freedom)
        return weigh(rows, self._all_coefs, self.coef_factors, self._scales, freedoms)

    @property
    def _scales(self) -> Floats:
        return self.covariances * self.scale_ratios[:, np.newaxis, np.newaxis]

    def predict(self, inputs: Floats) -> Floats:
        """Return the mean targets of every state given inputs, (N, J, D).

        Parameters
        ----------
        inputs : (N, P) array
        """
        inputs = as_inputs(self.roles, inputs)
        return self.intercepts + np.einsum("np,jdp->njd", inputs, self.coefs)

    def _draw_targets(self, states: Places, inputs: Floats, rng: np.random.Generator) -> Floats:
        freedoms = self.degrees_of_freedom
        noise = draw_noise(states, inputs, self.coef_factors, self._scales, freedoms, rng)
        means = self.intercepts[states] + np.einsum("ndp,np->nd", self.coefs[states], inputs)
        return means + noise


# Logistic regressions with Polya-Gamma variables: sampler and model.


_MOST_STEPS, _CLIMBS, _TOLERANCE = 100, 5, 1e-9
"""Steps to a mode: their largest number, first steps that only climb, and size of the last one."""


class AugmentedRegression(CoefRegressions):
    """Regressions given Polya-Gamma variables, with the coefficients integrated out."""

    # Moves of states given these are exact. Densities are without the factor PG(omega; 1, 0).

    _data_attributes: ClassVar[tuple[str, ...]] = ("_data", "_omegas")

    _omegas: Floats
    _constant = 0.0

    def restrict(self, steps: Places, n_states: int) -> AugmentedRegression:
        other = AugmentedRegression(n_states, self.roles, self.prior)
        other._data, other._omegas = self._take_data(steps), as_rows(self._omegas[steps])
        return other

    def condition(self, states: Places) -> None:
        self._constant = logistic_kernels.add_up(
            *self._data, self._omegas, states, self.precisions, self.linears
        )
        check_definite(
            logistic_kernels.solve_means(self.precisions, self.linears, self.factors, self.means)
        )

    def write_log_predictive(self, out: Floats) -> None:
        """Write log p(targets given omega and the observations of each state)."""
        scratch = np.empty(self.linears.shape[2])
        logistic_kernels.weigh_given_omegas(
            *self._data, self._omegas, self.factors, self.means, scratch, out
        )

    def log_evidence(self) -> float:
        """Return log p(targets | z, omega, inputs) with the coefficients integrated out."""
        evidence = logistic_kernels.log_evidence_given_omegas(
            self.factors, self.linears, self.means
        )
        return float(self._constant + evidence)


class LogisticSampler(AugmentedRegression):
    """Sampler of the coefficients of all states."""

    _states = np.zeros(0, dtype=np.int32)

    def attach(self, values: Floats) -> None:
        inputs, targets = self.roles.split(values)
        halves = as_rows(np.where(np.isnan(targets), 0.0, targets - 0.5))
        self._data = (*self.prior.regress(inputs), halves)
        self._omegas = as_rows(np.where(halves == 0.0, 0.0, 0.25))

    def complete(self, states: Places, rng: Stream) -> None:
        """Draw the Polya-Gamma variables given the coefficients."""
        omegas = np.empty(self._omegas.shape)
        logistic_kernels.draw_omegas(*self._data, self.coefs, states, omegas, rng)
        self._omegas, self._is_complete = as_readonly(omegas), True

    def draw(self, states: Places, rng: Stream, coupling: Coupling | None = None) -> None:
        """Draw the Polya-Gamma variables unless they are new, then the coefficients."""
        if not self._is_complete:
            self.complete(states, rng)
        self.condition(states)
        logistic_kernels.draw_coefs(self.factors, self.means, self.coefs, rng)
        self._states, self._is_complete = states.astype(np.int32), False

    def write_log_obs(self, out: Floats) -> None:
        """Write the log probabilities of the targets of all steps; 0 for missing targets."""
        logistic_kernels.weigh(*self._data, self.coefs, out)

    def log_evidence(self) -> float:
        """Return Laplace's approximation of log p(targets | z, inputs)."""
        # It depends on the states only: the noise of omega would hide changes of the log joint.
        shape = self.linears.shape
        precisions, linears = np.empty((*shape, shape[2])), np.empty(shape)
        factors, proposed = np.zeros(precisions.shape), np.zeros(shape)
        modes, steps = np.zeros(shape), np.zeros(shape)
        logs, best = np.empty(shape[:2]), np.full(shape[:2], -np.inf)
        are_newton, may_be_newton = np.zeros(shape[:2], dtype=bool), np.ones(shape[:2], dtype=bool)

        def approximate(coefs: Floats) -> None:
            logistic_kernels.add_up_curvatures(
                *self._data, coefs, self._states, are_newton, precisions, linears, logs
            )
            logistic_kernels.solve_means(precisions, linears, factors, steps)

        for i in range(_MOST_STEPS):
            approximate(proposed)
            fell = logs < best - _TOLERANCE * np.abs(best)
            may_be_newton &= ~(fell & are_newton)
            modes[~fell], best = proposed[~fell], np.maximum(best, logs)
            are_newton = may_be_newton & (i >= _CLIMBS)
            if fell.any() or i == _CLIMBS:
                approximate(modes)
            proposed = steps.copy()
            if i > _CLIMBS and np.abs(proposed - modes).max(initial=0.0) < _TOLERANCE:
                break
        are_newton[:] = True
        approximate(modes)
        return float(logs.sum() - np.log(np.diagonal(factors, axis1=2, axis2=3)).sum())

    def model(self) -> LogisticRegressionModel:
        """Return the distributions of the next targets given states and Polya-Gamma variables."""
        return LogisticRegressionModel(
            self.roles, *self.prior.in_units_of_inputs(self.means, self.factors)
        )


@dataclass(frozen=True, eq=False)
class LogisticRegressionModel(CoefModel):
    """Log odds of targets that are linear in the inputs, and the uncertainty of coefficients.

    The coefficients are Gaussian given the states and the Polya-Gamma variables of the sample. The
    probability of a target is the mean of 1 / (1 + exp(-psi)) over its predictor psi: see
    `CoefModel`.
    """

    def log_obs(self, values: Floats) -> Floats:
        """Return the log probability of the targets of every step given its inputs, (N, J)."""
        inputs, targets = self.roles.split(values)
        halves = np.where(np.isnan(targets), 0.0, targets - 0.5)
        return self._weigh(inputs, halves)

    def _weigh(self, inputs: Floats, halves: Floats) -> Floats:
        rows, coefs = self._join(inputs)
        out = np.empty((len(rows), len(coefs)))
        logistic_kernels.weigh_means(rows, as_rows(halves), coefs, self.coef_factors, out)
        return out

    def predict(self, inputs: Floats) -> Floats:
        """Return the probabilities of 1 of every state given inputs, (N, J, D).

        Parameters
        ----------
        inputs : (N, P) array
        """
        inputs = as_inputs(self.roles, inputs)
        n_targets = self.intercepts.shape[1]
        one = np.full((len(inputs), 1), 0.5)
        columns: list[Any] = [
            np.exp(self._of_target(d)._weigh(inputs, one)) for d in range(n_targets)
        ]
        return np.stack(columns, axis=2)

    def _of_target(self, d: int) -> LogisticRegressionModel:
        own = slice(d, d + 1)
        return replace(
            self,
            coefs=self.coefs[:, own],
            intercepts=self.intercepts[:, own],
            coef_factors=np.ascontiguousarray(self.coef_factors[:, own]),
        )

    def _draw_targets(self, states: Places, inputs: Floats, rng: np.random.Generator) -> Floats:
        """Return targets for states and inputs, (N, D), with the probabilities of `predict`."""
        probs = self.predict(inputs)[np.arange(len(states)), states]
        return (rng.random(probs.shape) < probs).astype(np.float64)


# Poisson regressions: sampler and model.


def read_counts(targets: Floats) -> tuple[Floats, Floats, Floats]:
    """Return targets, (N, D), -1 for NaN, their logs, and constants: see `_kernels/_poisson`."""
    positive = np.where(targets > 0.0, targets, 1.0)
    constants = -0.5 * np.log(2.0 * np.pi * positive) - stirling_rest(positive)
    constants = np.where(targets > 0.0, constants, 0.0)
    counts = np.where(np.isnan(targets), -1.0, targets)
    return as_rows(counts), as_rows(np.log(positive)), as_rows(constants)


class PoissonRegressions(CoefRegressions):
    """Regressions around the modes of their coefficients, for moves of states."""

    # Coefficients have the coordinates of a state's first step: moves are exact, by the weights w.

    _data_attributes: ClassVar[tuple[str, ...]] = ("_data", "_steps")

    _steps: Places

    def __init__(self, n_states: int, roles: Roles, prior: CoefPrior):
        super().__init__(n_states, roles, prior)
        self._logs = np.zeros(self.means.shape[:2])
        self._states = np.zeros(0, dtype=np.int64)
        self._key: Stream | None = None  # before the first draw, w is at the modes
        self._first_steps = np.zeros(0, dtype=np.int64)
        self._first_normals = np.zeros((0, *prior.coefs.shape))

    def restrict(self, steps: Places, n_states: int) -> PoissonRegressions:
        other = PoissonRegressions(n_states, self.roles, self.prior)
        other._data = self._take_data(steps)
        other._steps = self._steps[steps]
        other._key = self._key
        other._first_steps, other._first_normals = self._first_steps, self._first_normals
        return other

    def condition(self, states: Places) -> None:
        steps, trials = np.empty((2, *self.means.shape))
        check_definite(
            poisson_kernels.find_modes(
                *self._data, states, self.means, self.factors, self._logs, self.precisions,
                self.linears, steps, trials, np.empty(self._logs.shape),
                np.empty(self._logs.shape, dtype=np.bool_),
            )
        )  # fmt: skip
        self._states = states.copy()

    def _find_normals(self) -> Floats:
        """Return the normal coordinates of all states, zeros before the first draw."""
        normals = np.zeros(self.means.shape)
        if self._key is not None:
            poisson_kernels.draw_normals(
                self._key, self._steps, self._states, self._first_steps, self._first_normals,
                normals, np.empty_like(self._key),
            )  # fmt: skip
        return normals

    def write_log_predictive(self, out: Floats) -> None:
        """Write log p(targets given the observations of each state) by Laplace's approximation."""
        scratch = np.empty(self.linears.shape[2])
        poisson_kernels.weigh_by_laplace(*self._data, self.means, self.factors, scratch, out)

    def log_evidence(self) -> float:
        """Return the log weight of the coefficients of all states."""
        normals, coefs, logs = self._find_normals(), np.empty_like(self.means), self._logs.copy()
        poisson_kernels.find_coefs(self.means, self.factors, normals, coefs)
        are_done = np.zeros(logs.shape, dtype=np.bool_)
        poisson_kernels.weigh_coefs(*self._data, self._states, coefs, are_done, logs)
        return float(logs.sum() + 0.5 * (normals**2).sum() - self._log_determinant())

    def _log_determinant(self) -> float:
        """Return the sum of log |L|."""
        return float(np.log(np.diagonal(self.factors, axis1=2, axis2=3)).sum())


class PoissonRegressionSampler(PoissonRegressions):
    """Sampler of the coefficients of all states."""

    def attach(self, values: Floats) -> None:
        inputs, targets = self.roles.split(values)
        self._data = (*self.prior.regress(inputs), *read_counts(targets))
        self._steps = np.arange(len(values))

    def complete(self, states: Places, rng: Stream) -> None:
        """Draw the coordinates of all steps given the coefficients."""
        self.condition(states)
        are_drawn = self._key is not None
        self._key = np.empty_like(rng)
        draw_key(rng, self._key)
        # If so, those of the first step of a state follow from the coefficients.
        if are_drawn:
            self._first_steps = np.full(self.n_states, -1)
            poisson_kernels.find_first_steps(states, self._first_steps)
            away = self.coefs - self.means
            self._first_normals = np.einsum("jdek,jde->jdk", self.factors, away)
        self._is_complete = True

    def draw(self, states: Places, rng: Stream, coupling: Coupling | None = None) -> None:
        """Draw the coefficients given the states, after moves of states from their coordinates."""
        if not self._is_complete:
            self.complete(states, rng)
        elif not np.array_equal(states, self._states):
            self.condition(states)
        normals = self._find_normals()
        shape = self.means.shape
        others, trials = np.empty((2, *shape))
        bounds, logs = np.empty((2, *shape[:2]))
        poisson_kernels.draw_coefs(
            *self._data, self._states, self.means, self.factors, normals, self.coefs,
            others, trials, np.empty((*shape[:2], 3)), bounds, logs,
            np.empty(shape[:2], dtype=np.bool_), rng,
        )  # fmt: skip
        self._is_complete = False

    def write_log_obs(self, out: Floats) -> None:
        """Write the log probabilities of the targets of all steps; 0 for missing targets."""
        poisson_kernels.weigh(*self._data, self.coefs, out)

    def log_evidence(self) -> float:
        """Return Laplace's approximation of log p(targets | z, inputs)."""
        # It depends on the states only: the noise of coefficients would hide changes of the joint.
        return float(self._logs.sum() - self._log_determinant())

    def model(self) -> PoissonRegressionModel:
        means = np.empty(self.means.shape)
        poisson_kernels.find_means(
            *self._data, self._states, self.means, self.factors, np.empty(means.shape), means
        )
        return PoissonRegressionModel(
            self.roles, *self.prior.in_units_of_inputs(means, self.factors)
        )


@dataclass(frozen=True, eq=False)
class PoissonRegressionModel(CoefModel):
    """Log rates of targets that are linear in the inputs, and the uncertainty of coefficients.

    The distribution of the coefficients given the states is taken as Gaussian: the covariance is
    the inverse curvature at the mode, and the mean has the term of second order of the skewness.
    The probability of a target is the mean of Poisson probabilities over its predictor: see
    `CoefModel`.
    """

    def log_obs(self, values: Floats) -> Floats:
        """Return the log probability of the targets of every step given its inputs, (N, J)."""
        inputs, targets = self.roles.split(values)
        rows, coefs = self._join(inputs)
        out = np.empty((len(rows), len(coefs)))
        poisson_kernels.weigh_means(rows, *read_counts(targets), coefs, self.coef_factors, out)
        return out

    def predict(self, inputs: Floats) -> Floats:
        """Return the mean counts of every state given inputs, (N, J, D).

        Parameters
        ----------
        inputs : (N, P) array
        """
        rows, coefs = self._join(as_inputs(self.roles, inputs))
        roots = np.einsum("jdek,nk->njde", self.coef_factors, rows)  # of variances of log rates
        logs = np.einsum("nk,jdk->njd", rows, coefs)
        logs = logs + 0.5 * np.einsum("njde,njde->njd", roots, roots)
        return np.exp(np.minimum(logs, poisson_kernels.LARGEST_LOG_RATE))

    def _draw_targets(self, states: Places, inputs: Floats, rng: np.random.Generator) -> Floats:
        rows, coefs = self._join(inputs)
        roots = np.einsum("ndek,nk->nde", self.coef_factors[states], rows)
        deviations = np.sqrt((roots**2).sum(axis=2))
        logs = np.einsum("nk,ndk->nd", rows, coefs[states])
        logs += deviations * rng.normal(size=logs.shape)
        rates = np.exp(np.minimum(logs, poisson_kernels.LARGEST_LOG_RATE))
        return rng.poisson(rates).astype(np.float64)
