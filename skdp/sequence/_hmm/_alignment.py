"""Names of states: those of the samples of one chain are made to agree."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from skdp._numeric._typing import Places
from skdp.sequence._hmm._model import HMMModel
from skdp.sequence._hmm._sampler import HMMDraw


def name_states(
    samples: list[HMMDraw], count: Callable[[Any, Any, int], Places]
) -> tuple[list[HMMModel], int]:
    """Return models whose states agree, and which of them gave the names.

    One of them gives the names: its states by falling share of the time. Those of every other
    sample are matched to them so that as many training observations as possible have one name
    (Hungarian method). That one has the highest log joint of those with the most frequent number of
    states in use (the lowest such number): a few odd steps have a state of their own at times.

    Parameters
    ----------
    samples : list of HMMDraw
    count : callable
        It counts pairs of the states of two samples, (J, J), at observed steps.
    """
    numbers = [sample.model.n_active_components for sample in samples]
    is_usual = np.array(numbers) == np.bincount(numbers).argmax()
    log_joints = np.array([sample.log_joint for sample in samples])
    reference = int(np.argmax(np.where(is_usual, log_joints, -np.inf)))
    shares = samples[reference].model.shares
    names = np.argsort(-shares, kind="stable")
    models = []
    for sample in samples:
        pairs = count(samples[reference].states, sample.states, len(shares))
        # To each state of the reference the one that shares most observations with it.
        models.append(sample.model.reorder(linear_sum_assignment(pairs[names], maximize=True)[1]))
    return models, reference
