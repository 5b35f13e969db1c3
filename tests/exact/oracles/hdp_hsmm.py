"""The weak limit of the HDP-HSMM: states enumerated, transitions by Monte Carlo.

As `hdp_hmm`, with two changes: a state is left for another one, P_jj = 0, and lasts D steps, where
D = min(1 + K, D_max). Given the states the parameters of durations are independent of all others;
they are summed out by quadrature.
"""

import math
from dataclasses import replace
from itertools import product

import numpy as np
from exact.oracles import hdp_hmm
from exact.oracles.hsmm import length_likelihood


def split(problem, states):
    """Return the states of each sequence."""
    ends = np.cumsum([len(sequence) for sequence in problem.sequences])[:-1]
    return [part.tolist() for part in np.split(np.array(states), ends)]


def count_changes(problem, states):
    """Return changes of state by row, first states in the last one."""
    counts = np.zeros((problem.n_states + 1, problem.n_states), dtype=int)
    for sequence in split(problem, states):
        before = problem.n_states
        for j in sequence:
            if j != before:
                counts[before, j] += 1
                before = j
    return counts


def expect(problem, longest, pmf, grid, weights, n_draws=1_000_000, chunk=20_000, seed=0):
    """Return posterior means: co-assignments, used states, segments, parameter, alpha, gamma.

    The parameter of durations, of which `grid` and `weights` are a quadrature of the prior, is
    averaged over states. Returns means and their Monte Carlo errors, two dicts.
    """
    n_states, length = problem.n_states, sum(map(len, problem.sequences))
    rows = []
    kinds = []
    known = np.full(length, -1) if problem.known is None else np.concatenate(problem.known)
    for states in product(range(n_states), repeat=length):
        if np.any((known >= 0) & (known != states)):
            continue
        lengths = length_likelihood(split(problem, states), longest, pmf, n_states)
        by_state = lengths @ weights
        p = math.exp(hdp_hmm.log_evidence(problem, states)) * by_state.prod()
        if p == 0.0:
            continue
        counts = count_changes(problem, states)
        z = np.array(states)
        parameter = (lengths @ (weights * grid) / by_state).mean()
        functions = [1.0, len(set(states)), counts.sum(), parameter, *(z[:, None] == z).ravel()]
        rows.append(p * np.array(functions))
        kinds.append(counts.ravel())
    kinds, kind = np.unique(kinds, axis=0, return_inverse=True)
    table = np.zeros((len(kinds), len(rows[0])))
    np.add.at(table, kind.ravel(), rows)
    rng = np.random.default_rng(seed)
    phi = np.ones((n_states,) * 2) if problem.phi is None else np.array(problem.phi)
    problem = replace(problem, phi=np.where(np.eye(n_states) > 0.0, 1e-300, phi))
    sums = []
    for _ in range(n_draws // chunk):
        alpha, _, gamma, log_p = hdp_hmm.draw_prior(problem, chunk, rng)
        log_p = np.maximum(log_p.reshape(chunk, -1), -700.0)
        values = np.exp(log_p @ kinds.T) @ table
        more = values[:, :1] * np.column_stack([alpha, gamma])
        sums.append(np.concatenate([values, more], axis=1).mean(axis=0))
    sums = np.array(sums)
    ratio = sums.mean(axis=0) / sums[:, 0].mean()
    error = np.std(sums - ratio * sums[:, :1], axis=0) / sums[:, 0].mean() / math.sqrt(len(sums))

    def name(x):
        return {
            "used": x[1], "segments": x[2], "parameter": x[3],
            "together": x[4:-2].reshape(length, length), "alpha": x[-2], "gamma": x[-1],
        }  # fmt: skip

    return name(ratio), name(error)
