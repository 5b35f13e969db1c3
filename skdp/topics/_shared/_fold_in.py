"""Predictions for documents under given topics: fold-in, likelihoods, and completion.

Kernels of fold-ins have arguments in common. Every document has its own chain of `n_sweeps`, the
first `burn_in` of which are discarded, and its own stream `rng`, which its content and `key`
determine. A call ends after the sweep that completes `work`, or `amount`: words, segments and
documents, counted once per sweep. The next call continues from `place`: the document, and the
number of its finished sweeps. Outputs are zero on first entry.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from skdp._checks import check_count, check_memory
from skdp._executors import choose_executor
from skdp._numeric import Floats, Ints, Places
from skdp._numeric._random import find_second_halves
from skdp.data import PartitionedCorpus, SegmentedCorpus, check_corpus
from skdp.data._ragged import offsets
from skdp.topics._kernels._counts import score_tokens
from skdp.topics._shared._arrays import Stream, alternate_words, sort_words

_CHUNK_TOKENS = 20_000

_SLICE_SECONDS = 0.1
_FIRST_SLICE = 20_000

Shares = tuple[NDArray[Any], ...]
"""Topic shares of documents (D, ...) and of segments (J, K), and what else a model returns."""


class FoldIn(NamedTuple):
    """Settings of a fold-in."""

    n_sweeps: int
    burn_in: int
    key: Stream
    n_jobs: int | None
    options: dict[str, Any]  # of a family of models

    @property
    def scale(self) -> float:
        """Factor from sums over the kept sweeps to means."""
        return 1.0 / (self.n_sweeps - self.burn_in)


class Halt:
    """Flag that stops workers in other threads whose results are no longer needed."""

    def __init__(self) -> None:
        self.called = False  # always in copies in other processes: joblib ends such workers


def slices(halt: Halt, corpus: SegmentedCorpus) -> Iterator[tuple[int, Places, Stream]]:
    """Yield the work of the next kernel call, its place and stream, to the last document or a halt.

    Python cannot raise a KeyboardInterrupt before a kernel returns, so a call takes about a tenth
    of a second; the time per word differs a thousandfold. Splits do not affect the result.
    """
    work, place, rng = float(_FIRST_SLICE), np.zeros(3, np.int64), np.zeros(4, np.uint64)
    while not halt.called and place[0] < len(corpus):
        start = time.perf_counter()
        yield int(work), place, rng
        work *= min(max(_SLICE_SECONDS / max(time.perf_counter() - start, 1e-9), 0.25), 2.0)
        work = max(work, 1.0)


def run_in_threads(
    function: Callable[..., Any], parts: list[tuple[Any, ...]], n_jobs: int | None
) -> list[Any]:
    """Return ``function(*part, halt)`` for every part; an exception here halts the workers."""
    halt = Halt()
    try:
        results = Parallel(n_jobs=n_jobs, prefer="threads", max_nbytes=None)(
            delayed(function)(*part, halt) for part in parts
        )
    except BaseException:
        halt.called = True
        raise
    return list(results)


class Folding(Protocol):
    """A function that folds documents in; it is a class, so that it can be pickled.

    Instances are equal only to themselves (``eq=False``): joblib hashes what it sends to dask.
    """

    def __call__(self, corpus: SegmentedCorpus, key: Stream, halt: Halt) -> Shares:
        """Return the shares of the documents and of their segments, or anything if halted."""


class Scoring:
    """A fold-in with a method `score`, which returns shares and, in third place, probabilities."""

    score: Callable[..., Shares]

    def __call__(self, corpus: SegmentedCorpus, key: Stream, halt: Halt) -> Shares:
        """Return the shares of documents and of segments, and what else a model returns."""
        nothing = np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.int64)
        shares = self.score(corpus, key, nothing, halt)
        return *shares[:2], *shares[3:]


class Model(Protocol):
    """A stored sample of a topic model; if it has `bursts`, fold-ins also return their means."""

    @property
    def components(self) -> NDArray[np.float32]:
        """Word probabilities of the topics, (K, W)."""

    def prepare(self, corpus: SegmentedCorpus, settings: FoldIn) -> Folding:
        """Return the fold-in of documents of the corpus, with its tables precomputed."""


def scores_words(model: Any) -> bool:
    """Return whether the fold-in of a model itself finds the probabilities of further words."""
    return hasattr(model, "burst_scope") and model.bursts is not None


def fold_in_documents(
    corpus: SegmentedCorpus,
    models: list[Any],
    settings: FoldIn,
    further: tuple[Ints, Places] | None = None,
) -> Iterator[Shares]:
    """Yield topic shares of documents and of segments for each model, with its topics fixed.

    Models that score words add the probabilities of `further` words, of segments in order.
    """
    corpus = alternate_words(corpus)  # their own order has no meaning, and would change the draws
    # Chunks do not affect the result, because each document has its own random stream.
    n_chunks = max(1, min(len(corpus), len(corpus.tokens) // _CHUNK_TOKENS))
    bounds = np.linspace(0, len(corpus), n_chunks + 1).astype(int)
    for m, model in enumerate(models):
        fold_in = model.prepare(corpus, settings)
        key = settings.key + np.uint64(m)  # so that errors are independent
        chunks: list[Any] = [(corpus[begin:end], key) for begin, end in pairwise(bounds)]
        if further is not None and scores_words(model):
            fold_in, at = fold_in.score, corpus.doc_ptr[bounds]
            ends = np.searchsorted(further[1], at)
            chunks = [
                (*chunk, (further[0][slice(*own)], further[1][slice(*own)] - first))
                for chunk, own, first in zip(chunks, pairwise(ends), at[:-1], strict=True)
            ]
        parts = run_in_threads(fold_in, chunks, settings.n_jobs)
        yield tuple(np.concatenate(arrays) for arrays in zip(*parts, strict=True))


# Probability of documents under fixed topics: unbiased estimates, from left to right.


_LIKELIHOOD_TOKENS = 2_000


class LikelihoodMixin:
    """Mixin of topic models that estimate p(document); stored models have `prepare_likelihood`."""

    def log_likelihood(self, X: Any, *, n_particles: int = 20) -> Floats:
        r"""Return the log probability of all words of every document, with the topics fixed.

        This is log p(words | topics, priors), with the shares of documents and segments, the tables
        and the topics of words integrated out, and concentrations, too, if documents or segments
        have their own. It is estimated from left to right: particles, each a state of the words so
        far, predict the next word, absorb it, and are moved by sweeps over the words so far.

        Parameters
        ----------
        X : as in `fit`
        n_particles : int, default=20
            Number of particles R per document. Time is proportional to R: about that of 60 R sweeps
            over the documents for each stored sample, and more for hundreds of segments in a chain.

        Returns
        -------
        (n_documents,) array
            Natural logarithm, summed over all tokens of a document; 0 if there are none, -inf if
            one of them is impossible under given topics.

        See Also
        --------
        score_samples : The score of half of the tokens given the other half; much faster.

        Notes
        -----
        The estimate of the *probability* is unbiased for any number of particles: the mean of
        ``exp(log_likelihood(X))`` over random streams is the mean of p(words) over the stored
        samples of all chains. The *logarithm* is therefore too low on average, by about half its
        variance; both decrease as 1 / R for large R. Long documents need more particles. Estimates
        with different numbers of particles are nearly independent: their spread, and how much they
        rise with twice as many particles, show how far off they may be.

        Let :math:`x_r` be the particles which, weighted by :math:`v_r`, are draws given the words
        before n. If the topic and seat of word n are drawn from their posterior given :math:`x_r`,
        the new states weighted by :math:`v_r\, p(w_n \mid x_r)` are draws given the words up to n.
        Sweeps preserve this, and so does resampling (systematic, when the effective number of
        particles falls below R / 2), which sets the weights to their mean. By induction, the
        expectation of the product of these means is p(words). This does not hold for the product of
        the mean predictive probabilities of particles that are never resampled, as in [1]_.

        The particles of a document are swept after each of its first 30 words, then whenever the
        number of words has grown by a thirtieth; the words of the current segment are also swept on
        their own by the same rule. The random stream of a document is keyed by its content and the
        fit: the result does not depend on the other documents or on `n_jobs`. The words of a
        segment are taken in the order of their ids, so their order in X has no effect.

        References
        ----------
        .. [1] H. M. Wallach, I. Murray, R. Salakhutdinov and D. Mimno (2009). Evaluation methods
           for topic models. ICML.
        .. [2] W. Buntine (2009). Estimating likelihoods for topic models. ACML.
        .. [3] P. Del Moral, A. Doucet and A. Jasra (2006). Sequential Monte Carlo samplers. Journal
           of the Royal Statistical Society B 68.
        """
        check_is_fitted(self)
        n_particles = check_count(n_particles, "n_particles", at_least=1)
        estimator: Any = self
        corpus = sort_words(check_corpus(estimator, X, reset=False))
        longest = int(np.diff(corpus.segment_ptr[corpus.doc_ptr]).max(initial=0))
        check_memory(
            4.0 * n_particles * longest,
            f"n_particles={n_particles} of a document of {longest} words",
        )
        settings = estimator._fold_in_settings()._replace(key=estimator._likelihood_key)
        return estimate_corpus(corpus, estimator._models, settings, n_particles)


def estimate_corpus(
    corpus: SegmentedCorpus, models: list[Any], settings: FoldIn, n_particles: int
) -> Floats:
    """Return the log of the mean over models of the estimates for every document."""
    n_chunks = max(1, min(len(corpus), len(corpus.tokens) // _LIKELIHOOD_TOKENS))
    bounds = np.linspace(0, len(corpus), n_chunks + 1).astype(int)
    parts = [corpus[begin:end] for begin, end in pairwise(bounds)]
    estimates = np.empty((len(models), len(corpus)))
    for m, model in enumerate(models):
        estimate = model.prepare_likelihood(corpus, settings)
        key = settings.key + np.uint64(m)  # so that errors are independent
        if len(parts) == 1:  # a pool costs more than a small corpus
            estimates[m] = estimate(corpus, key, n_particles)
        else:
            found = Parallel(n_jobs=settings.n_jobs, prefer="threads", max_nbytes=None)(
                delayed(estimate)(part, key, n_particles) for part in parts
            )
            estimates[m] = np.concatenate(found)
        estimates[m, holds_impossible_words(corpus, model.components)] = -np.inf
    return np.logaddexp.reduce(estimates, axis=0) - np.log(len(models))


def holds_impossible_words(
    corpus: SegmentedCorpus, components: NDArray[np.float32]
) -> NDArray[np.bool_]:
    """Return whether each document has a word that is impossible under all topics."""
    impossible = ~np.asarray(components.any(axis=0))[corpus.tokens]
    before = np.concatenate([[0], np.cumsum(impossible)])
    return np.diff(before[corpus.segment_ptr[corpus.doc_ptr]]) > 0


# Expected topics of the words of segments, given the shares of the segments.


def expect_topics(
    tokens: Ints, lengths: Places, segment_topic: Floats, components: NDArray[np.floating]
) -> Floats:
    """Return the expected number of words of each topic in each segment of a document, (J, K)."""
    sums = np.zeros(segment_topic.shape)
    for j, (begin, end) in enumerate(pairwise(offsets(lengths).tolist())):
        weights = segment_topic[j, :, np.newaxis] * components[:, tokens[begin:end]]
        totals = weights.sum(axis=0)
        # Words that are impossible under all topics are not counted.
        np.divide(weights, totals, out=weights, where=totals > 0.0)
        sums[j] = weights.sum(axis=1)
    return sums


# Document completion: a random half of a document's words predicts the other half.


def split_words(corpus: SegmentedCorpus) -> tuple[SegmentedCorpus, Ints, Places]:
    """Return random halves of each segment's words, regardless of order: the observed half, sorted,
    in the same segments, the scored half, and the segment of each scored word.
    """
    corpus = sort_words(corpus)
    is_scored = find_second_halves(corpus.segment_ptr, corpus.tokens)
    lengths = np.diff(corpus.segment_ptr)
    segment_ptr = offsets(lengths - lengths // 2)
    observed = corpus._like(corpus.tokens[~is_scored], (corpus.doc_ptr, segment_ptr))
    segment_of = np.repeat(np.arange(len(lengths)), lengths // 2)
    return observed, corpus.tokens[is_scored], segment_of


def score_documents(
    corpus: SegmentedCorpus, models: list[Any], settings: FoldIn
) -> tuple[Floats, int]:
    """Return the log probability of every document's scored tokens, and their total number."""
    observed, scored, segment_of = split_words(corpus)
    if len(scored) == 0:
        return np.zeros(len(corpus)), 0
    probabilities = np.zeros(len(scored))  # averaged over the models
    fold_ins = fold_in_documents(observed, models, settings, (scored, segment_of))
    for model, shares in zip(models, fold_ins, strict=True):
        if scores_words(model):
            probabilities += shares[2]
            continue
        if getattr(model, "bursts", None) is None:
            score_tokens(scored, segment_of, shares[1], model.components, probabilities)
            continue
        score_tokens(scored, segment_of, shares[2], model.components, probabilities)
        probabilities += model.own_words(observed, shares[3], scored, segment_of)
    document_of = np.repeat(np.arange(len(corpus)), np.diff(corpus.doc_ptr))[segment_of]
    log_probabilities = np.zeros(len(corpus))
    with np.errstate(divide="ignore"):  # log 0 is right for words that given topics exclude
        np.add.at(log_probabilities, document_of, np.log(probabilities / len(models)))
    return log_probabilities, len(scored)


class ScoredPartition(NamedTuple):
    """A partition in its process; an executor calls its method by name."""

    corpus: SegmentedCorpus

    def score(self, estimator: Any) -> tuple[float, int]:
        """Return the log probability of the scored tokens, and their number."""
        log_probabilities, n_scored = estimator._score(self.corpus)
        return float(log_probabilities.sum()), n_scored


def score_partitions(estimator: Any, X: PartitionedCorpus, n_jobs: int | None) -> tuple[float, int]:
    """Return the log probability of all scored tokens, and their number."""
    with choose_executor(n_jobs) as executor:
        executor.place(X._parts, ScoredPartition)
        shared = executor.share(estimator)
        calls = [executor.call(part.number, "score", shared) for part in X._parts]
        total, n_scored = executor.sum(calls)
    return float(total), int(n_scored)
