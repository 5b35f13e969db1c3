"""The interface of emissions: what a chain requires of any distribution of observations."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol, Self

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


class EmissionModel(Protocol):
    """Distributions of the next observation, one per state, in a stored sample."""

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
    """Parameters of the observations of all states, as part of a chain; made by an emission.

    An emission is an estimator that only holds parameters. Its method ``make_sampler(values,
    n_states)`` checks them and the observations, (N, D), and returns an object with these methods.
    If the class of the emission has ``allows_nan = True``, observations may hold NaN, which marks
    missing values.

    See Also
    --------
    make_generator : Random numbers from the stream of a chain.
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
