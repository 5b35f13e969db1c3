"""The interface of emissions, checks of parts and priors that users pass, and initial states."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import signature
from typing import Any, NamedTuple, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator

from skdp._checks import LARGEST_SQUARED, as_floats, shorten
from skdp._numeric import Floats, Places
from skdp._numeric._random import draw_key, next_double
from skdp._part import ChainComponent
from skdp._sklearn_compat import EstimatorMixin, validate_parameters
from skdp.emissions._common import Stream


class Coupling(NamedTuple):
    """Transition statistics for emissions with binary factors on which transitions depend."""

    decay: float  # lambda: phi_jj' = exp(-lambda times the Hamming distance of the factors)
    counts: Places  # (J + 1, J), transitions; the last row counts first states
    log_rates: Floats  # (J + 1, J), log pi


def looks_back(part: Any) -> bool:
    """Return whether an emission, sampler or model has `n_lags`: it depends on earlier steps."""
    return getattr(part, "n_lags", None) is not None


def values_for(part: Any, values: NDArray[Any], ptr: NDArray[Any]) -> tuple[NDArray[Any], ...]:
    """Return the arguments of a method that takes values: with offsets if the part has lags."""
    return (values, ptr) if looks_back(part) else (values,)


class TransitionPart(EstimatorMixin, BaseEstimator):
    """Base class of similarities and durations of states, which only hold parameters."""

    def make_sampler(self, n_states: int) -> Any:
        """Return the sampler of these parameters for a chain.

        Parameters
        ----------
        n_states : int
            J.

        Raises
        ------
        ValueError
            If a parameter is invalid.
        """
        validate_parameters(self)
        return self._make_sampler(n_states)

    def _make_sampler(self, n_states: int) -> Any:
        raise NotImplementedError


class EmissionModel(Protocol):
    """Distributions of the next observation, one per state, in a stored sample.

    `HDPHMMLT.forecast` requires one more method, ``marginals()``: an object with ``means`` and
    ``variances``, (J, D), and the methods ``is_discrete(column)``, ``cdf(x, column)``, which
    returns P(X <= x) in each state, of shape (..., J), ``parameters(column)``, by which equal
    states are found, ``take(states)``, and for numbers ``brackets(q, column)``, bounds of the
    quantiles of all states. `HDPHMMLT.impute` requires ``fill(values, weights)``, which replaces
    NaN by its mean, given (N, J) probabilities of the states.

    If an emission models only some columns and takes the others as given, its samplers and models
    have an attribute ``target_columns``, an array of int: steps without values there count as
    missing. (None means that no columns are given.)

    Models of observations that depend on earlier ones have an attribute ``n_lags`` and the methods
    ``log_obs(values, ptr)`` and ``sample(states, rng, before=None)``, with the sequence so far, of
    at least `n_lags` steps, (T, D), or None at the beginning of a sequence. For these models
    `HDPHMMLT.forecast` requires the other methods of `AutoregressiveModel`.
    """

    def log_obs(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return log p(x_t given state j).

        Parameters
        ----------
        values : (N, D) array

        Returns
        -------
        (N, J) array

        Raises
        ------
        ValueError
            If the distribution cannot produce the observations.
        """

    def sample(self, states: NDArray[Any], rng: NDArray[Any]) -> NDArray[Any]:
        """Draw an observation for each state.

        Parameters
        ----------
        states : (N,) array of int
        rng : numpy.random.Generator

        Returns
        -------
        (N, D) array
        """

    def reorder(self, order: NDArray[Any]) -> Self:
        """Return the model with its states in another order.

        Parameters
        ----------
        order : (J,) array of int

        Returns
        -------
        EmissionModel
        """


