"""A corpus in partitions: the state that stays with each partition, and the data that is sent.

Each partition is a shard. In its process, each chain has a sampler with only this shard, whose
words by topic are those of the whole corpus: one replica for all partitions in a process. After a
sweep these processes exchange the changes of the counts, as sparse integers; the chain itself
receives statistics, but never words or document-level state.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from threading import Lock, Thread
from typing import Any, NamedTuple
from uuid import uuid4
from weakref import WeakValueDictionary, finalize, ref

import joblib
import numpy as np
from numpy.typing import NDArray

from skdp._executors import Executor, Placed
from skdp._executors._spool import zeros
from skdp._part import Part as BasePart
from skdp.callback._part_files import part_header
from skdp.callback._pickles import read_checked, write_checked
from skdp.data import PartitionedCorpus, SegmentedCorpus
from skdp.topics._shared._allowed import AllowedTopics, LabeledCorpus
from skdp.topics._shared._arrays import check_counts, empty_counts
from skdp.topics._shared._kernels import WordCounts
from skdp.topics._shared._kernels_changes import sum_codes
from skdp.topics._shared._packing import decode, encode
from skdp.topics._shared._priors import sum_rises
from skdp.topics._shared._shards import pack_state, unpack_state


@dataclass(frozen=True)
class CountChange:
    """A change of words by topic. Changes are integers, so they add up in any order.

    Attributes
    ----------
    code : (n,) uint8 array
        Encoding of ``_kernels_changes``.
    totals : (K',) float64 array
    """

    code: NDArray[np.uint8]
    totals: NDArray[np.float64]

    @property
    def n_bytes(self) -> int:
        """Number of bytes that are sent."""
        return self.code.nbytes + self.totals.nbytes

    @classmethod
    def between(cls, old: WordCounts, new: WordCounts) -> CountChange:
        """Return the change from `old` to `new`."""
        return cls(encode(old.counts, new.counts), new.totals - old.totals)

    @classmethod
    def of(cls, words: WordCounts) -> CountChange:
        """Return the change from nothing."""
        nothing = WordCounts(np.zeros_like(words.counts), np.zeros_like(words.totals), False)
        return cls.between(nothing, words)

    @classmethod
    def sum_up(cls, changes: Sequence[CountChange]) -> CountChange:
        """Return the sum of changes, which is cheaper than adding them one by one."""
        code = np.concatenate([change.code for change in changes])
        ptr = np.cumsum([0, *(len(change.code) for change in changes)])
        out = np.empty(len(code), dtype=np.uint8)
        n = sum_codes(code, ptr, out)
        return cls(out[:n].copy(), np.sum([change.totals for change in changes], axis=0))

    def __add__(self, other: CountChange) -> CountChange:
        return self.sum_up([self, other])

    def apply(self, words: WordCounts) -> None:
        """Apply the change to words by topic."""
        decode(self.code, words.counts)
        words.totals[:] += self.totals


_ROOM = 2**27
"""Bound on the bytes of a chain's state in a process, beyond which it is packed."""


class Replica:
    """Words by topic of the whole corpus, shared by all partitions of a chain in this process."""

    def __init__(self, n_words: int, n_columns: int):
        self.words = empty_counts(n_words, n_columns)
        self._n_changes = 0
        self._n_state = 0
        self._lock = Lock()

    def count_state(self, n_bytes: int) -> None:
        """Add the size of the state of one more partition."""
        with self._lock:
            self._n_state += n_bytes

    def is_crowded(self, n_bytes: int) -> bool:
        """Return whether all states together exceed the bound, and `n_bytes`, the size of one."""
        return self._n_state > max(_ROOM, n_bytes)

    def after(self, n_changes: int, last: CountChange) -> WordCounts:
        """Return the words after `n_changes` changes, of which `last` may not be applied yet.

        Raises
        ------
        ValueError
            If a word occurs more often in a topic than its count can represent.
        """
        with self._lock:
            if self._n_changes < n_changes:
                last.apply(self.words)
                check_counts(self.words)
                self._n_changes = n_changes
        return self.words


_OF_PARTS = "doc_topic", "segment_topic", "segment_mixing"
"""Sums that stay with the documents, in memory-mapped files."""

_ROWS = 2**14
"""Number of rows of a sum that are reordered at once."""

_REPLICAS: WeakValueDictionary[tuple[str, int], Replica] = WeakValueDictionary()
"""Replicas by fit and chain. Only partitions keep them alive."""

_LOCK = Lock()


def find_replica(fit: str, c: int, n_words: int, n_columns: int) -> Replica:
    """Return the replica of chain `c` of a fit in this process."""
    with _LOCK:
        replica = _REPLICAS.get((fit, c))
        if replica is None:
            replica = _REPLICAS[fit, c] = Replica(n_words, n_columns)
        return replica


class PlacedTopicChain:
    """The state of a chain at a partition: a sampler of one shard, and sums for means.

    Between calls the state is packed if the process holds too much of it: topics are in the
    smallest dtype, and tables are stored as sparse arrays.
    """

    def __init__(self, sampler: Any, replica: Replica, *, is_first: bool):
        self._sampler = sampler
        self._packed: list[Any] | None = None
        self.replica = replica
        self.is_first = is_first
        self.sums: dict[str, dict[str, NDArray[np.float64]]] = {}
        self._n_bytes = sum(array.nbytes for shard in sampler.shards for array in shard)
        replica.count_state(self._n_bytes)

    @contextmanager
    def opened(self, parameters: dict[str, Any] | None = None) -> Iterator[Any]:
        """Yield the unpacked sampler, with the parameters shared by all shards."""
        sampler = self._sampler
        if self._packed is not None:
            sampler.shards = [unpack_state(shard) for shard in self._packed]
            self._packed = None
        if parameters is not None:
            sampler.take_parameters(parameters)
        yield sampler
        if self.replica.is_crowded(self._n_bytes):
            self._packed = pack_shards(sampler)
            sampler.shards = []

    def written(self) -> tuple[Any, ...]:
        """Return the chain's state for a file, without the documents and the words."""
        sampler = BasePart.copy(self._sampler)
        sampler.detach()
        sampler.shards = pack_shards(self._sampler) if self._packed is None else self._packed
        return sampler, self.is_first, self.sums


def pack_shards(sampler: Any) -> list[Any]:
    """Return the state of a sampler in a form that takes less space."""
    return [pack_state(shard) for shard in sampler.shards]


@dataclass
class CorpusPart:
    """A partition in its process: documents, labels, and the state of chains by their index."""

    corpus: SegmentedCorpus
    allowed: AllowedTopics | None = None
    chains: dict[int, PlacedTopicChain] = field(default_factory=dict)

    @property
    def data(self) -> SegmentedCorpus | LabeledCorpus:
        """The documents, with labels if there are any."""
        return self.corpus if self.allowed is None else LabeledCorpus(self.corpus, self.allowed)


class Size(NamedTuple):
    """Size of a partition."""

    n_documents: int
    n_segments: int
    n_tokens: int


def measure_part(part: CorpusPart) -> tuple[list[Size]]:
    """Return the size of a partition."""
    corpus = part.corpus
    return ([Size(len(corpus), len(corpus.segment_ptr) - 1, len(corpus.tokens))],)


def begin_part(
    part: CorpusPart, fit: str, c: int, make: Callable[..., Any], is_first: bool, *streams: Any
) -> tuple[CountChange]:
    """Create the first state of a chain; return the counts of its words.

    Parameters
    ----------
    make : callable
        Returns a sampler of a corpus, given streams.
    """
    sampler = make(part.data, *([stream] for stream in streams))
    return (_take_in(part, fit, c, sampler, is_first=is_first),)


def _take_in(part: CorpusPart, fit: str, c: int, sampler: Any, *, is_first: bool) -> CountChange:
    """Give a sampler the words of the whole corpus; return the change that counts its own words."""
    replica = find_replica(fit, c, part.corpus.n_features, sampler.n_columns)
    part.chains[c] = chain = PlacedTopicChain(sampler, replica, is_first=is_first)
    with chain.opened():
        return CountChange.of(sampler.hand_over(replica.words, is_first=is_first))


def sweep_part(
    part: CorpusPart,
    c: int,
    n_changes: int,
    last: tuple[Any, ...],
    parameters: dict[str, Any],
    stream: NDArray[np.uint64],
) -> tuple[Any, ...]:
    """Draw the latent variables of the words once; return change, stream, bytes and statistics.

    Parameters
    ----------
    n_changes : int
        Number of changes of the words so far.
    last : tuple
        Its first item is the last change.
    """
    chain = part.chains[c]
    words = chain.replica.after(n_changes, last[0])
    with chain.opened(parameters) as sampler:
        sampler.streams = [stream.copy()]
        own = sampler.sweep_placed(words)
        statistics = sampler.statistics(is_first=chain.is_first)
    change = CountChange.between(words, own)
    return change, sampler.streams, change.n_bytes, *statistics


def settle_part(
    part: CorpusPart, c: int, n_changes: int, last: tuple[Any, ...], prior: float | None
) -> tuple[Any, ...]:
    """Apply the last change to the replica; return facts about its words, and statistics.

    Parameters
    ----------
    n_changes, last : as in `sweep_part`
    prior : float or None
        The prior of the words; None if it is fixed.

    Returns
    -------
    totals : (K',) array
    rises : float
        Sum of rises for the update of the prior.
    n_bytes : int
        The size of the last change.
    *statistics
        The other items of `last`.
    """
    change, *statistics = last
    words = part.chains[c].replica.after(n_changes, change)
    rises = 0.0 if prior is None else sum_rises(prior, words.counts)
    return words.totals, rises, change.n_bytes, *statistics


def copy_words(part: CorpusPart, c: int) -> CountChange:
    """Return the words by topic as a change from zero counts."""
    return CountChange.of(part.chains[c].replica.words)


def finish_part(
    part: CorpusPart, c: int, parameters: dict[str, Any], stream: NDArray[np.uint64]
) -> tuple[Any, ...]:
    """Return the stream and the statistics that depend on parameters drawn after the sweep."""
    chain = part.chains[c]
    with chain.opened(parameters) as sampler:
        sampler.streams = [stream.copy()]
        statistics = sampler.late_statistics(is_first=chain.is_first)
    return sampler.streams, *statistics


def report_part(part: CorpusPart, c: int, parameters: dict[str, Any]) -> tuple[list[Any]]:
    """Return the partition's report on the current state."""
    with part.chains[c].opened(parameters) as sampler:
        return ([sampler.report()],)


def report_fixed_part(part: CorpusPart, c: int) -> tuple[list[Any]]:
    """Return the partition's report on its words with fixed topics."""
    with part.chains[c].opened() as sampler:
        return ([sampler.report_fixed()],)


def add_part(part: CorpusPart, c: int, key: str, parameters: dict[str, Any]) -> tuple[int]:
    """Add the current values to the sums with this key."""
    chain = part.chains[c]
    with chain.opened(parameters) as sampler:
        everything = sampler.empty_sums()  # only its small arrays are written to
        if key not in chain.sums:
            chain.sums[key] = {
                name: zeros(everything[name].shape) for name in _OF_PARTS if name in everything
            }
        sampler.add_to({**everything, **chain.sums[key]})
    return (1,)


def reorder_part(
    part: CorpusPart, c: int, key: str, names: tuple[str, ...], order: NDArray[np.intp]
) -> tuple[int]:
    """Make label ``order[k]`` of these sums label k."""
    for name in names:
        values = part.chains[c].sums[key][name]
        for begin in range(0, len(values), _ROWS):
            rows = values[begin : begin + _ROWS]
            rows[...] = rows[:, order]
    return (1,)


def fork_part(part: CorpusPart, c: int, key: str, new: str) -> tuple[int]:
    """Copy sums to another key."""
    sums = part.chains[c].sums
    sums[new] = {name: _in_file(values) for name, values in sums[key].items()}
    return (1,)


def forget_part(part: CorpusPart, c: int, key: str) -> tuple[int]:
    """Drop sums."""
    part.chains[c].sums.pop(key, None)
    return (1,)


def describe_part(part: CorpusPart, c: int, key: str, n: int) -> tuple[list[Any]]:
    """Return the mean tokens of topics, and the shapes of all means."""
    sums = part.chains[c].sums[key]
    tokens = np.diff(part.corpus.segment_ptr) @ sums["segment_topic"] / n
    return ([(tokens, {name: values.shape for name, values in sums.items()})],)


def average_part(
    part: CorpusPart, c: int, key: str, name: str, n: int, in_place: bool
) -> NDArray[np.float64]:
    """Return means; `in_place` ends the sum and avoids a copy."""
    total = part.chains[c].sums[key][name]
    if in_place:
        total /= n
        return total
    return np.divide(total, n, out=zeros(total.shape))


def digest_part(part: CorpusPart) -> tuple[list[str]]:
    """Return a hash of the documents and their labels."""
    return ([joblib.hash(part.data)],)


def label_part(
    part: CorpusPart, check: Callable[..., AllowedTopics | None], own: Any
) -> tuple[int]:
    """Check the documents and set their labels.

    Parameters
    ----------
    own : (sequence or None, int)
        The labels of the partition, and the index of its first document.
    """
    y, first = own
    part.allowed = check(y, part.corpus, first=first)
    return (1,)


def write_part(part: CorpusPart, path: Path) -> tuple[list[int]]:
    """Write the state of chains here, without the documents; return the size of the file."""
    chains = [(c, *chain.written()) for c, chain in part.chains.items()]
    return ([write_checked(path, chains, part_header(path))],)


def read_part(part: CorpusPart, fit: str, path: Path) -> tuple[CountChange, ...]:
    """Restore the state of chains; return the counts of the words of each."""
    changes = []
    for c, sampler, is_first, sums in read_checked(path, part_header(path)):
        sampler.shards = [unpack_state(shard) for shard in sampler.shards]
        sampler.attach(part.data)
        changes.append(_take_in(part, fit, c, sampler, is_first=is_first))
        for key, found in sums.items():
            part.chains[c].sums[key] = {name: _in_file(value) for name, value in found.items()}
    return tuple(changes)


def _in_file(values: NDArray[np.float64]) -> NDArray[np.float64]:
    own = zeros(values.shape)
    own[...] = values
    return own


def _drop(executor: Executor) -> None:
    """Drop unneeded partitions; a loop of Dask cannot wait for itself, so it uses a thread."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        executor.drop()
    else:
        Thread(target=executor.drop, daemon=True).start()


class PlacedCorpus(Placed):
    """Partitions of documents that an executor has placed, as the data of a fit.

    Parameters
    ----------
    X : PartitionedCorpus
    executor : Executor

    Attributes
    ----------
    n_features, n_partitions : int
    sizes : list of Size
        Sizes of the partitions.
    n_moved : int
        Bytes of changes, see `Placed`.
    """

    def __init__(self, X: PartitionedCorpus, executor: Executor):
        super().__init__(X, executor, CorpusPart)
        self._source = ref(X)
        self._fit = uuid4().hex
        self._digests: list[str] | None = None
        finalize(self, _drop, executor).atexit = False  # at exit the processes end in any case
        self.sizes: list[Size]
        (self.sizes,) = self.sum(measure_part)

    @property
    def n_units(self) -> int:
        """Number of words, the unit in which sweeps are measured."""
        return self.n_tokens

    @property
    def n_tokens(self) -> int:
        """Number of words of the corpus."""
        return sum(size.n_tokens for size in self.sizes)

    def label(self, y: Sequence[Any] | None, check: Callable[..., AllowedTopics | None]) -> None:
        """Send labels to the documents, and check both.

        Parameters
        ----------
        y : sequence or None
            An entry for each document of all partitions.
        check : callable
            Returns the topics that documents may have, given labels, documents, and `first`, the
            index of the first document.
        """
        ends = np.cumsum([0, *(size.n_documents for size in self.sizes)]).tolist()
        if y is not None and len(y) != ends[-1]:
            raise ValueError(
                f"y must have a set of topics, or None, for each of the {ends[-1]} documents, got "
                f"{len(y)}."
            )
        self.is_labeled = y is not None
        y = None if y is None else list(y)
        parts = [(y and y[begin:end], begin) for begin, end in pairwise(ends)]
        self.sum(label_part, self.share(check), each=parts)

    is_labeled = False
    """Whether documents have labels."""

    def begin(self, c: int, make: Callable[..., Any], *streams: list[Any]) -> Any:
        """Create the first state of chain `c`; return a handle of the counts of all words."""
        shared = self._executor.share(make)
        calls = [
            self._executor.call(s, begin_part, self._fit, c, shared, s == 0, *own)
            for s, own in enumerate(zip(*streams, strict=True))
        ]
        return self._executor.total(calls)

    def __reduce__(self) -> tuple[Any, ...]:
        """Return a small replacement of the data for hashing."""
        if self._digests is None:
            (self._digests,) = self.sum(digest_part)
        return str, (repr((self.n_features, self._digests)),)

    def is_with(self, executor: Executor) -> bool:
        """Return whether this executor has the partitions."""
        return self._executor is executor

    def is_of(self, X: PartitionedCorpus) -> bool:
        """Return whether this was made from X itself."""
        return self._source() is X

    def go_on(self, n_jobs: int | None) -> None:
        """Prepare for another fit.

        Raises
        ------
        LostWorkerError
            If partitions are lost.
        """
        self._executor.go_on(n_jobs)

    def write(self, folder: Path) -> None:
        """Make all partitions write the state of chains to files in `folder`."""
        self.write_files(write_part, folder)

    def read(self, folder: Path) -> None:
        """Make all partitions restore their files; `restored` returns the counts of chains."""
        self._restored = self.sum(read_part, self._fit, each=self._paths(folder))

    def restored(self, c: int) -> Any:
        """Return a handle of the counts of all words of the restored chain `c`."""
        return self.share((self._restored[c],))

    def keep(self, f: Callable[..., Any], *args: Any, shapes: list[tuple[int, ...]]) -> Any:
        """Return the arrays that `f` returns for all partitions as one, which stays in place."""
        return self._executor.keep(f, *args, shapes=shapes)
