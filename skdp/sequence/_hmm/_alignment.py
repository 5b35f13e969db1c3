"""Alignment of the states of the samples of one chain."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from skdp._numeric._typing import Places
from skdp.sequence._hmm._model import HMMModel
from skdp.sequence._hmm._sampler import HMMDraw


@dataclass(frozen=True)
class StateOrder:
    """The numbers of states in the results of a fit."""

    given: Places  # states that keep the numbers that they have in the chain
    # Given states that are the same in all samples: known ones, and those with their own possible
    # transitions or similarities. Others may have exchanged their numbers since the first sweep.
    fixed: Places = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    by_mean: bool = False  # order others by the mean of their first column, not by share

    def list_names(self, model: HMMModel) -> Places:
        """Return the state of a sample for each number, (J,)."""
        n_states = len(model.shares)
        keys: Any = -model.shares
        if self.by_mean:
            emission: Any = model.emission
            keys = np.where(model.shares > 0.0, emission.marginals().means[:, 0], np.inf)
        names = np.arange(n_states)
        others = np.setdiff1d(names, self.given)
        names[others] = others[np.argsort(keys[others], kind="stable")]
        return names


BY_SHARE = StateOrder(np.empty(0, dtype=np.int64))


def name_states(
    samples: list[HMMDraw],
    count: Callable[[Any, Any, int], Places],
    order: StateOrder = BY_SHARE,
) -> tuple[list[HMMModel], int]:
    """Return models with aligned states, and the index of the reference sample."""
    # The usual number of states comes first (the lowest of the most frequent ones), then the log
    # joint: a few outlying steps sometimes have their own state.
    numbers = [sample.model.n_active_components for sample in samples]
    is_usual = np.array(numbers) == np.bincount(numbers).argmax()
    log_joints = np.array([sample.log_joint for sample in samples])
    reference = int(np.argmax(np.where(is_usual, log_joints, -np.inf)))
    names = order.list_names(samples[reference].model)
    matched = np.setdiff1d(np.arange(len(names)), order.fixed)
    models = []
    for sample in samples:
        pairs = count(samples[reference].states, sample.states, len(names))
        # Match each reference state to the state that shares the most observations with it.
        own = names.copy()
        some = np.ix_(names[matched], matched)
        own[matched] = matched[linear_sum_assignment(pairs[some], maximize=True)[1]]
        models.append(sample.model.reorder(own))
    return models, reference
