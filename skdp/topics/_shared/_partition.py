"""Shards of a corpus: packed arrays, sweeps, and partitions in the processes that hold them.

Each partition is a shard. In its process, each chain has a sampler with only this shard, whose
words by topic are those of the whole corpus: one replica for all partitions in a process. After a
sweep these processes exchange the changes of the counts, as sparse integers; the chain itself
receives statistics, but never words or document-level state.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from threading import Lock
from typing import Any, ClassVar, NamedTuple
from weakref import WeakValueDictionary

import joblib
import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray

from skdp._executors import call_all
from skdp._executors._base import zeros
from skdp._numeric import Floats, Ints
from skdp._numeric._numba import as_readonly
from skdp._numeric._simd import aligned_zeros
from skdp._part import ChainComponent as BasePart
from skdp.callback._checkpoint import part_header, read_checked, write_checked
from skdp.data import SegmentedCorpus
from skdp.topics._kernels import _counts as kernels
from skdp.topics._shared._arrays import (
    MAX_TOTAL,
    AllowedTopics,
    Documents,
    LabeledCorpus,
    Stream,
    check_counts,
    empty_counts,
    sum_rises,
)

# Packing of arrays that are sent between processes: integers in few bytes.
#
# Only pickles are packed; threads run none of this code.


class Sparse(NamedTuple):
    """A matrix that is `fill` everywhere except for an encoded change."""

    code: NDArray[np.uint8]
    shape: tuple[int, ...]
    dtype: str
    fill: int


class Narrow(NamedTuple):
    """A vector in the smallest dtype that can represent it."""

    values: NDArray[Any]
    dtype: str


def encode(old: NDArray[Any], new: NDArray[Any]) -> NDArray[np.uint8]:
    """Return the encoded change from `old` to `new`, which are arrays of integers."""
    old, new = old.reshape(-1), new.reshape(-1)
    out = np.empty(kernels.LONGEST * kernels.count_changes(old, new), dtype=np.uint8)
    return out[: kernels.encode_change(old, new, out)].copy()


def decode(code: NDArray[np.uint8], counts: NDArray[Any]) -> None:
    """Add a change to `counts`, which must be contiguous."""
    kernels.decode_change(code, counts.reshape(-1))


def pack(array: NDArray[Any]) -> Any:
    """Return an array in a form that takes less space in a pickle."""
    if array.dtype.kind not in "iu" or not array.size:
        return array
    low, high = array.min(), array.max()
    if array.ndim == 1:
        dtype = np.result_type(np.min_scalar_type(low), np.min_scalar_type(high))
        return Narrow(array.astype(dtype), array.dtype.str)
    fill = int(min(low, 0))
    empty = np.full(array.shape, fill, dtype=array.dtype)
    code = encode(empty, np.ascontiguousarray(array))
    return Sparse(code, array.shape, array.dtype.str, fill)


def unpack(packed: Any) -> NDArray[Any]:
    """Return the array that was packed; it is writable."""
    if isinstance(packed, Narrow):
        return packed.values.astype(packed.dtype)
    if isinstance(packed, Sparse):
        array = np.full(packed.shape, packed.fill, dtype=packed.dtype)
        decode(packed.code, array)
        return array
    return packed


def pack_corpus(corpus: kernels.Corpus) -> list[Any]:
    """Return the words of a shard in a form that takes less space in a pickle."""
    in_part = np.arange(len(corpus.part_begin)) - corpus.part_begin
    lengths = np.diff(corpus.segment_ptr), np.diff(corpus.doc_ptr)
    return [pack(each) for each in (corpus.tokens, in_part, *lengths)]


def unpack_corpus(packed: list[Any]) -> kernels.Corpus:
    """Return the words of a shard, with the same numba type as before."""
    tokens, in_part, *lengths = (unpack(each) for each in packed)
    offsets = [np.concatenate([[0], np.cumsum(each)]).astype(np.int64) for each in lengths]
    part_begin = np.arange(len(in_part)) - in_part
    return kernels.Corpus(*(as_readonly(array) for array in (tokens, *offsets, part_begin)))


def pack_words(words: kernels.WordCounts) -> Any:
    """Return words by topic in a form that takes less space in a pickle."""
    if words.fixed:
        return words
    counts, fixed = words.counts, np.flatnonzero(words.totals > MAX_TOTAL)
    columns = counts[:, fixed]
    if len(fixed):
        counts = counts.copy()
        counts[:, fixed] = 0.0
    code = encode(np.zeros_like(counts), counts)
    return code, counts.shape, words.totals, fixed, columns


def unpack_words(packed: Any) -> kernels.WordCounts:
    """Return the words by topic that were packed."""
    if isinstance(packed, kernels.WordCounts):
        return packed
    code, shape, totals, fixed, columns = packed
    counts = aligned_zeros(shape, dtype=np.float32)
    decode(code, counts)
    counts[:, fixed] = columns
    return kernels.WordCounts(counts, totals, False)


# Sweeps of shards in threads or processes: tasks and their results.
#
# A task is a group of shards; there are as many groups as workers. The shards of a group share one
# copy of the words by topic: after a shard has been swept its words move back, so that the next one
# also starts from the counts before the sweep. At the end all words of the group move again, and
# the copy holds the changes of the whole group. So the grouping of shards has no effect on the
# bits.
#
# In threads all arrays are the chain's own. A task that is pickled for a process holds only the
# arrays of the group's shards, and its result holds the changes of the counts.


@dataclass(eq=False)
class ShardSweep:
    """Input of the sweep of one shard: its corpus and state, and the parameters."""

    _scratch: ClassVar[tuple[str, ...]] = ()  # recreated by `_make_scratch` after unpickling

    corpus: kernels.Corpus
    state: Any  # a named tuple of arrays, `topics` among them

    def sweep(self, words: Any, stream: Stream) -> Any:
        """Draw the latent variables of the words once; change `words` and return the state."""
        raise NotImplementedError

    def counted_words(self) -> tuple[Ints, Ints]:
        """Return the words that topics count and their topics, -1 for words that are not there."""
        return self.corpus.tokens, self.state.topics

    def _make_scratch(self) -> None:
        """Allocate scratch arrays for a sweep."""

    def __getstate__(self) -> dict[str, Any]:
        kept = {name: value for name, value in vars(self).items() if name not in self._scratch}
        kept["corpus"], kept["state"] = pack_corpus(self.corpus), pack_state(self.state)
        return kept

    def __setstate__(self, kept: dict[str, Any]) -> None:
        vars(self).update(kept)
        self.corpus, self.state = unpack_corpus(kept["corpus"]), unpack_state(kept["state"])
        self._make_scratch()


def pack_state(state: Any) -> Any:
    """Return a state, a named tuple of arrays, in a form that takes less space in a pickle."""
    return type(state), [pack(array) for array in state]


def unpack_state(packed: Any) -> Any:
    """Return the state that was packed."""
    kind, arrays = packed
    return kind(*(unpack(array) for array in arrays))


class Counted:
    """Operations on words by topic that are stored as counts."""

    pack = staticmethod(pack_words)
    unpack = staticmethod(unpack_words)

    @staticmethod
    def copy(words: kernels.WordCounts) -> kernels.WordCounts:
        """Return a copy of the words."""
        return kernels.WordCounts(words.counts.copy(), words.totals.copy(), words.fixed)

    @staticmethod
    def move(own: kernels.WordCounts, tokens: Ints, before: Any, after: Ints) -> None:
        """Move words to other topics."""
        kernels.move_words(tokens, before, after, own.counts, own.totals)

    @staticmethod
    def take_back(
        own: kernels.WordCounts, words: kernels.WordCounts, tokens: Ints, before: Any, after: Ints
    ) -> None:
        """Make `own` equal to `words` after the sweep of a shard by undoing its moves."""
        kernels.move_words(tokens, after, before, own.counts, own.totals)

    @staticmethod
    def change(words: kernels.WordCounts, own: kernels.WordCounts) -> CountChange:
        """Return the encoded change from `words` to `own`."""
        return CountChange.between(words, own)

    @staticmethod
    def add(words: kernels.WordCounts, changes: list[CountChange]) -> None:
        """Add changes that were made in other processes."""
        for change in changes:
            change.apply(words)
            check_counts(words)

    @staticmethod
    def merge(words: kernels.WordCounts, copies: list[kernels.WordCounts]) -> None:
        """Merge copies that hold separate changes into `words`; the copies are overwritten."""
        total, *others = copies
        for own in others:
            kernels.add_change(
                total.counts.reshape(-1), own.counts.reshape(-1), words.counts.reshape(-1)
            )
            kernels.add_change(total.totals, own.totals, words.totals)
            check_counts(total)
        words.counts[:], words.totals[:] = total.counts, total.totals


@dataclass(eq=False)
class Group:
    """The task of one worker: shards that are swept in turn."""

    sweeps: list[Any]
    streams: list[Stream]
    words: Any  # words by topic before the sweep
    ledger: Any  # class with the operations on words of this kind, such as `Counted`

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "words": self.ledger.pack(self.words)}

    def __setstate__(self, kept: dict[str, Any]) -> None:
        vars(self).update(kept)
        self.words = self.ledger.unpack(kept["words"])

    def run(self) -> ShardResult:
        """Sweep the shards."""
        words, ledger = self.words, self.ledger
        is_fixed = isinstance(words, kernels.WordCounts) and words.fixed
        own = words if is_fixed else ledger.copy(words)
        states, moves = [], []
        for sweep, stream in zip(self.sweeps, self.streams, strict=True):
            moves_back = not is_fixed and sweep is not self.sweeps[-1]
            before = sweep.counted_words()[1].copy() if moves_back else None
            sweep.state = state = sweep.sweep(own, stream)
            states.append(state)
            if moves_back:
                tokens, after = sweep.counted_words()
                moves.append((tokens, before, after))
                ledger.take_back(own, words, *moves[-1])
        for move in moves:
            ledger.move(own, *move)
        return ShardResult(states, self.streams, None if is_fixed else own, self)


@dataclass(eq=False)
class ShardResult:
    """Result of a group: states, streams, and words or their change."""

    states: Any
    streams: Any
    own: Any
    _group: Group | None
    change: Any = None

    def __getstate__(self) -> dict[str, Any]:
        assert self._group is not None
        change = None
        if self.own is not None:
            change = self._group.ledger.change(self._group.words, self.own)
        states = [pack_state(state) for state in self.states]
        return {**vars(self), "states": states, "own": None, "change": change, "_group": None}

    def __setstate__(self, kept: dict[str, Any]) -> None:
        vars(self).update(kept)
        self.states = [unpack_state(state) for state in kept["states"]]


def sweep_shards(
    sweeps: list[Any], streams: list[Stream], words: Any, ledger: Any, n_jobs: int | None
) -> list[Any]:
    """Sweep all shards; change `words` and `streams`, and return the states of shards."""
    n_groups = min(len(sweeps), effective_n_jobs(n_jobs))
    bounds = np.linspace(0, len(sweeps), n_groups + 1).astype(int)
    groups = [
        Group(sweeps[begin:end], streams[begin:end], words, ledger)
        for begin, end in pairwise(bounds.tolist())
    ]
    swept = call_all([group.run for group in groups], n_jobs)
    moved = [stream for each in swept for stream in each.streams]
    for stream, new in zip(streams, moved, strict=True):
        stream[:] = new
    if copies := [each.own for each in swept if each.own is not None]:
        ledger.merge(words, copies)
    if changes := [each.change for each in swept if each.change is not None]:
        ledger.add(words, changes)
    return [state for each in swept for state in each.states]


@dataclass(frozen=True)
class CountChange:
    """A change of words by topic. Changes are integers, so they add up in any order."""

    code: NDArray[np.uint8]  # encoding of ``_kernels/_counts``
    totals: Floats  # (K',)

    @property
    def n_bytes(self) -> int:
        """Number of bytes that are sent."""
        return self.code.nbytes + self.totals.nbytes

    @classmethod
    def between(cls, old: kernels.WordCounts, new: kernels.WordCounts) -> CountChange:
        """Return the change from `old` to `new`."""
        return cls(encode(old.counts, new.counts), new.totals - old.totals)

    @classmethod
    def of(cls, words: kernels.WordCounts) -> CountChange:
        """Return the change from nothing."""
        nothing = kernels.WordCounts(
            np.zeros_like(words.counts), np.zeros_like(words.totals), False
        )
        return cls.between(nothing, words)

    @classmethod
    def sum_up(cls, changes: Sequence[CountChange]) -> CountChange:
        """Return the sum of changes, which is cheaper than adding them one by one."""
        code = np.concatenate([change.code for change in changes])
        ptr = np.cumsum([0, *(len(change.code) for change in changes)])
        out = np.empty(len(code), dtype=np.uint8)
        n = kernels.sum_codes(code, ptr, out)
        return cls(out[:n].copy(), np.sum([change.totals for change in changes], axis=0))

    def __add__(self, other: CountChange) -> CountChange:
        return self.sum_up([self, other])

    def apply(self, words: kernels.WordCounts) -> None:
        """Apply the change to words by topic."""
        decode(self.code, words.counts)
        words.totals[:] += self.totals


# A partition of a corpus in the process that holds it.


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

    def after(self, n_changes: int, last: CountChange) -> kernels.WordCounts:
        """Return the words after `n_changes` changes, of which `last` may not be applied yet."""
        with self._lock:
            if self._n_changes < n_changes:
                last.apply(self.words)
                check_counts(self.words)
                self._n_changes = n_changes
        return self.words


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
        self.sums: dict[str, dict[str, Floats]] = {}
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
    def data(self) -> Documents:
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
            return CountChange.of(sampler.swap_counts(replica.words, is_first=is_first))

    def sweep(
        self,
        c: int,
        n_changes: int,
        last: tuple[Any, ...],
        parameters: dict[str, Any],
        stream: Stream,
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

    def finish(self, c: int, parameters: dict[str, Any], stream: Stream) -> tuple[Any, ...]:
        """Return the stream and the statistics that depend on parameters drawn after the sweep."""
        chain = self.chains[c]
        with chain.opened(parameters) as sampler:
            sampler.streams = [stream.copy()]
            statistics = sampler.statistics_given_discount(is_first=chain.is_first)
        return sampler.streams, *statistics

    def report(self, c: int, parameters: dict[str, Any]) -> tuple[list[Any]]:
        """Return the partition's report on the current state."""
        with self.chains[c].opened(parameters) as sampler:
            return ([(*sampler.report(), *sampler.report_fixed())],)

    def add_sample(self, c: int, key: str, parameters: dict[str, Any]) -> None:
        """Add the current values to the sums with this key."""
        chain = self.chains[c]
        with chain.opened(parameters) as sampler:
            if key not in chain.sums:
                shares = sampler._empty_shares()
                chain.sums[key] = {name: zeros(value.shape) for name, value in shares.items()}
            sampler.add_shares_to(chain.sums[key])

    def reorder(self, c: int, key: str, names: tuple[str, ...], order: NDArray[np.intp]) -> None:
        """Make label ``order[k]`` of these sums label k."""
        sums = self.chains[c].sums[key]
        for values in [sums[name] for name in names if name in sums]:
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

    def average(self, c: int, key: str, name: str, n: int, in_place: bool) -> Floats:
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


def _in_file(values: Floats) -> Floats:
    own = zeros(values.shape)
    own[...] = values
    return own
