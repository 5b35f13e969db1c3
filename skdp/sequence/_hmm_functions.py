"""Likelihood, posterior, draws and best paths of hidden Markov models with given parameters."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skdp._checks import as_array, as_floats, shorten
from skdp._numeric import Floats, Places
from skdp._numeric._random import make_seed_sequence, make_stream
from skdp.sequence._hmm._messages import HMMMessages, check_possible, decode

_TOLERANCE = 1e-6
_IMPOSSIBLE = ": its states have no distribution."


def hmm_log_likelihood(
    startprob: ArrayLike, transmat: ArrayLike, log_obs: ArrayLike, ptr: ArrayLike | None = None
) -> Floats:
    """Return the log probability of sequences under a hidden Markov model, summed over states.

    The forward algorithm takes one product of a vector and a matrix per step. It neither underflows
    nor overflows for any length of sequences and any size of probabilities.

    Parameters
    ----------
    startprob : (J,) array
        Probabilities of the first state, pi_0; they sum to 1.
    transmat : (J, J) array
        Transition probabilities P: row i is the distribution of the state that follows state i.
    log_obs : (N, J) array
        Natural log of the probability or density of every observation in every state, with the
        sequences concatenated; -inf if an observation is impossible.
    ptr : (n + 1,) array of int, optional
        Sequence s is rows ``ptr[s]`` to ``ptr[s + 1] - 1``; by default all rows are one sequence.

    Returns
    -------
    (n,) array
        log p(x) of every sequence, natural log; -inf if it is impossible, 0 if it is empty.

    Raises
    ------
    ValueError
        If shapes do not agree, probabilities are negative or do not sum to 1 (to 1e-6), `log_obs`
        holds NaN or +inf, or `ptr` does not rise from 0 to N.

    See Also
    --------
    hmm_posterior : Probabilities of the states.
    hmm_sample_states : Draws of the states.
    hmm_viterbi : The most probable states.

    References
    ----------
    L. R. Rabiner (1989), A tutorial on hidden Markov models and selected applications in speech
    recognition, Proceedings of the IEEE 77, equations 19-21.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.sequence import hmm_log_likelihood
    >>> coins = np.log([[0.5, 0.9], [0.5, 0.1]])  # heads and tails, of a fair and a false coin
    >>> x = [0, 0, 0, 1]
    >>> transmat = [[0.9, 0.1], [0.1, 0.9]]
    >>> np.exp(hmm_log_likelihood([0.5, 0.5], transmat, coins[x])).round(4)
    array([0.0824])
    """
    model = _check_model(startprob, transmat, log_obs, ptr)
    out = np.empty(len(model[0]) - 1)
    HMMMessages(*model).log_likelihoods(out)
    return out


def hmm_posterior(
    startprob: ArrayLike, transmat: ArrayLike, log_obs: ArrayLike, ptr: ArrayLike | None = None
) -> Floats:
    """Return the probabilities of states given all observations of their sequence.

    They are computed by the forward-backward algorithm.

    Parameters
    ----------
    startprob, transmat, log_obs, ptr : as in `hmm_log_likelihood`

    Returns
    -------
    (N, J) array
        p(z_t = j | x) for every step and state; rows sum to 1.

    Raises
    ------
    ValueError
        As in `hmm_log_likelihood`, and if a sequence is impossible and thus has no posterior.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.sequence import hmm_posterior
    >>> coins = np.log([[0.5, 0.9], [0.5, 0.1]])
    >>> hmm_posterior([0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]], coins[[0, 0, 0, 1]]).round(2)
    array([[0.34, 0.66],
           [0.36, 0.64],
           [0.45, 0.55],
           [0.63, 0.37]])
    """
    model = _check_model(startprob, transmat, log_obs, ptr)
    out = np.empty(model[3].shape)
    check_possible(HMMMessages(*model).posteriors(out), _IMPOSSIBLE)
    return out


def hmm_sample_states(
    startprob: ArrayLike,
    transmat: ArrayLike,
    log_obs: ArrayLike,
    ptr: ArrayLike | None = None,
    *,
    random_state: Any = None,
) -> Places:
    """Draw the states of sequences from their joint posterior distribution.

    Forward filtering and backward sampling draw whole sequences of states given all observations,
    not one state at a time.

    Parameters
    ----------
    startprob, transmat, log_obs, ptr : as in `hmm_log_likelihood`
    random_state : int, RandomState, Generator or None, default=None

    Returns
    -------
    (N,) array of int64
        States 0 to J - 1.

    Raises
    ------
    ValueError
        As in `hmm_posterior`.

    References
    ----------
    S. L. Scott (2002), Bayesian methods for hidden Markov models, Journal of the American
    Statistical Association 97.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.sequence import hmm_sample_states
    >>> log_obs = np.log([[0.9, 0.1]] * 3 + [[0.1, 0.9]] * 3)
    >>> hmm_sample_states([0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]], log_obs, random_state=0)
    array([0, 0, 0, 1, 1, 1])
    """
    model = _check_model(startprob, transmat, log_obs, ptr)
    states = np.empty(len(model[3]), dtype=np.int64)
    stream = make_stream(make_seed_sequence(random_state))
    check_possible(HMMMessages(*model).sample_states(states, stream), _IMPOSSIBLE)
    return states


def hmm_viterbi(
    startprob: ArrayLike, transmat: ArrayLike, log_obs: ArrayLike, ptr: ArrayLike | None = None
) -> tuple[Floats, Places]:
    """Return the most probable path of each sequence: all its states jointly, not one by one.

    Parameters
    ----------
    startprob, transmat, log_obs, ptr : as in `hmm_log_likelihood`

    Returns
    -------
    log_probabilities : (n,) array
        log p(x, z) of the most probable path z of every sequence, natural log; -inf if the sequence
        is impossible, 0 if it is empty.
    states : (N,) array of int64
        States 0 to J - 1 of these paths; -1 throughout an impossible sequence. Among equally
        probable paths, the path with the lowest last state is chosen, then with the lowest state
        before it, and so on.

    Raises
    ------
    ValueError
        As in `hmm_log_likelihood`.

    Warns
    -----
    UserWarning
        If a sequence is impossible.

    See Also
    --------
    hmm_posterior : Probabilities of the states; the most probable ones minimize expected errors.

    References
    ----------
    L. R. Rabiner (1989), A tutorial on hidden Markov models and selected applications in speech
    recognition, Proceedings of the IEEE 77, equations 32-35.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.sequence import hmm_viterbi
    >>> coins = np.log([[0.5, 0.9], [0.5, 0.1]])  # heads and tails, of a fair and a false coin
    >>> x = [0, 0, 0, 0, 1, 1, 1]
    >>> log_probabilities, states = hmm_viterbi([0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]], coins[x])
    >>> states
    array([1, 1, 1, 1, 0, 0, 0])
    >>> np.exp(log_probabilities).round(5)
    array([0.00242])
    """
    return decode(*_check_model(startprob, transmat, log_obs, ptr))


def _check_model(
    startprob: ArrayLike, transmat: ArrayLike, log_obs: ArrayLike, ptr: ArrayLike | None
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return ptr, startprob, transmat and log_obs as the kernels require them."""
    log_obs = as_floats(log_obs, "log_obs", 2)
    if np.isnan(log_obs).any() or (log_obs == np.inf).any():
        raise ValueError("log_obs must hold log probabilities, got NaN or +inf.")
    n_states = log_obs.shape[1]
    if n_states == 0:
        raise ValueError("log_obs must have a column for each state, got none.")
    startprob = _as_distributions(startprob, "startprob", (n_states,))
    transmat = _as_distributions(transmat, "transmat", (n_states, n_states))
    bounds = np.array([0, len(log_obs)]) if ptr is None else as_array(ptr, "ptr")
    if (
        bounds.ndim != 1
        or bounds.dtype.kind not in "iu"
        or len(bounds) == 0
        or bounds[0] != 0
        or bounds[-1] != len(log_obs)
        or np.any(np.diff(bounds.astype(np.int64)) < 0)
    ):
        raise ValueError(
            f"ptr must rise from 0 to the {len(log_obs)} rows of log_obs, got {shorten(ptr)}."
        )
    return bounds.astype(np.int64), startprob, transmat, log_obs


def _as_distributions(values: ArrayLike, name: str, shape: tuple[int, ...]) -> Floats:
    """Return an array whose rows are distributions."""
    array = as_floats(values, name, len(shape))
    if array.shape != shape:
        raise ValueError(
            f"{name} must be of shape {shape}, because log_obs has {shape[0]} columns; "
            f"got {array.shape}."
        )
    if not np.all(array >= 0.0) or np.abs(array.sum(axis=-1) - 1.0).max() > _TOLERANCE:
        raise ValueError(f"{name} must hold probabilities that sum to 1 in each row.")
    return array
