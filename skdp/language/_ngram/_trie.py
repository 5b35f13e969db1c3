"""n-gram models: the trie of observed contexts, ARPA files, draws, and the Markov chain."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import IO, Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from skdp._checks import MAX_INTEGER, as_array, check_memory, shorten
from skdp._numeric import Floats, Ints, Places
from skdp._numeric._numba import as_readonly
from skdp._numeric._random import make_generator
from skdp.data import TokenSequences
from skdp.data._ragged import check_path, replace_file
from skdp.language._kernels import _trie as kernels
from skdp.processes._franchise import (
    ContextIndex,
    FranchiseLayout,
    FranchiseSampler,
    FranchiseState,
    InterpolatedModel,
    count_up,
    pack,
)


@dataclass(frozen=True)
class NgramEvents:
    """Events of sentences: each word, and the end of each sentence if ends are events."""

    # The symbols of each sentence are in consecutive slots: a beginning, the words, an end. An
    # event is a slot, and its context consists of the preceding slots, back to the beginning.

    symbols: Ints  # (n_slots,), words; beginnings and ends are `n_words`
    slots: Places  # (n_events,)
    positions: Places  # (n_events,), slots before the event in its sentence: its longest context
    ptr: Places  # (n_sentences + 1,), offsets of the events of each sentence

    @classmethod
    def of(cls, sentences: TokenSequences, *, ends: bool) -> NgramEvents:
        """Return the events of sentences."""
        lengths = np.diff(sentences.ptr)
        rows = np.concatenate([[0], np.cumsum(lengths + 2)])  # beginning, words, end
        symbols = np.full(int(rows[-1]), sentences.n_features, np.int32)
        sentence = np.repeat(np.arange(len(lengths)), lengths)
        symbols[np.arange(len(sentences.tokens)) + 2 * sentence + 1] = sentences.tokens
        n_events = lengths + ends
        ptr = np.concatenate([[0], np.cumsum(n_events)])
        positions = np.arange(int(ptr[-1])) - np.repeat(ptr[:-1], n_events) + 1
        slots = positions + np.repeat(rows[:-1], n_events)
        return cls(symbols, slots, positions, ptr)

    @property
    def outcomes(self) -> Ints:
        """(n_events,) array: words, and `n_words` for an end."""
        return self.symbols[self.slots]


class LongestContexts(NamedTuple):
    """The longest context that was seen before each event: see `_kernels/_trie.reach`."""

    contexts: Ints
    depths: Ints
    cells: Ints
    tails: Ints


@dataclass(frozen=True)
class NgramTrie(ContextIndex):
    """All contexts of up to `order` - 1 symbols (restaurants), and all cells: outcomes in them."""

    # Without an order: contexts with more than one event, and those with one more symbol. Among the
    # latter, contexts with one event are leaves, whose longer contexts are in the text.

    # Contexts and cells are numbered by depth, children of a context (one symbol longer at the far
    # end) in the order of that symbol, and the cells of a context in the order of outcomes.
    order: int  # number of symbols of the longest context in the trie, plus 1
    n_words: int
    child_ptr: Ints  # (n_contexts + 1,), children of u are child_ptr[u]:child_ptr[u + 1]
    symbol: Ints  # (n_contexts,), symbol at the far end; `n_words`: the beginning of a sentence
    above: Ints  # (n_contexts,), context without its far symbol; -1 for the empty one
    leaf: Ints  # (n_contexts,), slot in `text` of the event of a leaf, -1: no leaf; or (0,)
    text: Ints  # (n_slots,), symbols as in `NgramEvents`; empty if there is an order

    @classmethod
    def of(
        cls,
        events: NgramEvents,
        order: int | None,
        n_words: int,
        n_outcomes: int,
        n_laws: int | None = None,  # of the franchise; None: one for each depth
    ) -> NgramTrie:
        """Return the trie of events; without `order`, ValueError if it does not fit into memory."""
        outcomes = events.outcomes
        node = np.zeros(len(outcomes), np.int64)  # node of each event, within its depth
        cell = np.zeros(len(outcomes), np.int64)
        deep = np.arange(len(outcomes))  # events whose contexts reach the current depth
        node_ptr, cell_ptr = [0], [0]
        symbols: list[Places] = []
        above: list[Places] = []
        nodes: list[Places] = []
        outcome: list[Places] = []
        parents: list[Places] = []
        observed: list[Places] = []
        leaves: list[Places] = []
        m = 0
        while order is None or m < order:
            if m == 0:
                symbols.append(np.array([n_words]))
                above.append(np.array([0]))
                first_node, first_cell = 0, -1
            else:
                longer = events.positions[deep] >= m
                if order is None:
                    n_events = np.bincount(node[deep], minlength=len(symbols[-1]))
                    alone = n_events[node[deep]] == 1
                    leaves.append(np.full(len(symbols[-1]), -1))
                    own = deep[alone & longer]
                    leaves[-1][node[own]] = events.slots[own]
                    longer &= ~alone
                    if not longer.any():
                        break
                observed.append(np.bincount(cell[deep[~longer]], minlength=len(outcome[-1])))
                deep = deep[longer]
                far = events.symbols[events.slots[deep] - m]
                keys, node[deep] = np.unique(node[deep] * (n_words + 1) + far, return_inverse=True)
                symbols.append(keys % (n_words + 1))
                first_node, first_cell = node_ptr[-2], cell_ptr[-2]
                above.append(keys // (n_words + 1) + first_node)
            keys, index, inverse = np.unique(
                node[deep] * n_outcomes + outcomes[deep], return_index=True, return_inverse=True
            )
            parents.append(cell[deep[index]] + first_cell if m else np.full(len(keys), -1))
            cell[deep] = inverse
            nodes.append(keys // n_outcomes + node_ptr[-1])
            outcome.append(keys % n_outcomes)
            node_ptr.append(node_ptr[-1] + len(symbols[-1]))
            cell_ptr.append(cell_ptr[-1] + len(keys))
            m += 1
            if order is None:
                _check_size(m, node_ptr[-1], cell_ptr[-1])
        observed.append(np.bincount(cell[deep], minlength=len(outcome[-1])))
        flat_nodes = np.concatenate(nodes)
        flat_above = np.concatenate(above)[1:]
        layout = FranchiseLayout.of(
            np.array(cell_ptr), np.array(node_ptr), pack(parents), pack([flat_nodes]),
            pack(observed), n_laws,
        )  # fmt: skip
        n_nodes = node_ptr[-1]
        return cls(
            n_outcomes=n_outcomes,
            has_root=True,
            cell_ptr=count_up(flat_nodes, n_nodes, first=0),
            outcome=pack(outcome),
            layout=layout,
            order=m,
            n_words=n_words,
            child_ptr=count_up(flat_above, n_nodes, first=1),
            symbol=pack(symbols),
            above=pack([np.array([-1]), flat_above]),
            leaf=pack([*leaves, np.empty(0, np.int64)]),
            text=events.symbols if order is None else events.symbols[:0],
        )

    def find(self, events: NgramEvents) -> LongestContexts:
        """Return the longest context that was seen before each event."""
        return self._reach(events.symbols, events.slots, events.positions)

    def find_last(self, sentences: TokenSequences) -> LongestContexts:
        """Return the longest context that was seen before the continuation of each sentence."""
        events = NgramEvents.of(sentences, ends=True)
        ends = events.ptr[1:] - 1
        return self._reach(events.symbols, events.slots[ends], events.positions[ends])

    def _reach(self, symbols: Ints, slots: Places, positions: Places) -> LongestContexts:
        n = len(slots)
        found = LongestContexts(*(np.empty(n, np.int32) for _ in LongestContexts._fields))
        kernels.reach(
            symbols, slots, positions, self.n_words, self.child_ptr, self.symbol, self.above,
            self.cell_ptr, self.outcome, self.leaf, as_readonly(self.text), *found,
        )  # fmt: skip
        return found

    def add_probabilities(
        self, model: InterpolatedModel, outcomes: Ints, found: LongestContexts, total: Floats
    ) -> None:
        """Add the probabilities of outcomes after contexts to `total`."""
        kernels.add_probabilities_upwards(
            as_readonly(outcomes), *found, self.above, self.layout.parent, self.layout.node,
            model.mass, model.backoff, model.chain, model.base, total,
        )  # fmt: skip

    def add_distributions(
        self, model: InterpolatedModel, found: LongestContexts, total: Floats
    ) -> None:
        """Add the distributions after contexts to the rows of `total`."""
        kernels.add_distributions_upwards(
            found.contexts, found.depths, found.tails, self.above, self.cell_ptr, self.outcome,
            model.mass, model.backoff, model.chain, model.top(), total,
        )  # fmt: skip

    def cells_of(self, sentences: TokenSequences) -> Ints:
        """Return the cell of each event of training sentences, in its longest context."""
        ends = self.n_outcomes > self.n_words
        return self.find(NgramEvents.of(sentences, ends=ends)).cells

    def places_in(self, other: NgramTrie) -> Places:
        """Return the (n_cells,) cells of another trie, -1 for those that it does not have."""
        n = self.n_words + 1  # symbols
        children = other.above * np.int64(n) + other.symbol  # sorted
        nodes = np.zeros(len(self.above), np.int64)
        for m in range(1, self.layout.n_depths):
            here = self.layout.nodes_at(m)
            keys = nodes[self.above[here]] * n + self.symbol[here]
            nodes[here] = _find_sorted(children, np.where(nodes[self.above[here]] >= 0, keys, -2))
        keys = nodes[self.layout.node] * self.n_outcomes + self.outcome
        cells = other.layout.node * np.int64(self.n_outcomes) + other.outcome  # sorted
        return _find_sorted(cells, keys)

    def contexts_at(self, m: int) -> Ints:
        """Return the contexts of depth m, (n, m) int32, in reading order; beginnings are -1."""
        rows = np.arange(self.layout.node_ptr[m], self.layout.node_ptr[m + 1])
        contexts = np.empty((len(rows), m), np.int32)
        for j in range(m):
            contexts[:, j] = self.symbol[rows]
            rows = self.above[rows]
        contexts[contexts == self.n_words] = -1
        return contexts


def _find_sorted(among: Places, keys: Places) -> Places:
    """Return the place of each key among sorted ones, or -1."""
    found = np.minimum(np.searchsorted(among, keys), len(among) - 1)
    return np.where(among[found] == keys, found, -1)


def _check_size(depth: int, n_contexts: int, n_cells: int) -> None:
    """Raise if contexts so far do not fit into memory or cannot be numbered."""
    what = f"X: {n_cells} cells of contexts of up to {depth - 1} symbols, with order=None,"
    cure = "Text that recurs at length needs much; an order limits it."
    check_memory(40.0 * n_cells + 40.0 * n_contexts, what, cure)
    if n_cells > MAX_INTEGER:
        raise ValueError(f"{what} are more than {MAX_INTEGER}. {cure}")


# Language models in the ARPA format, which KenLM, SRILM and many decoders read.


_NEVER = -99.0
"""The format's logarithm of zero."""

