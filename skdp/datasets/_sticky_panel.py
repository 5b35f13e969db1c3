"""Sequences of states that stay, with the truth."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import Bunch

from skdp._checks import check_count, check_memory
from skdp._numeric._random import make_seed_sequence
from skdp.data import SequencePanel
from skdp.data._ragged import offsets
from skdp.datasets._arguments import check_number, check_sizes, is_option
from skdp.datasets._hidden_markov import draw_places, draw_states, draw_values

_EMISSIONS = ("gaussian", "categorical", "poisson")


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
    if not is_option(emission, _EMISSIONS):
        raise ValueError(
            f"emission must be one of {', '.join(map(repr, _EMISSIONS))}, got {emission!r}."
        )
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
