"""The chain of a segmented topic model: its arrays, one sweep, its state and its averages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skdp._simd import padded
from skdp.data import SegmentedCorpus
from skdp.inference import align_labels
from skdp.processes import StirlingRatios
from skdp.processes._concentration import draw_concentration
from skdp.topics import _kernels_sweeps as sweeps
from skdp.topics._kernels import (
    Assignments,
    Corpus,
    Prior,
    Ratios,
    Scratch,
    WordCounts,
    add_corpus_estimates,
    log_likelihood_of_words,
    log_prior_of_tables,
)
from skdp.topics._kernels_btigs import weigh_tables
from skdp.topics._kernels_sweeps import SMALLEST_CONCENTRATION
from skdp.topics._priors import update_dirichlet, update_symmetric_dirichlet

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


@dataclass(frozen=True)
class TopicModel:
    """A sample of the model without the corpus: what new documents are folded into.

    Attributes
    ----------
    components : (K, W) float32 array
        Word probabilities of the topics.
    doc_topic_prior : (K,) array
    discount, concentration : float
    """

    components: NDArray[np.float32]
    doc_topic_prior: NDArray[np.float64]
    discount: float
    concentration: float


def flat(corpus: SegmentedCorpus) -> Corpus:
    """Return the arrays of a corpus as kernels take them."""
    return Corpus(corpus.tokens, corpus.segment_ptr, corpus.doc_ptr)


def empty_assignments(corpus: SegmentedCorpus, n_topics: int, sampler: str) -> Assignments:
    """Return the state in which no word has a topic yet."""
    n_segments = len(corpus.segment_ptr) - 1
    n_seats = len(corpus.tokens) if sampler == "ssa" else 0
    return Assignments(
        topics=np.full(len(corpus.tokens), -1, dtype=np.int32),
        tables=np.zeros((n_segments, n_topics), dtype=np.int32),
        segment_tables=np.zeros(n_segments, dtype=np.int64),
        document_tables=np.zeros((len(corpus), n_topics), dtype=np.int32),
        seat_topics=np.zeros(n_seats, dtype=np.int32),
        seat_sizes=np.zeros(n_seats, dtype=np.int32),
    )


def empty_scratch(n_topics: int) -> Scratch:
    """Return vectors for the kernels."""
    integers = [np.zeros(n_topics, dtype=np.int64) for _ in range(3)]
    reals = [np.ones(n_topics) for _ in range(4)]
    vectors = [np.zeros(padded(n_topics), dtype=np.float32) for _ in range(2)]
    return Scratch(integers[0], *reals, *vectors, *integers[1:])


def stirling_ratios(corpus: SegmentedCorpus, discount: float) -> Ratios:
    """Return the table of Stirling ratios U and V for the segments of a corpus."""
    longest = int(np.diff(corpus.segment_ptr).max(initial=0))
    table = StirlingRatios.for_counts(longest + 1, discount)
    return Ratios(table.values, table.row_ptr)


def sampler_weights(stirling: Ratios, sampler: str) -> Ratios:
    """Return the table that a sampler looks its weights up in."""
    if sampler != "btigs":
        return stirling
    weights = np.empty_like(stirling.values)
    weigh_tables(stirling.values, stirling.row_ptr, weights)
    return Ratios(weights, stirling.row_ptr)


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
            self.concentration = max(drawn, SMALLEST_CONCENTRATION)
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


MAX_COUNT = 2**24
"""Counts of a word in a topic are whole numbers in single precision: exact up to here."""


def check_counts(corpus: SegmentedCorpus) -> None:
    """Raise if a word occurs more often than counts can hold."""
    if len(corpus.tokens) > MAX_COUNT:
        frequencies = np.bincount(corpus.tokens)
        if frequencies.max() > MAX_COUNT:
            raise ValueError(
                f"X holds the word {frequencies.argmax()} {frequencies.max()} times; no word may "
                f"occur more than {MAX_COUNT} times."
            )


def empty_counts(n_words: int, n_topics: int) -> WordCounts:
    """Return counts of no words."""
    width = padded(n_topics)
    return WordCounts(np.zeros((n_words, width), dtype=np.float32), np.zeros(width), False)


SMALLEST = np.float32(1e-25)
"""Least probability of a word in fixed topics: a word that no topic knows says nothing."""


def fixed_words(components: NDArray[np.floating]) -> WordCounts:
    """Return given topics (K, W) in the place of counts."""
    n_topics, n_words = components.shape
    phi = np.zeros((n_words, padded(n_topics)), dtype=np.float32)
    phi[:, :n_topics] = np.maximum(components.T, SMALLEST)
    return WordCounts(phi, np.zeros(phi.shape[1]), True)


class TopicState:
    """The state of a chain after a sweep: a live, read-only view; `copy` detaches it."""

    def __init__(self, sampler: SegmentedSampler):
        self._sampler = sampler

    @property
    def topics(self) -> NDArray[np.int32]:
        """Topic z of every token, (n_tokens,)."""
        return _read_only(self._sampler.assignments.topics)

    @property
    def tables_to_document(self) -> NDArray[np.int32]:
        """Tables by segment and topic whose dish was ordered from the document's node."""
        return _read_only(self._sampler.assignments.tables)

    @property
    def tables_to_previous(self) -> NDArray[np.int32]:
        """Tables whose dish was ordered from the segment before: all zero."""
        return np.broadcast_to(np.int32(0), self._sampler.assignments.tables.shape)

    @property
    def concentration(self) -> float:
        """Concentration b."""
        return float(self._sampler.concentration)

    @property
    def discount(self) -> float:
        """Discount a."""
        return float(self._sampler.hyper.discount)

    @property
    def doc_topic_prior(self) -> NDArray[np.float64]:
        """Document-topic prior alpha, (K,)."""
        return _read_only(self._sampler.doc_topic_prior)

    @property
    def topic_word_prior(self) -> float:
        """Topic-word prior gamma."""
        return float(self._sampler.topic_word_prior)

    def log_joint(self) -> float:
        """Return log p(w, z, t | parameters) in the multiplicity form, every constant included."""
        return self._sampler.log_joint()

    def copy(self) -> TopicState:
        """Return a state that later sweeps do not change."""
        sampler = object.__new__(type(self._sampler))
        sampler.__dict__ = dict(self._sampler.__dict__)
        sampler.assignments = Assignments(*(array.copy() for array in sampler.assignments))
        words = sampler._words
        sampler._words = WordCounts(words.counts.copy(), words.totals.copy(), words.fixed)
        sampler._scratch = empty_scratch(sampler.n_topics)
        return TopicState(sampler)


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    view = array.view()
    view.flags.writeable = False
    return view