BEGIN, END, UNKNOWN = "<s>", "</s>", "<unk>"


def check_names(feature_names: Any, n_words: int) -> list[str]:
    """Return the names of words, or raise if the format cannot hold them."""
    names = as_array(feature_names, "feature_names", dtype=object)  # text would drop NUL at its end
    if names.shape != (n_words,):
        raise ValueError(
            f"feature_names must hold n_features={n_words} names, got shape {names.shape}."
        )
    for i, name in enumerate(names):
        if not isinstance(name, str | Integral) or isinstance(name, bool):
            raise ValueError(
                f"feature_names must hold strings, got {shorten(name)} (word {i}), which is of "
                f"type {type(name).__name__}."
            )
    words = [str(name) for name in names]
    for i, word in enumerate(words):
        if not word or any(map(_cannot_be_held, word)) or word in (BEGIN, END, UNKNOWN):
            raise ValueError(
                f"feature_names: an ARPA file cannot hold {shorten(word)} (word {i}): names must "
                f"not be empty, hold white space, NUL or a lone surrogate, or be {BEGIN}, {END} or "
                f"{UNKNOWN}."
            )
    if len(set(words)) < len(words):
        twice = min(word for word, n in Counter(words).items() if n > 1)
        raise ValueError(f"feature_names: {twice!r} names two words.")
    return words


