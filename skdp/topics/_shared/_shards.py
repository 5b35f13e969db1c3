"""Sweeps of shards in threads or processes: tasks and their results.

A task is a group of shards; there are as many groups as workers. The shards of a group share one
copy of the words by topic: after a shard has been swept its words move back, so that the next one
also starts from the counts before the sweep. At the end all words of the group move again, and the
copy holds the changes of the whole group. So the grouping of shards has no effect on the bits.

In threads all arrays are the chain's own. A task that is pickled for a process holds only the
arrays of the group's shards, and its result holds the changes of the counts.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray

from skdp._executors import call_all
from skdp.topics._shared._arrays import check_counts
from skdp.topics._shared._kernels import Corpus, WordCounts
from skdp.topics._shared._kernels_changes import add_change, move_words
from skdp.topics._shared._packing import (
    decode,
    encode,
    pack,
    pack_corpus,
    pack_words,
    unpack,
    unpack_corpus,
    unpack_words,
)


class ShardSweep:
    """Input of the sweep of one shard: its corpus and state, and the parameters."""

    _scratch: ClassVar[tuple[str, ...]] = ()  # recreated by `_make_scratch` after unpickling

    def __init__(self, corpus: Corpus, state: Any):
        self.corpus = corpus
        self.state = state  # a named tuple of arrays, `topics` among them

    def sweep(self, words: Any, stream: NDArray[np.uint64]) -> Any:
        """Draw the latent variables of the words once; change `words` and return the state."""
        raise NotImplementedError

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
    def copy(words: WordCounts) -> WordCounts:
        """Return a copy of the words."""
        return WordCounts(words.counts.copy(), words.totals.copy(), words.fixed)

    @staticmethod
    def move(
        own: WordCounts, tokens: NDArray[np.int32], before: Any, after: NDArray[np.int32]
    ) -> None:
        """Move words to other topics."""
        move_words(tokens, before, after, own.counts, own.totals)

    @staticmethod
    def take_back(
        own: WordCounts,
        words: WordCounts,
        tokens: NDArray[np.int32],
        before: Any,
        after: NDArray[np.int32],
    ) -> None:
        """Make `own` equal to `words` after the sweep of a shard by undoing its moves."""
        move_words(tokens, after, before, own.counts, own.totals)

    @staticmethod
    def change(words: WordCounts, own: WordCounts) -> Any:
        """Return the encoded change from `words` to `own`."""
        return encode(words.counts, own.counts), own.totals - words.totals

    @staticmethod
    def add(words: WordCounts, changes: list[Any]) -> None:
        """Add changes that were made in other processes."""
        for code, totals in changes:
            decode(code, words.counts)
            words.totals[:] += totals
            check_counts(words)

    @staticmethod
    def merge(words: WordCounts, copies: list[WordCounts]) -> None:
        """Merge copies that hold separate changes into `words`; the copies are overwritten."""
        total, *others = copies
        for own in others:
            add_change(total.counts.reshape(-1), own.counts.reshape(-1), words.counts.reshape(-1))
            add_change(total.totals, own.totals, words.totals)
            check_counts(total)
        words.counts[:], words.totals[:] = total.counts, total.totals


class Group:
    """The task of one worker: shards that are swept in turn."""

    def __init__(
        self,
        sweeps: list[Any],
        streams: list[NDArray[np.uint64]],
        words: Any,  # words by topic before the sweep
        ledger: Any,  # class with the operations on words of this kind, such as `Counted`
    ):
        self.sweeps = sweeps
        self.streams = streams
        self.words = words
        self.ledger = ledger

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "words": self.ledger.pack(self.words)}

    def __setstate__(self, kept: dict[str, Any]) -> None:
        vars(self).update(kept)
        self.words = self.ledger.unpack(kept["words"])

    def run(self) -> Swept:
        """Sweep the shards."""
        words, ledger = self.words, self.ledger
        is_fixed = isinstance(words, WordCounts) and words.fixed
        own = words if is_fixed else ledger.copy(words)
        states, moves = [], []
        for sweep, stream in zip(self.sweeps, self.streams, strict=True):
            moves_back = not is_fixed and sweep is not self.sweeps[-1]
            before = sweep.state.topics.copy() if moves_back else None
            sweep.state = state = sweep.sweep(own, stream)
            states.append(state)
            if moves_back:
                moves.append((sweep.corpus.tokens, before, state.topics))
                ledger.take_back(own, words, *moves[-1])
        for move in moves:
            ledger.move(own, *move)
        return Swept(states, self.streams, None if is_fixed else own, self)


class Swept:
    """Result of a group: states, streams, and words or their change."""

    def __init__(self, states: Any, streams: Any, own: Any, group: Group):
        self.states = states
        self.streams = streams
        self.own = own
        self.change: Any = None
        self._group: Group | None = group

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
    sweeps: list[Any],
    streams: list[NDArray[np.uint64]],
    words: Any,
    ledger: Any,
    n_jobs: int | None,
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
