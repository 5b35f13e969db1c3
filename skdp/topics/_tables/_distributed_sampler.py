"""Chain of a table model over a corpus in partitions."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skdp.data import SegmentedCorpus
from skdp.topics._shared._distributed import DistributedCorpus
from skdp.topics._shared._distributed_sampler import DistributedSampler
from skdp.topics._shared._priors import Frequencies, tells_apart
from skdp.topics._shared._sampler import TopicSampler
from skdp.topics._tables._model import TableModel
from skdp.topics._tables._sampler import HyperParameters, TableSampler


def make_shard(
    corpus: SegmentedCorpus,
    init_streams: list[NDArray[np.uint64]],
    streams: list[NDArray[np.uint64]],
    settings: tuple[int, str, HyperParameters, Any],
) -> TableSampler:
    """Return the sampler of a partition."""
    n_topics, sampler, hyper, init = settings
    return TableSampler(corpus, n_topics, sampler, hyper, init, init_streams, streams, 1)


class DistributedTableSampler(DistributedSampler, TableSampler):
    """Markov chain of a table model over a corpus in partitions."""

    def __init__(
        self,
        data: DistributedCorpus,
        c: int,  # index of the chain
        n_topics: int,
        sampler: str,
        hyper: HyperParameters,
        init: Any,  # as in `TableSampler`, but no topics of words
        init_streams: list[NDArray[np.uint64]],
        streams: list[NDArray[np.uint64]],
    ):
        self._start_parameters(n_topics, sampler, hyper)
        TopicSampler.__init__(
            self, n_topics, hyper.topic_word_prior, hyper.dirichlet_prior, streams, 1
        )
        self.topics_trade_places = not (data.is_labeled or tells_apart(hyper.doc_topic_prior))
        settings = n_topics, sampler, hyper, init
        self._begin_partitions(data, c, partial(make_shard, settings=settings), init_streams)

    def _make_ratios(self) -> None:
        """Do nothing: partitions make their own ratios."""

    def _discount_evidence(self) -> list[tuple[float, float]]:
        return self._found[0]

    def _concentration_evidence(self, *, has_prior: bool) -> list[tuple[float, float]]:
        late = self._found[1] if self.hyper.discount != "auto" else self._find_late_statistics()[0]
        evidence: list[tuple[float, float]] = late
        return evidence

    def _document_frequencies(self) -> Frequencies:
        return self._found[2]

    def _parent_frequencies(self) -> Frequencies:
        return self._found[3]

    def _n_tables(self) -> int:
        return sum(found[1] for found in self._reported())

    def _gather_concentrations(self) -> None:
        """Gather the concentrations of documents or segments from the partitions."""
        if self.hyper.concentration_scope != "corpus":
            self.concentration = np.concatenate([found[2] for found in self._reported()])

    def empty_sums(self) -> dict[str, NDArray[np.float64]]:
        """Return zeros for the quantities that are averaged here over the kept sweeps."""
        self._gather_concentrations()
        is_common = self.hyper.concentration_scope == "corpus"
        sums = {
            "doc_topic_prior": np.zeros(self.n_topics),
            "topic_word_prior": np.zeros(()),
            "discount": np.zeros(()),
            "concentration": np.zeros(() if is_common else len(self.concentration)),
        }
        if min(self.parents) > 0.0:
            sums["mixing_prior"] = np.zeros(2)
        return sums

    def add_to(self, sums: dict[str, NDArray[np.float64]]) -> None:
        """Add the current values to the sums that are kept here."""
        self._gather_concentrations()
        self._add_parameters_to(sums)

    def scalars(self) -> dict[str, float]:
        """Return the scalars that the trace records."""
        self._gather_concentrations()
        return super().scalars()

    def model(self) -> TableModel:
        """Return the current sample as a model."""
        self._gather_concentrations()
        return super().model()
