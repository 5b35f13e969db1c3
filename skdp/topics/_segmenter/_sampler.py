"""Chain of topics and cuts over a corpus."""

from __future__ import annotations

import math
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skdp._numeric._random import draw_slice
from skdp.processes._discount import draw_bounded_beta
from skdp.topics._segmenter._arrays import (
    KnownUnits,
    cut_prior,
    empty_parts,
    empty_work,
    first_state,
    first_units,
    units_of,
)
from skdp.topics._segmenter._kernels_cuts import CutPrior
from skdp.topics._segmenter._kernels_sweeps import (
    Divided,
    add_all_estimates,
    log_prior_of_parts,
    sweep_all_units,
)
from skdp.topics._segmenter._model import SegmenterModel, stirling_weights
from skdp.topics._segmenter._state import SegmenterState
from skdp.topics._shared._arrays import fixed_words
from skdp.topics._shared._kernels import WordCounts
from skdp.topics._shared._priors import count_frequencies, tells_apart, update_by_frequencies
from skdp.topics._shared._sampler import TopicSampler
from skdp.topics._tables._arrays import empty_scratch, enter_words
from skdp.topics._tables._kernels import Prior

START_PROBABILITY, START_CONCENTRATION = 0.1, 100.0
"""Initial values of a cut probability and of a concentration that are drawn."""


class CutParameters(NamedTuple):
    """Parameters of the model: numbers, or "auto" if they are learned, and their priors."""

    doc_topic_prior: Any
    topic_word_prior: Any
    dirichlet_prior: tuple[float, float]
    concentration: Any
    concentration_prior: tuple[float, float]
    cut_probability: Any
    cut_prior: tuple[float, float]
    max_units: int | None


