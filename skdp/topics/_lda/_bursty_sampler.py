"""Chain of latent Dirichlet allocation whose topics are Pitman-Yor processes."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from skdp.data import SegmentedCorpus
from skdp.processes._concentration import draw_concentration
from skdp.processes._discount import draw_bounded_beta
from skdp.processes._stirling import StirlingRatios
from skdp.topics._lda._kernels_bursts import (
    gather_evidence,
    log_probability_of_bursts,
    sweep_bursts,
)
from skdp.topics._lda._sampler import LDASampler
from skdp.topics._lda._shard import NodeTopics
from skdp.topics._lda._state import BurstyLDAState
from skdp.topics._shared._allowed import AllowedTopics, LabeledCorpus
from skdp.topics._shared._kernels import Corpus, WordCounts
from skdp.topics._shared._priors import sum_rises, update_symmetric_dirichlet

START_DISCOUNT = 0.2


class WordBursts(NamedTuple):
    """Parameters of the Pitman-Yor processes of topics: "auto" for drawn parameters."""

    discount: float | str
    discount_prior: tuple[float, float]
    concentration: float | str
    concentration_prior: tuple[float, float]
    has_shared_base: bool


class BurstSweep:
    """A sweep over all words and their tables; `stirling` must match the discount."""

    def __init__(
        self,
        corpus: Corpus,
        state: NodeTopics,
        node_ptr: NDArray[np.int64],
        alpha: NDArray[np.float64],
        tables: tuple[NDArray[Any], ...],  # numbers by word and topic, by topic, and by word
        parameters: tuple[float, float, float],  # as in `BurstyLDASampler._all_parameters`
        stirling: StirlingRatios,
        allowed: AllowedTopics | None,
    ):
        self.corpus = corpus
        self.state = state
        self.node_ptr = node_ptr
        self.alpha = alpha
        self.tables = tables
        self.parameters = parameters
        self.stirling = stirling
        self.allowed = allowed

    def sweep(self, words: WordCounts, stream: NDArray[np.uint64]) -> NodeTopics:
        """Draw the topics and tables of all words once; change `words` and return the state."""
        n_topics = len(self.alpha)
        allowed = self.allowed or AllowedTopics.every(n_topics, len(self.node_ptr) - 1)
        sweep_bursts(
            self.node_ptr, self.corpus.tokens, self.state.topics, words.counts, words.totals,
            *self.tables, self.alpha, *self.parameters, *allowed,
            self.stirling.values, self.stirling.row_ptr, *np.empty((4, n_topics)), stream,
        )  # fmt: skip
        return self.state


class BurstyLDASampler(LDASampler):
    """Markov chain of latent Dirichlet allocation with Pitman-Yor processes as topics."""

    _data_attributes: ClassVar[tuple[str, ...]] = (*LDASampler._data_attributes, "_stirling")

    tables: NDArray[np.int32]
    """Numbers of tables by word and topic, (W, K'); missing until words have their first topics."""

    def __init__(
        self,
        corpus: SegmentedCorpus | LabeledCorpus,
        bursts: WordBursts,
        n_topics: int,
        level: str,
        doc_topic_prior: Any,
        topic_word_prior: Any,  # of a shared base; it has no effect with a uniform one
        dirichlet_prior: tuple[float, float],
        init: Any,
        init_streams: list[NDArray[np.uint64]],
        streams: list[NDArray[np.uint64]],
    ):
        self.bursts = bursts
        self.discount = START_DISCOUNT if isinstance(bursts.discount, str) else bursts.discount
        self.concentration = 0.0  # until the size of the vocabulary is known
        super().__init__(
            corpus, n_topics, level, doc_topic_prior, topic_word_prior, dirichlet_prior, init,
            init_streams, streams, 1,
        )  # fmt: skip
        n_words = self._whole.n_features
        given = bursts.concentration
        self.concentration = self.topic_word_prior * n_words if isinstance(given, str) else given
        self._set_prior_of_uniform_base()
        self.tables = (self._words.counts > 0).astype(np.int32)
        self._count_tables()

    @property
    def _sparse(self) -> bool:
        return False

    def _take(self, corpus: SegmentedCorpus | LabeledCorpus) -> None:
        super()._take(corpus)
        self._largest = int(np.bincount(self._whole.tokens, minlength=1).max())
        self._make_ratios()

    def _make_ratios(self) -> None:
        self._stirling = StirlingRatios.for_counts(self._largest, self.discount)

    def _count_tables(self) -> None:
        """Count tables by topic and by word."""
        tables = self.tables[:, : self.n_topics]
        self.topic_tables = tables.sum(axis=0, dtype=np.int64)
        self.word_tables = tables.sum(axis=1, dtype=np.int64)

    def _set_prior_of_uniform_base(self) -> None:
        """Set the prior of words to the pseudo-count that a uniform base gives every word."""
        if not self.bursts.has_shared_base:
            self.topic_word_prior = self.concentration / self._whole.n_features

    @property
    def _all_tables(self) -> tuple[NDArray[Any], ...]:
        return self.tables, self.topic_tables, self.word_tables

    @property
    def _all_parameters(self) -> tuple[float, float, float]:
        """Discount, concentration, and the prior of a shared base, or 0."""
        gamma = self.topic_word_prior if self.bursts.has_shared_base else 0.0
        return self.discount, self.concentration, gamma

    def _sweep_of(self, s: int, words: Any) -> Any:
        if words.fixed:  # the first topics are given
            return super()._sweep_of(s, words)
        return BurstSweep(
            self._corpora[s], self.shards[s], self._node_ptr[s], self.doc_topic_prior,
            self._all_tables, self._all_parameters, self._stirling, self._allowed[s],
        )  # fmt: skip

    def sweep(self) -> None:
        """Draw the latent variables of the words once, then the learned parameters."""
        self._sweep_words(self._words, self.streams)
        self._check_counts()
        self._update_parameters()
        self._update_discount()
        self._update_concentration()
        if self.bursts.has_shared_base and self.learns_topic_word_prior:
            self.topic_word_prior = update_symmetric_dirichlet(
                self.topic_word_prior,
                sum_rises(self.topic_word_prior, self.word_tables),
                np.array([self.word_tables.sum()], dtype=np.float64),
                self._whole.n_features,
                *self.dirichlet_prior,
            )

    def _update_discount(self) -> None:
        """Draw the discount, and recompute the ratios."""
        if not isinstance(self.bursts.discount, str):
            return
        p, q = self.bursts.discount_prior
        of_tables, of_seatings = gather_evidence(
            self._words.counts, self.tables, self.topic_tables, self.discount, self.concentration,
            self._stirling.values, self._stirling.row_ptr, self.streams[0],
        )  # fmt: skip
        self.discount = draw_bounded_beta(p + of_tables, q + of_seatings, self.streams[0])
        self._make_ratios()

    def _update_concentration(self) -> None:
        if isinstance(self.bursts.concentration, str):
            self.concentration = draw_concentration(
                self._words.totals[: self.n_topics].astype(np.int64), self.topic_tables,
                self.discount, self.concentration, *self.bursts.concentration_prior,
                self.streams[0],
            )  # fmt: skip
            self._set_prior_of_uniform_base()

    def base(self) -> NDArray[np.float64]:
        """Return E[H] given the state, (W,)."""
        n_words = self._whole.n_features
        if not self.bursts.has_shared_base:
            return np.full(n_words, 1.0 / n_words)
        weights = self.word_tables + self.topic_word_prior
        return weights / weights.sum()

    def components(self) -> NDArray[np.float64]:
        """Return E[phi] given the state, (K, W)."""
        counts = self._words.counts[:, : self.n_topics].T.astype(np.float64, order="C")
        counts -= self.discount * self.tables[:, : self.n_topics].T
        opening = self.concentration + self.discount * self.topic_tables
        counts += opening[:, np.newaxis] * self.base()
        counts /= counts.sum(axis=1, keepdims=True)
        return counts

    def log_joint(self) -> float:
        """Return log p(words, topics, numbers of tables | parameters)."""
        return self._log_prior() + log_probability_of_bursts(
            self._words.counts, self._words.totals, *self._all_tables, *self._all_parameters,
            self._stirling.values, self._stirling.row_ptr,
        )  # fmt: skip

    def empty_sums(self) -> dict[str, NDArray[np.float64]]:
        """Return zeros for the quantities that are averaged over the kept sweeps."""
        return {
            **super().empty_sums(),
            "topic_word_discount": np.zeros(()),
            "topic_word_concentration": np.zeros(()),
            "topic_word_base": np.zeros(self._whole.n_features),
        }

    def _add_parameters_to(self, sums: dict[str, NDArray[np.float64]]) -> None:
        super()._add_parameters_to(sums)
        sums["topic_word_discount"] += self.discount
        sums["topic_word_concentration"] += self.concentration
        sums["topic_word_base"] += self.base()

    def scalars(self) -> dict[str, float]:
        """Return the scalars that the trace records."""
        return {
            **super().scalars(),
            "topic_word_discount": float(self.discount),
            "topic_word_concentration": float(self.concentration),
            "n_word_tables": float(self.topic_tables.sum()),
        }

    def state(self) -> BurstyLDAState:
        """Return a read-only view of the state."""
        return BurstyLDAState(self)

    def copy(self) -> Self:
        """Return a sampler with a copy of the same state."""
        other = super().copy()
        other._make_ratios()  # lookups fill the patches of a table
        return other
