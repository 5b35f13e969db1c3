"""Data drawn from models of binary features, with the truth: recordings of speakers, and images."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.ndimage import gaussian_filter1d
from sklearn.utils import Bunch, check_array

from skdp._checks import as_floats, check_choice, check_count, check_integers, check_memory, shorten
from skdp._numeric._random import make_seed_sequence
from skdp.datasets._panels import check_number

# The cocktail party: the task is to infer from microphones who speaks when.

_AMPLITUDES = ("constant", "carrier")
_DURATIONS = ("normal", "geometric")

_TURN_SPREAD, _PAUSE_SPREAD = 0.2, 1.0
"""Standard deviations of normal durations, in means."""
_SYLLABLES = 12.0
"""Syllables in a turn of mean length: about four per second, in a sentence of three seconds."""
_WARM_UP = 10
"""Number of turns, with pauses, after which the beginning of a conversation is irrelevant."""


def make_cocktail_party(
    n_steps: int = 2000,
    *,
    conversation_sizes: ArrayLike = (4, 4, 4, 4),
    n_features: int = 12,
    amplitude: str = "constant",
    durations: str = "normal",
    turn_length: float = 150.0,
    pause_length: float = 12.5,
    noise_scale: float = 0.3,
    weights: ArrayLike | None = None,
    random_state: int | np.random.RandomState | np.random.Generator | None = None,
) -> Bunch:
    """Draw the recordings of several simultaneous conversations.

    In each conversation at most one person speaks at a time. Microphones record all speakers and
    the background,

        y_t = (1, theta_t) W + noise,    W ~ Uniform(0, 1),    noise ~ N(0, noise_scale^2 I),

    where theta_td is 0 while speaker d is silent ([1]_, section 4.1; the defaults are its numbers:
    40 seconds at 50 steps per second, sentences of 3 seconds, pauses of a quarter of a second). An
    infinite hidden Markov model with similarities can find out which of the many binary vectors
    occur, and that few entries change at a time.

    Parameters
    ----------
    n_steps : int, default=2000
        Length of the sequence T, >= 1.
    conversation_sizes : array-like of int, default=(4, 4, 4, 4)
        Number of speakers in each conversation, each >= 1. Their sum is the number of factors F;
        the product of ``size + 1`` is the number of binary vectors that can occur.
    n_features : int, default=12
        Number of microphones D, >= 1. Not used if `weights` are given.
    amplitude : {"constant", "carrier"}, default="constant"
        Loudness of speakers. "constant": 1, which makes the observations exactly linear and
        Gaussian in the states. "carrier": as loud as speech, a rectified noise under an envelope of
        syllables, scaled to a mean of 1 and a standard deviation of 0.5 for each speaker.
    durations : {"normal", "geometric"}, default="normal"
        Lengths of turns and pauses. "normal": normal variables rounded to whole steps >= 1
        (smaller ones are drawn again), with standard deviations of 0.2 `turn_length` and of
        `pause_length`. "geometric": the states are then exactly a Markov chain.
    turn_length : float, default=150.0
        Mean number of steps of a turn, >= 1.
    pause_length : float, default=12.5
        Mean number of steps between turns, >= 1. Normal pauses are longer on average, by 29 % if
        they are long, since they cannot be negative.
    noise_scale : float, default=0.3
        Standard deviation of the noise, >= 0.
    weights : array-like of shape (n_factors + 1, n_features), default=None
        Loudness of the background (row 0) and of each speaker at each microphone. None: drawn.
    random_state : int, RandomState, Generator or None, default=None
        Source of randomness. An int makes the data reproducible. With the same int, the speakers
        take the same turns for all amplitudes, weights and noises.

    Returns
    -------
    Bunch
        data : ndarray of shape (n_steps, n_features)
            The recordings, as one sequence.
        states : ndarray of int8, shape (n_steps, n_factors)
            1 where a speaker speaks.
        signal : ndarray of shape (n_steps, n_factors)
            The amplitudes theta; 0 if a speaker is silent.
        weights : ndarray of shape (n_factors + 1, n_features)
            W; row 0 is the background.
        conversations : ndarray of int, shape (n_factors,)
            The conversation of each speaker, numbered from 0.

    Raises
    ------
    ValueError
        If an argument is out of range.

    Notes
    -----
    All conversations have been going on for a while when the sequence begins. Everyone in a
    conversation is equally likely to speak next, including the last speaker; between two turns
    there is at least one step of silence.

    References
    ----------
    .. [1] C. R. Dawson, C. Huang and C. T. Morrison, "An infinite hidden Markov model with
       similarity-biased transitions", ICML 2017.

    Examples
    --------
    >>> from skdp.datasets import make_cocktail_party
    >>> party = make_cocktail_party(500, conversation_sizes=(2, 3), random_state=0)
    >>> party.data.shape, party.states.shape, party.weights.shape
    ((500, 12), (500, 5), (6, 12))
    """
    n_steps = check_count(n_steps, "n_steps", at_least=1)
    sizes = _check_sizes(conversation_sizes)
    n_factors = int(sizes.sum())
    check_choice(amplitude, "amplitude", *_AMPLITUDES)
    check_choice(durations, "durations", *_DURATIONS)
    turn = check_number(turn_length, "turn_length", at_least=1.0)
    pause = check_number(pause_length, "pause_length", at_least=1.0)
    noise_scale = check_number(noise_scale, "noise_scale", at_least=0.0)
    matrix = None if weights is None else _check_weights(weights, n_factors)
    if matrix is not None:
        n_features = matrix.shape[1]
    n_features = check_count(n_features, "n_features", at_least=1)
    check_memory(
        24.0 * n_steps * (n_factors + n_features) + 3.0 * n_factors * (turn + pause) * _WARM_UP,
        f"A party of n_steps={n_steps}, {n_factors} speakers, n_features={n_features}, "
        f"turn_length={turn:g} and pause_length={pause:g}",
    )

    # Separate streams: the arguments of one part do not change the draws of the others.
    seeds = make_seed_sequence(random_state).spawn(4)
    rng_states, rng_signal, rng_weights, rng_noise = map(np.random.default_rng, seeds)
    states = np.hstack(
        [_draw_turns(n_steps, size, durations, turn, pause, rng_states) for size in sizes.tolist()]
    )
    signal = states.astype(np.float64)
    if amplitude == "carrier":
        for d in range(n_factors):
            signal[:, d] *= _draw_speech(states[:, d] == 1, turn / _SYLLABLES, rng_signal)
    if matrix is None:
        matrix = rng_weights.random((n_factors + 1, n_features))
    noise = noise_scale * rng_noise.standard_normal((n_steps, n_features))
    return Bunch(
        data=matrix[0] + signal @ matrix[1:] + noise,
        states=states,
        signal=signal,
        weights=matrix,
        conversations=np.repeat(np.arange(len(sizes)), sizes),
    )


def _check_sizes(sizes: Any) -> NDArray[np.int64]:
    array = check_integers(sizes, "conversation_sizes")
    if array.ndim != 1 or len(array) == 0 or np.any(array == 0):
        raise ValueError(
            "conversation_sizes must hold integers >= 1, one per conversation, got "
            f"{shorten(sizes)}."
        )
    return array


def _check_weights(weights: ArrayLike, n_factors: int) -> NDArray[np.float64]:
    given = as_floats(weights, "weights")
    matrix: NDArray[np.float64] = check_array(given, dtype=np.float64, input_name="weights")
    if len(matrix) != n_factors + 1:
        raise ValueError(
            f"weights must have {n_factors + 1} rows, one for the background and one per speaker, "
            f"got {len(matrix)}."
        )
    return matrix


def _draw_turns(
    n_steps: int,
    n_speakers: int,
    durations: str,
    turn: float,
    pause: float,
    rng: np.random.Generator,
) -> NDArray[np.int8]:
    """Draw who speaks in a conversation, (n_steps, n_speakers)."""
    # A random moment of a conversation that began long ago: its first steps are left out.
    start = int(np.ceil((_WARM_UP + rng.random()) * (turn + pause)))
    states = np.zeros((start + n_steps, n_speakers), dtype=np.int8)
    t = 0
    while t < len(states):
        length = _draw_duration(turn, _TURN_SPREAD, durations, rng)
        states[t : t + length, rng.integers(n_speakers)] = 1
        t += length + _draw_duration(pause, _PAUSE_SPREAD, durations, rng)
    return states[start:]


def _draw_duration(mean: float, spread: float, kind: str, rng: np.random.Generator) -> int:
    """Draw a number of steps >= 1."""
    if kind == "geometric":
        return int(rng.geometric(1.0 / mean))
    length = 0
    while length < 1:
        length = round(rng.normal(mean, spread * mean))
    return length


def _draw_speech(
    on: NDArray[np.bool_], syllable: float, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Draw amplitudes (n_steps,), their mean 1 and standard deviation 0.5 where somebody speaks."""
    # The envelope is log-normal: a Gaussian process, smooth over about a third of a syllable.
    width = max(syllable / 3.0, 0.5)
    log_envelope = gaussian_filter1d(rng.standard_normal(len(on)), width, mode="wrap")
    log_envelope *= np.sqrt(2.0 * np.sqrt(np.pi) * width)  # of variance 1, all but
    # Rectified Laplace noise has the peaks of speech.
    speech = np.exp(0.7 * log_envelope) * np.abs(rng.laplace(size=len(on)))
    spread = speech[on].std() if on.any() else 0.0
    if spread == 0.0:  # no step, or one
        return np.ones(len(on))
    return 1.0 + 0.5 * (speech - speech[on].mean()) / spread


