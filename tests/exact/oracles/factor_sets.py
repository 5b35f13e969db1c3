"""Binary paths with drawn weights by enumeration, in plain Python: F of them, or an Indian buffet.

Column d is normal with mean (1, b_t) w_d and variance 1 / tau_d, w_d ~ N(0, scale^2 I), w_d summed
out. The paths of F factors have Beta priors. Those of an Indian buffet are a Poisson process: a
path with m steps on after off (first steps come after off) and r off after off has the intensity
alpha q B(m, r + q) times the Beta integral of its steps after on; a path never on does not count.
A multiset of paths has the probability prod intensity / prod multiplicity! x exp(-alpha H); alpha
is given, or is Gamma and integrated out.

Paths with known bits have names. Those of F factors are the first ones. In a buffet they are points
of the process like the others, but a list and not a multiset: exchanging two of them is another
configuration."""

import math
from collections import Counter
from dataclasses import dataclass
from itertools import combinations_with_replacement, product

import numpy as np
from exact.oracles.factorial_hmm import count, log_path
from scipy import special


@dataclass(frozen=True)
class Problem:
    sequences: tuple[tuple[tuple[float, ...], ...], ...]
    precisions: tuple[float, ...]
    scale: float
    start_prior: tuple[float, float] = (1.0, 1.0)  # on, off
    switch_on_prior: tuple[float, float] = (1.0, 1.0)  # on, off
    switch_off_prior: tuple[float, float] = (1.0, 1.0)  # off, on
    known: tuple[tuple[int, ...], ...] = ()  # bits of the named paths, path by path; -1: unknown

    @property
    def values(self):
        return np.array([row for sequence in self.sequences for row in sequence])

    @property
    def lengths(self):
        return [len(sequence) for sequence in self.sequences]


def log_likelihood(problem, bits):
    """Return log p(y given bits (..., N, K)), with weights summed out."""
    values = problem.values
    covariance = problem.scale**2 * (1.0 + bits @ bits.swapaxes(-1, -2))
    result = np.zeros(bits.shape[:-2])
    for d, precision in enumerate(problem.precisions):
        y, seen = np.nan_to_num(values[:, d]), ~np.isnan(values[:, d])
        # What is missing is independent of all others and 0.
        noise = np.diag(np.where(seen, 1.0 / precision, 1.0))
        own = np.where(np.outer(seen, seen), covariance, 0.0) + noise
        solved = np.linalg.solve(own, np.broadcast_to(y[:, np.newaxis], (*own.shape[:-1], 1)))
        logs = np.linalg.slogdet(own)[1] + (y @ solved)[..., 0]
        result -= 0.5 * (logs + seen.sum() * math.log(2.0 * math.pi))
    return result


def log_intensity(problem, path):
    """Return the log intensity of a path of the buffet, without alpha."""
    first, after_off, after_on = count(problem, path)
    on, off = first[0] + after_off[0], first[1] + after_off[1]
    q = problem.switch_on_prior[1]
    p_off, p_on = problem.switch_off_prior
    stays = special.betaln(p_off + after_on[0], p_on + after_on[1]) - special.betaln(p_off, p_on)
    return float(math.log(q) + special.betaln(on, off + q) + stays)


@dataclass(frozen=True)
class Posterior:
    numbers: np.ndarray  # p(K active factors)
    pairs: np.ndarray  # (N, N): expected number of factors on at both steps
    squares: np.ndarray  # (N,): of the square of the number of factors on
    mass: float  # E[alpha]
    named: np.ndarray  # (N * G, N * G): p(two bits of named paths are both on), path by path


def features(bits, most, n_named=0):
    """Return the statistics of paths (..., N, K) whose posterior means are compared."""
    bits = np.asarray(bits, dtype=float)
    numbers = np.eye(most + 1)[np.minimum(bits.any(axis=-2).sum(axis=-1), most)]
    named = bits[..., :n_named].swapaxes(-1, -2)
    named = named.reshape(*bits.shape[:-2], -1)
    outer = named[..., :, np.newaxis] * named[..., np.newaxis, :]
    return numbers, bits @ bits.swapaxes(-1, -2), bits.sum(axis=-1) ** 2, outer


def _average(problem, log_priors, sets, most, masses, *, with_data):
    """Return means over arrays of paths (M, N, K) of several K."""
    logs = [
        np.array(log_prior) + (log_likelihood(problem, bits) if with_data else 0.0)
        for log_prior, bits in zip(log_priors, sets, strict=True)
    ]
    parts = zip(*(features(bits, most, len(problem.known)) for bits in sets), strict=True)
    probs = special.softmax(np.concatenate(logs))
    means = (np.tensordot(probs, np.concatenate(part), 1) for part in parts)
    numbers, pairs, squares, named = means
    return Posterior(numbers, pairs, squares, float(probs @ np.concatenate(masses)), named)


def _complete(known, n):
    """Return all paths that agree with the known bits of one."""
    known = known or [-1] * n
    return product(*((0, 1) if bit < 0 else (bit,) for bit in known))


def expect_finite(problem, n_factors, *, with_data=True):
    n, n_named = sum(problem.lengths), len(problem.known)
    every = [_complete(known, n) for known in [*problem.known, *[()] * (n_factors - n_named)]]
    sets = list(product(*every))
    priors = [sum(log_path(problem, path) for path in paths) for paths in sets]
    bits = np.array(sets, dtype=float).swapaxes(1, 2)
    nothing = np.zeros(len(sets))
    return _average(problem, [priors], [bits], n_factors, [nothing], with_data=with_data)


def expect_buffet(problem, most, *, mass=None, mass_prior=None, with_data=True):
    """Return posterior means over all multisets of at most `most` paths."""
    n = sum(problem.lengths)
    q = problem.switch_on_prior[1]
    expected = sum(q / (q + i) for i in range(n))
    paths = [path for path in product((0, 1), repeat=n) if any(path)]
    intensities = {path: log_intensity(problem, path) for path in paths}
    named = [list(_complete(known, n)) for known in problem.known]
    priors, sets, masses = [], [], []
    for k in range(len(named), most + 1):
        others = combinations_with_replacement(paths, k - len(named))
        choices = list(product(product(*named), others))
        if mass is not None:
            log_mass, mean = k * math.log(mass), mass
        else:
            shape, rate = mass_prior
            log_mass = math.lgamma(shape + k) - (shape + k) * math.log(rate + expected)
            mean = (shape + k) / (rate + expected)
        priors.append([
            log_mass
            + sum(intensities[path] for path in (*first, *rest))
            - sum(math.lgamma(m + 1) for m in Counter(rest).values())
            for first, rest in choices
        ])  # fmt: skip
        bits = np.array([(*first, *rest) for first, rest in choices], dtype=float)
        sets.append(bits.reshape(len(choices), k, n).swapaxes(1, 2))
        masses.append(np.full(len(choices), mean))
    return _average(problem, priors, sets, most, masses, with_data=with_data)