def _cannot_be_held(letter: str) -> bool:
    """Return whether readers split words at a letter, or UTF-8 cannot encode it."""
    return letter.isspace() or letter == "\0" or "\ud800" <= letter <= "\udfff"


def write_arpa(path: Any, trie: NgramTrie, model: InterpolatedModel, feature_names: Any) -> None:
    """Write a model of a trie to a file; unseen unigrams have their base probabilities."""
    # An n-gram is a cell with its context; its back-off weight is that of the context that consists
    # of the whole n-gram, if that was seen.
    place, words = check_path(path, "path"), check_names(feature_names, trie.n_words)
    with replace_file(place, "w", encoding="utf-8", newline="\n") as file:
        _write(file, trie, model, words)


def _write(file: IO[str], trie: NgramTrie, model: InterpolatedModel, words: Sequence[str]) -> None:
    # ids: words, the beginning (as -1, so the last name), the end (n_words)
    names = np.array([*words, END, BEGIN], dtype=object)
    with np.errstate(divide="ignore"):
        log_prob = np.maximum(np.log10(model.cell_probabilities()), _NEVER)
        log_backoff = np.maximum(np.log10(model.backoff), _NEVER)
    sections = [_unigrams(trie, model, log_backoff)]
    sections += [_ngrams(trie, m, log_prob, log_backoff) for m in range(1, trie.order)]
    file.write("\\data\\\n")
    for m, (ngrams, _, _) in enumerate(sections):
        file.write(f"ngram {m + 1}={len(ngrams) + (m == 0)}\n")
    for m, section in enumerate(sections):
        file.write(f"\n\\{m + 1}-grams:\n")
        if m == 0:
            file.write(f"{_NEVER:g}\t{UNKNOWN}\n")
        file.writelines(_lines(names, *section, last=m == trie.order - 1))
    file.write("\n\\end\\\n")


