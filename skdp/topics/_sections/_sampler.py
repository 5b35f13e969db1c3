"""Chain of topics and tables over documents of sections of paragraphs."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skdp.data import SegmentedCorpus
from skdp.processes._concentration import draw_concentration
from skdp.processes._discount import draw_bounded_beta
from skdp.topics._sections._arrays import (
    empty_scratch,
    empty_seating,
    levels_of,
    paragraphs_of,
    stirling_of_levels,
    weights_of_levels,
)
from skdp.topics._sections._kernels import (
    SectionLevel,
    SectionSeating,
    add_all_estimates,
    gather_discount_evidence,
    log_prior_of_all,
    seat_all,
    sweep_all,
)
from skdp.topics._sections._model import SectionModel
from skdp.topics._sections._state import SectionState
from skdp.topics._shared._kernels import WordCounts
from skdp.topics._shared._priors import count_frequencies, tells_apart, update_by_frequencies
from skdp.topics._shared._sampler import TopicSampler
from skdp.topics._tables._arrays import enter_words
from skdp.topics._tables._kernels_sweeps import LARGEST_CONCENTRATION, SMALLEST_CONCENTRATION
from skdp.topics._tables._sampler import START_CONCENTRATION, START_DISCOUNT

LEVELS = "section", "paragraph"


class SectionParameters(NamedTuple):
    """Parameters of the model: numbers, or "auto" if they are learned, and their priors."""

    doc_topic_prior: Any
    topic_word_prior: Any
    dirichlet_prior: tuple[float, float]
    discount: tuple[Any, Any]  # of sections, of paragraphs
    discount_prior: tuple[float, float]
    concentration: tuple[Any, Any]  # of sections, of paragraphs
    concentration_prior: tuple[float, float]


class SectionSampler(TopicSampler):
    """Markov chain of topics and tables over one corpus, whose parts are the sections."""

    _data_attributes: ClassVar[tuple[str, ...]] = (
        *TopicSampler._data_attributes, "_documents", "_stirling", "_weights", "_scratch",
    )  # fmt: skip

    topic_axes: ClassVar[dict[str, int]] = {
        "doc_topic": 1, "section_topic": 1, "segment_topic": 1, "doc_topic_prior": 0,
    }  # fmt: skip

    shards: list[SectionSeating]

    def __init__(
        self,
        corpus: SegmentedCorpus,
        n_topics: int,
        parameters: SectionParameters,
        init: Any,  # "random", topics of words (n_tokens,), or word probabilities (K, W)
        init_stream: NDArray[np.uint64],
        stream: NDArray[np.uint64],
    ):
        super().__init__(
            n_topics, parameters.topic_word_prior, parameters.dirichlet_prior, [stream], 1
        )
        self.topics_trade_places = not tells_apart(parameters.doc_topic_prior)
        self.given = parameters
        prior = parameters.doc_topic_prior
        learns = isinstance(prior, str)
        self.doc_topic_prior = np.full(n_topics, 1.0 / n_topics) if learns else prior
        self.discount = _numbers(parameters.discount, START_DISCOUNT)
        self.concentration = _numbers(parameters.concentration, START_CONCENTRATION)
        self._take(corpus)
        self.shards = [empty_seating(self._documents, n_topics)]
        self._seat_words(init, init_stream)

    def _seat_words(self, init: Any, stream: NDArray[np.uint64]) -> None:
        """Create the first state: topics are given or random, or words are seated one by one."""
        if isinstance(init, np.ndarray) and init.ndim == 2:
            self._sweep_words(self._first_topics(init), [stream])
        else:
            (state,) = self.shards
            if not isinstance(init, str):
                state.topics[:] = init
            elif self._has_prior_mean:
                self._seat_by_prior(state.topics, self._whole.tokens, stream)
            seat_all(self._documents, state, stream)
        self._count_words()

    def _take(self, corpus: SegmentedCorpus) -> None:
        super()._take(corpus)
        self._documents = paragraphs_of(corpus)
        self._make_ratios()
        self._scratch = empty_scratch(self.n_topics)

    def _make_ratios(self) -> None:
        self._stirling = stirling_of_levels(self._documents, self.discount)
        self._weights = weights_of_levels(self._stirling)

    def _levels(self, ratios: Any) -> tuple[SectionLevel, SectionLevel]:
        return levels_of(self.discount, self.concentration, ratios)

    # Sweeps

    def _return_strays(self, words: Any) -> None:
        """Do nothing: a draw never ends in a topic of weight 0, as in `TableSampler`."""

    def _sweep_words(self, words: WordCounts, streams: list[NDArray[np.uint64]]) -> None:
        gamma = 0.0 if words.fixed else float(self.topic_word_prior)
        enter_words(words, gamma, self._scratch)
        sweep_all(
            self._documents, self.shards[0], words, gamma, *self._levels(self._weights),
            self.doc_topic_prior, self._scratch, streams[0],
        )  # fmt: skip

    def _update_parameters(self) -> None:
        given, (stream,) = self.given, self.streams
        if "auto" in given.discount:
            self._draw_discounts(stream)
        if "auto" in given.concentration:
            self._draw_concentrations(stream)
        if isinstance(given.doc_topic_prior, str):
            self.doc_topic_prior = update_by_frequencies(
                self.doc_topic_prior,
                count_frequencies([self.shards[0].document_tables], self.n_topics),
                *self.dirichlet_prior,
                symmetric=given.doc_topic_prior == "auto-symmetric",
            )

    def _draw_discounts(self, stream: NDArray[np.uint64]) -> None:
        """Draw the discounts that are learned, and recompute the ratios."""
        evidence, (p, q) = np.zeros((2, 2)), self.given.discount_prior
        levels = self._levels(self._stirling)
        gather_discount_evidence(
            self._documents, self.shards[0], *levels, self._scratch.n_k, evidence, stream
        )
        drawn = self.discount.copy()
        for i, (of_tables, of_seatings) in enumerate(evidence.tolist()):
            if self.given.discount[i] == "auto":
                drawn[i] = draw_bounded_beta(p + of_tables, q + of_seatings, stream)
        self.discount = drawn
        self._make_ratios()

    def _draw_concentrations(self, stream: NDArray[np.uint64]) -> None:
        """Draw the concentrations that are learned."""
        state, drawn = self.shards[0], self.concentration.copy()
        tables = state.section_totals, state.paragraph_totals
        for i, customers in enumerate(self._customers()):
            if self.given.concentration[i] == "auto":
                b = draw_concentration(
                    customers, tables[i], self.discount[i], drawn[i],
                    *self.given.concentration_prior, stream,
                )  # fmt: skip
                drawn[i] = min(max(b, SMALLEST_CONCENTRATION), LARGEST_CONCENTRATION)
        self.concentration = drawn

    def _customers(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the numbers of customers of all sections and of all paragraphs."""
        ptr = self._documents.section_ptr
        ends = np.concatenate([[0], np.cumsum(self.shards[0].paragraph_totals)])[ptr]
        return np.diff(ends), np.diff(self._documents.paragraph_ptr)

    # Shown attributes

    def _log_prior(self) -> float:
        value = log_prior_of_all(
            self._documents, self.shards[0], *self._levels(self._stirling), self.doc_topic_prior,
            self._scratch.n_k,
        )  # fmt: skip
        return float(value)

    def empty_sums(self) -> dict[str, NDArray[np.float64]]:
        """Return zeros for the quantities that are averaged over the kept sweeps."""
        (state,) = self.shards
        return {
            "doc_topic": np.zeros(state.document_tables.shape),
            "section_topic": np.zeros(state.section_tables.shape),
            "segment_topic": np.zeros(state.paragraph_tables.shape),
            "doc_topic_prior": np.zeros(self.n_topics),
            "topic_word_prior": np.zeros(()),
            "discount": np.zeros(2),
            "concentration": np.zeros(2),
        }

    def add_to(self, sums: dict[str, NDArray[np.float64]]) -> None:
        """Add the current values to the sums."""
        add_all_estimates(
            self._documents, self.shards[0], *self._levels(self._stirling), self.doc_topic_prior,
            self._scratch, sums["doc_topic"], sums["section_topic"], sums["segment_topic"],
        )  # fmt: skip
        for name in ("doc_topic_prior", "topic_word_prior", "discount", "concentration"):
            sums[name] += getattr(self, name)

    def scalars(self) -> dict[str, float]:
        """Return the scalars that the trace records."""
        (state,) = self.shards
        of_levels = {
            f"{level}_{name}": float(getattr(self, name)[i])
            for name in ("concentration", "discount")
            for i, level in enumerate(LEVELS)
        }
        return {
            **super().scalars(),
            **of_levels,
            "doc_topic_prior_sum": float(self.doc_topic_prior.sum()),
            "n_section_tables": float(state.section_totals.sum()),
            "n_paragraph_tables": float(state.paragraph_totals.sum()),
        }

    def model(self) -> SectionModel:
        """Return the current sample as a model."""
        return SectionModel(
            self.components().astype(np.float32), self.doc_topic_prior.copy(),
            self.discount.copy(), self.concentration.copy(),
        )  # fmt: skip

    def state(self) -> SectionState:
        """Return a read-only view of the state."""
        return SectionState(self)

    def copy(self) -> SectionSampler:
        """Return a sampler with a copy of the same state."""
        other = super().copy()
        other._scratch = empty_scratch(self.n_topics)
        return other


def _numbers(values: tuple[Any, Any], start: float) -> NDArray[np.float64]:
    """Return given values, and the initial one of a value that is drawn."""
    return np.array([start if isinstance(value, str) else float(value) for value in values])
