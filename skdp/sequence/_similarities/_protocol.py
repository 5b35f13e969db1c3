"""What the chain asks of similarities between states."""

from __future__ import annotations

from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from skdp.emissions._protocol import Coupling


class SimilaritySampler(Protocol):
    """Similarities phi of all states, as a part of a chain: what a similarity makes.

    A similarity is an estimator, parameters only, with a method ``make_sampler(n_states)`` that
    checks them and returns an object with these methods.

    See Also
    --------
    make_generator : Random numbers from the stream of a chain.

    Notes
    -----
    Given the rates pi of transitions, states have probability
    prod_jj' phi_jj'^n_jj' / prod_j T_j^n_j. with T_j = sum_j' pi_jj' phi_jj', times what does not
    depend on phi: `draw` multiplies it by the prior.
    """

    def start(self, emission: Any, rng: NDArray[np.uint64]) -> None:
        """Draw first parameters.

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
            Transitions n_jj'; to first states in the last row, which has phi = 1.
        log_rates : (J + 1, J) array
            log pi, -inf for what cannot be.
        emission : EmissionSampler
        rng : (4,) array of uint64
            Stream of random numbers.
        hold : bool, default=False
            True in the first sweeps, when states still follow each other at random: parameters that
            would learn from it that states are all alike, and stay there, may stay where they
            began.
        """

    def write(self, out: NDArray[np.float64], emission: Any) -> None:
        """Write log phi.

        Parameters
        ----------
        out : (J, J) array
            Rows are the states that are left; all <= 0.
        emission : EmissionSampler
        """

    def coupling(
        self, counts: NDArray[np.int64], log_rates: NDArray[np.float64]
    ) -> Coupling | None:
        """Return what binary factors must know, if similarities depend on them; otherwise None.

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
            "decay", say: its mean is then the attribute `decay_`.
        """

    def model(self) -> Any:
        """Return what a stored sample keeps besides the matrix of similarities.

        Returns
        -------
        None, or an object with a method `reorder`
            ``reorder(order)`` returns it for states in another order.
        """

    def copy(self) -> Self:
        """Return the same parameters in arrays of their own.

        Returns
        -------
        SimilaritySampler
        """
