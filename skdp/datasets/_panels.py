"""Panels drawn from hidden Markov models, with the truth."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import cdist
from scipy.special import logsumexp
from sklearn.utils import Bunch

from skdp._checks import (
    LARGEST,
    SMALLEST,
    as_array,
    check_choice,
    check_count,
    check_integers,
    check_memory,
    shorten,
)
from skdp._numeric._random import make_seed_sequence
from skdp.data import SequencePanel
from skdp.data._ragged import offsets

# States and emissions of hidden Markov models.


_GROWTH = 1.02
"""Factor of the standard deviation of places after a place that is too close to another."""


def draw_states(
    ptr: NDArray[np.int64],
    startprob: NDArray[np.float64],
    transmat: NDArray[np.float64],
    rng: np.random.Generator,
) -> NDArray[np.int64]:
    """Draw the states (n_observations,) of all sequences."""
    first, later = np.cumsum(startprob), np.cumsum(transmat, axis=1)
    first[-1] = later[:, -1] = 1.0  # regardless of rounding
    uniforms = rng.random(ptr[-1])
    states = np.empty(ptr[-1], dtype=np.int64)
    begins = set(ptr[:-1].tolist())
    for t, u in enumerate(uniforms):
        cumulated = first if t in begins else later[states[t - 1]]
        states[t] = np.searchsorted(cumulated, u, side="right")
    return states


def draw_places(
    n_states: int, n_features: int, separation: float, emission: str, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Draw places (n_states, n_features) with distances of at least `separation`."""
    places = np.empty((n_states, n_features))
    spread = max(separation, 1.0)
    n_placed = 0
    while n_placed < n_states:
        place = spread * rng.standard_normal(n_features)
        if emission == "poisson":
            place = np.abs(place)  # of 2 sqrt(rates)
        elif emission == "categorical":
            place -= place.mean()  # of log-odds
        gaps = np.linalg.norm(places[:n_placed] - place, axis=1)
        if np.all(gaps >= separation):
            places[n_placed] = place
            n_placed += 1
        else:
            spread *= _GROWTH
    return places


def draw_values(
    states: NDArray[np.int64], places: NDArray[np.float64], emission: str, rng: np.random.Generator
) -> tuple[str, NDArray[np.float64], NDArray[np.float64]]:
    """Return the name of the parameters, the parameters, and observations (n_observations, .)."""
    if emission == "gaussian":
        noise = rng.standard_normal((len(states), places.shape[1]))
        return "means", places, places[states] + noise
    if emission == "poisson":
        rates = (places / 2.0) ** 2
        return "rates", rates, rng.poisson(rates[states]).astype(np.float64)
    weights = np.exp(places - places.max(axis=1, keepdims=True))
    probabilities = weights / weights.sum(axis=1, keepdims=True)
    symbols = np.empty((len(states), 1))
    for j, shares in enumerate(probabilities):
        of_state = np.flatnonzero(states == j)
        symbols[of_state, 0] = rng.choice(len(shares), size=len(of_state), p=shares)
    return "probabilities", probabilities, symbols


# Checks of arguments of all generators of data.


def check_number(
    value: Any, name: str, *, at_least: float = -np.inf, above: float = -np.inf
) -> float:
    """Return one finite number as a float."""
    number = float(value) if isinstance(value, Real) and not isinstance(value, bool) else np.nan
    if not (at_least <= number < np.inf and number > above):
        bound = f">= {at_least:g}" if at_least > -np.inf else f"> {above:g}"
        raise ValueError(f"{name} must be a finite number {bound}, got {shorten(value)}.")
    return number


def check_sizes(
    sizes: Any, name: str, n_samples: int, samples: str, *, at_least: int = 0
) -> tuple[Any, Any]:
    """Return the least and the largest size, of all samples or, from an array, of each."""
    if isinstance(sizes, tuple):
        if len(sizes) != 2:
            raise ValueError(f"{name} as a tuple must be (low, high), got {shorten(sizes)}.")
        low = check_count(sizes[0], name, at_least=at_least)
        return low, check_count(sizes[1], name, at_least=low)
    if as_array(sizes, name).ndim == 0 and not isinstance(sizes, list):
        number = check_count(sizes, name, at_least=at_least)
        return number, number
    numbers = check_integers(sizes, name)
    if numbers.shape != (n_samples,):
        raise ValueError(
            f"{name} must hold {samples}={n_samples} integers, got shape {numbers.shape}."
        )
    if np.any(numbers < at_least):
        raise ValueError(f"{name} must hold integers >= {at_least}, got {shorten(sizes)}.")
    return numbers, numbers


# Models with local transitions (HDP-HMM-LT).

_LT_EMISSIONS = ("gaussian", "categorical")


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
    check_choice(emission, "emission", *_LT_EMISSIONS)
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


# Models whose states last for a while.


_STICKY_EMISSIONS = ("gaussian", "categorical", "poisson")


