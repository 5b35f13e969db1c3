"""A corpus in partitions: what is kept where a partition is, and what travels.

A partition is a shard of its own. Where it is there is a walker of every chain with this one shard,
whose words by topic are those of the whole corpus: one replica for all partitions in a process.
What travels between those places after a sweep are the changes of the counts, sparse and in whole
numbers; to the chain itself, statistics: never words, or what belongs to documents.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple
from uuid import uuid4
from weakref import WeakValueDictionary

import joblib
import numpy as np
from numpy.typing import NDArray

from skdp._executors import Executor, Placed
from skdp._part import Part as BasePart
from skdp.callback._files import written_whole
from skdp.data import PartitionedCorpus, SegmentedCorpus
from skdp.topics._shared._arrays import MAX_COUNT, empty_counts
from skdp.topics._shared._averages import TopicAverages
from skdp.topics._shared._kernels import WordCounts
from skdp.topics._shared._kernels_changes import add_codes
from skdp.topics._shared._packing import decode, encode
from skdp.topics._shared._priors import sum_rises
from skdp.topics._shared._shards import Counted, pack_state, unpack_state


@dataclass(frozen=True)
class CountChange:
    """A change of words by topic. Being whole numbers, changes add up in any order.

    Attributes
    ----------
    code : (n,) uint8 array
        As in ``_kernels_changes``.
    totals : (K',) float64 array
    """

    code: NDArray[np.uint8]
    totals: NDArray[np.float64]

    @property
    def n_bytes(self) -> int:
        """What it takes to send it."""
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

    def __add__(self, other: CountChange) -> CountChange:
        out = np.empty(len(self.code) + len(other.code), dtype=np.uint8)
        n = add_codes(self.code, other.code, out)
        return CountChange(out[:n].copy(), self.totals + other.totals)

    def apply(self, words: WordCounts) -> None:
        """Change words by topic."""
        decode(self.code, words.counts)
        words.totals[:] += self.totals


class Replica:
    """Words by topic of the whole corpus, for all partitions of a chain in this process."""

    def __init__(self, n_words: int, n_columns: int):
        self.words = empty_counts(n_words, n_columns)
        self._n_changes = 0
        self._lock = Lock()

    def after(self, n_changes: int, last: CountChange) -> WordCounts:
        """Return the words after so many changes, of which `last` may be missing."""
        with self._lock:
            if self._n_changes < n_changes:
                last.apply(self.words)
                self._n_changes = n_changes
        return self.words


_REPLICAS: WeakValueDictionary[tuple[str, int], Replica] = WeakValueDictionary()
"""By fit and chain. Partitions alone keep them alive."""

_LOCK = Lock()


def find_replica(fit: str, c: int, n_words: int, n_columns: int) -> Replica:
    """Return the replica of chain `c` of a fit in this process."""
    with _LOCK:
        replica = _REPLICAS.get((fit, c))
        if replica is None:
            replica = _REPLICAS[fit, c] = Replica(n_words, n_columns)
        return replica


class PlacedChain:
    """What a chain has where a partition is: a walker of one shard, and sums for means."""

    def __init__(self, walker: Any, replica: Replica, *, is_first: bool):
        self.walker = walker
        self.replica = replica
        self.is_first = is_first
        self.sums: dict[str, NDArray[np.float64]] = {}


@dataclass
class CorpusPart:
    """A partition where it is: documents, and what chains have there by their number."""

    corpus: SegmentedCorpus
    chains: dict[int, PlacedChain] = field(default_factory=dict)


class Size(NamedTuple):
    """How large a partition is."""

    n_documents: int
    n_segments: int
    n_tokens: int


def measure_part(part: CorpusPart) -> tuple[list[Size]]:
    """Return the size of a partition."""
    corpus = part.corpus
    return ([Size(len(corpus), len(corpus.segment_ptr) - 1, len(corpus.tokens))],)


def count_part(part: CorpusPart) -> tuple[NDArray[np.int64]]:
    """Return how often each word occurs."""
    return (np.bincount(part.corpus.tokens, minlength=part.corpus.n_features),)


def begin_part(
    part: CorpusPart, fit: str, c: int, make: Callable[..., Any], is_first: bool, *streams: Any
) -> tuple[CountChange]:
    """Make the first state of a chain; return the counts of its words.

    Parameters
    ----------
    make : callable
        Returns a walker of a corpus, given streams.
    """
    walker = make(part.corpus, *([stream] for stream in streams))
    replica = find_replica(fit, c, part.corpus.n_features, walker.n_columns)
    part.chains[c] = PlacedChain(walker, replica, is_first=is_first)
    return (_hand_over(walker, replica),)


def _hand_over(walker: Any, replica: Replica) -> CountChange:
    """Return the words that a walker has counted, and let it see those of the whole corpus."""
    counts = walker._words
    walker._words = replica.words
    return CountChange.of(counts)


def sweep_part(
    part: CorpusPart,
    c: int,
    n_changes: int,
    last: tuple[Any, ...],
    parameters: dict[str, Any],
    stream: NDArray[np.uint64],
) -> tuple[Any, ...]:
    """Draw what belongs to the words once; return the change, stream, bytes and statistics.

    Parameters
    ----------
    n_changes : int
        So often the words have changed.
    last : tuple
        The last change is its first place.
    """
    chain = part.chains[c]
    walker = chain.walker
    walker.take_parameters(parameters)
    walker.streams = [stream.copy()]
    words = chain.replica.after(n_changes, last[0])
    own = Counted.copy(words)
    walker._sweep_words(own, walker.streams)
    statistics = walker.statistics(is_first=chain.is_first)
    change = CountChange.between(words, own)
    return change, walker.streams, change.n_bytes, *statistics


def settle_part(
    part: CorpusPart, c: int, n_changes: int, last: tuple[Any, ...], prior: float | None
) -> tuple[Any, ...]:
    """Let the replica have the last change; return what is known of its words, and statistics.

    Parameters
    ----------
    n_changes, last : as in `sweep_part`
    prior : float or None
        The prior of the words; None if it is not learned.

    Returns
    -------
    totals : (K',) array
    rises : float
        As the update of the prior needs them.
    n_bytes : int
        The size of the last change.
    *statistics
        The other places of `last`.
    """
    change, *statistics = last
    words = part.chains[c].replica.after(n_changes, change)
    rises = 0.0 if prior is None else sum_rises(prior, words.counts)
    return words.totals, rises, change.n_bytes, *statistics


def copy_words(part: CorpusPart, c: int) -> CountChange:
    """Return the words by topic, as their change from nothing."""
    return CountChange.of(part.chains[c].replica.words)


def finish_part(
    part: CorpusPart, c: int, parameters: dict[str, Any], stream: NDArray[np.uint64]
) -> tuple[Any, ...]:
    """Return the stream and the statistics that need parameters drawn after the sweep."""
    chain = part.chains[c]
    walker = chain.walker
    walker.take_parameters(parameters)
    walker.streams = [stream.copy()]
    statistics = walker.late_statistics(is_first=chain.is_first)
    return walker.streams, *statistics


def report_part(part: CorpusPart, c: int, parameters: dict[str, Any]) -> tuple[list[Any]]:
    """Return what the partition says of the current state."""
    walker = part.chains[c].walker
    walker.take_parameters(parameters)
    return ([walker.report()],)


def add_part(part: CorpusPart, c: int, parameters: dict[str, Any]) -> tuple[int]:
    """Add the current values to the sums.

    Of the shares of segments only the tokens of topics are kept, which take less room.
    """
    chain = part.chains[c]
    chain.walker.take_parameters(parameters)
    current = chain.walker.empty_sums()
    chain.walker.add_to(current)
    new = {
        "doc_topic": current["doc_topic"],
        "topic_tokens": np.diff(part.corpus.segment_ptr) @ current["segment_topic"],
    }
    for name, value in new.items():
        chain.sums[name] = chain.sums[name] + value if name in chain.sums else value
    return (1,)


def reorder_part(part: CorpusPart, c: int, order: NDArray[np.intp]) -> tuple[int]:
    """Let label k of the sums be what so far was ``order[k]``."""
    chain = part.chains[c]
    for name, values in chain.sums.items():
        chain.sums[name] = np.take(values, order, axis=-1)
    return (1,)


def average_part(part: CorpusPart, c: int, n: int) -> tuple[list[Any]]:
    """Return the mean shares of documents, and the mean tokens of topics."""
    sums = part.chains[c].sums
    return ([(sums["doc_topic"] / n, sums["topic_tokens"] / n)],)


def digest_part(part: CorpusPart) -> tuple[list[str]]:
    """Return a hash of the documents."""
    return ([joblib.hash(part.corpus)],)


def write_part(part: CorpusPart, path: Path) -> tuple[list[int]]:
    """Write what chains have here, without the documents; return the size of the file."""
    chains = []
    for c, chain in part.chains.items():
        walker = BasePart.copy(chain.walker)  # without a copy of the words
        walker.detach()
        walker.shards = [pack_state(shard) for shard in walker.shards]
        chains.append((c, walker, chain.is_first, chain.sums))
    with written_whole(path) as file:
        pickle.dump(chains, file, protocol=5)
        size = file.tell()
    return ([size],)


def read_part(part: CorpusPart, fit: str, path: Path) -> tuple[CountChange, ...]:
    """Take up what chains had; return the counts of the words of each."""
    with open(path, "rb") as file:
        try:
            chains = pickle.load(file)
        except Exception as error:
            raise ValueError(f"The file {path} of a checkpoint is damaged.") from error
    changes = []
    for c, walker, is_first, sums in chains:
        walker.shards = [unpack_state(shard) for shard in walker.shards]
        walker.attach(part.corpus)
        replica = find_replica(fit, c, part.corpus.n_features, walker.n_columns)
        part.chains[c] = chain = PlacedChain(walker, replica, is_first=is_first)
        chain.sums = sums
        changes.append(_hand_over(walker, replica))
    return tuple(changes)


class PlacedCorpus(Placed):
    """Partitions of documents that an executor has placed: the data of a fit.

    Parameters
    ----------
    X : PartitionedCorpus
    executor : Executor

    Attributes
    ----------
    n_features, n_partitions : int
    sizes : list of Size
        Of the partitions.
    n_moved : int
        As in `Placed`, bytes of changes.
    """

    def __init__(self, X: PartitionedCorpus, executor: Executor):
        super().__init__(X, executor, CorpusPart)
        self._fit = uuid4().hex
        self.sizes: list[Size]
        (self.sizes,) = self.sum(measure_part)

    @property
    def n_units(self) -> int:
        """Number of words, of which a sweep is made."""
        return self.n_tokens

    @property
    def n_tokens(self) -> int:
        """Number of words of the corpus."""
        return sum(size.n_tokens for size in self.sizes)

    def check_counts(self) -> None:
        """Raise if a word occurs more often than counts can hold."""
        if self.n_tokens > MAX_COUNT:
            (frequencies,) = self.sum(count_part)
            if frequencies.max() > MAX_COUNT:
                raise ValueError(
                    f"X holds the word {frequencies.argmax()} {frequencies.max()} times; no word "
                    f"may occur more than {MAX_COUNT} times."
                )

    def begin(self, c: int, make: Callable[..., Any], *streams: list[Any]) -> Any:
        """Make the first state of chain `c`; return what stands for the counts of all words."""
        shared = self._executor.share(make)
        calls = [
            self._executor.call(s, begin_part, self._fit, c, shared, s == 0, *own)
            for s, own in enumerate(zip(*streams, strict=True))
        ]
        return self._executor.total(calls)

    def __reduce__(self) -> tuple[Any, ...]:
        """Return what stands for the data where they are hashed."""
        return str, (repr((self.n_features, self.sum(digest_part)[0])),)

    def write(self, folder: Path) -> None:
        """Let all partitions write what chains have there to files in `folder`."""
        self.write_files(write_part, folder)

    def read(self, folder: Path) -> None:
        """Let all partitions take up what they wrote; `restored` has the counts of chains."""
        self._restored = self.sum(read_part, self._fit, each=self._paths(folder))

    def restored(self, c: int) -> Any:
        """Return what stands for the counts of all words of chain `c`, which was taken up."""
        return self.share((self._restored[c],))


class PlacedAverages(TopicAverages):
    """Means over the kept sweeps of a chain over partitions: those of documents stay there."""

    def add(self, walker: Any) -> None:
        """Take the current state into the means."""
        self._walker = walker
        super().add(walker)

    def _reorder(self, order: NDArray[np.intp], axes: dict[str, int]) -> bool:
        has_moved = super()._reorder(order, axes)
        if has_moved:
            self._walker.reorder(order)
        return has_moved

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_walker"}

    def attach(self, walker: Any) -> None:
        """Go on with a chain that was taken up."""
        self._walker = walker

    def means(self, *, in_place: bool) -> dict[str, Any]:
        """Return the means, and those of the shares of documents from where they are."""
        return {**super().means(in_place=in_place), **self._walker.means_of_parts(self.n)}