class EmissionSampler(Protocol):
    """Sampler of the observation parameters of all states, made by an emission.

    It draws these parameters given the rest of a chain's state. An emission is an estimator that
    only holds parameters. Its method ``make_sampler(values, n_states)`` checks them and the
    observations, (N, D), and returns an object with these methods. If the class of the emission
    has ``allows_nan = True``, observations may hold NaN, which marks missing values.

    If observations depend on earlier ones, the emission, the sampler and the model have an
    attribute ``n_lags``, an int >= 1: the first `n_lags` steps of each sequence count as given, and
    their log densities are 0. The methods that take values then also take the offsets of sequences:
    ``make_sampler(values, n_states, ptr)``, ``attach(values, ptr)``, and ``log_obs(values, ptr)``
    of the model. Sequence s is ``values[ptr[s]:ptr[s + 1]]``. Without ``allows_nan``, none has NaN
    or `n_lags` steps or fewer.

    See Also
    --------
    make_generator : Random numbers from the stream of a chain.

    Notes
    -----
    Two members are optional. An attribute ``held`` of a sampler is set before each `draw`: it is
    True in the first sweeps, when states still follow each other at random, and concentrations and
    similar parameters should then stay unchanged. If a sampler has a method ``scalars()``, the
    numbers that it returns by name are recorded in the trace.
    """

    def attach(self, values: NDArray[Any]) -> None:
        """Store the observations.

        Parameters
        ----------
        values : (N, D) array
        """

    def detach(self) -> None:
        """Drop the observations and everything derived from them."""

    def start(self, states: NDArray[Any], rng: NDArray[Any]) -> None:
        """Write the initial states.

        Parameters
        ----------
        states : (N,) array of int
            Output.
        rng : (4,) array of uint64
            Stream of random numbers.
        """

    def draw(
        self, states: NDArray[Any], rng: NDArray[Any], coupling: Coupling | None = None
    ) -> None:
        """Draw the parameters given the states, and given the transitions if they are coupled.

        Parameters
        ----------
        states : (N,) array of int
        rng : (4,) array of uint64
            Stream of random numbers.
        coupling : Coupling or None
            Transition statistics from the similarity of binary factors; other emissions ignore it.
        """

    def write_log_obs(self, out: NDArray[Any]) -> None:
        """Write log p(x_t given state j) under the last drawn parameters.

        Parameters
        ----------
        out : (N, J) array
        """

    def log_evidence(self) -> float:
        """Return log p(x given the last passed states), with the parameters integrated out.

        Returns
        -------
        float
        """

    def model(self) -> EmissionModel:
        """Return the distributions of the next observation given the last passed states.

        They should be posterior predictive distributions, with the parameters integrated out:
        posterior means alone give worse scores for small states.

        Returns
        -------
        EmissionModel
        """

    def copy(self) -> Self:
        """Return a sampler with the same parameters in new arrays.

        Returns
        -------
        EmissionSampler
        """


@runtime_checkable
class CollapsedEmission(Protocol):
    """Additional methods of samplers whose parameters can be integrated out.

    If an `EmissionSampler` also has these methods, its states can be split and merged.
    """

    starts_with_one_state: bool
    """Whether the initial states come from splits of one state, or from `EmissionSampler.start`."""

    def complete(self, states: NDArray[Any], rng: NDArray[Any]) -> None:
        """Draw the missing values given the parameters, which will then be integrated out.

        The next `draw` keeps these values.

        Parameters
        ----------
        states : (N,) array of int
        rng : (4,) array of uint64
        """

    def restrict(self, steps: NDArray[Any], n_states: int) -> Self:
        """Return a sampler with the same prior for a subset of the completed observations.

        Parameters
        ----------
        steps : (n,) array of int
            Indices of the subset.
        n_states : int

        Returns
        -------
        CollapsedEmission
        """

    def condition(self, states: NDArray[Any]) -> None:
        """Set the states of the observations without drawing parameters.

        Parameters
        ----------
        states : (N,) array of int
            -1 marks observations without a state.
        """

    def write_log_predictive(self, out: NDArray[Any]) -> None:
        """Write log p(x_t given the observations of state j), possibly approximate, for proposals.

        Parameters
        ----------
        out : (N, J) array
        """

    def log_evidence(self) -> float:
        """Return log p(x given the states) with the parameters integrated out.

        Observations without a state do not count.
        """


@runtime_checkable
class SummedEmission(CollapsedEmission, Protocol):
    """Samplers whose statistics are exact sums over steps, for partitioned panels."""

    # Their emission has ``make_sampler_of(data, n_states)``, of `ObservedSequences` if it has lags.

    is_incomplete: bool
    """Whether `complete` draws anything."""

    def of_states(self, n_states: int) -> Self:
        """Return a sampler with the same prior for `n_states` states, without observations."""

    def complete_with(self, states: NDArray[Any], key: NDArray[Any], first: int) -> None:
        """Draw the missing values with a given key; `first` is the index of the first step."""

    def measure(self, states: NDArray[Any]) -> Any:
        """Return the additive summary of all observations that `add_up` needs; -1 is no state."""

    def add_up(self, states: NDArray[Any], measured: Any) -> tuple[NDArray[Any], ...]:
        """Return sums over the observations, given the total of `measure`."""

    def take(self, measured: Any, sums: tuple[NDArray[Any], ...]) -> None:
        """Store the sums over all observations, which completes `condition`."""

    def draw_parameters(self, rng: NDArray[Any]) -> None:
        """Draw the parameters given the stored statistics, which completes `draw`."""