def _lines(
    names: NDArray[np.object_], ngrams: Ints, log_prob: Floats, log_backoff: Floats, *, last: bool
) -> Iterator[str]:
    for ngram, p, weight in zip(names[ngrams], log_prob, log_backoff, strict=True):
        tail = "" if last else f"\t{weight:.9g}"
        yield f"{p:.9g}\t{' '.join(ngram)}{tail}\n"


def _unigrams(
    trie: NgramTrie, model: InterpolatedModel, log_backoff: Floats
) -> tuple[Ints, Floats, Floats]:
    """Return every word, the beginning and the end, with probabilities and weights."""
    n = trie.n_words
    ids = np.append(np.arange(n + 1), -1)
    log_prob = np.full(n + 2, _NEVER)
    with np.errstate(divide="ignore"):
        log_prob[: trie.n_outcomes] = np.maximum(np.log10(model.top()), _NEVER)
    return ids[:, None], log_prob, _weights(trie, ids[:, None], log_backoff)


def _ngrams(
    trie: NgramTrie, m: int, log_prob: Floats, log_backoff: Floats
) -> tuple[Ints, Floats, Floats]:
    """Return the cells of depth m as n-grams, with probabilities and weights."""
    layout = trie.layout
    cells = layout.cells_at(m)
    contexts = trie.contexts_at(m)[layout.node[cells] - layout.nodes_at(m).start]
    ngrams = np.column_stack([contexts, trie.outcome[cells]])
    return ngrams, log_prob[cells], _weights(trie, ngrams, log_backoff)


def _weights(trie: NgramTrie, ngrams: Ints, log_backoff: Floats) -> Floats:
    """Return the back-off weights of n-grams, 0 for n-grams that are not contexts."""
    m = ngrams.shape[1]
    if m == trie.order:
        return np.zeros(len(ngrams))
    contexts = map(tuple, trie.contexts_at(m).tolist())
    followed = dict(zip(contexts, log_backoff[trie.layout.nodes_at(m)].tolist(), strict=True))
    return np.array([followed.get(tuple(row), 0.0) for row in ngrams.tolist()])


# Sequences drawn from a language model.


