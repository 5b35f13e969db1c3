"""Probability of documents under fixed topics: unbiased estimates, from left to right."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from skdp._checks import check_count, check_memory
from skdp.data import SegmentedCorpus, check_corpus
from skdp.topics._shared._arrays import sort_words
from skdp.topics._shared._fold_in import FoldIn

_CHUNK_TOKENS = 2_000


class LikelihoodMixin:
    """Mixin of topic models that estimate p(document); stored models have `prepare_likelihood`."""

    def log_likelihood(self, X: Any, *, n_particles: int = 20) -> NDArray[np.float64]:
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
) -> NDArray[np.float64]:
    """Return the log of the mean over models of the estimates for every document."""
    n_chunks = max(1, min(len(corpus), len(corpus.tokens) // _CHUNK_TOKENS))
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
