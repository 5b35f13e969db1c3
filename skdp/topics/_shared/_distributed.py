"""Chains over a corpus in partitions that an executor has distributed, and means over sweeps."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from threading import Thread
from typing import Any, ClassVar, Self
from uuid import uuid4
from weakref import finalize, ref

import numpy as np
from numpy.typing import NDArray

from skdp._executors import Distributed, Executor
from skdp._numeric import Floats, Places
from skdp._part import ChainComponent
from skdp.data import PartitionedCorpus
from skdp.inference._trace import align_labels
from skdp.topics._kernels._counts import WordCounts
from skdp.topics._shared._arrays import AllowedTopics, Stream, empty_counts
from skdp.topics._shared._partition import CorpusPartition, Size
from skdp.topics._shared._sampler import TopicSampler


def _drop(executor: Executor) -> None:
    """Drop unneeded partitions; a loop of Dask cannot wait for itself, so it uses a thread."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        executor.drop()
    else:
        Thread(target=executor.drop, daemon=True).start()


class DistributedCorpus(Distributed):
    """Partitions of documents that an executor has distributed, as the data of a fit."""

    def __init__(self, X: PartitionedCorpus, executor: Executor):
        super().__init__(X, executor, CorpusPartition)
        self._source = ref(X)
        self._fit = uuid4().hex
        self._digests: list[str] | None = None
        finalize(self, _drop, executor).atexit = False  # at exit the processes end in any case
        self.sizes: list[Size]
        (self.sizes,) = self.sum("measure")

    @property
    def n_units(self) -> int:
        """Number of words, the unit in which sweeps are measured."""
        return self.n_tokens

    @property
    def n_tokens(self) -> int:
        """Number of words of the corpus."""
        return sum(size.n_tokens for size in self.sizes)

    def label(self, y: Sequence[Any] | None, check: Callable[..., AllowedTopics | None]) -> None:
        """Send the labels of documents, if any, to their partitions, and `check` both there."""
        ends = np.cumsum([0, *(size.n_documents for size in self.sizes)]).tolist()
        if y is not None and len(y) != ends[-1]:
            raise ValueError(
                f"y must have a set of topics, or None, for each of the {ends[-1]} documents, got "
                f"{len(y)}."
            )
        self.is_labeled = y is not None
        y = None if y is None else list(y)
        parts = [(y and y[begin:end], begin) for begin, end in pairwise(ends)]
        self.run("set_labels", self.share(check), each=parts)

    is_labeled = False
    """Whether documents have labels."""

    def begin(self, c: int, make: Callable[..., Any], *streams: list[Any]) -> Any:
        """Create the first state of chain `c`; return a handle of the counts of all words."""
        shared = self._executor.share(make)
        calls = [
            self._executor.call(s, "begin", self._fit, c, shared, s == 0, *own)
            for s, own in enumerate(zip(*streams, strict=True))
        ]
        return self._executor.total(calls)

    def __reduce__(self) -> tuple[Any, ...]:
        """Return a small replacement of the data for hashing."""
        if self._digests is None:
            (self._digests,) = self.sum("digest")
        return str, (repr((self.n_features, self._digests)),)

    def is_with(self, executor: Executor) -> bool:
        """Return whether this executor has the partitions."""
        return self._executor is executor

    def is_of(self, X: PartitionedCorpus) -> bool:
        """Return whether this was made from X itself."""
        return self._source() is X

    def go_on(self, n_jobs: int | None) -> None:
        """Prepare for another fit; raise a LostWorkerError if partitions are lost."""
        self._executor.go_on(n_jobs)

    def read(self, folder: Path) -> None:
        """Make all partitions restore their files; `restored` returns the counts of chains."""
        self._restored = self.sum("read", self._fit, each=self._paths(folder))

    def restored(self, c: int) -> Any:
        """Return a handle of the counts of all words of the restored chain `c`."""
        return self.share((self._restored[c],))

    def keep(self, method: str, *args: Any, shapes: list[tuple[int, ...]]) -> Any:
        """Return the arrays of all partitions as one array, which stays in place."""
        return self._executor.keep(method, *args, shapes=shapes)


# Base class of the chains over partitions, which hold only parameters.


def make_shard(
    corpus: Any, init_streams: Any, streams: Any, kind: Any, settings: tuple[Any, ...]
) -> Any:
    """Return the sampler of a partition."""
    return kind(corpus, *settings, init_streams, streams, 1)