def make_sticky_panel(
    n_sequences: int = 20,
    *,
    n_steps: int | tuple[int, int] | ArrayLike = 100,
    n_states: int = 4,
    n_features: int = 2,
    emission: str = "gaussian",
    stay: float = 0.95,
    separation: float = 4.0,
    random_state: int | np.random.RandomState | np.random.Generator | None = None,
) -> Bunch:
    """Draw sequences from a hidden Markov model whose states last for a while.

    A sequence begins in any state with equal probability. At each step it stays in its state with
    probability `stay`; otherwise it moves to another state, with probabilities that are drawn once
    for each state, uniformly from all (a Dirichlet distribution with parameters 1).

    Parameters
    ----------
    n_sequences : int, default=20
        Number of sequences, >= 1.
    n_steps : int, tuple (low, high) or array-like of shape (n_sequences,), default=100
        Number of steps of a sequence, >= 1: the same for all sequences (an int), drawn uniformly
        from a range that includes both ends (a tuple), or given for each sequence (a list or an
        array).
    n_states : int, default=4
        Number of states J, >= 1.
    n_features : int, default=2
        Number D of columns of an observation, >= 1; for categorical observations, which have one
        column, the number of symbols, >= 2.
    emission : {"gaussian", "categorical", "poisson"}, default="gaussian"
        Distribution of the observations given the state: Gaussian with variances of 1 and no
        correlations, symbols from 0 to D - 1, or independent Poisson counts.
    stay : float, default=0.95
        Probability of staying, in [0, 1): the mean time in a state is 1 / (1 - stay) steps. Not
        used if there is only one state.
    separation : float, default=4.0
        Smallest distance between two states, >= 0. Gaussian: between means, in standard deviations.
        Poisson: between ``2 sqrt(rates)``, which amounts to about a standard deviation.
        Categorical: between log-odds, the logarithms of probabilities minus their mean.
    random_state : int, RandomState, Generator or None, default=None
        Source of randomness. An int makes the panel reproducible. With the same int, the emissions
        of states do not depend on the sequences, nor do the sequences of states on their emissions.

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
            Transition probabilities from the state of the row.
        means : ndarray of shape (n_states, n_features)
            Means of the observations, if `emission` is "gaussian".
        probabilities : ndarray of shape (n_states, n_features)
            Probabilities of the symbols, if `emission` is "categorical".
        rates : ndarray of shape (n_states, n_features)
            Means of the counts, if `emission` is "poisson".

    Raises
    ------
    ValueError
        If an argument is out of range.

    Notes
    -----
    The places of the states are drawn in turn from a normal distribution. A place
    that is too close to another is drawn again from a wider distribution, so many states in few
    dimensions lie far out. The means are these places.

    Examples
    --------
    >>> from skdp.datasets import make_sticky_panel
    >>> panel = make_sticky_panel(3, n_steps=(50, 90), emission="poisson", random_state=0)
    >>> panel.data.shape, panel.states.shape == (len(panel.data.values),), panel.rates.shape
    ((3, 2), True, (4, 2))
    """
    n_sequences = check_count(n_sequences, "n_sequences", at_least=1)
    step_range = check_sizes(n_steps, "n_steps", n_sequences, "n_sequences", at_least=1)
    n_states = check_count(n_states, "n_states", at_least=1)
    check_choice(emission, "emission", *_STICKY_EMISSIONS)
    n_features = check_count(n_features, "n_features", at_least=1 + (emission == "categorical"))
    stay = check_number(stay, "stay", at_least=0.0)
    if stay >= 1.0:
        raise ValueError(f"stay must be below 1, got {stay:g}.")
    separation = check_number(separation, "separation", at_least=0.0)
    n_rows = float(np.mean(step_range[1])) * n_sequences
    check_memory(
        8.0 * (n_rows * (n_features + 10) + n_states * (3.0 * n_states + n_features)),
        f"A panel of n_sequences={n_sequences} of up to {np.max(step_range[1])} steps, "
        f"n_states={n_states} and n_features={n_features}",
    )

    # Separate streams: the arguments of one part do not change the draws of the others.
    seeds = make_seed_sequence(random_state).spawn(3)
    rng_places, rng_states, rng_values = map(np.random.default_rng, seeds)
    startprob = np.full(n_states, 1.0 / n_states)
    transmat = _draw_transmat(n_states, stay, rng_states)
    ptr = offsets(rng_states.integers(*step_range, size=n_sequences, endpoint=True))
    states = draw_states(ptr, startprob, transmat, rng_states)
    places = draw_places(n_states, n_features, separation, emission, rng_places)
    name, parameters, values = draw_values(states, places, emission, rng_values)
    return Bunch(
        data=SequencePanel(values, ptr),
        states=states,
        target=np.split(states, ptr[1:-1]),
        startprob=startprob,
        transmat=transmat,
        **{name: parameters},
    )


def _draw_transmat(n_states: int, stay: float, rng: np.random.Generator) -> NDArray[np.float64]:
    if n_states == 1:
        return np.ones((1, 1))
    transmat = np.full((n_states, n_states), stay)
    others = ~np.eye(n_states, dtype=bool)
    jumps = rng.dirichlet(np.ones(n_states - 1), size=n_states)
    transmat[others] = ((1.0 - stay) * jumps).ravel()
    return transmat
