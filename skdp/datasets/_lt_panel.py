"""Sequences of an infinite hidden Markov model with local transitions, with the truth."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import cdist
from scipy.special import logsumexp
from sklearn.utils import Bunch

from skdp._checks import LARGEST, SMALLEST, check_count, check_memory
from skdp._numeric._random import make_seed_sequence
from skdp.data import SequencePanel
from skdp.data._ragged import offsets
from skdp.datasets._arguments import check_number, check_sizes, is_option
from skdp.datasets._hidden_markov import draw_places, draw_states, draw_values

_EMISSIONS = ("gaussian", "categorical")


def make_lt_panel(
    n_sequences: int = 20,
    *,
    n_steps: int | tuple[int, int] | ArrayLike = 100,
    n_states: int = 10,
    n_features: int = 2,
    emission: str = "gaussian",
    n_dims: int = 2,
    decay: float = 1.0,
    stickiness: float = 0.0,
    top_concentration: float = 10.0,
    transition_concentration: float = 10.0,
    separation: float = 4.0,
    random_state: int | np.random.RandomState | np.random.Generator | None = None,
) -> Bunch:
    r"""Draw sequences from a hidden Markov model with local transitions (HDP-HMM-LT).

    The states have locations, and close states follow each other more often. This is the model of
    `HDPHMMLT` with `GaussianSimilarity`, in the weak limit,

        beta ~ Dirichlet(gamma / J),    pi_jj' ~ Gamma(alpha beta_j' + kappa [j = j'], 1),
        l_j ~ N(0, I),    phi_jj' = exp(-lambda \|l_j - l_j'\|^2 / 2),

    with transitions of probability P_jj' proportional to pi_jj' phi_jj'. First states have their
    own rates, pi_0j' ~ Gamma(alpha beta_j', 1), which depend on no location.

    Parameters
    ----------
    n_sequences : int, default=20
        Number of sequences, >= 1.
    n_steps : int, tuple (low, high) or array-like of shape (n_sequences,), default=100
        Number of steps of a sequence, >= 1: the same for all sequences (an int), drawn uniformly
        from a range that includes both ends (a tuple), or given for each sequence (a list or an
        array).
    n_states : int, default=10
        Number of states J, >= 1.
    n_features : int, default=2
        Number D of columns of an observation, >= 1; for categorical observations, which have one
        column, the number of symbols, >= 2.
    emission : {"gaussian", "categorical"}, default="gaussian"
        Distribution of the observations given the state: Gaussian with variances of 1 and no
        correlations, or symbols from 0 to D - 1. It does not depend on the locations.
    n_dims : int, default=2
        Number of dimensions of the locations, >= 1.
    decay : float, default=1.0
        lambda, >= 0: the larger, the more local the transitions. 0: no similarities, phi = 1.
    stickiness : float, default=0.0
        kappa, >= 0: the extra rate of staying.
    top_concentration : float, default=10.0
        gamma, > 0: the larger, the more similar the weights beta of the states.
    transition_concentration : float, default=10.0
        alpha, > 0: the larger, the more similar the rates of transitions from different states.
    separation : float, default=4.0
        Smallest distance between two states, >= 0. Gaussian: between means, in standard deviations.
        Categorical: between log-odds, the logarithms of probabilities minus their mean.
    random_state : int, RandomState, Generator or None, default=None
        Source of randomness. An int makes the panel reproducible. With the same int, locations,
        rates, emissions of states and sequences are drawn separately: the arguments of one do not
        change the others, but the sequences of states follow the transitions.

    Returns
    -------
    Bunch
        data : SequencePanel
            The sequences, with D features, or one (categorical).
        states : ndarray of int64, shape (n_observations,)
            The state of every row of ``data.values``.
        target : list of n_sequences ndarrays of int64
            The states sequence by sequence, as ``predict`` returns them.
        startprob : ndarray of shape (n_states,)
            Probabilities of the first state.
        transmat : ndarray of shape (n_states, n_states)
            Transition probabilities P from the state of the row.
        weights : ndarray of shape (n_states,)
            Weights beta of the states at the top level.
        locations : ndarray of shape (n_states, n_dims)
            Locations l.
        similarity : ndarray of shape (n_states, n_states)
            Similarities phi.
        means : ndarray of shape (n_states, n_features)
            Means of the observations, if `emission` is "gaussian".
        probabilities : ndarray of shape (n_states, n_features)
            Probabilities of the symbols, if `emission` is "categorical".

    Raises
    ------
    ValueError
        If an argument is out of range.

    See Also
    --------
    make_sticky_panel : States that only stay or leave.

    Examples
    --------
    >>> from skdp.datasets import make_lt_panel
    >>> panel = make_lt_panel(3, n_steps=(50, 90), n_states=6, n_dims=1, random_state=0)
    >>> panel.data.shape, panel.transmat.shape, panel.locations.shape
    ((3, 2), (6, 6), (6, 1))
    """
    n_sequences = check_count(n_sequences, "n_sequences", at_least=1)
    step_range = check_sizes(n_steps, "n_steps", n_sequences, "n_sequences", at_least=1)
    n_states = check_count(n_states, "n_states", at_least=1)
    if not is_option(emission, _EMISSIONS):
        raise ValueError(
            f"emission must be one of {', '.join(map(repr, _EMISSIONS))}, got {emission!r}."
        )
    n_features = check_count(n_features, "n_features", at_least=1 + (emission == "categorical"))
    n_dims = check_count(n_dims, "n_dims", at_least=1)
    decay = _check_scale(decay, "decay", at_least=0.0)
    stickiness = _check_scale(stickiness, "stickiness", at_least=0.0)
    top_concentration = _check_scale(top_concentration, "top_concentration", at_least=SMALLEST)
    transition_concentration = _check_scale(
        transition_concentration, "transition_concentration", at_least=SMALLEST
    )
    separation = check_number(separation, "separation", at_least=0.0)
    n_rows = float(np.mean(step_range[1])) * n_sequences
    check_memory(
        8.0 * (n_rows * (n_features + 10) + n_states * (6.0 * n_states + n_features + n_dims)),
        f"A panel of n_sequences={n_sequences} of up to {np.max(step_range[1])} steps, "
        f"n_states={n_states}, n_features={n_features} and n_dims={n_dims}",
    )

    # Separate streams: the arguments of one part do not change the draws of the others.
    seeds = make_seed_sequence(random_state).spawn(5)
    rng_places, rng_locations, rng_rates, rng_states, rng_values = map(np.random.default_rng, seeds)
    locations = rng_locations.standard_normal((n_states, n_dims))
    log_similarity = -0.5 * decay * cdist(locations, locations, "sqeuclidean")
    log_weights = _draw_log_gamma(np.full(n_states, top_concentration / n_states), rng_rates)
    log_weights -= logsumexp(log_weights)
    shapes = np.tile(transition_concentration * np.exp(log_weights), (n_states + 1, 1))
    shapes[:-1] += stickiness * np.eye(n_states)
    log_rates = _draw_log_gamma(shapes, rng_rates)
    log_rates[:-1] += log_similarity
    matrix = np.exp(log_rates - logsumexp(log_rates, axis=1, keepdims=True))
    matrix /= matrix.sum(axis=1, keepdims=True)
    ptr = offsets(rng_states.integers(*step_range, size=n_sequences, endpoint=True))
    states = draw_states(ptr, matrix[-1], matrix[:-1], rng_states)
    places = draw_places(n_states, n_features, separation, emission, rng_places)
    name, parameters, values = draw_values(states, places, emission, rng_values)
    return Bunch(
        data=SequencePanel(values, ptr),
        states=states,
        target=np.split(states, ptr[1:-1]),
        startprob=matrix[-1],
        transmat=matrix[:-1],
        weights=np.exp(log_weights),
        locations=locations,
        similarity=np.exp(log_similarity),
        **{name: parameters},
    )


def _check_scale(value: float, name: str, *, at_least: float) -> float:
    """Return a number that is not too large for products of it."""
    number = check_number(value, name, at_least=at_least)
    if number > LARGEST:
        raise ValueError(f"{name} must be at most {LARGEST:g}, got {number:g}.")
    return number


def _draw_log_gamma(shapes: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
    """Return logs of Gamma(shape, 1) draws: draws of small shapes would underflow."""
    shapes = np.maximum(shapes, 1e-300)
    logs = np.log(rng.standard_gamma(shapes + 1.0))
    return logs + np.log1p(-rng.random(shapes.shape)) / shapes
