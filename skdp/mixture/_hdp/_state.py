"""Read-only view of the state of a mixture whose groups share components."""

from __future__ import annotations

from typing import Any

from skdp._numeric._typing import Floats, Places


class HDPMixtureState:
    """The state of a chain after a sweep: a live, read-only view; `copy` detaches it."""

    def __init__(self, sampler: Any):
        self._sampler = sampler

    @property
    def labels(self) -> Places:
        """Component of every row, (N,), with all groups concatenated; from 0 without gaps."""
        view: Places = self._sampler.components.view()
        view.flags.writeable = False
        return view

    @property
    def top_weights(self) -> Floats:
        """Weights beta of the components, (K,); the remainder to 1 is the weight of all others."""
        view: Floats = self._sampler.top_of_components.weights.view()
        view.flags.writeable = False
        return view

    @property
    def concentration(self) -> float:
        """Concentration alpha of the groups' shares."""
        return float(self._sampler.top.concentration)

    @property
    def top_concentration(self) -> float:
        """Concentration gamma of the components' weights."""
        return float(self._sampler.top.top_concentration)

    def log_joint(self) -> float:
        """Return log p(X, labels, beta) given both concentrations (parameters integrated out)."""
        return float(self._sampler.log_joint())

    def copy(self) -> HDPMixtureState:
        """Return a state that later sweeps do not change."""
        return HDPMixtureState(self._sampler.copy())
