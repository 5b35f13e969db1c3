"""The interface of durations, the times that states last in hidden semi-Markov models."""

from __future__ import annotations

from typing import Any, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import NDArray


class DurationModel(Protocol):
    """Durations with known parameters, one distribution per state, in a stored sample.

    Attributes
    ----------
    max_duration : int
        The longest duration, >= 1.
    """

    max_duration: int

    def tables(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return log P(D = d) and log P(D >= d) for d = 1 to max_duration.

        Returns
        -------
        log_pmf, log_survival : (J, max_duration) arrays
            P(D = max_duration) includes all longer durations.
        """

    def sample(self, states: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
        """Draw a duration for each state.

        Parameters
        ----------
        states : (n,) array of int
        rng : numpy.random.Generator

        Returns
        -------
        (n,) array of int
        """

    def reorder(self, order: NDArray[np.intp]) -> Self:
        """Return the same states in another order.

        Parameters
        ----------
        order : (J,) array of int

        Returns
        -------
        DurationModel
        """


class DurationSampler(Protocol):
    """Sampler of the parameters of the durations of all states; made by a duration.

    It draws this part of a sampler's state given the rest. A duration is an estimator that only
    holds parameters. Its method ``make_sampler(n_states)`` checks them and returns an object with
    these methods. The last segment of a sequence is right-censored: only D >= d is known.

    Attributes
    ----------
    max_duration : int
        The longest duration, >= 1.

    See Also
    --------
    make_generator : Random numbers from the stream of a chain.
    """

    max_duration: int

    def start(self, rng: NDArray[np.uint64]) -> None:
        """Draw the first parameters from their prior.

        Parameters
        ----------
        rng : (4,) array of uint64
            Stream of random numbers.
        """

    def draw(self, ptr: NDArray[Any], states: NDArray[np.int64], rng: NDArray[np.uint64]) -> None:
        """Draw the parameters given the states.

        Parameters
        ----------
        ptr : (n_sequences + 1,) array of int
            Sequence s is states[ptr[s]:ptr[s + 1]].
        states : (N,) array of int
        rng : (4,) array of uint64
            Stream of random numbers.
        """

    def tables(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return log P(D = d) and log P(D >= d) for d = 1 to max_duration.

        Returns
        -------
        log_pmf, log_survival : (J, max_duration) arrays
            P(D = max_duration) includes all longer durations.
        """

    def log_density(self) -> float:
        """Return log p(lengths of the segments, parameters) for the states that were passed last.

        Returns
        -------
        float
        """

    def scalars(self) -> dict[str, float]:
        """Return the scalars for the trace.

        Returns
        -------
        dict of str to float
        """

    def model(self) -> DurationModel:
        """Return the posterior mean of the parameters given the states that were passed last.

        Returns
        -------
        DurationModel
        """

    def copy(self) -> Self:
        """Return the same parameters in new arrays.

        Returns
        -------
        DurationSampler
        """


@runtime_checkable
class SummedDuration(DurationSampler, Protocol):
    """Sampler that needs only sums over sequences, so that a panel may be partitioned."""

    def add_up(self, ptr: NDArray[Any], states: NDArray[np.int64]) -> tuple[NDArray[Any], ...]:
        """Return sums free of the parameters and bit-identical for any partition of the panel."""

    def take(self, sums: tuple[NDArray[Any], ...]) -> None:
        """Store the sums over all sequences."""

    def draw_parameters(self, rng: NDArray[np.uint64]) -> None:
        """Draw the parameters given the stored sums: the last step of `draw`."""
