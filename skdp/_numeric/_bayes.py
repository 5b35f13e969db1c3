"""Bayes' rule for given log probabilities."""

from __future__ import annotations

import numpy as np
from scipy.special import logsumexp

from skdp._numeric._typing import Floats


def log_posterior(log_joint: Floats, log_prior: Floats) -> Floats:
    """Return the log probability of each class given each row, (N, K), normalized.
    A row with probability 0 in every class (-inf) is evidence for none of them: it gets the prior.
    """
    possible = np.any(log_joint != -np.inf, axis=1, keepdims=True)
    logs = np.where(possible, log_joint, log_prior)
    return np.asarray(logs - logsumexp(logs, axis=1, keepdims=True))
