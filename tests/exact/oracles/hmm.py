"""Hidden Markov and semi-Markov models with given parameters, by enumeration of all states.

With durations a state is left for another one, and lasts d steps with probability pmf[j][d - 1];
the last segment of a sequence is cut off."""

import math
from itertools import pairwise, product

import numpy as np


def log(x):
    return math.log(x) if x > 0 else -math.inf


def log_sum(logs):
    largest = max(logs, default=-math.inf)
    if largest == -math.inf:
        return largest
    return largest + math.log(math.fsum(math.exp(x - largest) for x in logs))


def runs(states):
    """Return (state, length) of the runs of equal states."""
    result = []
    for j in states:
        if result and result[-1][0] == j:
            result[-1][1] += 1
        else:
            result.append([j, 1])
    return result


def log_joint(startprob, transmat, log_obs, states, pmf=None):
    """Return log p(x, z)."""
    result = log(startprob[states[0]])
    result += sum(log_obs[t][j] for t, j in enumerate(states))
    segments = [(j, None) for j in states] if pmf is None else runs(states)
    for (before, d), (after, _) in pairwise(segments):
        result += log(transmat[before][after]) + (0.0 if pmf is None else log(pmf[before][d - 1]))
    if pmf is not None:
        j, d = segments[-1]
        result += log(math.fsum(pmf[j][d - 1 :]))
    return result


def log_joints(startprob, transmat, log_obs, pmf=None):
    """Return log p(x, z) of all z of whose states none lasts too long."""
    every = product(range(len(startprob)), repeat=len(log_obs))
    if pmf is not None:
        longest = len(pmf[0])
        every = (states for states in every if all(d <= longest for _, d in runs(states)))
    return {z: log_joint(startprob, transmat, log_obs, z, pmf) for z in every}


def enumerate_states(startprob, transmat, log_obs, pmf=None):
    """Return log p(x) and the probability of every sequence of states given x."""
    logs = log_joints(startprob, transmat, log_obs, pmf)
    total = log_sum(list(logs.values()))
    if total == -math.inf:
        return total, {}
    return total, {z: math.exp(x - total) for z, x in logs.items()}


def posterior(probabilities, n_states):
    """Return p(z_t = j | x), (T, J)."""
    n_steps = len(next(iter(probabilities)))
    result = np.zeros((n_steps, n_states))
    for states, p in probabilities.items():
        result[range(n_steps), states] += p
    return result


def changes(probabilities):
    """Return P(z_t is not z_t-1 given x) of all steps; 0 for the first."""
    result = np.zeros(len(next(iter(probabilities))))
    for states, p in probabilities.items():
        result[1:] += p * (np.diff(states) != 0)
    return result


def quiet(probabilities, first, last, labels=None):
    """Return P(z_first-1 to z_last have one label given x)."""
    total = 0.0
    for states, p in probabilities.items():
        own = states[first - 1 : last + 1]
        total += p * (len(set(own if labels is None else [labels[j] for j in own])) == 1)
    return total


def last_ages(probabilities, n_states, longest):
    """Return the probabilities of states and ages of the last step, (D, J)."""
    result = np.zeros((longest, n_states))
    for states, p in probabilities.items():
        j, d = runs(states)[-1]
        result[d - 1, j] += p
    return result
