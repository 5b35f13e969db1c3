"""The Hellinger distance, between topics and along documents."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import cdist

from skdp.data import SegmentedCorpus
from skdp.metrics._checks import (
    check_distributions,
    check_doc_ptr,
    check_documents,
    check_same_width,
)


def hellinger_distance(p: ArrayLike, q: ArrayLike | None = None) -> NDArray[np.float64]:
    """Compute the Hellinger distances between the rows of two arrays.

    ``H(p, q) = sqrt(1 - sum_w sqrt(p_w q_w)) = |sqrt(p) - sqrt(q)| / sqrt(2)``: 0 if the
    distributions are the same, 1 if they have nothing in common. It is a metric. The distances
    between the topics of two models are the confusion matrix of [1]_, figures 6.4 and 7.6.

    Parameters
    ----------
    p : array_like of shape (n_p, n_outcomes)
        One distribution per row: weights >= 0, not all zero, which are divided by their sum.
    q : array_like of shape (n_q, n_outcomes), default=None
        The other distributions. None: `p`.

    Returns
    -------
    distances : ndarray of shape (n_p, n_q)
        In [0, 1]; exactly 0 between equal rows. For two single distributions of shape
        (n_outcomes,) write ``hellinger_distance([p], [q])``.

    Raises
    ------
    ValueError
        If an argument is not 2-D or has a negative or infinite entry, NaN or a row of zeros, or if
        their widths differ.

    See Also
    --------
    hellinger_to_previous : Distances from segment to segment.
    hellinger_to_document : Distances from segments to their document.
    align_topics : Matches the topics of two models.

    References
    ----------
    .. [1] L. Du, "Non-parametric Bayesian Methods for Structured Topic Models", PhD thesis,
       Australian National University, 2012.

    Examples
    --------
    >>> from skdp.metrics import hellinger_distance
    >>> p, q = [[0.5, 0.5, 0.0], [0.0, 0.0, 1.0]], [[1.0, 1.0, 0.0], [0.8, 0.2, 0.0]]
    >>> hellinger_distance(p, q).round(3)
    array([[0.   , 0.227],
           [1.   , 1.   ]])
    """
    rows = check_distributions(p, "p")
    if q is None:
        columns = rows
    else:
        columns = check_distributions(q, "q")
        check_same_width(rows, "p", columns, "q")
    # Not by a product of matrices: 1 - sum sqrt(p q) of equal rows is 1e-16, its root 1e-8.
    distances = cdist(np.sqrt(rows), np.sqrt(columns)) / np.sqrt(2.0)
    return np.minimum(distances, 1.0)


def _between_rows(p: NDArray[np.float64], q: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the distance of each row of `p` to the same row of `q`."""
    distances = np.linalg.norm(np.sqrt(p) - np.sqrt(q), axis=1) / np.sqrt(2.0)
    return np.minimum(distances, 1.0)


def hellinger_to_previous(
    segment_topic: ArrayLike, doc_ptr: SegmentedCorpus | ArrayLike
) -> NDArray[np.float64]:
    """Compute the Hellinger distance between the topic shares of each segment and the previous one.

    It shows how smoothly topics change along a document ([1]_, section 6.6.3 and figure 6.7), and
    peaks where the subject changes.

    Parameters
    ----------
    segment_topic : array_like of shape (n_segments, n_components)
        Topic shares nu of the segments of all documents, as from ``transform_segments(X)``. Rows of
        weights >= 0, not all zero, are divided by their sums.
    doc_ptr : SegmentedCorpus or array_like of int, shape (n_documents + 1,)
        Where documents begin and end in `segment_topic`, or the corpus itself.

    Returns
    -------
    distances : ndarray of shape (n_segments,)
        In [0, 1]; nan for the first segment of a document.

    Raises
    ------
    ValueError
        If `segment_topic` is not 2-D or has a negative or infinite entry, NaN or a row of zeros, or
        if `doc_ptr` does not fit it.

    See Also
    --------
    hellinger_to_document : Distances to the shares of the document.
    window_diff : Measures how well boundaries found from such peaks agree with known ones.

    References
    ----------
    .. [1] L. Du, "Non-parametric Bayesian Methods for Structured Topic Models", PhD thesis,
       Australian National University, 2012.

    Examples
    --------
    >>> from skdp.metrics import hellinger_to_previous
    >>> shares = [[0.9, 0.1], [0.8, 0.2], [0.1, 0.9], [0.5, 0.5], [0.5, 0.5]]
    >>> hellinger_to_previous(shares, [0, 3, 5]).round(2)
    array([ nan, 0.1 , 0.54,  nan, 0.  ])
    """
    nu = check_distributions(segment_topic, "segment_topic")
    ptr = check_doc_ptr(doc_ptr, len(nu))
    distances = np.full(len(nu), np.nan)
    distances[1:] = _between_rows(nu[1:], nu[:-1])
    distances[ptr[:-1][np.diff(ptr) > 0]] = np.nan
    return distances


def hellinger_to_document(
    doc_topic: ArrayLike, segment_topic: ArrayLike, doc_ptr: SegmentedCorpus | ArrayLike
) -> NDArray[np.float64]:
    """Compute the Hellinger distance between the topic shares of each segment and its document.

    This is ``HD(mu, nu_j)`` of [1]_, section 7.4.5 and figure 7.9. It stays level along a document
    unless segments drift away.

    Parameters
    ----------
    doc_topic : array_like of shape (n_documents, n_components)
        Topic shares mu of the documents, as from ``transform(X)``.
    segment_topic : array_like of shape (n_segments, n_components)
        Topic shares nu of their segments, as from ``transform_segments(X)``. Rows of weights >= 0,
        not all zero, are divided by their sums, here and in `doc_topic`.
    doc_ptr : SegmentedCorpus or array_like of int, shape (n_documents + 1,)
        Where documents begin and end in `segment_topic`, or the corpus itself.

    Returns
    -------
    distances : ndarray of shape (n_segments,)
        In [0, 1].

    Raises
    ------
    ValueError
        If `doc_topic` or `segment_topic` is not 2-D or has a negative or infinite entry, NaN or a
        row of zeros, or if the three do not fit each other.

    See Also
    --------
    hellinger_to_previous : Distances to the previous segment.
    segment_deviation : One number per document.

    References
    ----------
    .. [1] L. Du, "Non-parametric Bayesian Methods for Structured Topic Models", PhD thesis,
       Australian National University, 2012.

    Examples
    --------
    >>> from skdp.metrics import hellinger_to_document
    >>> hellinger_to_document([[0.5, 0.5]], [[0.5, 0.5], [0.8, 0.2], [1.0, 0.0]], [0, 3]).round(2)
    array([0.  , 0.23, 0.54])
    """
    mu, nu, document = check_documents(doc_topic, segment_topic, doc_ptr)
    return _between_rows(mu[document], nu)
