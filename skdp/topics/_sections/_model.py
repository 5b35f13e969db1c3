"""A sample of topics and parameters of sections, and the fold-in of new documents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skdp.data import SegmentedCorpus
from skdp.topics._sections._arrays import (
    empty_scratch,
    empty_seating,
    levels_of,
    paragraphs_of,
    stirling_of_levels,
    weights_of_levels,
)
from skdp.topics._sections._kernels import fold_in
from skdp.topics._shared._arrays import fixed_words
from skdp.topics._shared._fold_in import FoldIn, Halt, slices
from skdp.topics._shared._kernels import WordCounts
from skdp.topics._tables._arrays import enter_words, writable
from skdp.topics._tables._kernels import Ratios


@dataclass(frozen=True)
class SectionModel:
    """A sample of the model without the corpus, into which new documents are folded."""

    components: NDArray[np.float32]  # (K, W)
    doc_topic_prior: NDArray[np.float64]  # (K,)
    discount: NDArray[np.float64]  # (2,): of sections, of paragraphs
    concentration: NDArray[np.float64]  # (2,)

    def prepare(self, corpus: SegmentedCorpus, settings: FoldIn) -> SectionFoldIn:
        """Return the fold-in of documents of the corpus, with its tables precomputed."""
        stirling = stirling_of_levels(paragraphs_of(corpus), self.discount)
        words = fixed_words(self.components)
        return SectionFoldIn(self, settings, words, weights_of_levels(stirling))


@dataclass(frozen=True, eq=False)
class SectionFoldIn:
    """Fold-in of documents of sections of paragraphs."""

    model: SectionModel
    settings: FoldIn
    words: WordCounts
    weights: tuple[Ratios, Ratios]

    def __call__(
        self, corpus: SegmentedCorpus, key: NDArray[np.uint64], halt: Halt
    ) -> tuple[NDArray[Any], ...]:
        """Return E[mu] (D, K), E[nu] of paragraphs (J, K), and E[nu] of sections (S, K)."""
        model, settings = self.model, self.settings
        alpha = np.array(model.doc_topic_prior)  # as in `TableModel.prior`
        n_topics, documents = len(alpha), paragraphs_of(corpus)
        state, scratch = empty_seating(documents, n_topics), empty_scratch(n_topics)
        enter_words(self.words, 0.0, scratch)
        above, own = self.weights
        ratios = writable(above), writable(own)
        sections, paragraphs = levels_of(model.discount, model.concentration, ratios)
        doc_topic = np.zeros((len(corpus), n_topics))
        section_topic = np.zeros(state.section_tables.shape)
        paragraph_topic = np.zeros(state.paragraph_tables.shape)
        place, rng = np.zeros(2, dtype=np.int64), np.zeros(4, dtype=np.uint64)
        lengths = np.diff(corpus.segment_ptr)
        for amount in slices(halt):
            fold_in(
                documents, lengths, state, self.words, sections, paragraphs, alpha, scratch,
                settings.n_sweeps, settings.burn_in, amount, place, key, doc_topic, section_topic,
                paragraph_topic, rng,
            )  # fmt: skip
            if place[0] == len(corpus):
                break
        return doc_topic, paragraph_topic, section_topic
