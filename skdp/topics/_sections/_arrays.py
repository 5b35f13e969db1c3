"""Arrays of the kernels of sections and paragraphs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from skdp._numeric._simd import LANES, aligned_zeros, padded
from skdp.data import SegmentedCorpus
from skdp.processes import StirlingRatios
from skdp.topics._sections._kernels import Paragraphs, Scratch, SectionLevel, SectionSeating
from skdp.topics._tables._arrays import CHAIN_ROWS, sampler_weights
from skdp.topics._tables._kernels import UNBOUNDED, Ratios


def paragraphs_of(corpus: SegmentedCorpus) -> Paragraphs:
    """Return a corpus as kernels take it; its sections are parts, or documents that have none."""
    section_ptr = np.array(corpus._own_parts())
    doc_ptr = np.searchsorted(section_ptr, corpus.doc_ptr)
    return Paragraphs(corpus.tokens, corpus.segment_ptr, section_ptr, doc_ptr)


def empty_seating(corpus: Paragraphs, n_topics: int) -> SectionSeating:
    """Return the state in which no word has a topic."""
    n_paragraphs, n_sections = len(corpus.paragraph_ptr) - 1, len(corpus.section_ptr) - 1
    return SectionSeating(
        topics=np.full(len(corpus.tokens), -1, dtype=np.int32),
        paragraph_tables=np.zeros((n_paragraphs, n_topics), dtype=np.int32),
        paragraph_totals=np.zeros(n_paragraphs, dtype=np.int64),
        section_tables=np.zeros((n_sections, n_topics), dtype=np.int32),
        section_totals=np.zeros(n_sections, dtype=np.int64),
        document_tables=np.zeros((len(corpus.doc_ptr) - 1, n_topics), dtype=np.int32),
    )


def empty_scratch(n_topics: int) -> Scratch:
    """Return scratch vectors for the kernels."""
    width = padded(n_topics)

    def of_topics() -> NDArray[np.float32]:
        return aligned_zeros(width, dtype=np.float32)

    return Scratch(
        n_k=np.zeros(n_topics, dtype=np.int64),
        customers=np.zeros(n_topics, dtype=np.int64),
        of_section=np.zeros(n_topics),
        base=of_topics(),
        reciprocal=of_topics(),
        share_above=of_topics(),
        open_above=of_topics(),
        up=of_topics(),
        share=of_topics(),
        opening=of_topics(),
        factor=of_topics(),
        sums=aligned_zeros((1, LANES + width), dtype=np.float32),
        may_open=np.array([UNBOUNDED]),
    )


def stirling_of_levels(corpus: Paragraphs, discounts: NDArray[np.float64]) -> tuple[Ratios, Ratios]:
    """Return the tables of Stirling ratios for sections and for paragraphs."""
    in_section = np.diff(corpus.paragraph_ptr[corpus.section_ptr])  # at most a table for each word
    in_paragraph = np.diff(corpus.paragraph_ptr)
    section, paragraph = discounts.tolist()
    above = StirlingRatios.for_counts(
        int(in_section.max(initial=0)) + 1, section, max_rows=CHAIN_ROWS
    )
    own = StirlingRatios.for_counts(int(in_paragraph.max(initial=0)) + 1, paragraph)
    return Ratios(above.values, above.row_ptr), Ratios(own.values, own.row_ptr)


def weights_of_levels(stirling: tuple[Ratios, Ratios]) -> tuple[Ratios, Ratios]:
    """Return the tables in which the sampler looks up its weights."""
    above, own = (sampler_weights(ratios, "btigs") for ratios in stirling)
    return above, own


def levels_of(
    discount: NDArray[np.float64],
    concentration: NDArray[np.float64],
    ratios: tuple[Ratios, Ratios],
) -> tuple[SectionLevel, SectionLevel]:
    """Return the parameters of sections and of paragraphs in the form that kernels take."""
    above, own = (
        SectionLevel(float(a), float(b), *each)
        for a, b, each in zip(discount, concentration, ratios, strict=True)
    )
    return above, own