class TopicAverages:
    """Means over the kept sweeps of one chain, labels following the chain.

    Topics of a chain may trade places, so before a sample is added the means so far are put into
    its order (Hungarian method on the topics' word probabilities).
    """

    def __init__(self) -> None:
        self.n = 0

    def add(self, sampler: SegmentedSampler) -> None:
        """Take the current state into the means."""
        components = sampler.components()
        if self.n == 0:
            n_segments, n_topics = sampler.assignments.tables.shape
            self.components = np.zeros_like(components)
            self.doc_topic = np.zeros((len(sampler.assignments.document_tables), n_topics))
            self.segment_topic = np.zeros((n_segments, n_topics))
            self.doc_topic_prior = np.zeros(n_topics)
            self.topic_word_prior = 0.0
            self.concentration = 0.0
        else:
            self._relabel(align_labels(self.components, components))
        self.components += components
        self.doc_topic_prior += sampler.doc_topic_prior
        self.topic_word_prior += sampler.topic_word_prior
        self.concentration += sampler.concentration
        sampler.add_estimates(self.doc_topic, self.segment_topic)
        self.n += 1

    def means(self, *, in_place: bool) -> dict[str, Any]:
        """Return the means; in place, which ends the averaging, without copies."""

        def mean(total: Any) -> Any:
            if in_place and isinstance(total, np.ndarray):
                total /= self.n
                return total
            return total / self.n

        names = (
            "components doc_topic segment_topic doc_topic_prior topic_word_prior concentration"
        ).split()
        return {f"{name}_": mean(getattr(self, name)) for name in names}

    def _relabel(self, order: NDArray[np.intp]) -> None:
        """Let topic k be what so far was topic ``order[k]``."""
        if np.array_equal(order, np.arange(len(order))):
            return
        self.components = self.components[order]
        self.doc_topic_prior = self.doc_topic_prior[order]
        self.doc_topic = self.doc_topic[:, order]
        self.segment_topic = self.segment_topic[:, order]