# Images that are sums of a few glyphs.


_GLYPHS = """
.1.... ...111 ...... ......
111... ...1.1 ...... ......
.1.... ...111 ...... ......
...... ...... 1..... ...111
...... ...... 11.... ....1.
...... ...... 111... ....1.
"""
"""A row of pixels of all glyphs in each line."""


def make_feature_images(
    n_samples: int = 100,
    *,
    noise_scale: float = 0.5,
    probability: float = 0.5,
    random_state: int | np.random.RandomState | np.random.Generator | None = None,
) -> Bunch:
    """Draw images of 6 x 6 pixels that are sums of any of four glyphs, and noise.

    Each image has each glyph with the same probability, independently. This is how Indian buffet
    processes were first shown to find features ([1]_): the number of glyphs is not given, and
    hardly any image shows one alone.

    Parameters
    ----------
    n_samples : int, default=100
        Number of images, >= 1.
    noise_scale : float, default=0.5
        Standard deviation of the noise of every pixel, >= 0. Pixels of a glyph are 1.
    probability : float, default=0.5
        Probability that an image has a glyph, from 0 to 1.
    random_state : int, RandomState, Generator or None, default=None
        Source of randomness. An int makes the data reproducible. With the same int, images have the
        same glyphs for any noise.

    Returns
    -------
    Bunch
        data : ndarray of shape (n_samples, 36)
            The images, one a row; ``data.reshape(-1, 6, 6)`` shows them.
        features : ndarray of int8, shape (n_samples, 4)
            1 if an image has a glyph.
        glyphs : ndarray of shape (4, 36)
            The images of the glyphs.

    Raises
    ------
    ValueError
        If an argument is out of range.

    References
    ----------
    .. [1] T. L. Griffiths and Z. Ghahramani, "Infinite latent feature models and the Indian buffet
       process", NIPS 2005.

    Examples
    --------
    >>> from skdp.datasets import make_feature_images
    >>> images = make_feature_images(50, random_state=0)
    >>> images.data.shape, images.features.shape, images.glyphs.shape
    ((50, 36), (50, 4), (4, 36))
    """
    n_samples = check_count(n_samples, "n_samples", at_least=1)
    noise_scale = check_number(noise_scale, "noise_scale", at_least=0.0)
    probability = check_number(probability, "probability", at_least=0.0)
    if probability > 1.0:
        raise ValueError(f"probability must be a number from 0 to 1, got {probability!r}.")
    check_memory(8.0 * 80 * n_samples, f"n_samples={n_samples} images")
    glyphs = _read_glyphs()
    # Separate streams: the noise does not change the features.
    seeds = make_seed_sequence(random_state).spawn(2)
    rng_features, rng_noise = map(np.random.default_rng, seeds)
    features = rng_features.random((n_samples, len(glyphs))) < probability
    noise = noise_scale * rng_noise.standard_normal((n_samples, glyphs.shape[1]))
    return Bunch(data=features @ glyphs + noise, features=features.astype(np.int8), glyphs=glyphs)


def _read_glyphs() -> np.ndarray:
    """Return the glyphs, (4, 36)."""
    lines = [line.split() for line in _GLYPHS.split("\n") if line]
    pixels = [[[pixel == "1" for pixel in part] for part in line] for line in lines]
    return np.array(pixels, dtype=np.float64).transpose(1, 0, 2).reshape(4, -1)
