"""Predictions of hidden Markov models with a part of the evidence."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from skdp.data import SequencePanel
from skdp.emissions._protocol import EmissionModel
from skdp.sequence._hdp_hmm_lt import HDPHMMLT
from skdp.sequence._hmm._hints import KnownStates


@dataclass(frozen=True)
class _CoarseEmission:
    """An emission whose log densities are multiplied by a power below 1."""

    emission: EmissionModel
    power: float

    def log_obs(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        return self.power * self.emission.log_obs(values)


def coarsen(model: HDPHMMLT, power: float) -> HDPHMMLT:
    """Return a copy of a fitted model that gives each observation only `power` of its evidence."""
    # Only predict, predict_proba and predict_change_proba are meant to be used.
    coarse = copy(model)
    coarse.samples_ = [
        replace(sample, emission=_CoarseEmission(sample.emission, power))  # type: ignore[arg-type]
        for sample in model.samples_
    ]
    return coarse


def decode_with(
    model: HDPHMMLT, observations: SequencePanel, known: NDArray[np.int64] | None
) -> NDArray[np.int64]:
    """Return the most probable state of each observation, given `known` states (-1: unknown)."""
    if known is None:
        return np.concatenate(model.predict(observations))
    states = KnownStates(known, model.n_components)
    probabilities = model._mean_of_samples("posteriors", observations, states)
    return np.asarray(probabilities.argmax(axis=1))
