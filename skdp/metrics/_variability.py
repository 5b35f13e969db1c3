"""How the topics of segments vary around those of their document."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import entr

from skdp.data import SegmentedCorpus
from skdp.metrics._checks import check_distributions, check_doc_ptr, check_documents


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
    segment_topic : array_like of shape (n_segments, n_components)
        Topic shares nu of the segments of all documents, as from ``transform_segments(X)``. Rows of
        weights >= 0, not all zero, are divided by their sums.
    doc_ptr : SegmentedCorpus or array_like of int, shape (n_documents + 1,)
        Where documents begin and end in `segment_topic`, or the corpus itself.

    Returns
    -------
    entropy : ndarray of shape (n_documents,)
        In [0, log n_components]; nan for documents without segments.

    Raises
    ------
    ValueError
        If `segment_topic` is not 2-D or has a negative or infinite entry, NaN or a row of zeros, or
        if `doc_ptr` does not fit it.

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
    n_documents = len(ptr) - 1
    document = np.repeat(np.arange(n_documents), np.diff(ptr))
    return _mean_by_document(entr(nu).sum(axis=1), document, n_documents)


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
    doc_topic : array_like of shape (n_documents, n_components)
        Topic shares mu of the documents, as from ``transform(X)``.
    segment_topic : array_like of shape (n_segments, n_components)
        Topic shares nu of their segments, as from ``transform_segments(X)``. Rows of weights >= 0,
        not all zero, are divided by their sums, here and in `doc_topic`.
    doc_ptr : SegmentedCorpus or array_like of int, shape (n_documents + 1,)
        Where documents begin and end in `segment_topic`, or the corpus itself.

    Returns
    -------
    deviation : ndarray of shape (n_documents,)
        In [0, sqrt(2)]; nan for documents without segments. All segments have the same weight,
        regardless of their length.

    Raises
    ------
    ValueError
        If `doc_topic` or `segment_topic` is not 2-D or has a negative or infinite entry, NaN or a
        row of zeros, or if the three do not fit each other.

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
