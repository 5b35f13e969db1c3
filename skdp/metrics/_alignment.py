"""Which topics of two models belong together."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skdp.inference._alignment import align_labels
from skdp.metrics._checks import check_distributions, check_same_width
from skdp.metrics._hellinger import _between_rows


def align_topics(
    reference: ArrayLike, other: ArrayLike
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Match the topics of one model to those of another.

    Topics are matched one to one so as to minimize the sum of squared Hellinger distances between
    matched topics (Hungarian method). The topics of separately fitted models are in arbitrary
    order; once aligned, their shares can be plotted side by side, as in [1]_, figures 6.4 and 7.6.

    Parameters
    ----------
    reference : array_like of shape (n_components, n_features)
        Word probabilities of topics, such as ``components_``: weights >= 0, not all zero in a row,
        which are divided by their sums.
    other : array_like of shape (n_other, n_features)
        Those of the other model, n_other >= n_components; the rest stays unmatched.

    Returns
    -------
    order : ndarray of int, shape (n_components,)
        ``other[order]`` are the topics of `other` in the order of `reference`, and
        ``segment_topic[:, order]`` their shares.
    distances : ndarray of shape (n_components,)
        Hellinger distances, in [0, 1], of the matched topics.

    Raises
    ------
    ValueError
        If an argument is not 2-D or has a negative or infinite entry, NaN or a row of zeros, or if
        `other` differs in width from `reference` or has fewer topics.

    See Also
    --------
    hellinger_distance : Computes the whole matrix of distances.

    References
    ----------
    .. [1] L. Du, "Non-parametric Bayesian Methods for Structured Topic Models", PhD thesis,
       Australian National University, 2012.

    Examples
    --------
    >>> from skdp.metrics import align_topics
    >>> order, distances = align_topics(
    ...     [[0.9, 0.1, 0.0], [0.0, 0.1, 0.9]], [[0.0, 0.0, 1.0], [0.3, 0.4, 0.3], [0.9, 0.1, 0.0]]
    ... )
    >>> order, distances.round(3)
    (array([2, 0]), array([0.   , 0.227]))
    """
    first = check_distributions(reference, "reference")
    second = check_distributions(other, "other")
    check_same_width(first, "reference", second, "other")
    if len(second) < len(first):
        raise ValueError(
            f"other must have at least as many topics as reference, {len(first)}, "
            f"got {len(second)}."
        )
    order = align_labels(second, first)
    return order, _between_rows(first, second[order])
