"""Names of states: those of the samples of one chain are made to agree."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from skdp.sequence._hmm._model import HMMModel
from skdp.sequence._hmm._walker import HMMDraw


def name_states(samples: list[HMMDraw]) -> tuple[list[HMMModel], int]:
    """Return models whose states agree, and which of them gave the names.

    One of them gives the names: its states by falling share of the time. Those of every other
    sample are matched to them so that as many training observations as possible have one name
    (Hungarian method). That one has the highest log joint of those with the most frequent number of
    states in use (the lowest such number): a few odd steps have a state of their own at times.
    """
    numbers = [sample.model.n_active_components for sample in samples]
    is_usual = np.array(numbers) == np.bincount(numbers).argmax()
    log_joints = np.array([sample.log_joint for sample in samples])
    reference = int(np.argmax(np.where(is_usual, log_joints, -np.inf)))
    shares = samples[reference].model.shares
    names = np.argsort(-shares, kind="stable")
    place = np.empty_like(names)
    place[names] = np.arange(len(names))
    states = place[samples[reference].states]
    return [s.model.reorder(_match(states, s.states, len(shares))) for s in samples], reference


def _match(
    reference: NDArray[np.intp], states: NDArray[np.int32], n_states: int
) -> NDArray[np.intp]:
    """Return for each state of the reference the state that shares most observations with it."""
    pairs = np.bincount(reference * n_states + states, minlength=n_states * n_states)
    return linear_sum_assignment(pairs.reshape(n_states, n_states), maximize=True)[1]
