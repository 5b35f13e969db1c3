"""Chain of latent Dirichlet allocation over a corpus in partitions."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skdp.data import SegmentedCorpus
from skdp.topics._lda._sampler import LDASampler
from skdp.topics._shared._distributed import DistributedCorpus
from skdp.topics._shared._distributed_sampler import DistributedSampler
from skdp.topics._shared._priors import Frequencies, tells_apart
from skdp.topics._shared._sampler import TopicSampler


def make_shard(
    corpus: SegmentedCorpus,
    init_streams: list[NDArray[np.uint64]],
    streams: list[NDArray[np.uint64]],
    settings: Any,
) -> LDASampler:
    """Return the sampler of a partition."""
    n_topics, level, alpha, gamma, dirichlet, init = settings
    return LDASampler(
        corpus, n_topics, level, alpha, gamma, dirichlet, init, init_streams, streams, 1
    )


class DistributedLDASampler(DistributedSampler, LDASampler):
    """Markov chain of latent Dirichlet allocation over a corpus in partitions."""

    def __init__(
        self,
        data: DistributedCorpus,
        c: int,  # index of the chain
        n_topics: int,
        level: str,
        doc_topic_prior: Any,
        topic_word_prior: Any,
        dirichlet_prior: tuple[float, float],
        init: Any,
        init_streams: list[NDArray[np.uint64]],
        streams: list[NDArray[np.uint64]],
    ):
        self._start_parameters(n_topics, level, doc_topic_prior)
        TopicSampler.__init__(self, n_topics, topic_word_prior, dirichlet_prior, streams, 1)
        self._is_labeled = data.is_labeled
        self.topics_trade_places = not (data.is_labeled or tells_apart(doc_topic_prior))
        settings = n_topics, level, doc_topic_prior, topic_word_prior, dirichlet_prior, init
        self._begin_partitions(data, c, partial(make_shard, settings=settings), init_streams)

    def _node_frequencies(self) -> Frequencies:
        return self._found[0]

    def empty_sums(self) -> dict[str, NDArray[np.float64]]:
        """Return zeros for the quantities that are averaged here over the kept sweeps."""
        return {"doc_topic_prior": np.zeros(self.n_topics), "topic_word_prior": np.zeros(())}

    def add_to(self, sums: dict[str, NDArray[np.float64]]) -> None:
        """Add the current values to the sums that are kept here."""
        self._add_parameters_to(sums)
