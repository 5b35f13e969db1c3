"""The interface of emissions: what a sampler requires of any distribution of observations."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import NDArray


class Coupling(NamedTuple):
    """What binary factors of states need to know about transitions that depend on them.

    Attributes
    ----------
    decay : float
        lambda: phi_jj' = exp(-lambda times the Hamming distance of the factors).
    counts : (J + 1, J) array of int
        Transitions; the last row holds those to first states.
    log_rates : (J + 1, J) array
        log pi.
    """

    decay: float
    counts: NDArray[np.int64]
    log_rates: NDArray[np.float64]


def looks_back(part: Any) -> bool:
    """Tell whether observations depend on earlier ones, under an emission, a sampler or a model.

    Such a part has an attribute `n_lags`, and is told where sequences begin: see `EmissionSampler`.
    """
    return getattr(part, "n_lags", None) is not None


def values_for(part: Any, values: NDArray[Any], ptr: NDArray[Any]) -> tuple[NDArray[Any], ...]:
    """Return what a method that takes values takes: with offsets, if its part looks back."""
    return (values, ptr) if looks_back(part) else (values,)


class EmissionModel(Protocol):
    """Distributions of the next observation, one per state, in a stored sample.

    `HDPHMMLT.forecast` requires one more method, ``marginals()``: an object with ``means`` and
    ``variances``, (J, D), and the methods ``is_discrete(column)``, ``cdf(x, column)``, which
    returns P(X <= x) in each state, of shape (..., J), ``parameters(column)``, which tell equal
    states, ``take(states)``, and for numbers ``brackets(q, column)``, bounds of the quantiles of
    all states. `HDPHMMLT.impute` requires ``fill(values, weights)``,
    which replaces NaN by its mean, given (N, J) probabilities of the states.

    Models of observations that depend on earlier ones have an attribute ``n_lags`` and the methods
    ``log_obs(values, ptr)`` and ``sample(states, rng, before=None)``, with the last `n_lags` values
    before the first state, (n_lags, D), or None at the beginning of a sequence. `HDPHMMLT.forecast`
    requires of them what `AutoregressiveModel` has beside.
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
        """Return the same states in another order.

        Parameters
        ----------
        order : (J,) array of int

        Returns
        -------
        EmissionModel
        """