@runtime_checkable
class ComparableEmission(Protocol):
    """Additional methods of samplers whose drawn parameters can define similarities of states.

    `EmissionSimilarity` needs an `EmissionSampler` that also has these methods. It uses the
    parameters from `draw` as proposals, state by state, and restores those that it rejects.

    Notes
    -----
    Given the states and the shared parameters, `draw` has to draw the parameters of each state
    from their posterior, independent of each other and of the previous parameters. A sampler with
    shared parameters, such as a concentration, has an attribute ``held`` and leaves them unchanged
    while it is True; such a sampler has two more methods. ``move_shared(rng)`` moves the shared
    parameters and those of all states by a step that would leave their posterior invariant and have
    the same probability density forward and back; it returns the previous shared parameters, or
    None if nothing is drawn. ``restore_shared(before)`` restores them.
    """

    def parameters(self) -> tuple[NDArray[Any], ...]:
        """Return writable views of the last drawn parameters, with states along the first axis."""

    def log_posterior(self) -> float:
        """Return the log density of the drawn parameters given the last passed states.

        It is the density of the logarithms of positive parameters and of the log odds of
        probabilities.
        """

    def known_model(self, parameters: tuple[NDArray[Any], ...]) -> EmissionModel:
        """Return the distributions of states with known parameters.

        Parameters
        ----------
        parameters : arrays, (K, ...) each
            As `parameters` returns them, of any number K of states.
        """

    def log_affinity(self, parameters: tuple[NDArray[Any], ...]) -> NDArray[Any]:
        """Return log int sqrt(p_j(x) p_k(x)) dx, the log Bhattacharyya coefficients of states.

        Only `EmissionSimilarity` with a named metric calls this method. It raises a TypeError if
        there is no closed form.

        Parameters
        ----------
        parameters : arrays, (K, ...) each

        Returns
        -------
        (K, K) array
            <= 0.
        """


# Methods of samplers whose statistics are exact sums.


class SummedSampler(ChainComponent):
    """Base class of samplers with the methods of `SummedEmission`."""

    starts_with_one_state = True
    is_incomplete: Any = False  # without observations

    def complete(self, states: Places, rng: Stream) -> None:
        """Draw the missing values of this sweep."""
        key = np.empty_like(rng)
        if self.is_incomplete:
            draw_key(rng, key)
        self.complete_with(states, key)

    def complete_with(self, states: Places, key: Stream, first: int = 0) -> None:
        """Do nothing: missing values are left out, since they carry no information."""

    def measure(self, states: Places) -> Any:
        """Return 0: the sums are exact without further information."""
        return 0

    def add_up(self, states: Places, measured: Any) -> tuple[Any, ...]:
        raise NotImplementedError

    def take(self, measured: Any, sums: tuple[Any, ...]) -> None:
        raise NotImplementedError

    def condition(self, states: Places) -> None:
        measured = self.measure(states)
        self.take(measured, self.add_up(states, measured))

    def draw(self, states: Places, rng: Stream, coupling: Coupling | None = None) -> None:
        """Draw the parameters given the states."""
        self.condition(states)
        self.draw_parameters(rng)

    def draw_parameters(self, rng: Stream) -> None:
        raise NotImplementedError


# Checks of the parts of a model that users pass as parameters.


def resolve_part(part: Any, named: Mapping[str, Callable[[], Any]]) -> Any:
    """Return a new part if `part` is a known name, otherwise `part` itself."""
    return named[part]() if isinstance(part, str) and part in named else part


def check_part(part: Any, name: str) -> None:
    """Raise a TypeError if a part is a class instead of an instance."""
    if isinstance(part, type):
        raise TypeError(
            f"{name} must be an object, got the class {part.__name__}: write "
            f"{name}={part.__name__}(...)."
        )


