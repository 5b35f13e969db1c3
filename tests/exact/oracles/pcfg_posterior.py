"""The posterior of the HDP-PCFG on micro corpora: all trees, all rules and beta integrated out.

Everything is a sum over the ways to choose a tree for each sentence, and a trapezoidal sum over the
logit of the first weight of each beta of two symbols and over the log of each concentration that is
not known. Both integrands are smooth and vanish at both ends."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from typing import NamedTuple

import numpy as np
from exact.oracles.hdp_pcfg import Model, count_ways, log_evidences
from scipy.special import expit, logsumexp
from scipy.stats import gamma


class Posterior(NamedTuple):
    """Posterior means, and the places of events in them."""

    places: dict  # of an event (row, outcome)
    counts: np.ndarray
    squares: np.ndarray  # of the counts
    beta: np.ndarray  # of all symbols
    logs: np.ndarray  # of the concentrations that are not known
    log_joint: float  # density in the logits of beta and the logs of concentrations


def axes_of(model: Model, learned: dict[str, tuple[float, float]], step: float):
    """Return the grid of each unknown: logits of beta, logs of concentrations."""
    axes = []
    if model.top_concentration is not None:
        axes += [np.arange(-14.0, 14.1, step) if n == 2 else np.zeros(1) for n in model.n_symbols]
    for _ in learned:
        axes.append(np.arange(-9.0, 3.6, step))
    return axes


def posterior(
    model: Model,
    corpus: Sequence[Sequence[int]],
    learned: dict[str, tuple[float, float]],
    step: float = 0.5,
    brackets: Sequence[Sequence[tuple[int, int]]] = (),
) -> Posterior:
    """Return posterior means; `learned` has Gamma priors of "top", "root", and "binary0", ....
    `brackets` has for each sentence the spans that must be constituents."""
    places, counts, log_ways = count_ways(model, corpus, brackets)
    n_betas = len(model.n_symbols) if model.top_concentration is not None else 0
    weights, parts, joints = [], [], []
    for point in product(*axes_of(model, learned, step)):
        betas = [np.full(n, 1.0 / n) for n in model.n_symbols]
        for i, logit in enumerate(point[:n_betas]):
            if model.n_symbols[i] == 2:
                betas[i] = expit(np.array([logit, -logit]))
        at, density = model, 0.0
        binary = list(model.binary_concentration)
        for (name, (shape, rate)), log_value in zip(learned.items(), point[n_betas:], strict=True):
            value = float(np.exp(log_value))
            density += gamma.logpdf(value, shape, scale=1.0 / rate) + log_value
            if name.startswith("binary"):
                binary[int(name[6:])] = value
                at = replace(at, binary_concentration=tuple(binary))
            else:
                at = replace(at, **{f"{name}_concentration": value})
        if n_betas:
            density += at.log_top_density(betas)
            density += sum(np.log(beta).sum() for beta in betas if len(beta) == 2)
        logs = log_evidences(at, betas, counts)
        shares = logs + log_ways
        total = logsumexp(shares)
        shares = np.exp(shares - total)
        weights.append(total + density)
        joints.append(shares @ logs + density)
        logs_of = np.array(point[n_betas:])
        parts.append(
            np.concatenate([shares @ counts, shares @ counts**2, np.concatenate(betas), logs_of])
        )
    mass = np.exp(np.array(weights) - logsumexp(weights))
    n, n_symbols = len(places), sum(model.n_symbols)
    ends = np.cumsum([n, n, n_symbols])
    found = np.split(mass @ np.array(parts), ends)
    return Posterior(places, *found, float(mass @ np.array(joints)))
