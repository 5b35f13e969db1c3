"""A partition of a corpus in the process that holds it, and the changes that are sent.

Each partition is a shard. In its process, each chain has a sampler with only this shard, whose
words by topic are those of the whole corpus: one replica for all partitions in a process. After a
sweep these processes exchange the changes of the counts, as sparse integers; the chain itself
receives statistics, but never words or document-level state.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple
from weakref import WeakValueDictionary

import joblib
import numpy as np
from numpy.typing import NDArray

from skdp._executors._memory_map import zeros
from skdp._part import Part as BasePart
from skdp.callback._part_files import part_header
from skdp.callback._pickles import read_checked, write_checked
from skdp.data import SegmentedCorpus
from skdp.topics._shared._allowed import AllowedTopics, LabeledCorpus
from skdp.topics._shared._arrays import check_counts, empty_counts
from skdp.topics._shared._kernels import WordCounts
from skdp.topics._shared._kernels_changes import sum_codes
from skdp.topics._shared._packing import decode, encode
from skdp.topics._shared._priors import sum_rises
from skdp.topics._shared._shards import pack_state, unpack_state


@dataclass(frozen=True)
class CountChange:
    """A change of words by topic. Changes are integers, so they add up in any order."""

    code: NDArray[np.uint8]  # encoding of ``_kernels_changes``
    totals: NDArray[np.float64]  # (K',)

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
        """Return the words after `n_changes` changes, of which `last` may not be applied yet."""
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


class CorpusChain:
    """The state of a chain at a partition: a sampler of one shard, and sums for means.

    Between calls the state is packed if the process holds too much of it.
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


class Size(NamedTuple):
    """Size of a partition."""

    n_documents: int
    n_segments: int
    n_tokens: int


