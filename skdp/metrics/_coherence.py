"""Coherence of topics: how well their most probable words belong together."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.utils.validation import check_array

from skdp._checks import as_array, check_choice, check_count, check_memory, check_unmasked
from skdp._numeric._numba import njit
from skdp.data import SegmentedCorpus, check_corpus
from skdp.data._validation import holds_documents, is_column_of_lists

_WINDOWS: dict[str, int | str] = {"c_v": 110, "npmi": 10, "u_mass": "document"}
"""Default window of each measure."""
_EPSILON = 1e-12
"""Constant of Röder et al., section 3.3, for finite logarithms of words that never meet."""
_SUSPICIOUS = 20
"""Steps to another word after which text without a step to a lower id is no accident."""


# Numbers of windows in which words occur, alone and together.
#
# | name | symbol | shape | meaning |
# |---|---|---|---|
# | tokens | w | (N,) | word ids |
# | part_ptr | | (P + 1,) | offsets of the parts that windows do not cross |
# | size | s | scalar | tokens in a window; a shorter part is one window |
# | topics | v_kr | (K, M) | top words of the topics |
# | places, place_ptr | | (K M,), (V + 1,) | where in `topics`, as k M + r, each word occurs |
# | present | | (V,) | scratch, 0 before: tokens of the word in the window |
# | since | | (V,) | scratch: window in which the word entered |
# | n_w | n(w) | (V,) | windows that hold the word; of words in `topics` only |
# | n_krq | n(v_kr, v_kq) | (K, M, M) | windows that hold both words; 0 for r = q |


@njit
def enter(word, now, place_ptr, present, since):
    """Let a token of `word` into window `now`."""
    if place_ptr[word] < place_ptr[word + 1]:
        if present[word] == 0:
            since[word] = now
        present[word] += 1


@njit
def leave(word, now, topics, places, place_ptr, present, since, n_w, n_krq):
    """Take a token of `word` out of window `now`, and count what ends with it."""
    if place_ptr[word] == place_ptr[word + 1]:
        return
    present[word] -= 1
    if present[word] > 0:
        return
    n_w[word] += now - since[word]
    n_words = topics.shape[1]
    for i in range(place_ptr[word], place_ptr[word + 1]):
        k, r = places[i] // n_words, places[i] % n_words
        for q in range(n_words):
            other = topics[k, q]
            if present[other] > 0:
                both = now - max(since[word], since[other])
                n_krq[k, r, q] += both
                n_krq[k, q, r] += both


@njit
def count_windows(tokens, part_ptr, size, topics, places, place_ptr, present, since, n_w, n_krq):
    """Add the windows of all parts to `n_w` and `n_krq`; return how many windows there are."""
    # Window t of a part holds its tokens t, ..., t + s - 1. When its last token drops out, a word
    # is counted for all windows since it entered, so a step to the next window costs work for two
    # words.
    n_windows = 0
    for part in range(part_ptr.shape[0] - 1):
        begin, end = part_ptr[part], part_ptr[part + 1]
        if begin == end:
            continue
        last = max(end - size, begin)
        for i in range(begin, min(begin + size, end)):
            enter(tokens[i], 0, place_ptr, present, since)
        for i in range(begin, last):
            leave(tokens[i], i + 1 - begin, topics, places, place_ptr, present, since, n_w, n_krq)
            enter(tokens[i + size], i + 1 - begin, place_ptr, present, since)
        n_part = last - begin + 1
        for i in range(last, end):
            leave(tokens[i], n_part, topics, places, place_ptr, present, since, n_w, n_krq)
        n_windows += n_part
    return n_windows


# The measures.


def topic_coherence(
    topics: ArrayLike,
    X: Any,
    *,
    measure: str = "c_v",
    n_words: int = 10,
    window: int | str | None = None,
) -> NDArray[np.float64]:
    r"""Compute how often the most probable words of each topic occur together in a corpus.

    Let p(v) be the share of windows that hold word v, and p(v, v') the share of those that hold
    both words. Let :math:`v_1, \dots, v_M` be the words of a topic, the most probable first, and

    .. math::

       \mathrm{npmi}(v, v')
       = \log \frac{p(v, v') + \epsilon}{p(v)\, p(v')} \Big/ {-\log (p(v, v') + \epsilon)},
       \qquad \epsilon = 10^{-12}.

    "npmi"
        The mean of :math:`\mathrm{npmi}(v_l, v_m)` over all pairs l < m: [1]_, sections 3.1-3.3.
        From -1 to 1, 0 for independent words.
    "c_v"
        The measure that correlates best with human judgment in [1]_: each word has the vector
        :math:`u_m = (\mathrm{npmi}(v_m, v_1), \dots, \mathrm{npmi}(v_m, v_M))`, and the coherence
        is the mean of the cosines of the angles between :math:`u_m` and :math:`\sum_l u_l`. At most
        1.
    "u_mass"
        :math:`\sum_{m=2}^M \sum_{l<m} \log \frac{D(v_m, v_l) + 1}{D(v_l)}` with D the number of
        windows, by default documents, that hold the words: [2]_, equation (1). It is a sum, usually
        negative: only compare topics with the same `n_words`.

    For all of them, higher is better.

    Parameters
    ----------
    topics : array_like of float, shape (n_components, n_features), or list of lists of int
        Word probabilities of the topics, such as ``components_`` (or any weights, since only their
        order matters), or the ids of their words, the most probable first.
    X : SegmentedCorpus, list of documents, or (n_documents, n_features) count matrix
        The corpus to count in, as for the topic models. Training documents show whether topics are
        more than accidental combinations of words; other documents show whether they generalize.
        The words of a row of counts have no order, so such a matrix can only be counted in whole
        documents.
    measure : {"c_v", "npmi", "u_mass"}, default="c_v"
        See above.
    n_words : int, default=10
        Number M of words per topic to compare: at least 2, at most the number in `topics`.
    window : int, "segment", "document" or None, default=None
        The windows in which words occur together. A number s of tokens: a window that slides
        through each segment, word by word; a segment of at most s tokens is one window. "segment",
        "document": each of these is a window. None: "document" for "u_mass" and for all measures of
        a count matrix; otherwise 110 for "c_v" and 10 for "npmi".

    Returns
    -------
    coherence : ndarray of shape (n_components,)

    Raises
    ------
    ValueError
        If `topics` has NaN, repeats words or has words that are not in the vocabulary of X, if
        `n_words`, `measure` or `window` is out of range, if X is invalid or has no tokens, or if it
        is a count matrix and a row has more than `window` tokens.

    Warns
    -----
    UserWarning
        If windows of fewer tokens slide through segments whose words are all in the order of their
        ids, as in a corpus from counts.
    UndefinedMetricWarning
        If a word does not occur in X. Terms that are undefined without it count as 0: its npmi, its
        cosine, logarithms with D(v_l) = 0.

    Notes
    -----
    - Windows never cross the boundaries of segments. In a corpus that
      :meth:`~skdp.data.SegmentedCorpus.from_counts` made, the words of a segment are in column
      order, so sliding windows are meaningless: use ``window="segment"`` or ``"document"``.
    - Words that a vectorizer dropped are missing, so a window of 10 tokens spans more of the text.
    - Two words that are in all windows have an npmi of 1, the limit for words that always occur
      together, not the -1 of the formula.
    - Words that never occur together have an npmi above -1, and the rarer they are the higher (-0.5
      if each is in one window of a thousand). This is due to :math:`\epsilon`, whose value is that
      of published figures.
    - "c_v" is high if words have *similar* npmi with the other words. Ten words that never occur
      together (npmi -0.5) have 0.61, ten independent ones 0.32: look at "npmi" as well.
    - Empty segments and documents are not windows.

    References
    ----------
    .. [1] M. Röder, A. Both and A. Hinneburg, "Exploring the Space of Topic Coherence Measures",
       WSDM, 2015.
    .. [2] D. Mimno, H. Wallach, E. Talley, M. Leenders and A. McCallum, "Optimizing Semantic
       Coherence in Topic Models", EMNLP, 2011.

    Examples
    --------
    >>> from skdp.metrics import topic_coherence
    >>> documents = [[[0, 1, 2], [0, 1]], [[3, 4, 5], [4, 3], [5, 2]]]
    >>> topic_coherence([[0, 1], [3, 4], [0, 4]], documents, measure="npmi", n_words=2).round(2)
    array([ 1.  ,  1.  , -0.93])
    >>> components = [[0.4, 0.4, 0.2, 0.0, 0.0, 0.0], [0.3, 0.0, 0.2, 0.0, 0.0, 0.5]]
    >>> topic_coherence(components, documents, n_words=3).round(2)
    array([0.82, 0.4 ])
    """
    check_choice(measure, "measure", *_WINDOWS)
    n_words = check_count(n_words, "n_words", at_least=2)
    words, n_features = _check_topics(topics, n_words)
    corpus = _check_corpus(X, n_features)
    if words.max() >= corpus.n_features:
        raise ValueError(
            f"topics must hold word ids below the number of features of X, {corpus.n_features}, "
            f"got {words.max()}."
        )
    if window is None:
        window = "document" if _holds_counts(X) else _WINDOWS[measure]
    if not isinstance(window, str):
        window = check_count(window, "window", at_least=1)
        _check_order(X, corpus, window)
    n_windows, n_kr, n_krq = _count(words, corpus, window)
    if not n_kr.all():
        absent = np.flatnonzero(~n_kr.all(axis=1))
        warnings.warn(
            f"Topics {absent.tolist()} have words that do not occur in X: undefined terms of "
            "their coherence count as 0.",
            UndefinedMetricWarning,
            stacklevel=2,
        )
    if measure == "u_mass":
        return _sum_log_conditionals(n_kr, n_krq)
    npmi = _compute_npmi(n_windows, n_kr, n_krq)
    if measure == "npmi":
        pairs = np.triu_indices(n_words, 1)
        return npmi[:, *pairs].mean(axis=1)
    return _mean_cosine(npmi)


class _Coherence(BaseEstimator):
    """What `check_corpus` checks a corpus for."""

    n_features_in_: int


_Coherence.__name__ = "topic_coherence"  # what errors of scikit-learn say that asks for X


def _check_corpus(X: Any, n_features: int | None) -> SegmentedCorpus:
    """Return X as a corpus with tokens, of width `n_features` if that is known."""
    if hasattr(X, "columns"):  # topics have no feature names to compare those of a data frame with
        X = check_array(X, accept_sparse="csr", input_name="X")
    coherence = _Coherence()
    if n_features is not None:
        coherence.n_features_in_ = n_features
    return check_corpus(coherence, X, reset=n_features is None, require_tokens=True)


def _holds_counts(X: Any) -> bool:
    """Return whether X, which is valid, is a matrix of counts."""
    if isinstance(X, SegmentedCorpus) or is_column_of_lists(X):
        return False
    return not holds_documents(X)


def _check_order(X: Any, corpus: SegmentedCorpus, window: int) -> None:
    """Raise, or warn if it is only probable, that windows slide over words without an order."""
    sizes = np.diff(corpus.segment_ptr)
    if sizes.max() <= window:
        return
    if _holds_counts(X):
        d = int(sizes.argmax())
        raise ValueError(
            f"window={window} is smaller than a document of X: row {d} has {sizes[d]} tokens. X is "
            "a matrix of counts, whose words have no order to slide a window over. Use "
            "window='document', or give X as a SegmentedCorpus or lists of word ids."
        )
    segment_of = np.repeat(np.arange(len(sizes)), sizes)
    steps = np.diff(corpus.tokens)[np.diff(segment_of) == 0]
    if not np.any(steps < 0) and np.count_nonzero(steps) >= _SUSPICIOUS:
        warnings.warn(
            "The words of each segment of X are in the order of their ids, as SegmentedCorpus."
            f"from_counts leaves them: windows of {window} tokens are arbitrary. Use "
            "window='segment' or 'document'.",
            stacklevel=3,
        )


def _check_topics(topics: Any, n_words: int) -> tuple[NDArray[np.int64], int | None]:
    """Return the (K, n_words) ids of the top words, and the number of features if it is known."""
    if hasattr(topics, "__array__"):
        topics = as_array(topics, "topics")
    is_array = isinstance(topics, np.ndarray) and topics.ndim == 2
    is_list = isinstance(topics, (list, tuple))
    check_unmasked(topics, "topics")
    rows = [as_array(row, "topics") for row in topics] if is_array or is_list else []
    if not rows or any(row.ndim != 1 or row.dtype.kind not in "iuf" for row in rows):
        raise ValueError(
            "topics must be a 2-D array of word probabilities (floats) or a list of lists of word "
            "ids (integers), not empty."
        )
    lengths = {len(row) for row in rows}
    if min(lengths) < n_words:
        raise ValueError(
            f"n_words must be at most {min(lengths)}, as many words as topics has, got {n_words}."
        )
    if any(row.dtype.kind == "f" for row in rows):
        if len(lengths) > 1 or not all(np.isfinite(row).all() for row in rows):
            raise ValueError(
                "topics must hold finite word probabilities, in rows of equal length; or word "
                "ids, which are integers."
            )
        order = np.argsort(-np.array(rows, dtype=np.float64), axis=1, kind="stable")
        return np.ascontiguousarray(order[:, :n_words]), lengths.pop()
    words = np.array([row[:n_words].astype(np.int64) for row in rows])
    if np.any(words < 0) or np.any(np.diff(np.sort(words, axis=1)) == 0):
        raise ValueError(
            "topics must hold word ids >= 0, each once in a topic (or word probabilities, which "
            "are floats)."
        )
    return words, None


def _count(
    words: NDArray[np.int64], corpus: SegmentedCorpus, window: int | str
) -> tuple[int, NDArray[np.int64], NDArray[np.int64]]:
    """Return the number of windows, of those with each word, and with each pair, of a topic."""
    n_topics, n_words = words.shape
    part_ptr, size = corpus.segment_ptr, len(corpus.tokens)
    if isinstance(window, int):
        size = min(window, size)
    elif window == "document":
        part_ptr = part_ptr[corpus.doc_ptr]
    elif window != "segment":
        raise ValueError(
            f"window must be an integer >= 1, 'segment', 'document' or None, got {window!r}."
        )
    check_memory(40.0 * corpus.n_features, f"X of {corpus.n_features} words: counts")
    places = np.argsort(words, axis=None, kind="stable")
    place_ptr = np.searchsorted(words.ravel()[places], np.arange(corpus.n_features + 1))
    n_w = np.zeros(corpus.n_features, dtype=np.int64)
    n_krq = np.zeros((n_topics, n_words, n_words), dtype=np.int64)
    scratch = np.zeros((2, corpus.n_features), dtype=np.int64)
    n_windows = count_windows(
        corpus.tokens, part_ptr, size, words, places, place_ptr, *scratch, n_w, n_krq
    )
    return n_windows, n_w[words], n_krq


def _sum_log_conditionals(n_kr: NDArray[np.int64], n_krq: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the sums of log (D(v_m, v_l) + 1) / D(v_l) over l < m, 0 where D(v_l) is 0."""
    later, earlier = np.tril_indices(n_kr.shape[1], -1)
    given = n_kr[:, earlier]
    ratio = np.ones(given.shape)
    np.divide(n_krq[:, later, earlier] + 1, given, out=ratio, where=given > 0)
    return np.log(ratio).sum(axis=1)


def _compute_npmi(
    n_windows: int, n_kr: NDArray[np.int64], n_krq: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the (K, M, M) matrices of npmi: 1 on the diagonal, 0 for words that do not occur."""
    occurs = n_kr > 0
    defined = occurs[:, :, None] & occurs[:, None, :]
    always = n_krq == n_windows
    joint = n_krq / n_windows
    marginal = np.log(np.where(occurs, n_kr, 1) / n_windows)
    log_joint = np.log(np.where(always, 0.5, joint) + _EPSILON)
    npmi = (log_joint - marginal[:, :, None] - marginal[:, None, :]) / -log_joint
    npmi = np.where(always, 1.0, np.clip(npmi, -1.0, 1.0))
    ranks = np.arange(n_kr.shape[1])
    npmi[:, ranks, ranks] = 1.0
    return np.where(defined, npmi, 0.0)


def _mean_cosine(npmi: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean cosine between the rows of each matrix and their sum, 0 for rows of 0."""
    total = npmi.sum(axis=1)
    products = np.einsum("kmq,kq->km", npmi, total)
    lengths = np.linalg.norm(npmi, axis=2) * np.linalg.norm(total, axis=1)[:, None]
    cosines = np.zeros(products.shape)
    np.divide(products, lengths, out=cosines, where=lengths > 0)
    return cosines.mean(axis=1)
