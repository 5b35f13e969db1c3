"""What the chain asks of observations, whatever their distribution."""

from __future__ import annotations

from typing import Any, Protocol, Self

from numpy.typing import NDArray

from skdp.sequence._similarity import Coupling


class EmissionModel(Protocol):
    """Distributions of observations with known parameters, one for each state."""

    def log_obs(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return log p(x_t given state j), (N, J)."""

    def sample(self, states: NDArray[Any], rng: NDArray[Any]) -> NDArray[Any]:
        """Return a draw of an observation for each state, (N, D); `rng` is a Generator."""

    def reorder(self, order: NDArray[Any]) -> Self:
        """Return the same states in another order."""


class EmissionSampler(Protocol):
    """Parameters of the observations of all states, as a part of a chain.

    `attach` and `detach` give it the observations and take them away, as they do for samplers.
    """

    def attach(self, values: NDArray[Any]) -> None:
        """Take the observations, (N, D)."""

    def detach(self) -> None:
        """Drop the observations and what follows from them."""

    def start(self, states: NDArray[Any], rng: NDArray[Any]) -> None:
        """Write first states, (N,)."""

    def draw(
        self, states: NDArray[Any], rng: NDArray[Any], coupling: Coupling | None = None
    ) -> None:
        """Draw the parameters given the states, and given transitions if these depend on them."""

    def write_log_obs(self, out: NDArray[Any]) -> None:
        """Write log p(x_t given state j), (N, J), with the parameters last drawn."""

    def log_evidence(self) -> float:
        """Return log p(x given the states), parameters summed out, of the states last given."""

    def model(self) -> EmissionModel:
        """Return the posterior mean of the parameters given the states last given."""

    def copy(self) -> Self:
        """Return the same parameters in arrays of their own."""
