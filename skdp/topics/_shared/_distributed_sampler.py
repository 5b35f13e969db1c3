"""Base class of the chains over partitions, which hold only parameters."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from skdp._part import Part
from skdp.topics._shared._arrays import empty_counts
from skdp.topics._shared._distributed import DistributedCorpus
from skdp.topics._shared._kernels import WordCounts
from skdp.topics._shared._sampler import TopicSampler


class DistributedSampler(TopicSampler):
    """Markov chain over a corpus in partitions, equivalent to the chain over its shards.

    It precedes the class of that chain among the bases, which defines `parameters`,
    `take_parameters`, `statistics`, `late_statistics` and `report` for a sampler of one shard.
    Parameters are set before `_begin_partitions` is called.
    """

    is_distributed = True

    topic_axes: ClassVar[dict[str, int]] = {"doc_topic_prior": 0}

    _data_attributes: ClassVar[tuple[str, ...]] = (
        "_whole", "data", "_words", "_gathered", "_last", "_report", "_found",
    )  # fmt: skip

    def _begin_partitions(
        self, data: DistributedCorpus, c: int, make: Any, init_streams: list[NDArray[np.uint64]]
    ) -> None:
        """Create the first state in the processes of the partitions."""
        self._c = c
        self._take_counts(data, data.begin(c, make, init_streams, self.streams))

    def _take_counts(self, data: DistributedCorpus, counts: Any) -> None:
        """Count the words of newly attached partitions."""
        self._whole: Any = data
        self.data = data
        self._words = None  # they stay with the partitions
        self._n_changes = 0
        self._settle(counts)

    def attach(self, data: Any) -> None:
        """Continue with partitions that have restored their state, unless still attached."""
        if vars(self).get("data") is data:
            return
        self._take_counts(data, data.restored(self._c))

    def copy(self) -> Self:
        """Return a sampler of the same partitions that has its own copy of the parameters."""
        other = Part.copy(self)
        other.streams = [stream.copy() for stream in self.streams]
        return other

    def _settle(self, last: Any) -> list[Any]:
        """Apply the changes of all partitions; return their size and the other statistics."""
        self._n_changes += 1
        self._last = last  # stays in place for the next sweep
        prior = self.topic_word_prior if self.learns_topic_word_prior else None
        self._totals, self._rises, *found = self.data.first(
            "settle", self._c, self._n_changes, last, prior
        )
        self._gathered: WordCounts | None = None
        self._report: list[Any] | None = None
        return found

    def _check_counts(self) -> None:
        """Do nothing: replicas check their own counts."""

    def _enter_fixed(self) -> None:
        """Do nothing: partitions write the columns of fixed topics to their own counts."""

    def _return_strays(self, words: Any) -> None:
        """Do nothing: partitions return their own strays."""

    def _topic_totals(self) -> NDArray[np.float64]:
        return self._totals

    def _word_rises(self) -> float:
        return self._rises

    def _dense_words(self) -> WordCounts:
        if self._gathered is None:
            self._gathered = empty_counts(self.data.n_features, self.n_columns)
            self.data.first("copy_words", self._c).apply(self._gathered)
        return self._gathered

    def _sweep_words(self, words: Any, streams: list[NDArray[np.uint64]]) -> None:
        shared = self.data.share(self.parameters())
        n_summed, streams[:], n_sent, *self._found = self._settle(
            self.data.total(
                "sweep", self._c, self._n_changes, self._last, shared, each=list(streams)
            )
        )
        self.data.count_moved(n_sent, n_summed)

    def _find_late_statistics(self) -> list[Any]:
        """Return the statistics that depend on draws made after the sweep."""
        shared = self.data.share(self.parameters())
        self.streams[:], *found = self.data.sum("finish", self._c, shared, each=list(self.streams))
        return found

    def _reported(self) -> list[Any]:
        """Return the reports of the partitions on the current state."""
        if self._report is None:
            shared = self.data.share(self.parameters())
            (self._report,) = self.data.sum("report", self._c, shared)
        return self._report

    def _log_prior(self) -> float:
        return sum(found[0] for found in self._reported())

    def _log_likelihood_of_fixed(self) -> float:
        return 0.0 if self.fixed is None else sum(found[0] for found in self._reported_fixed())

    def _words_of_topics(self) -> NDArray[np.float64]:
        totals: NDArray[np.float64] = np.sum([found[1] for found in self._reported_fixed()], axis=0)
        return totals

    def _reported_fixed(self) -> list[Any]:
        """Return the reports of the partitions on their words with fixed topics."""
        (found,) = self.data.sum("report_fixed", self._c)
        reports: list[Any] = found
        return reports

    # Sums for means that stay with the documents

    def add_to_parts(self, key: str) -> None:
        """Add document-level values to the sums with a key."""
        self.data.run("add_sample", self._c, key, self.data.share(self.parameters()))

    def reorder(self, key: str, axes: dict[str, int], order: NDArray[np.intp]) -> None:
        """Make label ``order[k]`` of sums label k, along `topic_axes` or other axes."""
        self.data.run("reorder", self._c, key, self._sums_by(axes), order)

    def _sums_by(self, axes: dict[str, int]) -> tuple[str, ...]:
        """Return the names of the document-level sums that list these labels."""
        return "doc_topic", "segment_topic"

    def fork_sums(self, key: str, new: str) -> None:
        """Copy sums to another key."""
        self.data.run("fork", self._c, key, new)

    def forget_sums(self, key: str) -> None:
        """Drop sums."""
        self.data.run("forget", self._c, key)

    def means_of_parts(self, key: str, n: int, *, in_place: bool) -> dict[str, Any]:
        """Return means over `n` samples of all documents and segments, and the tokens of topics."""
        (found,) = self.data.sum("describe", self._c, key, n)
        means: dict[str, Any] = {
            f"{name}_": self.data.keep(
                "average", self._c, key, name, n, in_place,
                shapes=[shapes[name] for _, shapes in found],
            )
            for name in found[0][1]
        }  # fmt: skip
        return {**means, "_topic_tokens": np.sum([tokens for tokens, _ in found], axis=0)}