class DistributedSampler(TopicSampler):
    """Markov chain over a corpus in partitions, equivalent to the chain over its shards.

    It precedes the class of that chain, `of_shard`, among the bases, which defines `parameters`,
    `report`, `take_parameters`, `statistics` and `statistics_given_discount` for a sampler of one
    shard, and `_start` for the parameters of both.
    """

    is_distributed = True

    of_shard: ClassVar[Any]

    _data_attributes: ClassVar[tuple[str, ...]] = (
        "_whole", "data", "_words", "_gathered", "_last", "_report", "_found",
    )  # fmt: skip

    def __init__(
        self,
        data: DistributedCorpus,
        c: int,  # index of the chain
        settings: tuple[Any, ...],  # arguments of a sampler in memory from `n_topics` to `init`
        init_streams: list[Stream],
        streams: list[Stream],
    ):
        self._start(settings[:-1], streams, 1, is_labeled=data.is_labeled)
        self._c = c
        make = partial(make_shard, kind=self.of_shard, settings=settings)
        self._take_counts(data, data.begin(c, make, init_streams, streams))

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
        other = ChainComponent.copy(self)
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

    def _topic_totals(self) -> Floats:
        return self._totals

    def _word_rises(self) -> float:
        return self._rises

    def _dense_words(self) -> WordCounts:
        if self._gathered is None:
            self._gathered = empty_counts(self.data.n_features, self.n_columns)
            self.data.first("copy_words", self._c).apply(self._gathered)
        return self._gathered

    def _sweep_words(self, words: Any, streams: list[Stream]) -> None:
        shared = self.data.share(self.parameters())
        n_summed, streams[:], n_sent, *self._found = self._settle(
            self.data.total(
                "sweep", self._c, self._n_changes, self._last, shared, each=list(streams)
            )
        )
        self.data.count_moved(n_sent, n_summed)

    def _reported(self) -> list[Any]:
        """Return the reports of the partitions on the current state."""
        if self._report is None:
            shared = self.data.share(self.parameters())
            (self._report,) = self.data.sum("report", self._c, shared)
        return self._report

    def _log_prior(self) -> float:
        return sum(found[0] for found in self._reported())

    def _log_likelihood_of_fixed(self) -> float:
        return 0.0 if self.fixed is None else sum(found[-2] for found in self._reported())

    def _words_of_topics(self) -> Floats:
        return np.sum([found[-1] for found in self._reported()], axis=0)

    # Sums for means that stay with the documents

    def add_to_parts(self, key: str) -> None:
        """Add document-level values to the sums with a key."""
        self.data.run("add_sample", self._c, key, self.data.share(self.parameters()))

    def reorder(self, key: str, axes: dict[str, int], order: NDArray[np.intp]) -> None:
        """Make label ``order[k]`` of sums label k, along `topic_axes` or other axes."""
        self.data.run("reorder", self._c, key, tuple(axes), order)

    def _empty_shares(self) -> dict[str, Floats]:
        return {}  # they stay with the partitions

    def add_shares_to(self, sums: dict[str, Floats]) -> None:
        """Do nothing: partitions have their own sums."""

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


# Means over the kept sweeps of a chain, also of one over partitions.


class TopicAverages:
    """Means over the kept sweeps of one chain, with labels that follow the chain.

    Before a sample is added, the means are reordered to match it, except for topics that seed
    words, given words or a prior distinguish. The sampler defines `empty_sums`, `topic_axes` (the
    axes along which sums list topics) and `add_to`.
    """

    def __init__(self) -> None:
        self.n = 0
        self.components = np.empty((0, 0))
        self.sums: dict[str, Floats] = {}

    def add(self, sampler: Any) -> None:
        """Add the current state to the means."""
        components = sampler.components()
        if self.n == 0:
            self.components = np.zeros_like(components)
            self.sums = sampler.empty_sums()
        else:
            self._align(sampler, components)
        self.components += components
        sampler.add_to(self.sums)
        self.n += 1

    def means(self, *, in_place: bool) -> dict[str, Any]:
        """Return the means; `in_place` ends the averaging and avoids copies."""

        def mean(total: Floats) -> Any:
            if total.ndim == 0:
                return float(total / self.n)
            if in_place:
                total /= self.n
                return total
            return total / self.n

        named = {"components": self.components, **self.sums}
        return {f"{name}_": mean(total) for name, total in named.items()}

    def _align(self, sampler: Any, components: Floats) -> None:
        """Reorder the means so far to match the sampler's labels."""
        if sampler.topics_trade_places:
            order = _align_unseeded(self.components, components, sampler.seeded)
            if self._reorder(order, sampler.topic_axes):
                self.components = self.components[order]

    def _reorder(self, order: NDArray[np.intp], axes: dict[str, int]) -> bool:
        """Make label ``order[k]`` of the sums label k; return whether any label changed."""
        if np.array_equal(order, np.arange(len(order))):
            return False
        for name in axes.keys() & self.sums.keys():
            self.sums[name] = np.take(self.sums[name], order, axis=axes[name])
        return True


def _align_unseeded(old: Floats, new: Floats, seeded: Places) -> NDArray[np.intp]:
    """Return the order of the old topics that matches the new ones."""
    if not len(seeded):
        return align_labels(old, new)
    order = np.arange(len(new))
    others = np.setdiff1d(order, seeded)
    if len(others):
        order[others] = others[align_labels(old[others], new[others])]
    return order


class DistributedAverages(TopicAverages):
    """Means over the kept sweeps of a chain over partitions; means of documents stay there."""

    def __init__(self, *, is_lasting: bool = False) -> None:
        super().__init__()
        self.is_lasting = is_lasting  # otherwise for the current state only, until `drop`
        self._key = uuid4().hex

    def add(self, sampler: Any) -> None:
        """Add the current state to the means."""
        self._sampler = sampler
        super().add(sampler)
        sampler.add_to_parts(self._key)

    def _reorder(self, order: NDArray[np.intp], axes: dict[str, int]) -> bool:
        has_moved = super()._reorder(order, axes)
        if has_moved:
            self._sampler.reorder(self._key, axes, order)
        return has_moved

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_sampler"}

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        other = type(self)()
        other.n, other.components = self.n, self.components.copy()
        other.sums = {name: values.copy() for name, values in self.sums.items()}
        other.attach(self._sampler)
        self._sampler.fork_sums(self._key, other._key)
        return other

    def attach(self, sampler: Any) -> None:
        """Continue with a restored chain."""
        self._sampler = sampler

    def means(self, *, in_place: bool) -> dict[str, Any]:
        """Return the means, including those of documents and segments, which stay in place."""
        others = self._sampler.means_of_parts(self._key, self.n, in_place=in_place)
        return {**super().means(in_place=in_place), **others}

    def drop(self) -> None:
        """Drop the sums of documents, unless they are lasting."""
        if not self.is_lasting:
            self._sampler.forget_sums(self._key)
