"""A sample of a table model without its corpus, and how new documents are folded into it."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skdp.data import SegmentedCorpus
from skdp.topics._shared._arrays import fixed_words, flat
from skdp.topics._shared._fold_in import FoldIn, Halt, Shares, slices
from skdp.topics._shared._kernels import WordCounts
from skdp.topics._tables import _kernels_sweeps as sweeps
from skdp.topics._tables._arrays import (
    add_seats,
    empty_assignments,
    empty_levels,
    empty_scratch,
    sampler_weights,
    stirling_ratios,
    writable,
)
from skdp.topics._tables._kernels import Prior, Ratios
from skdp.topics._tables._kernels_left_to_right import estimate_documents

SAMPLERS = {"btigs": sweeps.BTIGS, "cmgs": sweeps.CMGS, "ssa": sweeps.SSA}


@dataclass(frozen=True)
class TableModel:
    """A sample of the model without the corpus: what new documents are folded into.

    Attributes
    ----------
    components : (K, W) float32 array
        Word probabilities of the topics.
    doc_topic_prior : (K,) array
    discount, concentration : float
    parents : (float, float)
        Prior (lambda_S, lambda_T) of the weights of the document and of the segment before.
    """

    components: NDArray[np.float32]
    doc_topic_prior: NDArray[np.float64]
    discount: float
    concentration: float
    parents: tuple[float, float]

    def prepare(self, corpus: SegmentedCorpus, settings: FoldIn) -> "TableFoldIn":
        """Return what folds in documents of the corpus, with its tables made."""
        weights = self._weights(corpus, settings.options["sampler"])
        return TableFoldIn(self, settings, fixed_words(self.components), weights)

    def prepare_likelihood(self, corpus: SegmentedCorpus, settings: FoldIn) -> "TableLikelihood":
        """Return what estimates the probability of documents of the corpus, with its tables made.

        Its sweeps are those of BTIGS, the fastest sampler, whatever the sampler of the fit.
        """
        weights = self._weights(corpus, "btigs")
        return TableLikelihood(self, settings, fixed_words(self.components), weights)

    def prior(self, n_segments: int) -> Prior:
        """Return the prior of new segments.

        Arrays are copied: of a model that was loaded read-only (joblib's mmap_mode) they would be
        of another type to numba, which would compile all kernels anew.
        """
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
    ratios: Ratios

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
        concentration_prior = np.array(options["concentration_prior"] or (0.0, 0.0))
        ratios, scratch = writable(self.ratios), empty_scratch(n_topics)
        levels = empty_levels(arrays, n_topics, chained=chained)
        place, rng = np.zeros(3, dtype=np.int64), np.zeros(4, dtype=np.uint64)
        for work in slices(halt):
            while n_seats := sweeps.fold_in(
                SAMPLERS[options["sampler"]],
                arrays,
                assignments,
                self.words,
                prior,
                concentration_prior,
                options["each_segment"],
                ratios,
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
        chained = model.parents[1] > 0.0
        arrays, n_topics = flat(corpus), len(model.doc_topic_prior)
        out = np.zeros(len(corpus))
        estimate_documents(
            n_particles,
            arrays,
            self.words,
            model.prior(len(corpus.segment_ptr) - 1),
            np.array(options["concentration_prior"] or (0.0, 0.0)),
            options["each_segment"],
            empty_assignments(arrays, n_topics, seats=False, chained=chained),
            writable(self.weights),
            empty_scratch(n_topics),
            empty_levels(arrays, n_topics, chained=chained),
            key,
            out,
        )
        return out
