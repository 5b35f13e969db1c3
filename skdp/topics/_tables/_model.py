"""A sample of a table model without its corpus, and the fold-in of new documents."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skdp._numeric._random import stream_of_content
from skdp.data import SegmentedCorpus
from skdp.topics._shared._arrays import fixed_words, flat
from skdp.topics._shared._fold_in import FoldIn, Halt, Shares, slices
from skdp.topics._shared._kernels import WordCounts
from skdp.topics._tables._arrays import (
    add_seats,
    empty_assignments,
    empty_levels,
    empty_particles,
    empty_predictive,
    empty_scratch,
    empty_seen,
    enter_words,
    make_groups,
    sampler_weights,
    stirling_ratios,
    writable,
)
from skdp.topics._tables._kernels import Prior, Ratios
from skdp.topics._tables._kernels_left_to_right import ESTIMATES
from skdp.topics._tables._kernels_sweeps import sweeps_of


@dataclass(frozen=True)
class TableModel:
    """A sample of the model without the corpus, into which new documents are folded."""

    components: NDArray[np.float32]  # (K, W)
    doc_topic_prior: NDArray[np.float64]  # (K,)
    discount: float
    concentration: float
    parents: tuple[float, float]  # lambda_S and lambda_T: of the document, of the previous segment

    def prepare(self, corpus: SegmentedCorpus, settings: FoldIn) -> "TableFoldIn":
        """Return the fold-in of documents of the corpus, with its tables precomputed."""
        weights = self._weights(corpus, settings.options["sampler"])
        return TableFoldIn(self, settings, fixed_words(self.components), weights)

    def prepare_likelihood(self, corpus: SegmentedCorpus, settings: FoldIn) -> "TableLikelihood":
        """Return the likelihood estimator for documents of the corpus, with precomputed tables."""
        weights = self._weights(corpus, "btigs")  # the fastest, whatever the sampler of the fit
        return TableLikelihood(self, settings, fixed_words(self.components), weights)

    def prior(self, n_segments: int) -> Prior:
        """Return the prior of new segments."""
        # Arrays are copied: in a model that was loaded read-only (joblib's mmap_mode) they would
        # have another numba type, for which all kernels would be recompiled.
        return Prior(
            np.array(self.doc_topic_prior), 0.0, self.discount,
            np.full(n_segments, self.concentration), *self.parents,
        )  # fmt: skip

    def _weights(self, corpus: SegmentedCorpus, sampler: str) -> Ratios:
        chained = self.parents[1] > 0.0
        return sampler_weights(stirling_ratios(corpus, self.discount, chained=chained), sampler)


@dataclass(frozen=True, eq=False)
class TableFoldIn:
    """Fold-in of documents by the samplers of the table models."""

    model: TableModel
    settings: FoldIn
    words: WordCounts
    weights: Ratios

    def __call__(self, corpus: SegmentedCorpus, key: NDArray[np.uint64], halt: Halt) -> Shares:
        """Return E[mu] (D, K) and E[nu] (J, K)."""
        model, settings = self.model, self.settings
        options: dict[str, Any] = settings.options
        chained = model.parents[1] > 0.0
        arrays, n_topics = flat(corpus), len(model.doc_topic_prior)
        n_segments = len(corpus.segment_ptr) - 1
        doc_topic = np.zeros((len(corpus), n_topics))
        segment_topic = np.zeros((n_segments, n_topics))
        seats = options["sampler"] == "ssa"
        assignments = empty_assignments(arrays, n_topics, seats=seats, chained=chained)
        prior = model.prior(n_segments)
        groups = make_groups(corpus, options["concentration_prior"], options["each_segment"])
        drawn = np.full(len(groups.group_ptr) - 1, model.concentration)
        weights, scratch = writable(self.weights), empty_scratch(n_topics)
        enter_words(self.words, 0.0, scratch)
        levels = empty_levels(arrays, n_topics, chained=chained)
        place, rng = np.zeros(3, dtype=np.int64), np.zeros(4, dtype=np.uint64)
        lengths = np.diff(corpus.segment_ptr)
        fold_in = sweeps_of(options["sampler"], chained=chained).fold_in
        for work in slices(halt):
            while n_seats := fold_in(
                arrays,
                lengths,
                assignments,
                self.words,
                prior,
                groups,
                options["each_segment"],
                drawn,
                weights,
                scratch,
                levels,
                settings.n_sweeps,
                settings.burn_in,
                work,
                place,
                key,
                doc_topic,
                segment_topic,
                rng,
            ):
                assignments = add_seats(assignments, n_seats)
            if place[0] == len(corpus):
                break
        return doc_topic, segment_topic


@dataclass(frozen=True, eq=False)
class TableLikelihood:
    """Estimates of the probability of documents, from left to right."""

    model: TableModel
    settings: FoldIn
    words: WordCounts
    weights: Ratios

    def __call__(
        self, corpus: SegmentedCorpus, key: NDArray[np.uint64], n_particles: int
    ) -> NDArray[np.float64]:
        """Return the log of an estimate of the probability of every document, (D,)."""
        model, options = self.model, self.settings.options
        chained, n_topics = model.parents[1] > 0.0, len(model.doc_topic_prior)
        estimate_document = ESTIMATES[chained]
        unseated = empty_assignments(flat(corpus), n_topics, seats=False, chained=chained)
        weights, scratch = writable(self.weights), empty_scratch(n_topics)
        enter_words(self.words, 0.0, scratch)
        levels = empty_levels(flat(corpus), n_topics, chained=chained)
        rng = np.zeros(4, dtype=np.uint64)
        out = np.zeros(len(corpus))
        for d in range(len(corpus)):
            document = corpus[d : d + 1]
            lengths = np.diff(document.segment_ptr)
            prior = model.prior(len(lengths))
            groups = make_groups(document, options["concentration_prior"], options["each_segment"])
            n_groups = len(groups.group_ptr) - 1
            stream_of_content(key, document.tokens, lengths, rng)
            out[d] = estimate_document(
                flat(document),
                empty_seen(document),
                self.words,
                prior,
                groups,
                empty_particles(n_particles, document, prior, n_groups, chained=chained),
                unseated,
                empty_predictive(len(lengths), n_topics),
                weights,
                scratch,
                levels,
                rng,
            )
        return out
