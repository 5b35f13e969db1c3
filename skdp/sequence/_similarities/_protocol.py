"""The interface of similarities that the sampler requires."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from skdp._numeric._typing import Floats, Places
from skdp.emissions._protocol import Coupling


class TimedTransitions(NamedTuple):
    """Transitions and their times u, given which phi does not depend on the rates: phi_jj' has the
    likelihood phi^n / (1 + phi u_j)^(a + n), independent of all others.
    """

    counts: Places  # (J + 1, J), n_jj'; the last row, of first states, has phi = 1
    shapes: Floats  # (J + 1, J), a_jj' + n_jj', with a the shapes of the prior of the rates
    log_times: Floats  # (J + 1,), log u_j; -inf if no transition leaves state j


class SimilaritySampler(Protocol):
    """Sampler of the similarities phi of all states; made by a similarity.

    It draws this part of a sampler's state given the rest. A similarity is an estimator that only
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
            True in the first sweeps, when states still follow each other at random. Parameters
            drawn given such states could get stuck at values under which all states are alike; they
            may keep their first values.
        """

    def write(self, out: NDArray[np.float64], emission: Any) -> None:
        """Write log phi.

        Parameters
        ----------
        out : (J, J) array
            All <= 0; rows are the states before a transition.
        emission : EmissionSampler
        """

    def coupling(
        self, counts: NDArray[np.int64], log_rates: NDArray[np.float64]
    ) -> Coupling | None:
        """Return the coupling of binary factors if similarities depend on them, else None.

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
        """Return the scalars for the trace.

        Returns
        -------
        dict of str to float
            For example "decay", whose mean becomes the attribute `decay_`.
        """

    def model(self) -> Any:
        """Return the object that a stored sample keeps besides the matrix of similarities.

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


@runtime_checkable
class EmissionCoupledSampler(Protocol):
    """Further methods of a `SimilaritySampler` if phi depends on parameters of the observations,
    which it then draws; the transition rates are drawn afterwards.
    """

    def draw_with_emission(
        self, transitions: TimedTransitions, states: Places, emission: Any, rng: NDArray[np.uint64]
    ) -> None:
        """Draw the parameters of the observations, in place, and of phi, given states and times."""

    def model_with_emission(self, emission: Any) -> Any:
        """Return the object that a stored sample keeps, as `SimilaritySampler.model` does."""

    def propose_pair(
        self, emission: Any, pair: Any, groups: Places, places: list[int], rng: NDArray[np.uint64]
    ) -> Any:
        """Draw parameters of the states `places` given the steps that they would have, of `groups`
        0 and 1 in `pair`; the result has an attribute `log_similarity`, log phi of all states.
        """

    def accept_pair(self, emission: Any, proposal: Any) -> None:
        """Store the result of `propose_pair`."""
