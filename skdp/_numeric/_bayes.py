"""Bayes' rule for given log probabilities."""

from __future__ import annotations

import numpy as np
from scipy.special import logsumexp

from skdp._numeric._typing import Floats


def log_posterior(log_joint: Floats, log_prior: Floats) -> Floats:
    """Return the log probability of each class given each row.

    A row that has probability 0 in every class is evidence for none of them, so it gets the prior.

    Parameters
    ----------
    log_joint : (N, K) array
        Log probabilities of the classes and the rows; -inf for 0.
    log_prior : (K,) or (N, K) array
        Log probabilities of the classes, up to a constant.

    Returns
    -------
    (N, K) array
        Natural logarithms; the exponentials of a row sum to 1.
    """
    possible = np.any(log_joint != -np.inf, axis=1, keepdims=True)
    logs = np.where(possible, log_joint, log_prior)
    return np.asarray(logs - logsumexp(logs, axis=1, keepdims=True))
