"""Corpora of segmented documents: drawn from topic models, and the Python language reference."""

from __future__ import annotations

import re
from pydoc_data.topics import topics
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import Bunch, check_array

from skdp._checks import (
    as_array,
    as_floats,
    check_choice,
    check_concentration,
    check_count,
    check_discount,
    check_memory,
    is_number,
    shorten,
)
from skdp._numeric._random import make_seed_sequence
from skdp.data import SegmentedCorpus
from skdp.data._ragged import offsets
from skdp.datasets._panels import check_number, check_sizes

# Corpora drawn from the segmented topic models, with the truth.

_MODELS = ("segmented", "sequential", "adaptive")

_MAX_PIECES = 1e7
"""The largest concentration / discount: the draw of a segment takes about as many variables."""


def make_segmented_corpus(
    n_documents: int = 100,
    *,
    n_components: int = 5,
    n_features: int = 200,
    n_segments: int | tuple[int, int] | ArrayLike = 10,
    segment_length: float = 30.0,
    model: str = "segmented",
    doc_topic_prior: float | ArrayLike = 0.5,
    topic_word_prior: float = 0.1,
    discount: float = 0.0,
    concentration: float = 10.0,
    mixing_prior: tuple[float, float] = (1.0, 1.0),
    components: ArrayLike | None = None,
    random_state: int | np.random.RandomState | np.random.Generator | None = None,
) -> Bunch:
    """Draw a corpus of segmented documents from a topic model.

    A document has topic shares ``mu ~ Dir(alpha)``, and its segments j = 1, 2, ... have shares

        nu_j ~ PDP(a, b, rho_j mu + (1 - rho_j) nu_{j-1}),    rho_1 = 1,

    where for j >= 2, rho_j is 1 in the segmented topic model (STM, [1]_ chapter 5), 0 in the
    sequential one (SeqLDA, chapter 6) and drawn from Beta(lambda_S, lambda_T) in the adaptive one
    (AdaTM, chapter 7). Each word has a topic ``z ~ nu_j`` and is drawn from the word probabilities
    ``phi_z``, ``phi_k ~ Dir(gamma)``.

    Parameters
    ----------
    n_documents : int, default=100
        Number of documents, >= 1.
    n_components : int, default=5
        Number of topics K, >= 1. Not used if `components` are given.
    n_features : int, default=200
        Size of the vocabulary V, >= 1. Not used if `components` are given.
    n_segments : int, tuple (low, high) or array-like of shape (n_documents,), default=10
        Number of segments of a document, >= 0: the same for all documents (an int), drawn uniformly
        from a range that includes both ends (a tuple), or given for each document (a list or an
        array).
    segment_length : float, default=30.0
        Mean number of words of a segment, > 0. The numbers are Poisson, so 0 can occur.
    model : {"segmented", "sequential", "adaptive"}, default="segmented"
        What the shares of a segment vary around.
    doc_topic_prior : float or array-like of shape (n_components,), default=0.5
        Dirichlet prior alpha of a document's topic shares, > 0.
    topic_word_prior : float, default=0.1
        Dirichlet prior gamma of a topic's word probabilities, > 0. Not used if `components` are
        given.
    discount : float, default=0.0
        Discount a of the Poisson-Dirichlet process, in [0, 1): 0, or not below b / 10^7.
    concentration : float, default=10.0
        Concentration b of the Poisson-Dirichlet process, > 0: the larger, the closer segments keep
        to what they vary around.
    mixing_prior : (float, float), default=(1.0, 1.0)
        (lambda_S, lambda_T), both > 0: the prior weights of the document and of the previous
        segment. Used only by the adaptive model.
    components : array-like of shape (n_components, n_features), default=None
        Word probabilities of the topics phi; rows are normalized to sum to 1. None: drawn.
    random_state : int, RandomState, Generator or None, default=None
        Source of randomness. An int makes the corpus reproducible.

    Returns
    -------
    Bunch
        data : SegmentedCorpus
            The documents.
        components : ndarray of shape (n_components, n_features)
            Word probabilities of the topics phi.
        doc_topic : ndarray of shape (n_documents, n_components)
            Topic shares of the documents mu.
        segment_topic : ndarray of shape (n_segments, n_components)
            Topic shares of the segments nu; the segments of all documents in order.
        segment_mixing : ndarray of shape (n_segments,)
            Weight rho of the document in what a segment varies around; the rest is the weight of
            the previous segment.
        topics : ndarray of int32, shape (n_tokens,)
            The topic of every token of ``data.tokens``.

    Raises
    ------
    ValueError
        If an argument is out of range, or `components` are not non-negative.

    Notes
    -----
    All draws are exact. A PDP over K categories needs no stick-breaking: with a = 0 it is Dir(b
    base). With a > 0, the jumps of a tempered stable subordinator, stopped at a Gamma(b / a) time
    and divided by their sum, are those of the two-parameter process [2]_ (proposition 21), so the
    categories divide the time in proportion to the base, with independent increments. The time per
    segment grows as b / a. The shares nu themselves are drawn, and words given nu, without seating
    words at tables.

    References
    ----------
    .. [1] L. Du, "Non-parametric Bayesian Methods for Structured Topic Models", PhD thesis,
       Australian National University, 2012.
    .. [2] J. Pitman and M. Yor, "The two-parameter Poisson-Dirichlet distribution derived from a
       stable subordinator", Annals of Probability 25, 1997.

    Examples
    --------
    >>> from skdp.datasets import make_segmented_corpus
    >>> corpus = make_segmented_corpus(3, n_segments=4, model="sequential", random_state=0)
    >>> corpus.data.shape, corpus.doc_topic.shape, corpus.segment_topic.shape
    ((3, 200), (3, 5), (12, 5))
    """
    n_documents = check_count(n_documents, "n_documents", at_least=1)
    check_choice(model, "model", *_MODELS)
    mean_length = check_number(segment_length, "segment_length", above=0.0)
    a = check_discount(discount)
    b = check_concentration(concentration)
    if b > _MAX_PIECES * a > 0.0:
        raise ValueError(
            f"discount must be 0 or at least concentration / {_MAX_PIECES:g}, got discount={a:g} "
            f"and concentration={b:g}."
        )
    lambdas = _check_mixing_prior(mixing_prior)
    gamma = check_number(topic_word_prior, "topic_word_prior", above=0.0)
    phi = None if components is None else _check_components(components)
    if phi is not None:
        n_components, n_features = phi.shape
    n_components = check_count(n_components, "n_components", at_least=1)
    n_features = check_count(n_features, "n_features", at_least=1)
    alpha = _check_doc_topic_prior(doc_topic_prior, n_components)
    segment_range = check_sizes(n_segments, "n_segments", n_documents, "n_documents")
    n_parts = float(np.mean(segment_range[1])) * n_documents
    check_memory(
        8.0 * n_components * (n_features + n_parts + n_documents) + 16.0 * n_parts * mean_length,
        f"A corpus of n_documents={n_documents} with about {n_parts:.4g} segments of "
        f"segment_length={mean_length:g} words, n_components={n_components} and "
        f"n_features={n_features}",
    )

    rng = np.random.default_rng(make_seed_sequence(random_state))
    if phi is None:
        phi = _draw_dirichlet(np.full((n_components, n_features), gamma), rng)
    doc_ptr = offsets(rng.integers(*segment_range, size=n_documents, endpoint=True))
    mu = _draw_dirichlet(np.broadcast_to(alpha, (n_documents, n_components)), rng)
    rho = _draw_mixing(model, doc_ptr, lambdas, rng)
    nu = np.empty((doc_ptr[-1], n_components))
    for d in range(n_documents):
        previous = mu[d]
        for j in range(doc_ptr[d], doc_ptr[d + 1]):
            previous = nu[j] = _draw_pdp(rho[j] * mu[d] + (1.0 - rho[j]) * previous, a, b, rng)

    segment_ptr = offsets(rng.poisson(mean_length, size=len(nu)))
    topics = np.empty(segment_ptr[-1], dtype=np.int32)
    for j, shares in enumerate(nu):
        words = slice(segment_ptr[j], segment_ptr[j + 1])
        topics[words] = rng.choice(n_components, size=words.stop - words.start, p=shares)
    tokens = np.empty(len(topics), dtype=np.int32)
    for k in range(n_components):
        of_topic = np.flatnonzero(topics == k)
        tokens[of_topic] = rng.choice(n_features, size=len(of_topic), p=phi[k])
    return Bunch(
        data=SegmentedCorpus(tokens, segment_ptr, doc_ptr, n_features),
        components=phi,
        doc_topic=mu,
        segment_topic=nu,
        segment_mixing=rho,
        topics=topics,
    )


