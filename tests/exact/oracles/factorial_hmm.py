"""Factorial hidden Markov models by enumeration, from the joint density in plain Python.

Bit b_tf of factor f is on at the first step of a sequence with probability a_f, after an off bit
with probability p_f, after an on bit with 1 - q_f; a, p and q have Beta priors, or are given.
Column d at step t has mean w_0d + sum_f b_tf w_fd: a normal column of precision tau_d, or one that
is 1 with probability Phi(mean). NaN is missing."""

import math
from dataclasses import dataclass
from functools import cache
from itertools import pairwise, product

import numpy as np
from scipy import special, stats


@dataclass(frozen=True)
class Problem:
    sequences: tuple[tuple[tuple[float, ...], ...], ...]
    weights: tuple[tuple[float, ...], ...]  # the background in row 0
    precisions: tuple[float, ...]
    probit: tuple[bool, ...]
    start_prior: tuple[float, float] = (1.0, 1.0)  # on, off
    switch_on_prior: tuple[float, float] = (1.0, 1.0)  # on, off
    switch_off_prior: tuple[float, float] = (1.0, 1.0)  # off, on
    known: tuple[tuple[int, ...], ...] = ()  # bits of all steps, end to end; -1: unknown

    @property
    def n_factors(self):
        return len(self.weights) - 1

    @property
    def lengths(self):
        return [len(sequence) for sequence in self.sequences]


def all_paths(problem):
    """Return the bits of all sequences, in every way that agrees with the known ones."""
    n = sum(problem.lengths)
    known = [bit for row in problem.known for bit in row] or [-1] * (n * problem.n_factors)
    for bits in product(*((0, 1) if bit < 0 else (bit,) for bit in known)):
        yield np.array(bits).reshape(n, problem.n_factors)


def split(problem, bits):
    ends = np.cumsum(problem.lengths)
    return [bits[end - n : end] for n, end in zip(problem.lengths, ends, strict=True)]


@cache
def log_density(problem, row, on):
    """Return log p(y_t given the bits of the step)."""
    result = 0.0
    for d, value in enumerate(row):
        if math.isnan(value):
            continue
        mean = problem.weights[0][d]
        mean += sum(problem.weights[f + 1][d] for f, b in enumerate(on) if b)
        if problem.probit[d]:
            result += float(stats.norm.logcdf(mean if value == 1.0 else -mean))
        else:
            result += float(stats.norm.logpdf(value, mean, problem.precisions[d] ** -0.5))
    return result


def log_obs(problem, bits):
    rows = [row for sequence in problem.sequences for row in sequence]
    steps = zip(rows, bits.tolist(), strict=True)
    return sum(log_density(problem, row, tuple(on)) for row, on in steps)


def count(problem, path):
    """Return the numbers of (on, off) first, (on, off) after off, and (off, on) after on."""
    first, after_off, after_on = [0, 0], [0, 0], [0, 0]
    for own in split(problem, path):
        first[1 - own[0]] += 1
        for before, bit in pairwise(own):
            if before == 0:
                after_off[1 - bit] += 1
            else:
                after_on[bit] += 1
    return first, after_off, after_on


def log_path(problem, path):
    """Return log p(path) of one factor, with probabilities of transitions summed out."""
    priors = problem.start_prior, problem.switch_on_prior, problem.switch_off_prior
    return sum(
        float(special.betaln(p + n, q + m) - special.betaln(p, q))
        for (p, q), (n, m) in zip(priors, count(problem, path), strict=True)
    )


def log_bits(problem, bits):
    """Return log p(bits), with probabilities of transitions summed out."""
    return sum(log_path(problem, path) for path in bits.T.tolist())


def log_bits_given(problem, bits, startprob, transmat):
    """Return log p(bits) given (F, 2) and (F, 2, 2) probabilities."""
    result = 0.0
    for f in range(problem.n_factors):
        for path in split(problem, bits[:, f]):
            result += np.log(startprob[f][path[0]])
            for before, bit in pairwise(path):
                result += np.log(transmat[f][before][bit])
    return result


def log_joint(problem, bits):
    return log_bits(problem, bits) + log_obs(problem, bits)


@dataclass(frozen=True)
class Posterior:
    pairs: np.ndarray  # p(bit i is on and bit j is on), bits over (t, f); the diagonal: one bit
    on_probs: np.ndarray  # (F, 3): mean probability to be on: at first, after off, after on
    squares: np.ndarray  # of their squares


@cache
def expect(problem):
    """Return posterior means, probabilities of transitions drawn with the bits."""
    logs, pairs, means, squares = [], [], [], []
    priors = problem.start_prior, problem.switch_on_prior, problem.switch_off_prior
    for bits in all_paths(problem):
        logs.append(log_joint(problem, bits))
        flat = bits.reshape(-1)
        pairs.append(np.outer(flat, flat))
        mean, square = np.empty((problem.n_factors, 3)), np.empty((problem.n_factors, 3))
        for f in range(problem.n_factors):
            for row, ((p, q), (n, m)) in enumerate(
                zip(priors, count(problem, bits[:, f].tolist()), strict=True)
            ):
                on, off = (q + m, p + n) if row == 2 else (p + n, q + m)
                mean[f, row] = on / (on + off)
                square[f, row] = on * (on + 1) / ((on + off) * (on + off + 1))
        means.append(mean)
        squares.append(square)
    probs = special.softmax(logs)
    return Posterior(*(np.tensordot(probs, part, 1) for part in (pairs, means, squares)))


def log_likelihood_and_activities(problem, startprob, transmat):
    """Return log p(y) of all sequences together, and p(b_tf = 1 given y), transitions given."""
    logs, bits = [], list(all_paths(problem))
    for path in bits:
        logs.append(log_bits_given(problem, path, startprob, transmat) + log_obs(problem, path))
    return special.logsumexp(logs), np.tensordot(special.softmax(logs), bits, 1)
