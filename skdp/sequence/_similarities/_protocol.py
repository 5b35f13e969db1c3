"""The interface of similarities: what the walker requires of them."""

from __future__ import annotations

from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from skdp.emissions._protocol import Coupling


class SimilaritySampler(Protocol):
    """Sampler of the similarities phi of all states; made by a similarity.

    It draws this part of a walker's state given the rest. A similarity is an estimator that only
    holds parameters. Its method ``make_sampler(n_states)`` checks them and returns an object with
    these methods.

    See Also
    --------
    make_generator : Random numbers from the stream of a chain.

    Notes
    -----
    Given the rates pi of transitions, the probability of the states is proportional to prod_jj'
    phi_jj'^n_jj' / prod_j T_j^n_j. as a function of phi, with T_j = sum_j' pi_jj' phi_jj'. `draw`
    multiplies it by the prior.
    """

    def start(self, emission: Any, rng: NDArray[np.uint64]) -> None:
        """Draw the first parameters.

        Parameters
        ----------
        emission : EmissionSampler
            Its first parameters have been drawn.
        rng : (4,) array of uint64
            Stream of random numbers.
        """

    def draw(
        self,
        counts: NDArray[np.int64],
        log_rates: NDArray[np.float64],
        emission: Any,
        rng: NDArray[np.uint64],
        *,
        hold: bool = False,
    ) -> None:
        """Draw the parameters given transitions and their rates.

        Parameters
        ----------
        counts : (J + 1, J) array of int
            Transitions n_jj'; the last row holds those to first states and has phi = 1.
        log_rates : (J + 1, J) array
            log pi; -inf for impossible transitions.
        emission : EmissionSampler
        rng : (4,) array of uint64
            Stream of random numbers.
        hold : bool, default=False
            True in the first sweeps, when states still follow each other at random. From these,
            parameters could learn that all states are alike and get stuck there; they may keep
            their first values.
        """

    def write(self, out: NDArray[np.float64], emission: Any) -> None:
        """Write log phi.

        Parameters
        ----------
        out : (J, J) array
            All <= 0; rows are the states that are left.
        emission : EmissionSampler
        """

    def coupling(
        self, counts: NDArray[np.int64], log_rates: NDArray[np.float64]
    ) -> Coupling | None:
        """Return what binary factors need to know if similarities depend on them, else None.

        Parameters
        ----------
        counts, log_rates : as in `draw`

        Returns
        -------
        Coupling or None
        """

    def log_density(self) -> float:
        """Return the log density of the parameters under their prior.

        Returns
        -------
        float
        """

    def scalars(self) -> dict[str, float]:
        """Return what the trace records.

        Returns
        -------
        dict of str to float
            For example "decay", whose mean becomes the attribute `decay_`.
        """

    def model(self) -> Any:
        """Return what a stored sample keeps in addition to the matrix of similarities.

        Returns
        -------
        None, or an object with a method `reorder`
            ``reorder(order)`` returns the object for states in another order.
        """

    def copy(self) -> Self:
        """Return the same parameters in new arrays.

        Returns
        -------
        SimilaritySampler
        """
