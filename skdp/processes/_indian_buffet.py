r"""Indian buffet processes: the number of features, and the weight of each feature.

Every row of a binary matrix (an observation, or a step of a sequence) has some of infinitely many
features. Their probabilities a are the points of a Poisson process of density
:math:`\alpha q a^{-1} (1 - a)^{q - 1}` on (0, 1): the limit of F features with
a ~ Beta(alpha q / F, q) as F grows. Given a, each trial has the feature with probability a. The
model defines the trials:

- static (Griffiths and Ghahramani, 2005): every row is a trial;
- Markov (Van Gael, Teh and Ghahramani, 2009): every step before which the feature is off is a
  trial, and so is every first step. A feature that is on is switched off with its own probability.

After a is integrated out, the features of any row, each with its column, also are the points of a
Poisson process: a column with m successes in m + r trials has the density alpha exp(weight), weight
= log q B(m, r + q). All other factors of a feature (the probability to stay on, its effect on the
observations) multiply this density. The number of features with a success is
Poisson(alpha H), with H = sum_{i < n} q / (q + i) for n trials of a feature that never succeeds.
So for a set of K features

    p(set) = exp(-alpha H) alpha^K prod_k exp(weight_k) x (other factors of k).

There is no K! and no factor for equal columns, because a set has no order, and features that differ
in a continuous quantity, such as their effect, are never equal. Reordering the columns gives the
same set, so a model may hold them in any order.

A move that adds a feature proposed with density g, and its reverse, which drops one of the n
features that could have been proposed (where n includes the new feature), have the ratio
`log_ratio_of_birth`, like all births and deaths of points of a Poisson process (Geyer and Moller,
1994). With a finite number F of features, of which K have a success, alpha becomes F - K, the
number of ways to choose the new feature, and the weight is log p(column) - log p(empty column).

| name | symbol | shape | meaning |
|---|---|---|---|
| mass | alpha | scalar | > 0 |
| concentration | q | scalar | > 0; 1: the buffet with one parameter |
| n_on, n_off | m, r | scalars | successes and failures of a feature |
| n_trials | n | scalar | trials of a feature that never succeeds: all rows, or steps |
| shape, rate | | scalars | alpha ~ Gamma(shape, rate) |
"""

from __future__ import annotations

import math

from scipy.special import digamma

from skdp._numeric._numba import njit, njit_internal_nogc
from skdp._numeric._random import draw_gamma

_SMALLEST = 1e-100  # a draw may underflow; at alpha = 0 no feature would ever be added


@njit_internal_nogc
def log_weight_of_feature(n_on, n_off, concentration):
    """Return log q B(m, r + q), the weight of a feature with m >= 1 successes, without its mass."""
    result = math.log(concentration) + math.lgamma(n_on)
    return result + math.lgamma(n_off + concentration) - math.lgamma(n_on + n_off + concentration)


@njit_internal_nogc
def log_ratio_of_birth(log_rate, gain, log_proposal, n_removable):
    """Return the log acceptance ratio of a new feature; for its death it is the negative.

    Births and deaths are tried equally often. `log_rate` is log alpha, or log(F - K) without the
    new feature; `gain` is the log of the other factors, of its weight and the likelihoods.
    """
    return log_rate + gain - log_proposal - math.log(n_removable)


@njit
def draw_mass(n_features, expected, shape, rate, rng):
    """Draw alpha given K features: Gamma(shape + K, rate + H); `expected` is H."""
    return max(draw_gamma(shape + n_features, rng) / (rate + expected), _SMALLEST)


def expected_features(n_trials: int, concentration: float) -> float:
    """Return H, the expected number of features with a success if the mass is 1."""
    q = float(concentration)
    if q > 1e6 * n_trials:  # the difference of digammas would cancel
        return float(n_trials)
    return float(q * (digamma(q + n_trials) - digamma(q)))