@dataclass
class CorpusPartition:
    """A partition in its process: documents, labels, and the state of chains by their index.

    An executor calls its methods by name, and adds up the tuples that they return, if any.
    """

    corpus: SegmentedCorpus
    allowed: AllowedTopics | None = None
    chains: dict[int, CorpusChain] = field(default_factory=dict)

    @property
    def data(self) -> SegmentedCorpus | LabeledCorpus:
        """The documents, with labels if there are any."""
        return self.corpus if self.allowed is None else LabeledCorpus(self.corpus, self.allowed)

    def measure(self) -> tuple[list[Size]]:
        """Return the size of a partition."""
        corpus = self.corpus
        return ([Size(len(corpus), len(corpus.segment_ptr) - 1, len(corpus.tokens))],)

    def begin(
        self, fit: str, c: int, make: Callable[..., Any], is_first: bool, *streams: Any
    ) -> tuple[CountChange]:
        """Create the first state of a chain by `make`; return the counts of its words."""
        sampler = make(self.data, *([stream] for stream in streams))
        return (self._add_chain(fit, c, sampler, is_first=is_first),)

    def _add_chain(self, fit: str, c: int, sampler: Any, *, is_first: bool) -> CountChange:
        """Add a chain, whose sampler gets the words of the whole corpus; return its own words."""
        replica = find_replica(fit, c, self.corpus.n_features, sampler.n_columns)
        self.chains[c] = chain = CorpusChain(sampler, replica, is_first=is_first)
        with chain.opened():
            return CountChange.of(sampler.hand_over(replica.words, is_first=is_first))

    def sweep(
        self,
        c: int,
        n_changes: int,
        last: tuple[Any, ...],
        parameters: dict[str, Any],
        stream: NDArray[np.uint64],
    ) -> tuple[Any, ...]:
        """Draw latent variables of the words once; return change, stream, bytes and statistics."""
        chain = self.chains[c]
        words = chain.replica.after(n_changes, last[0])
        with chain.opened(parameters) as sampler:
            sampler.streams = [stream.copy()]
            own = sampler.sweep_partition(words)
            statistics = sampler.statistics(is_first=chain.is_first)
        change = CountChange.between(words, own)
        return change, sampler.streams, change.n_bytes, *statistics

    def settle(
        self, c: int, n_changes: int, last: tuple[Any, ...], prior: float | None
    ) -> tuple[Any, ...]:
        """Apply the last change; return totals and rises of the words, its bytes and statistics."""
        change, *statistics = last
        words = self.chains[c].replica.after(n_changes, change)
        rises = 0.0 if prior is None else sum_rises(prior, words.counts)
        return words.totals, rises, change.n_bytes, *statistics

    def copy_words(self, c: int) -> CountChange:
        """Return the words by topic as a change from zero counts."""
        return CountChange.of(self.chains[c].replica.words)

    def finish(
        self, c: int, parameters: dict[str, Any], stream: NDArray[np.uint64]
    ) -> tuple[Any, ...]:
        """Return the stream and the statistics that depend on parameters drawn after the sweep."""
        chain = self.chains[c]
        with chain.opened(parameters) as sampler:
            sampler.streams = [stream.copy()]
            statistics = sampler.late_statistics(is_first=chain.is_first)
        return sampler.streams, *statistics

    def report(self, c: int, parameters: dict[str, Any]) -> tuple[list[Any]]:
        """Return the partition's report on the current state."""
        with self.chains[c].opened(parameters) as sampler:
            return ([sampler.report()],)

    def report_fixed(self, c: int) -> tuple[list[Any]]:
        """Return the partition's report on its words with fixed topics."""
        with self.chains[c].opened() as sampler:
            return ([sampler.report_fixed()],)

    def add_sample(self, c: int, key: str, parameters: dict[str, Any]) -> None:
        """Add the current values to the sums with this key."""
        chain = self.chains[c]
        with chain.opened(parameters) as sampler:
            everything = sampler.empty_sums()  # only its small arrays are written to
            if key not in chain.sums:
                chain.sums[key] = {
                    name: zeros(everything[name].shape) for name in _OF_PARTS if name in everything
                }
            sampler.add_to({**everything, **chain.sums[key]})

    def reorder(self, c: int, key: str, names: tuple[str, ...], order: NDArray[np.intp]) -> None:
        """Make label ``order[k]`` of these sums label k."""
        for name in names:
            values = self.chains[c].sums[key][name]
            for begin in range(0, len(values), _ROWS):
                rows = values[begin : begin + _ROWS]
                rows[...] = rows[:, order]

    def fork(self, c: int, key: str, new: str) -> None:
        """Copy sums to another key."""
        sums = self.chains[c].sums
        sums[new] = {name: _in_file(values) for name, values in sums[key].items()}

    def forget(self, c: int, key: str) -> None:
        """Drop sums."""
        self.chains[c].sums.pop(key, None)

    def describe(self, c: int, key: str, n: int) -> tuple[list[Any]]:
        """Return the mean tokens of topics, and the shapes of all means."""
        sums = self.chains[c].sums[key]
        tokens = np.diff(self.corpus.segment_ptr) @ sums["segment_topic"] / n
        return ([(tokens, {name: values.shape for name, values in sums.items()})],)

    def average(self, c: int, key: str, name: str, n: int, in_place: bool) -> NDArray[np.float64]:
        """Return means; `in_place` ends the sum and avoids a copy."""
        total = self.chains[c].sums[key][name]
        if in_place:
            total /= n
            return total
        return np.divide(total, n, out=zeros(total.shape))

    def digest(self) -> tuple[list[str]]:
        """Return a hash of the documents and their labels."""
        return ([joblib.hash(self.data)],)

    def set_labels(self, check: Callable[..., AllowedTopics | None], own: Any) -> None:
        """Check documents and set their labels, given as `own` with the first document's index."""
        y, first = own
        self.allowed = check(y, self.corpus, first=first)

    def write(self, path: Path) -> tuple[list[int]]:
        """Write the state of chains here, without the documents; return the size of the file."""
        chains = [(c, *chain.written()) for c, chain in self.chains.items()]
        return ([write_checked(path, chains, part_header(path))],)

    def read(self, fit: str, path: Path) -> tuple[CountChange, ...]:
        """Restore the state of chains; return the counts of the words of each."""
        changes = []
        for c, sampler, is_first, sums in read_checked(path, part_header(path)):
            sampler.shards = [unpack_state(shard) for shard in sampler.shards]
            sampler.attach(self.data)
            changes.append(self._add_chain(fit, c, sampler, is_first=is_first))
            for key, found in sums.items():
                self.chains[c].sums[key] = {name: _in_file(value) for name, value in found.items()}
        return tuple(changes)


def _in_file(values: NDArray[np.float64]) -> NDArray[np.float64]:
    own = zeros(values.shape)
    own[...] = values
    return own
