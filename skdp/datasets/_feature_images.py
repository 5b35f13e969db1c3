"""Images that are sums of a few glyphs."""

from __future__ import annotations

import numpy as np
from sklearn.utils import Bunch

from skdp._checks import check_count, check_memory
from skdp._numeric._random import make_seed_sequence
from skdp.datasets._arguments import check_number

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
    return Bunch(
        data=features @ glyphs + noise,
        features=features.astype(np.int8),
        glyphs=glyphs,
    )


def _read_glyphs() -> np.ndarray:
    """Return the glyphs, (4, 36)."""
    lines = [line.split() for line in _GLYPHS.split("\n") if line]
    pixels = [[[pixel == "1" for pixel in part] for part in line] for line in lines]
    return np.array(pixels, dtype=np.float64).transpose(1, 0, 2).reshape(4, -1)