def draw_sequences(
    trie: NgramTrie,
    model: InterpolatedModel,
    n_sequences: int,
    max_length: int,
    rng: NDArray[np.uint64],
) -> tuple[list[Ints], NDArray[np.bool_]]:
    """Draw sequences from a model of a trie; return them and which ended, if ends are outcomes."""
    cumulative = np.concatenate([[0.0], np.cumsum(model.mass)])
    base_cumulative = np.concatenate([[0.0], np.cumsum(model.base) / model.base.sum()])
    ends = trie.n_outcomes > trie.n_words
    # A beginning and words, and room for the event after the last word, which may be the end.
    symbols = np.full(max_length + 1 + ends, trie.n_words, np.int32)
    sequences, ended = [], np.zeros(n_sequences, np.bool_)
    for i in range(n_sequences):
        length = kernels.draw_words(
            symbols, trie.n_words, ends, trie.child_ptr, trie.symbol, trie.above, trie.leaf,
            as_readonly(trie.text), trie.cell_ptr, trie.outcome, cumulative, base_cumulative,
            model.chain, rng,
        )  # fmt: skip
        sequences.append(symbols[1 : min(length, max_length) + 1].copy())
        ended[i] = ends and length <= max_length
    return sequences, ended


def join(sequences: list[Ints], n_words: int) -> TokenSequences:
    """Return sequences as a TokenSequences container."""
    ptr = np.concatenate([[0], np.cumsum([len(each) for each in sequences])]).astype(np.int64)
    return TokenSequences(np.concatenate([*sequences, np.empty(0, np.int32)]), ptr, n_words)


# Markov chain of the hierarchical Pitman-Yor language model.


class NgramState(FranchiseState):
    """The state of a chain after a sweep: a live, read-only view; `copy` detaches it.

    Lists have an array for each depth: the number of words of a context. Contexts are in reading
    order; -1 is the beginning.
    """

    @property
    def words(self) -> list[Ints]:
        """The outcome of each cell: a word, or `n_words_` for the end."""
        return self._by_depth(self._sampler.context_index.outcome)


class NgramData(NamedTuple):
    """The data of a fit."""

    sentences: TokenSequences
    trie: NgramTrie


class NgramSampler(FranchiseSampler):
    """Markov chain of the hierarchical Pitman-Yor language model over an `NgramTrie`."""

    context_index: NgramTrie
    _data_attributes = (*FranchiseSampler._data_attributes, "_sentences")
    n_settled = 0
    """Number of first sentences that are from earlier calls of `partial_fit`."""

    def __init__(self, data: NgramData, *args: Any):
        self._sentences = data.sentences
        super().__init__(data.trie, *args)

    def attach(self, data: NgramData) -> None:  # type: ignore[override]
        """Attach the data."""
        self._sentences = data.sentences
        super().attach(data.trie)

    def extended(self, data: NgramData, earlier: NgramData, n_left: int) -> Self:
        """Return a sampler of data that begin with the earlier ones, but for the first `n_left`
        sentences, with their state.
        """
        other = self.copy()
        if n_left > 0:
            other.attach(earlier)
            leaving = earlier.trie.cells_of(earlier.sentences[:n_left])
            other.franchise.empty_seats(leaving, other.rng)
        other._sentences, other.context_index = data
        other.n_settled = len(earlier.sentences) - n_left
        trie, new = data.trie, data.sentences[other.n_settled :]
        other.franchise = other.franchise.extended(
            trie.layout, trie.base_of_cells(self.base), earlier.trie.places_in(trie),
            trie.cells_of(new), other.rng,
        )  # fmt: skip
        return other

    def sweep(self) -> None:
        """Draw all tables, or those of new words and as many others, then the parameters."""
        self.franchise.sweep(self.rng, self._draw_cells() if self.n_settled > 0 else None)

    def _draw_cells(self) -> Ints:
        """Return the cells of the new sentences and of as many others, which are drawn."""
        n = len(self._sentences)
        some = make_generator(self.rng).integers(self.n_settled, size=n - self.n_settled)
        chosen = np.concatenate([some, np.arange(self.n_settled, n)])
        return self.context_index.cells_of(self._sentences[chosen])

    def state(self) -> NgramState:
        """Return a read-only view of the state."""
        return NgramState(self)
