"""Public state of the sampler of a hidden Markov model."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


class HMMState:
    """The state of a chain after a sweep: a live, read-only view; `copy` detaches it."""

    def __init__(self, sampler: Any):
        self._sampler = sampler

    @property
    def states(self) -> NDArray[np.int64]:
        """State z of every observation, (N,), with the sequences concatenated."""
        view = self._sampler.states.view()
        view.flags.writeable = False
        return view

    @property
    def transition_rates(self) -> NDArray[np.float64]:
        """Transition rates pi from row to column, (J, J)."""
        return np.exp(self._sampler.transitions.log_rates[:-1])

    @property
    def initial_rates(self) -> NDArray[np.float64]:
        """Rates of first states, (J,)."""
        return np.exp(self._sampler.transitions.log_rates[-1])

    @property
    def startprob(self) -> NDArray[np.float64]:
        """Probabilities of first states, (J,)."""
        return self._sampler.transitions.matrix()[0]

    @property
    def transmat(self) -> NDArray[np.float64]:
        """Transition probabilities P_jj' = pi_jj' phi_jj' / T_j, (J, J)."""
        return self._sampler.transitions.matrix()[1]

    @property
    def top_weights(self) -> NDArray[np.float64]:
        """Weights beta of the states at the top level, (J,)."""
        return self._sampler.transitions.weights.copy()

    @property
    def top_concentration(self) -> float:
        """Concentration gamma."""
        return float(self._sampler.transitions.gamma)

    @property
    def transition_concentration(self) -> float:
        """Concentration alpha, without kappa."""
        return float(self._sampler.transitions.alpha)

    @property
    def stickiness(self) -> float:
        """Stickiness kappa."""
        return float(self._sampler.transitions.kappa)

    @property
    def similarity(self) -> NDArray[np.float64]:
        """Similarities phi, (J, J): all 1 if the model has none.

        With explicit durations, the diagonal is 0, because a state does not follow itself.
        """
        return np.exp(self._sampler.transitions.log_similarity[:-1])

    @property
    def decay(self) -> float:
        """Decay lambda of the similarities, 0 if they have none."""
        return float(getattr(self._sampler.similarity, "decay", 0.0))

    @property
    def emission(self) -> Any:
        """Parameters of the observations: a copy of their sampler."""
        return self._sampler.emission.copy()

    def log_joint(self) -> float:
        """Return log p(observations, states, top-level weights) given the concentrations.

        It includes the densities of the parameters of similarities and durations. Transition rates
        are integrated out, and so are the parameters of the observations if possible.
        """
        return self._sampler.log_joint()

    def copy(self) -> HMMState:
        """Return a state that later sweeps do not change."""
        return HMMState(self._sampler.copy())
