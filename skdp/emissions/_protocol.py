"""What the chain asks of observations, whatever their distribution."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray


class Coupling(NamedTuple):
    """What binary factors of states need to know of transitions, where these depend on them.

    Attributes
    ----------
    decay : float
        lambda: phi_jj' = exp(-lambda times the Hamming distance of the factors).
    counts : (J + 1, J) array of int
        Transitions, those to first states in the last row.
    log_rates : (J + 1, J) array
        log pi.
    """

    decay: float
    counts: NDArray[np.int64]
    log_rates: NDArray[np.float64]


class EmissionModel(Protocol):
    """Distributions of observations with known parameters, one a state: part of a stored sample."""

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
            If observations are none that the distribution can have.
        """

    def sample(self, states: NDArray[Any], rng: NDArray[Any]) -> NDArray[Any]:
        """Return a draw of an observation for each state.

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
    """Parameters of the observations of all states, as a part of a chain: what an emission makes.

    An emission is an estimator, parameters only, with a method ``make_sampler(values, n_states)``
    that checks them and the observations, (N, D), and returns an object with these methods. With
    ``allows_nan = True`` on its class NaN reaches it, as a missing value.

    See Also
    --------
    make_generator : Random numbers from the stream of a chain.
    """

    def attach(self, values: NDArray[Any]) -> None:
        """Take the observations.

        Parameters
        ----------
        values : (N, D) array
        """

    def detach(self) -> None:
        """Drop the observations and what follows from them."""

    def start(self, states: NDArray[Any], rng: NDArray[Any]) -> None:
        """Write first states.

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
            What the similarity returns for binary factors; others take no notice.
        """

    def write_log_obs(self, out: NDArray[Any]) -> None:
        """Write log p(x_t given state j), with the parameters last drawn.

        Parameters
        ----------
        out : (N, J) array
        """

    def log_evidence(self) -> float:
        """Return log p(x given the states), parameters summed out, of the states last given.

        Returns
        -------
        float
        """

    def model(self) -> EmissionModel:
        """Return the posterior mean of the parameters given the states last given.

        Returns
        -------
        EmissionModel
        """

    def copy(self) -> Self:
        """Return the same parameters in arrays of their own.

        Returns
        -------
        EmissionSampler
        """
