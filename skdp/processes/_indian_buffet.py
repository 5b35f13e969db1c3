r"""Indian buffets: how many features there are, and what each of them weighs.

Every row of a binary matrix (an observation, or a step of a sequence) has some of infinitely many
features. Their probabilities a are the points of a Poisson process of density
:math:`\alpha q a^{-1} (1 - a)^{q - 1}` on (0, 1): the limit of F features with
a ~ Beta(alpha q / F, q) as F grows. Given a, each trial has the feature with probability a. What is
a trial is up to the model:

- static (Griffiths and Ghahramani, 2005): every row is a trial;
- Markov (Van Gael, Teh and Ghahramani, 2009): every step before which the feature is off is one,
  and so is every first step. A feature that is on is switched off with a probability of its own.

With a summed out, the features that any row has, each with its column, are again the points of a
Poisson process: a column with m successes in m + r trials has the density alpha exp(weight), weight
= log q B(m, r + q). Whatever else belongs to a feature (the probability to stay on, how it shows in
the observations) multiplies that. The number of features with a success is
Poisson(alpha H), with H = sum_{i < n} q / (q + i) for n trials of a feature that never succeeds.
So for a set of K features

    p(set) = exp(-alpha H) alpha^K prod_k exp(weight_k) x (what else belongs to k).

There is no K! and no factor for equal columns: a set has no order, and features that differ in
anything continuous, such as how they show, are never equal. In another order the columns are the
same set; a model may hold them in any order.

A move that adds a feature proposed with density g, and its reverse, which drops one of the n
features that could have been proposed (all n counted with the feature there), have the ratio
`log_ratio_of_birth`, as all births and deaths of points of a Poisson process (Geyer and Moller,
1994). With finitely many features, F of which K have a success, alpha becomes F - K, the number of
ways to choose the feature to be added, and the weight is log p(column) - log p(empty column).

| name | symbol | shape | meaning |
|---|---|---|---|
| mass | alpha | scalar | > 0 |
| concentration | q | scalar | > 0; 1: the buffet with one parameter |
| n_on, n_off | m, r | scalars | successes and failures of a feature |
| n_trials | n | scalar | of a feature that never succeeds: all rows, or steps |
| shape, rate | | scalars | alpha ~ Gamma(shape, rate) |
"""

from __future__ import annotations

import math

from scipy.special import digamma

from skdp._numeric._numba import njit, njit_internal_nogc
from skdp._numeric._random import draw_gamma

_SMALLEST = 1e-100  # a draw may underflow; at alpha = 0 no feature would ever come


@njit_internal_nogc
def log_weight_of_feature(n_on, n_off, concentration):
    """Return log q B(m, r + q): what a feature with m >= 1 successes weighs, without its mass."""
    result = math.log(concentration) + math.lgamma(n_on)
    return result + math.lgamma(n_off + concentration) - math.lgamma(n_on + n_off + concentration)


@njit_internal_nogc
def log_ratio_of_birth(log_rate, gain, log_proposal, n_removable):
    """Return the log of the ratio that accepts a new feature; that of its death is the negative.

    Births and deaths are tried equally often.

    Parameters
    ----------
    log_rate : float
        log alpha, or log(F - K) of finitely many features, K without the new one.
    gain : float
        log of all else that the feature multiplies the joint density with: its weight, and the
        ratio of the likelihoods.
    log_proposal : float
        log density of the proposal.
    n_removable : int
        Number of features, the new one among them, that a death may choose, all alike.
    """
    return log_rate + gain - log_proposal - math.log(n_removable)


@njit
def draw_mass(n_features, expected, shape, rate, rng):
    """Draw alpha given K features: Gamma(shape + K, rate + H).

    Parameters
    ----------
    expected : float
        H, as from `expected_features` with a mass of 1.
    """
    return max(draw_gamma(shape + n_features, rng) / (rate + expected), _SMALLEST)


def expected_features(n_trials: int, concentration: float) -> float:
    """Return H, the expected number of features with a success if the mass is 1."""
    q = float(concentration)
    if q > 1e6 * n_trials:  # the difference of digammas would cancel
        return float(n_trials)
    return float(q * (digamma(q + n_trials) - digamma(q)))
