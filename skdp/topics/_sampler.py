"""The chain of a segmented topic model."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skdp.data import SegmentedCorpus
from skdp.processes._concentration import draw_concentration
from skdp.topics import _kernels_sweeps as sweeps
from skdp.topics._arrays import (
    empty_assignments,
    empty_counts,
    empty_scratch,
    fixed_words,
    flat,
    sampler_weights,
    stirling_ratios,
)
from skdp.topics._kernels import (
    Assignments,
    Prior,
    WordCounts,
    add_corpus_estimates,
    log_likelihood_of_words,
    log_prior_of_tables,
)
from skdp.topics._kernels_sweeps import LARGEST_CONCENTRATION, SMALLEST_CONCENTRATION
from skdp.topics._model import TopicModel
from skdp.topics._priors import update_dirichlet, update_symmetric_dirichlet
from skdp.topics._state import TopicState

SAMPLERS = {"btigs": sweeps.BTIGS, "cmgs": sweeps.CMGS, "ssa": sweeps.SSA}

START_CONCENTRATION = 10.0
START_TOPIC_WORD_PRIOR = 0.05
"""Where the hyper-parameters that are learnt start."""


class HyperParameters(NamedTuple):
    """What the user said of the priors: numbers are fixed, the rest is learnt in the fit.

    `doc_topic_prior` is an array (K,), "auto" or "auto-symmetric"; the others a number or "auto".
    """

    doc_topic_prior: Any
    topic_word_prior: Any
    dirichlet_prior: tuple[float, float]
    discount: float
    concentration: Any
    concentration_prior: tuple[float, float]


class SegmentedSampler:
    """Markov chain of the segmented topic model over one corpus.

    Parameters
    ----------
    corpus : SegmentedCorpus
    n_topics : int
    sampler : {"btigs", "cmgs", "ssa"}
    hyper : HyperParameters
    init : "random" or (K, W) array
        Topics that the words are first seated by; "random": uniformly random topics.
    init_stream, stream : (4,) uint64
        Streams of the first state and of the sweeps.
    """

    def __init__(
        self,
        corpus: SegmentedCorpus,
        n_topics: int,
        sampler: str,
        hyper: HyperParameters,
        init: Any,
        init_stream: NDArray[np.uint64],
        stream: NDArray[np.uint64],
    ):
        self.n_topics = n_topics
        self.sampler = sampler
        self.hyper = hyper
        self.stream = stream
        start = hyper.doc_topic_prior
        if isinstance(start, str):
            start = np.full(n_topics, 1.0 / n_topics)
        self.doc_topic_prior = start
        self.topic_word_prior = (
            START_TOPIC_WORD_PRIOR if hyper.topic_word_prior == "auto" else hyper.topic_word_prior
        )
        self.concentration = (
            START_CONCENTRATION if hyper.concentration == "auto" else hyper.concentration
        )
        self.attach(corpus)
        self.assignments = empty_assignments(corpus, n_topics, sampler)
        self._seat_words(init, init_stream)

    def attach(self, corpus: SegmentedCorpus) -> None:
        """Give the chain its corpus (again) and build what follows from it."""
        self._corpus = flat(corpus)
        self._stirling = stirling_ratios(corpus, self.hyper.discount)
        self._weights = sampler_weights(self._stirling, self.sampler)
        self._scratch = empty_scratch(self.n_topics)
        self._n_words = corpus.n_features
        if hasattr(self, "assignments"):
            self._count_words()

    def detach(self) -> None:
        """Drop the corpus and what follows from it; `attach` brings it back."""
        for name in [name for name in self.__dict__ if name.startswith("_")]:
            del self.__dict__[name]

    def _seat_words(self, init: Any, stream: NDArray[np.uint64]) -> None:
        """Draw the first state: random topics, or with topics given one word after the other."""
        if isinstance(init, str):
            sweeps.seat_randomly(self._corpus, self.assignments, stream)
        else:
            self._sweep_words(fixed_words(init), stream)
        self._count_words()

    def _count_words(self) -> None:
        """Count words by topic from the assignments."""
        self._words = empty_counts(self._n_words, self.n_topics)
        np.add.at(self._words.counts, (self._corpus.tokens, self.assignments.topics), 1)
        self._words.totals[:] = self._words.counts.sum(axis=0, dtype=np.float64)

    @property
    def prior(self) -> Prior:
        """The current parameters as kernels take them."""
        return Prior(
            self.doc_topic_prior, self.topic_word_prior, self.hyper.discount, self.concentration
        )

    def _sweep_words(self, words: WordCounts, stream: NDArray[np.uint64]) -> None:
        prior = self.prior._replace(gamma=0.0) if words.fixed else self.prior
        sweeps.sweep_corpus(
            SAMPLERS[self.sampler],
            self._corpus,
            self.assignments,
            words,
            prior,
            self._weights,
            self._scratch,
            stream,
        )

    def sweep(self) -> None:
        """Draw every word's topic and tables once, then the parameters that are learnt."""
        self._sweep_words(self._words, self.stream)
        hyper = self.hyper
        if hyper.concentration == "auto":
            drawn = draw_concentration(
                np.diff(self._corpus.segment_ptr),
                self.assignments.segment_tables,
                hyper.discount,
                self.concentration,
                *hyper.concentration_prior,
                self.stream,
            )
            self.concentration = min(max(drawn, SMALLEST_CONCENTRATION), LARGEST_CONCENTRATION)
        if isinstance(hyper.doc_topic_prior, str):
            self.doc_topic_prior = update_dirichlet(
                self.doc_topic_prior,
                self.assignments.document_tables,
                *hyper.dirichlet_prior,
                symmetric=hyper.doc_topic_prior == "auto-symmetric",
            )
        if hyper.topic_word_prior == "auto":
            self.topic_word_prior = update_symmetric_dirichlet(
                self.topic_word_prior, self._words.counts.T, *hyper.dirichlet_prior
            )

    @property
    def word_counts(self) -> NDArray[np.float32]:
        """M_kw, words by topic, (K, W)."""
        return self._words.counts[:, : self.n_topics].T

    def components(self) -> NDArray[np.float64]:
        """Return E[phi] given the state, (K, W) (5.7)."""
        components = self.word_counts.astype(np.float64, order="C")
        components += self.topic_word_prior
        components /= components.sum(axis=1, keepdims=True)
        return components

    def add_estimates(
        self, doc_topic: NDArray[np.float64], segment_topic: NDArray[np.float64]
    ) -> None:
        """Add E[mu] (D, K) and E[nu] (J, K) given the state to running sums."""
        add_corpus_estimates(
            self._corpus,
            self.assignments,
            self.prior,
            self._scratch.n_k,
            doc_topic,
            segment_topic,
        )

    def log_joint(self) -> float:
        """Return log p(w, z, t), the multiplicity form (5.2)."""
        return log_prior_of_tables(
            self._corpus, self.assignments, self.prior, self._stirling, self._scratch.n_k
        ) + log_likelihood_of_words(
            self._words.counts, self._words.totals, self.n_topics, self.topic_word_prior
        )

    def scalars(self) -> dict[str, float]:
        """Return what the trace records."""
        return {
            "log_joint": self.log_joint(),
            "concentration": float(self.concentration),
            "doc_topic_prior_sum": float(self.doc_topic_prior.sum()),
            "topic_word_prior": float(self.topic_word_prior),
            "n_active_components": float(np.count_nonzero(self._words.totals)),
            "n_tables": float(self.assignments.segment_tables.sum()),
        }

    def model(self) -> TopicModel:
        """Return the current sample as a model."""
        return TopicModel(
            self.components().astype(np.float32),
            self.doc_topic_prior.copy(),
            self.hyper.discount,
            float(self.concentration),
        )

    def state(self) -> TopicState:
        """Return a read-only view of the state."""
        return TopicState(self)

    def copy(self) -> SegmentedSampler:
        """Return a sampler that holds the same state in arrays of its own."""
        other = object.__new__(type(self))
        other.__dict__ = dict(self.__dict__)
        other.assignments = Assignments(*(array.copy() for array in self.assignments))
        words = self._words
        other._words = WordCounts(words.counts.copy(), words.totals.copy(), words.fixed)
        other._scratch = empty_scratch(self.n_topics)
        return other