def _check_mixing_prior(mixing_prior: Any) -> tuple[float, float]:
    values = as_array(mixing_prior, "mixing_prior")
    if values.shape != (2,):
        raise ValueError(
            "mixing_prior must be two positive numbers (lambda_S, lambda_T), got "
            f"{shorten(mixing_prior)}."
        )
    first, second = (check_number(value, "mixing_prior", above=0.0) for value in values.tolist())
    return first, second


def _check_components(components: ArrayLike) -> NDArray[np.float64]:
    given = as_floats(components, "components")
    phi = check_array(given, dtype=np.float64, input_name="components")
    sums = phi.sum(axis=1, keepdims=True)
    if np.any(phi < 0) or np.any(sums == 0):
        raise ValueError("components must hold non-negative numbers, and no row may be all zero.")
    return phi / sums


def _check_doc_topic_prior(prior: Any, n_topics: int) -> NDArray[np.float64]:
    alpha = np.full(n_topics, prior) if is_number(prior) else as_array(prior, "doc_topic_prior")
    numbers = alpha.dtype.kind in "iuf" and np.all(np.isfinite(alpha)) and np.all(alpha > 0)
    if alpha.shape != (n_topics,) or not numbers:
        raise ValueError(
            f"doc_topic_prior must be a finite number > 0 or {n_topics} of them, got "
            f"{shorten(prior)}."
        )
    return alpha.astype(np.float64)


