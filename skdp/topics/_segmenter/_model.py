"""A sample of topics and parameters of cuts, and the fold-in of new documents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skdp.data import SegmentedCorpus
from skdp.processes import StirlingRatios
from skdp.topics._segmenter._arrays import (
    cut_prior,
    empty_parts,
    empty_work,
    first_state,
    nothing_known,
    units_of,
)
from skdp.topics._segmenter._kernels_sweeps import fold_in_units
from skdp.topics._shared._arrays import fixed_words
from skdp.topics._shared._fold_in import FoldIn, Halt, slices
from skdp.topics._shared._kernels import WordCounts
from skdp.topics._tables._arrays import (
    CHAIN_ROWS,
    empty_scratch,
    enter_words,
    sampler_weights,
    writable,
)
from skdp.topics._tables._kernels import Prior, Ratios

WHOLE_SWEEPS = 5
"""Number of first sweeps of a new document without cuts."""


def stirling_weights(corpus: SegmentedCorpus) -> Ratios:
    """Return the weights of tables for parts as long as the longest document."""
    longest = int(np.diff(corpus.segment_ptr[corpus.doc_ptr]).max(initial=0))
    table = StirlingRatios.for_counts(longest + 1, 0.0, max_rows=CHAIN_ROWS)
    return sampler_weights(Ratios(table.values, table.row_ptr), "btigs")


@dataclass(frozen=True)
class SegmenterModel:
    """A sample of the model without the corpus, into which new documents are folded."""

    components: NDArray[np.float32]  # (K, W)
    doc_topic_prior: NDArray[np.float64]  # (K,)
    concentration: float
    cut_probability: float
    max_units: int | None

    def prepare(self, corpus: SegmentedCorpus, settings: FoldIn) -> SegmenterFoldIn:
        """Return the fold-in of documents of the corpus, with its tables precomputed."""
        weights = stirling_weights(corpus)
        return SegmenterFoldIn(self, settings, fixed_words(self.components), weights)


@dataclass(frozen=True, eq=False)
class SegmenterFoldIn:
    """Fold-in of documents by chains of topics and cuts."""

    model: SegmenterModel
    settings: FoldIn
    words: WordCounts
    weights: Ratios

    def __call__(
        self, corpus: SegmentedCorpus, key: NDArray[np.uint64], halt: Halt
    ) -> tuple[NDArray[Any], ...]:
        """Return E[mu] (D, K), E[nu] of units (J, K), and probabilities of cuts (J,)."""
        model, settings = self.model, self.settings
        alpha = np.array(model.doc_topic_prior)  # as in `TableModel.prior`
        n_topics, n_units = len(alpha), len(corpus.segment_ptr) - 1
        data = nothing_known(corpus)
        state, parts = first_state(data, alpha), empty_parts(corpus, n_topics)
        work, scratch = empty_work(corpus, n_topics, model.concentration), empty_scratch(n_topics)
        enter_words(self.words, 0.0, scratch)
        concentration = np.full(max(len(parts.part_tables), 1), model.concentration)
        prior = Prior(alpha, 0.0, 0.0, concentration, 1.0, 0.0)
        cuts = cut_prior(data.known, model.max_units, model.cut_probability)
        doc_topic = np.zeros((len(corpus), n_topics))
        unit_topic, probabilities = np.zeros((n_units, n_topics)), np.zeros(n_units)
        place, rng = np.zeros(2, dtype=np.int64), np.zeros(4, dtype=np.uint64)
        lengths = np.diff(corpus.segment_ptr)
        weights = writable(self.weights)
        for amount in slices(halt):
            fold_in_units(
                units_of(corpus), lengths, state, self.words, prior, cuts, weights, scratch, parts,
                work, min(WHOLE_SWEEPS, settings.burn_in), settings.n_sweeps, settings.burn_in,
                amount, place, key, doc_topic, unit_topic, probabilities, rng,
            )  # fmt: skip
            if place[0] == len(corpus):
                break
        return doc_topic, unit_topic, probabilities
