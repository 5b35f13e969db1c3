"""Metrics of topics: Hellinger distances, alignment of two models, variation in documents."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import cdist
from scipy.special import entr

from skdp._checks import as_array
from skdp.data import SegmentedCorpus
from skdp.data._ragged import Offsets, check_offsets
from skdp.inference._trace import align_labels

# Checks of arguments.


def check_distributions(values: ArrayLike, name: str) -> NDArray[np.float64]:
    """Return the rows of a 2-D array of non-negative weights, each divided by its sum."""
    array = as_array(values, name)
    if array.ndim != 2 or array.dtype.kind not in "biuf":
        raise ValueError(
            f"{name} must be a 2-D array of numbers, each row a distribution; "
            f"got shape {array.shape} and type {array.dtype}."
        )
    array = array.astype(np.float64)
    if not np.all(np.isfinite(array) & (array >= 0.0)):
        raise ValueError(f"{name} must hold finite numbers >= 0.")
    sums = array.sum(axis=1, keepdims=True)
    if not sums.all():
        raise ValueError(
            f"{name} must have a positive entry in every row, row {np.argmin(sums)} is zero."
        )
    return array / sums


def check_same_width(
    first: NDArray[Any], first_name: str, second: NDArray[Any], second_name: str
) -> None:
    """Raise unless two 2-D arrays have as many columns."""
    if first.shape[1] != second.shape[1]:
        raise ValueError(
            f"{second_name} must have as many columns as {first_name}, {first.shape[1]}, "
            f"got {second.shape[1]}."
        )


def check_doc_ptr(doc_ptr: SegmentedCorpus | ArrayLike, n_segments: int) -> Offsets:
    """Return the offsets of documents in `n_segments` rows, of a corpus or as given."""
    if isinstance(doc_ptr, SegmentedCorpus):
        doc_ptr = doc_ptr.doc_ptr
    return check_offsets(doc_ptr, "doc_ptr", "rows of segment_topic", n_segments)


def check_documents(
    doc_topic: ArrayLike, segment_topic: ArrayLike, doc_ptr: SegmentedCorpus | ArrayLike
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]:
    """Return mu and nu with rows that sum to 1, and the document of every segment."""
    mu = check_distributions(doc_topic, "doc_topic")
    nu = check_distributions(segment_topic, "segment_topic")
    check_same_width(mu, "doc_topic", nu, "segment_topic")
    ptr = check_doc_ptr(doc_ptr, len(nu))
    if len(ptr) != len(mu) + 1:
        raise ValueError(
            f"doc_topic must have a row for each of the {len(ptr) - 1} documents of doc_ptr, "
            f"got {len(mu)}."
        )
    return mu, nu, np.repeat(np.arange(len(mu)), np.diff(ptr))


# Hellinger distances, between topics and along documents.


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


# Alignment of the topics of two models.


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


# Variation of the topics of segments around those of their document.


def segment_entropy(
    segment_topic: ArrayLike, doc_ptr: SegmentedCorpus | ArrayLike
) -> NDArray[np.float64]:
    """Compute the mean entropy of the topic shares of the segments of each document.

    This is ``-(1/J) sum_j sum_k nu_jk log nu_jk`` over the J segments of a document, in nats, from
    0 (every segment has one topic) to log K. Its exponential is an effective number of topics per
    segment. [1]_, section 5.6.2 and figures 5.4 (b) and 5.5 (b), compares it with the entropy of
    the documents themselves, ``scipy.stats.entropy(doc_topic, axis=1)``: the closer they are, the
    less segments differ from their documents.

    Parameters
    ----------
    segment_topic, doc_ptr
        As in `hellinger_to_previous`.

    Returns
    -------
    entropy : ndarray of shape (n_documents,)
        In [0, log n_components]; nan for documents without segments.

    Raises
    ------
    ValueError
        As in `hellinger_to_previous`.

    See Also
    --------
    segment_deviation : Measures how far segments are from their document.

    References
    ----------
    .. [1] L. Du, "Non-parametric Bayesian Methods for Structured Topic Models", PhD thesis,
       Australian National University, 2012.

    Examples
    --------
    >>> import numpy as np
    >>> from skdp.metrics import segment_entropy
    >>> entropy = segment_entropy([[0.5, 0.5], [0.5, 0.5], [1.0, 0.0]], [0, 2, 3])
    >>> np.exp(entropy)
    array([2., 1.])
    """
    nu = check_distributions(segment_topic, "segment_topic")
    ptr = check_doc_ptr(doc_ptr, len(nu))
    document = np.repeat(np.arange(len(ptr) - 1), np.diff(ptr))
    return _mean_by_document(entr(nu).sum(axis=1), document, len(ptr) - 1)


def segment_deviation(
    doc_topic: ArrayLike, segment_topic: ArrayLike, doc_ptr: SegmentedCorpus | ArrayLike
) -> NDArray[np.float64]:
    """Compute the standard deviation of the topic shares of segments around their document's.

    This is ``sqrt((1/J) sum_j sum_k (nu_jk - mu_k)^2)`` over the J segments of a document, the
    square root of the total variance, which is the trace of the covariance matrix ([1]_, section
    5.6.2 and figures 5.4 (a) and 5.5 (a)). A priori, under the Poisson-Dirichlet process with
    discount a and concentration b, its mean square is
    ``(1 - a) / (1 + b) (1 - sum_k mu_k^2)``, by equation (5.9).

    Parameters
    ----------
    doc_topic, segment_topic, doc_ptr
        As in `hellinger_to_document`.

    Returns
    -------
    deviation : ndarray of shape (n_documents,)
        In [0, sqrt(2)]; nan for documents without segments. All segments have the same weight,
        regardless of their length.

    Raises
    ------
    ValueError
        As in `hellinger_to_document`.

    See Also
    --------
    segment_entropy : Measures how many topics segments have.
    hellinger_to_document : Distances segment by segment.

    Notes
    -----
    The shares that a model returns are posterior means, which vary less than the shares themselves:
    those of a short segment are close to those of its document.

    References
    ----------
    .. [1] L. Du, "Non-parametric Bayesian Methods for Structured Topic Models", PhD thesis,
       Australian National University, 2012.

    Examples
    --------
    >>> from skdp.metrics import segment_deviation
    >>> doc_topic = [[0.5, 0.5], [0.9, 0.1]]
    >>> segment_topic = [[0.8, 0.2], [0.2, 0.8], [0.9, 0.1]]
    >>> segment_deviation(doc_topic, segment_topic, [0, 2, 3]).round(3)
    array([0.424, 0.   ])
    """
    mu, nu, document = check_documents(doc_topic, segment_topic, doc_ptr)
    squares = np.sum((nu - mu[document]) ** 2, axis=1)
    return np.sqrt(_mean_by_document(squares, document, len(mu)))


def _mean_by_document(
    values: NDArray[np.float64], document: NDArray[np.int64], n_documents: int
) -> NDArray[np.float64]:
    """Return the mean of each document's values; nan if it has none."""
    sums = np.bincount(document, weights=values, minlength=n_documents)
    counts = np.bincount(document, minlength=n_documents)
    means = np.full(n_documents, np.nan)
    np.divide(sums, counts, out=means, where=counts > 0)
    return means