class EmissionSampler(Protocol):
    """Sampler of the parameters of the observations of all states; made by an emission.

    It draws this part of a sampler's state given the rest. An emission is an estimator that only
    holds parameters. Its method ``make_sampler(values, n_states)`` checks them and the
    observations, (N, D), and returns an object with these methods. If the class of the emission
    has ``allows_nan = True``, observations may hold NaN, which marks missing values.

    Where observations depend on earlier ones, the emission, the sampler and the model have an
    attribute ``n_lags``, an int >= 1: so many first steps of each sequence count as given, and
    their log densities are 0. The methods that take values then take the offsets of sequences, too:
    ``make_sampler(values, n_states, ptr)``, ``attach(values, ptr)``, and ``log_obs(values, ptr)``
    of the model. Sequence s is ``values[ptr[s]:ptr[s + 1]]``; none has NaN or `n_lags` steps or
    fewer.

    See Also
    --------
    make_generator : Random numbers from the stream of a chain.

    Notes
    -----
    Two things are optional. An attribute ``held`` of a sampler is set before each `draw`: True in
    the first sweeps, when states still follow each other at random; concentrations and the like
    should then stay as they are. If it has a method ``scalars()``, the numbers that this returns by
    name are recorded in the trace.
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
        """Write the first states.

        Parameters
        ----------
        states : (N,) array of int
            Written to.
        rng : (4,) array of uint64
            Stream of random numbers.
        """

    def draw(
        self, states: NDArray[Any], rng: NDArray[Any], coupling: Coupling | None = None
    ) -> None:
        """Draw the parameters given the states, and given transitions if these depend on them.

        Parameters
        ----------
        states : (N,) array of int
        rng : (4,) array of uint64
            Stream of random numbers.
        coupling : Coupling or None
            What the similarity returns for binary factors; other emissions ignore it.
        """

    def write_log_obs(self, out: NDArray[Any]) -> None:
        """Write log p(x_t given state j) under the parameters that were drawn last.

        Parameters
        ----------
        out : (N, J) array
        """

    def log_evidence(self) -> float:
        """Return log p(x given the states that were passed last), parameters integrated out.

        Returns
        -------
        float
        """

    def model(self) -> EmissionModel:
        """Return what the next observation follows, given the states that were passed last.

        Best with the parameters integrated out (the posterior predictive distribution): with their
        posterior means alone, scores of small states suffer.

        Returns
        -------
        EmissionModel
        """

    def copy(self) -> Self:
        """Return the same parameters in new arrays.

        Returns
        -------
        EmissionSampler
        """


@runtime_checkable
class CollapsedEmission(Protocol):
    """What samplers offer whose parameters can be summed out; moves of whole states need it.

    States of an `EmissionSampler` that has these methods as well are split and merged by moves.
    """

    starts_with_one_state: bool
    """Whether the first states come from splits of one, or from `EmissionSampler.start`."""

    def complete(self, states: NDArray[Any], rng: NDArray[Any]) -> None:
        """Draw the missing values given the parameters, which are about to be summed out.

        The next `draw` keeps them.

        Parameters
        ----------
        states : (N,) array of int
        rng : (4,) array of uint64
        """

    def restrict(self, steps: NDArray[Any], n_states: int) -> Self:
        """Return a sampler with the same prior for some of the observations, as last completed.

        Parameters
        ----------
        steps : (n,) array of int
            Which ones.
        n_states : int

        Returns
        -------
        CollapsedEmission
        """

    def condition(self, states: NDArray[Any]) -> None:
        """Take the states of the observations without a draw of parameters.

        Parameters
        ----------
        states : (N,) array of int
            -1: of no state.
        """

    def write_log_predictive(self, out: NDArray[Any]) -> None:
        """Write log p(x_t given the observations of state j), or nearly that: for proposals only.

        Parameters
        ----------
        out : (N, J) array
        """

    def log_evidence(self) -> float:
        """Return log p(x given the states), parameters summed out, without those of no state."""


@runtime_checkable
class SummedEmission(CollapsedEmission, Protocol):
    """What samplers offer whose statistics are exact sums: a panel may then be in partitions.

    All that they need to know of observations and states is a sum over steps, whose bits do not
    depend on how it is cut. Their emission has a method ``make_sampler_of(data, n_states)``, which
    does what `make_sampler` does for `Observations`, or for `ObservedSequences` if it looks back.
    """

    is_incomplete: bool
    """Whether `complete` draws anything."""

    def of_states(self, n_states: int) -> Self:
        """Return a sampler with the same prior for so many states, without observations."""

    def complete_with(self, states: NDArray[Any], key: NDArray[Any], first: int) -> None:
        """Draw the missing values, as `complete` does with a key that it draws.

        Parameters
        ----------
        states : (N,) array of int
        key : (4,) array of uint64
        first : int
            Number of the first of these observations in the whole panel.
        """

    def measure(self, states: NDArray[Any]) -> Any:
        """Return what `add_up` has to know of all observations: an object that can be added up.

        Parameters
        ----------
        states : (N,) array of int
            -1: of no state.
        """

    def add_up(self, states: NDArray[Any], measured: Any) -> tuple[NDArray[Any], ...]:
        """Return sums over the observations given what all of them `measure`.

        Parameters
        ----------
        states : (N,) array of int
            -1: of no state.
        measured : object
        """

    def take(self, measured: Any, sums: tuple[NDArray[Any], ...]) -> None:
        """Take the sums over all observations: the rest of `condition`.

        Parameters
        ----------
        measured : object
        sums : tuple of arrays
        """

    def draw_parameters(self, rng: NDArray[Any]) -> None:
        """Draw the parameters given what was taken: the rest of `draw`.

        Parameters
        ----------
        rng : (4,) array of uint64
        """


@runtime_checkable
class ComparableEmission(Protocol):
    """What samplers offer whose drawn parameters may say how similar states are.

    `EmissionSimilarity` needs an `EmissionSampler` that has these methods as well. It takes what
    `draw` drew for a proposal, state by state, and puts back what it does not accept.

    Notes
    -----
    Given the states, and what all of them share, `draw` has to draw the parameters of each state
    from their posterior, independent of each other and of the parameters before. What a sampler
    with an attribute ``held`` draws for all states at once, such as a concentration, it leaves as
    it is while that is True; such a sampler has two more methods. ``move_shared(rng)`` moves it and
    the parameters of all states, by a step that would leave their posterior invariant and have the
    same probability density forward and back; it returns what was shared before, or None if nothing
    is drawn. ``restore_shared(before)`` puts that back.
    """

    def parameters(self) -> tuple[NDArray[Any], ...]:
        """Return the parameters drawn last, states first: views, which may be written to."""

    def log_posterior(self) -> float:
        """Return the log density of the drawn parameters given the states passed last.

        Of logarithms, or log odds, of those that are positive, or are probabilities.
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

        Only `EmissionSimilarity` with a metric that has a name calls it. It raises a TypeError if
        there is no closed form.

        Parameters
        ----------
        parameters : arrays, (K, ...) each

        Returns
        -------
        (K, K) array
            <= 0.
        """