def _draw_mixing(
    model: str, doc_ptr: NDArray[np.int64], lambdas: tuple[float, float], rng: np.random.Generator
) -> NDArray[np.float64]:
    """Draw the weight rho of the document for every segment; it is 1 for first segments."""
    if model == "adaptive":
        rho = rng.beta(*lambdas, size=doc_ptr[-1])
    else:
        rho = np.full(doc_ptr[-1], 1.0 if model == "segmented" else 0.0)
    rho[doc_ptr[:-1][np.diff(doc_ptr) > 0]] = 1.0
    return rho


def _draw_pdp(
    base: NDArray[np.float64], a: float, b: float, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Draw the shares (K,) of categories from PDP(a, b, base)."""
    if a == 0.0:
        return _draw_dirichlet(b * base, rng)
    with np.errstate(divide="ignore"):  # a category that the base rules out gets no time
        log_times = _draw_log_gamma(np.array(b / a), rng) + np.log(base)
    return _normalize(_draw_log_tempered_stable(log_times, a, rng))


def _draw_log_tempered_stable(
    log_times: NDArray[np.float64], a: float, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Draw logarithms of increments X with E exp(-s X) = exp(-time ((1 + s)^a - 1))."""
    # A positive stable X, E exp(-s X) = exp(-time s^a), is accepted with probability exp(-X): on
    # average exp(-time), so an increment is drawn in pieces of time 1 or less.
    n_pieces = np.ceil(np.exp(log_times)).clip(1).astype(np.int64)
    log_scales = np.repeat(log_times - np.log(n_pieces), n_pieces) / a
    log_pieces = np.empty(len(log_scales))
    pending = np.arange(len(log_scales))
    while len(pending):
        log_pieces[pending] = log_scales[pending] + _draw_log_stable(len(pending), a, rng)
        rejected = np.log(rng.standard_exponential(len(pending))) < log_pieces[pending]
        pending = pending[rejected]
    return np.logaddexp.reduceat(log_pieces, np.cumsum(n_pieces) - n_pieces)


def _draw_log_stable(size: int, a: float, rng: np.random.Generator) -> NDArray[np.float64]:
    """Draw logarithms of positive stable variables, E exp(-s X) = exp(-s^a) (Kanter, 1975)."""
    angle = np.pi * (1.0 - rng.random(size))
    log_ratio = np.log(np.sin((1.0 - a) * angle)) - np.log(rng.standard_exponential(size))
    return np.log(np.sin(a * angle)) - np.log(np.sin(angle)) / a + (1.0 - a) / a * log_ratio


def _draw_dirichlet(prior: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
    """Draw from Dirichlet distributions along the last axis; entries of 0 stay 0."""
    return _normalize(_draw_log_gamma(prior, rng))


def _draw_log_gamma(shapes: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
    """Draw logarithms of Gamma(shape, 1) variables: those of small shapes would underflow."""
    with np.errstate(divide="ignore", over="ignore"):  # a shape of 0, or next to it
        boost = rng.standard_exponential(shapes.shape) / shapes
    return np.log(rng.standard_gamma(shapes + 1.0)) - boost


def _normalize(log_weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return weights that sum to 1 along the last axis."""
    weights = np.exp(log_weights - log_weights.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True)


# The Python language reference.


_DESCR = """\
The Python language reference
-----------------------------

Sections of the Python language reference, and some of the library reference, which every CPython
includes for ``help()``: English technical prose, about 75 documents of one to 150 paragraphs. The
text comes from the running interpreter, so it varies a little between versions of Python.

Headings, grammar, tables, signatures, code and interpreter sessions are left out. Some sections
quote others at length; a paragraph is kept only in the shortest section in which it occurs.

Copyright (c) Python Software Foundation, under its license: see ``license()``.
"""

_MIN_WORDS = 8
_MIN_PLAIN = 0.55
_MIN_FUNCTION = 0.12
"""Bounds for a paragraph of prose: number of words, share of words without the punctuation of code,
and share of English function words."""

_FUNCTION_WORDS = frozenset(
    "a an and are as at be been but by can do does for from has have if in into is it its may must "
    "no not of on only or so such than that the their then there these they this to used using "
    "was when where whether which while will with would".split()
)
_PLAIN_WORD = re.compile(r"[\"“‘(]*[A-Za-z][A-Za-z'’-]*[.,;:?!\"”’)]*")
_NOT_PROSE = re.compile(
    r"""
      \A\s*(?:\.\.\.\s|\$\s|\(Pdb\)|\#)  # begins as a session, a comment
    | ^\s*(?:>>>|\|)                     # session, table
    | ^\s*\+[-=+]{3}                     # table
    | ^\s*([*=\-~^"'+\#])\1{3,}\s*$      # underlined heading
    | ::= | ^\s{2,}[a-z]\w*:[ ]+\S       # grammar, before and from Python 3.14
    | \s{2}\#                            # code with a comment
    | ^\s*(?:async|class|def|elif|else|except|finally|for|if|match|try|while|with)\b.*[:(]\n  # code
    """,
    re.MULTILINE | re.VERBOSE,
)

_MARKUP = (
    (re.compile(r"(?<=\w-)\s+(?=\w)"), ""),  # words broken at their hyphen
    (re.compile(r"\s+"), " "),
    (re.compile(r"^(?:[*•-]|\d+\.|\[\d+\]) "), ""),  # bullets and footnotes' numbers
    (re.compile(r"(?<!\w)(\*{1,2})(?=\w)(.+?)(?<=[\w)])\1(?!\w)"), r"\2"),  # emphasis
    (re.compile(r" \[\d+\](?!\w)"), ""),  # references to footnotes
    (re.compile(r"^(?:Changed|New|Added|Deprecated)[\w ,]* version \d[^:]*: "), ""),
)


def load_python_reference() -> Bunch:
    """Return the sections of the Python language reference as documents of paragraphs.

    This is real prose that needs no download: `pydoc_data.topics`, which is part of every CPython.

    Returns
    -------
    Bunch
        Dictionary-like, with

        data : list of list of str
            The documents, each a list of its paragraphs in reading order, as input for
            `skdp.feature_extraction.SegmentVectorizer`.
        titles : list of str
            The headings of the documents.
        names : list of str
            The sorted names by which ``help()`` finds the documents, which are in the same order.
        DESCR : str
            Description of the data and of how they were cleaned.

    Examples
    --------
    >>> from skdp.datasets import load_python_reference
    >>> reference = load_python_reference()
    >>> i = reference.names.index("assert")
    >>> reference.titles[i]
    'The assert statement'
    >>> reference.data[i][0]
    'Assert statements are a convenient way to insert debugging assertions into a program:'
    """
    paragraphs = {name: _prose(text) for name, text in topics.items()}
    names, seen = [], set()
    for name in sorted(topics, key=lambda name: (len(topics[name]), name)):
        paragraphs[name] = [p for p in dict.fromkeys(paragraphs[name]) if p not in seen]
        seen.update(paragraphs[name])
        if paragraphs[name]:
            names.append(name)
    names.sort()
    return Bunch(
        data=[paragraphs[name] for name in names],
        titles=[_title(topics[name]) for name in names],
        names=names,
        DESCR=_DESCR,
    )


def _title(text: str) -> str:
    """Return the heading, the first line, without markup."""
    return re.sub(r'["*]', "", text.strip().split("\n", 1)[0])


def _prose(text: str) -> list[str]:
    """Return the paragraphs of prose of a section."""
    blocks = re.split(r"\n\s*\n", text.strip("\n"))
    paragraphs = [_clean(block) for block in blocks if not _NOT_PROSE.search(block)]
    return [paragraph for paragraph in paragraphs if _is_prose(paragraph)]


def _clean(block: str) -> str:
    """Return a block as one line of plain text."""
    block = block.strip()
    for pattern, replacement in _MARKUP:
        block = pattern.sub(replacement, block)
    return block


def _is_prose(paragraph: str) -> bool:
    words = paragraph.split()
    plain = sum(_PLAIN_WORD.fullmatch(word) is not None for word in words)
    function = sum(word.strip('.,;:()"').lower() in _FUNCTION_WORDS for word in words)
    return (
        len(words) >= _MIN_WORDS
        and plain >= _MIN_PLAIN * len(words)
        and function >= _MIN_FUNCTION * len(words)
    )