class SegmenterSampler(TopicSampler):
    """Markov chain of topics, cuts and shares of documents over one corpus."""

    _data_attributes: ClassVar[tuple[str, ...]] = (
        *TopicSampler._data_attributes, "_known", "_units", "_ratios", "_scratch", "_parts",
    )  # fmt: skip

    topic_axes: ClassVar[dict[str, int]] = {
        "doc_topic": 1, "segment_topic": 1, "doc_topic_prior": 0,
    }  # fmt: skip

    shards: list[Divided]

    def __init__(
        self,
        data: KnownUnits,
        n_topics: int,
        parameters: CutParameters,
        init: NDArray[Any],  # topics (n_tokens,) or word probabilities (K, W); only known cuts
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
        self.concentration = _number(parameters.concentration, START_CONCENTRATION)
        self.cut_probability = _number(parameters.cut_probability, START_PROBABILITY)
        self._take(data)
        self.shards = [first_state(data, self.doc_topic_prior)]
        if init.ndim == 1:
            self.shards[0].topics[:] = init
        else:
            self._sweep_units(fixed_words(init), stream, moves_cuts=False)
        self._count_words()
        self._enter_shares()

    def _enter_shares(self) -> None:
        """Set mu to its mean given the topics of all words of a document."""
        (state,), corpus = self.shards, self._whole
        ptr = corpus.segment_ptr[corpus.doc_ptr]
        documents = np.repeat(np.arange(len(corpus)), np.diff(ptr))
        state.shares[:] = self.doc_topic_prior
        np.add.at(state.shares, (documents, state.topics), 1.0)
        state.shares[:] /= state.shares.sum(axis=1, keepdims=True)

    def attach(self, corpus: Any) -> None:
        """Attach the documents to the chain and build the arrays that depend on them."""
        self._take(corpus)
        self._count_words()

    def _take(self, corpus: Any) -> None:
        units, self._known = corpus
        super()._take(units)
        self._units = units_of(units)
        self._ratios = stirling_weights(units)
        self._scratch = empty_scratch(self.n_topics)
        self._parts = empty_parts(units, self.n_topics)

    @property
    def corpus(self) -> Any:
        """The documents."""
        return self._whole

    @property
    def _state(self) -> Divided:
        return self.shards[0]

    @property
    def _cut_prior(self) -> CutPrior:
        return cut_prior(self._known, self.given.max_units, self.cut_probability)

    def _prior(self, gamma: float) -> Prior:
        """Return the parameters of the sweep of words, whose segments are parts."""
        n_units = len(self._parts.part_tables)
        concentration = np.full(max(n_units, 1), self.concentration)
        return Prior(self.doc_topic_prior, gamma, 0.0, concentration, 1.0, 0.0)

    # Sweeps

    def _sweep_words(self, words: WordCounts, streams: list[NDArray[np.uint64]]) -> None:
        self._sweep_units(words, streams[0], moves_cuts=True)

    def _sweep_units(
        self, words: WordCounts, stream: NDArray[np.uint64], *, moves_cuts: bool
    ) -> None:
        gamma = 0.0 if words.fixed else self.topic_word_prior
        enter_words(words, gamma, self._scratch)
        sweep_all_units(
            moves_cuts, self._units, self._state, words, self._prior(gamma), self._cut_prior,
            self._ratios, self._scratch, self._parts, self._work(), stream,
        )  # fmt: skip

    def _work(self) -> Any:
        return empty_work(self._whole, self.n_topics, self.concentration)

    def _update_parameters(self) -> None:
        given, stream = self.given, self.streams[0]
        if isinstance(given.doc_topic_prior, str):
            self.doc_topic_prior = update_by_frequencies(
                self.doc_topic_prior,
                count_frequencies([self._state.served], self.n_topics),
                *self.dirichlet_prior,
                symmetric=given.doc_topic_prior == "auto-symmetric",
            )
        if isinstance(given.cut_probability, str):
            n_cuts, n_gaps = self._count_cuts()
            p, q = given.cut_prior
            self.cut_probability = draw_bounded_beta(p + n_cuts, q + n_gaps - n_cuts, stream)
        if isinstance(given.concentration, str):
            self._draw_concentration()

    def _count_cuts(self) -> tuple[int, int]:
        """Return the numbers of cuts and of gaps."""
        n_first = len(first_units(self._whole))
        return int(self._state.starts.sum()) - n_first, len(self._state.starts) - n_first

    def _draw_concentration(self) -> None:
        """Draw b given the topics, the cuts and mu, by a slice sampler of log b."""
        shape, rate = self.given.concentration_prior

        def log_density(log_b: float) -> float:
            b = math.exp(log_b)
            evidence = log_prior_of_parts(self._units, self._state, b, self._work())
            return float(evidence) + shape * log_b - rate * b

        drawn = draw_slice(log_density, math.log(self.concentration), self.streams[0])
        self.concentration = math.exp(drawn)

    # Shown attributes

    @property
    def segment_lengths(self) -> NDArray[np.int64]:
        """Number of tokens of every unit."""
        return np.diff(self._whole.segment_ptr)

    def _log_prior(self) -> float:
        n_cuts, n_gaps = self._count_cuts()
        prior = self._cut_prior
        cuts = n_cuts * prior.log_cut + (n_gaps - n_cuts) * prior.log_join
        evidence = log_prior_of_parts(self._units, self._state, self.concentration, self._work())
        return float(evidence) + cuts

    def empty_sums(self) -> dict[str, NDArray[np.float64]]:
        """Return zeros for the quantities that are averaged over the kept sweeps."""
        n_units = len(self._state.starts)
        return {
            "doc_topic": np.zeros((len(self._whole), self.n_topics)),
            "segment_topic": np.zeros((n_units, self.n_topics)),
            "cut_proba": np.zeros(n_units),
            "doc_topic_prior": np.zeros(self.n_topics),
            "topic_word_prior": np.zeros(()),
            "concentration": np.zeros(()),
            "cut_probability": np.zeros(()),
        }

    def add_to(self, sums: dict[str, NDArray[np.float64]]) -> None:
        """Add the current values to the sums."""
        add_all_estimates(
            self._units, self._state, self._prior(0.0), self._cut_prior, self._parts, self._work(),
            sums["doc_topic"], sums["segment_topic"], sums["cut_proba"],
        )  # fmt: skip
        for name in ("doc_topic_prior", "topic_word_prior", "concentration", "cut_probability"):
            sums[name] += getattr(self, name)

    def scalars(self) -> dict[str, float]:
        """Return the scalars that the trace records."""
        return {
            **super().scalars(),
            "concentration": self.concentration,
            "cut_probability": self.cut_probability,
            "n_parts": float(self._state.starts.sum()),
        }

    def model(self) -> SegmenterModel:
        """Return the current sample as a model."""
        return SegmenterModel(
            self.components().astype(np.float32), self.doc_topic_prior.copy(), self.concentration,
            self.cut_probability, self.given.max_units,
        )  # fmt: skip

    def state(self) -> SegmenterState:
        """Return a read-only view of the state."""
        return SegmenterState(self)

    def copy(self) -> SegmenterSampler:
        """Return a sampler with a copy of the same state."""
        other = super().copy()
        other._scratch = empty_scratch(self.n_topics)
        other._parts = empty_parts(self._whole, self.n_topics)
        return other


def _number(value: Any, start: float) -> float:
    """Return a given value, or the initial one of a value that is drawn."""
    return start if isinstance(value, str) else float(value)