def make_part_for(protocol: type, part: Any, name: str, *args: Any) -> Any:
    """Return ``part.make_sampler(*args)``, or raise unless it has the methods of a protocol."""
    kind = type(part).__name__
    names = ("n_states",) if len(args) == 1 else ("values", "n_states", "ptr")[: len(args)]
    wanted = f"make_sampler({', '.join(names)})"
    try:
        signature(part.make_sampler).bind(*args)
    except TypeError as error:
        raise TypeError(f"{name} must have a method {wanted}, unlike {kind}: {error}.") from None
    sampler = part.make_sampler(*args)
    methods = [method for method in vars(protocol) if not method.startswith("_")]
    missing = [method for method in methods if not callable(getattr(sampler, method, None))]
    if missing:
        raise TypeError(
            f"{name} must make a {protocol.__name__}, unlike {kind}: what its make_sampler returns "
            f"has no method {', '.join(missing)}."
        )
    return sampler


# Checks of arrays that users pass as parameters of priors.


def is_symmetric(matrix: Floats) -> bool:
    """Return whether a matrix is symmetric up to rounding on the scale of its diagonal."""
    deviations = np.sqrt(np.abs(np.diag(matrix)))
    bound = 1e-8 * np.multiply.outer(deviations, deviations)
    return bool(np.all(np.abs(matrix - matrix.T) <= bound))


def read_array(
    owner: Any, name: str, value: ArrayLike, shape: tuple[int, ...], n_dims: int
) -> Floats:
    """Return a new array of finite numbers, or raise a ValueError that names the parameter."""
    kind = type(owner).__name__
    try:
        array = np.array(as_floats(value, name))
    except ValueError:
        raise ValueError(f"{kind}: {name} must hold numbers, got {shorten(value)}.") from None
    if array.shape != shape:
        raise ValueError(
            f"{kind}: {name} must be of shape {shape} for X of {n_dims} features, got "
            f"{array.shape}."
        )
    if not np.isfinite(array).all():
        raise ValueError(f"{kind}: {name} must be finite.")
    if (np.abs(array) > LARGEST_SQUARED).any():
        raise ValueError(f"{kind}: {name} must hold numbers up to {LARGEST_SQUARED:g}.")
    return array


def read_dof(
    owner: Any, n_dims: int, n_modeled: int | None = None, what: str = "features"
) -> float:
    """Return nu, by default that of the modeled columns, or raise unless it is above D - 1."""
    dof = owner.degrees_of_freedom_prior
    if dof is None:
        return 2.0 * (n_dims if n_modeled is None else n_modeled) + 1.0
    if dof <= n_dims - 1:
        raise ValueError(
            f"{type(owner).__name__}: degrees_of_freedom_prior must be above the number of {what} "
            f"minus 1, {n_dims - 1}; got {dof!r}."
        )
    return float(dof)


# Random initial states that do not depend on the observations.


MEAN_RUN = 3.0
"""Mean number of steps in a run of the initial states."""


def start_in_runs(states: Places, n_states: int, rng: Stream) -> None:
    """Write random states in runs of `MEAN_RUN` steps on average."""
    # States with scattered steps would all resemble the whole panel; in runs, a chain of many
    # states starts much closer to its mode.
    state = 0
    for t in range(len(states)):
        if t == 0 or next_double(rng) * MEAN_RUN < 1.0:
            state = int(next_double(rng) * n_states)
        states[t] = state


# Initial states of regressions: windows of steps, each assigned to the best of several fits.


_WIDTH, _N_PASSES = 10, 5


def write_states_of_windows(sampler: Any, n_states: int, states: Places, rng: Stream) -> None:
    """Write initial states, by assigning windows of steps to the regressions that fit best."""
    n_windows = -(-len(states) // _WIDTH)
    windows = np.arange(len(states)) // _WIDTH
    places = np.arange(n_windows)
    for i in range(min(n_states, n_windows - 1)):  # a partial random permutation
        j = i + int(next_double(rng) * (n_windows - i))
        places[[i, j]] = places[[j, i]]
    chosen = np.full(n_windows, -1)  # each state begins with one random window
    chosen[places[:n_states]] = np.arange(min(n_states, n_windows))
    log_obs = np.empty((len(states), n_states))
    sums = np.empty((n_windows, n_states))
    for _ in range(_N_PASSES):
        sampler.condition(chosen[windows])
        sampler.write_log_predictive(log_obs)
        np.add.reduceat(log_obs, np.arange(0, len(states), _WIDTH), axis=0, out=sums)
        chosen = sums.argmax(axis=1)
    states[:] = chosen[windows]
