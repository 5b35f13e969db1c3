"""Filtering step by step: the probabilities of the states given the observations so far."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from skdp._numeric._typing import Floats
from skdp.emissions._autoregressive._model import AutoregressiveModel
from skdp.emissions._autoregressive._wide import WideAutoregressiveModel
from skdp.emissions._protocol import looks_back, values_for
from skdp.sequence._hmm._forecast import log_tables_to_leaving
from skdp.sequence._hmm._model import HMMModel


@dataclass(frozen=True, eq=False)
class FilterState:
    """The states of a sequence given its observations so far, in all stored samples.

    Attributes
    ----------
    ends : tuple of (A, J) arrays
        Probabilities of states and ages at the last step, one for each sample: in row a, the state
        is in step a + 1 of its segment. A = 1 without durations.
    last_values : (n, D) array
        The last observations, as many as the emission depends on.
    n_steps : int
        Number of observations so far.
    """

    ends: tuple[Floats, ...]
    last_values: Floats
    n_steps: int

    @property
    def proba(self) -> Floats:
        """(J,) array: probabilities of the states at the last step, averaged over the samples."""
        mean: Floats = np.mean([own.sum(axis=0) for own in self.ends], axis=0)
        return mean


def advance(model: HMMModel, ends: Floats | None, log_obs: Floats) -> Floats:
    """Return the probabilities of states and ages, (A, J), after one more observation."""
    weights = _move(model, ends)
    with np.errstate(divide="ignore"):
        logs = np.log(weights) + log_obs
    largest = logs.max()
    if not largest > -np.inf:
        raise ValueError("The observation has probability 0 under a stored sample.")
    weights = np.exp(logs - largest)
    return weights / weights.sum()


def _move(model: HMMModel, ends: Floats | None) -> Floats:
    """Return the probabilities of states and ages at the next step, before its observation."""
    tables = None if model.duration is None else model.duration.tables()
    if ends is None:
        first = np.zeros((1 if tables is None else tables[0].shape[1], len(model.startprob)))
        first[0] = model.startprob
        return first
    if tables is None:
        moved: Floats = ends @ model.transmat
        return moved
    if len(model.startprob) == 1:  # the only state has no successor: it stays
        return ends
    leaving = ends * log_tables_to_leaving(*tables)
    moved = np.empty_like(ends)
    moved[0] = leaving.sum(axis=0) @ model.transmat
    moved[1:] = (ends - leaving)[:-1]  # nothing is older than the longest duration
    return moved


def log_density_of_last(emission: Any, values: Floats, n_steps: int) -> Floats:
    """Return the log density of the last of `values` in each state, (J,), given those before it on
    which it depends; with too few of these, it counts as given, and its density is 1.
    """
    n_lags = emission.n_lags if looks_back(emission) else 0
    if len(values) <= n_lags:
        return np.zeros(1)
    arguments: tuple[Any, ...] = values_for(emission, values, np.array([0, len(values)]))
    if isinstance(emission, AutoregressiveModel | WideAutoregressiveModel):
        arguments += (n_steps - len(values),)
    logs: Floats = emission.log_obs(*arguments)[-1]
    return logs
