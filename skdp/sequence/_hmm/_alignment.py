"""Alignment of the states of the samples of one chain."""

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
    """Return models with aligned states, and the index of the reference sample.

    The states of the reference sample are ordered by decreasing share of the time. The states of
    every other sample are matched to them so that as many training observations as possible agree
    (Hungarian method). The reference has the highest log joint of the samples with the most
    frequent number of states in use (the lowest such number), because a few outlying steps
    sometimes have a state of their own.

    Parameters
    ----------
    samples : list of HMMDraw
    count : callable
        Function that counts pairs of the states of two samples, (J, J), at observed steps.
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
        # Match each reference state to the state that shares the most observations with it.
        models.append(sample.model.reorder(linear_sum_assignment(pairs[names], maximize=True)[1]))
    return models, reference
