"""Hidden Markov models with given parameters, by enumeration of all sequences of states."""

import math
from itertools import product

import numpy as np


def log(x):
    return math.log(x) if x > 0 else -math.inf


def log_joint(startprob, transmat, log_obs, states):
    """Return log p(x, z)."""
    result = log(startprob[states[0]]) + log_obs[0][states[0]]
    for t in range(1, len(states)):
        result += log(transmat[states[t - 1]][states[t]]) + log_obs[t][states[t]]
    return result


def log_sum(logs):
    largest = max(logs)
    if largest == -math.inf:
        return largest
    return largest + math.log(math.fsum(math.exp(x - largest) for x in logs))


def enumerate_states(startprob, transmat, log_obs):
    """Return log p(x) and the probability of every sequence of states given x."""
    sequences = list(product(range(len(startprob)), repeat=len(log_obs)))
    logs = [log_joint(startprob, transmat, log_obs, states) for states in sequences]
    total = log_sum(logs)
    if total == -math.inf:
        return total, {}
    return total, {s: math.exp(x - total) for s, x in zip(sequences, logs, strict=True)}


def posterior(probabilities, n_states):
    """Return p(z_t = j | x), (T, J)."""
    n_steps = len(next(iter(probabilities)))
    result = np.zeros((n_steps, n_states))
    for states, p in probabilities.items():
        result[range(n_steps), states] += p
    return result
