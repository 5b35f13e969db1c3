"""Layout of the restaurants of a text, and inputs of the nested model: strings and parameters."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import entr
from sklearn.utils.validation import check_is_fitted

from skdp._checks import (
    as_array,
    as_floats,
    check_entries,
    check_gamma_prior,
    is_list_like,
    is_number,
    shorten,
)
from skdp._numeric import Floats, Ints, Places
from skdp._numeric._numba import as_readonly
from skdp._sklearn_compat import Interval
from skdp.data import TokenSequences, check_sentences
from skdp.data._frames import without_invisible
from skdp.inference._chain import check_interrupts
from skdp.inference._convergence import warn_user
from skdp.language._kernels._words import Text
from skdp.processes._kernels_franchise_dynamic import NODE, DynamicFranchise, empty_franchise

# Numbering of the spans, contexts of letters and cells of letters of a text.
#
# A span is a possible word, a node in a trie of letters. A context is a run of letters read
# backwards, also a node in a trie, or such a run up to the start of the word. A cell is a context
# with the symbol that follows it: a letter, or the end of the word.


END = 0
"""Outcome for the end of a word; the outcome of letter x is x + 1."""


class TrieLevel(NamedTuple):
    """A level of a trie: ascending keys parent * width + letter, and the first node's number."""

    keys: NDArray[np.int64]
    first: int
    width: int

    def look_up(self, parents: Ints, letters: Ints) -> NDArray[np.int32]:
        """Return the nodes below `parents` by letter, or -1 for missing nodes."""
        wanted = parents.astype(np.int64) * self.width + letters
        places = np.searchsorted(self.keys, wanted)
        places[places == len(self.keys)] = 0
        is_there = (parents >= 0) & (letters < self.width)
        if len(self.keys):
            is_there &= self.keys[places] == wanted
        else:
            is_there[:] = False
        return np.where(is_there, places + self.first, -1).astype(np.int32)


class Spans(NamedTuple):
    """All spans of at most L letters."""

    ids: NDArray[np.int32]  # (n_letters, L), span from a letter on, by length - 1; -1 past the end
    levels: list[TrieLevel]
    first: NDArray[np.int64]  # (n_spans,), place of the first occurrence of a span in the text
    lengths: NDArray[np.int32]  # (n_spans,)


def number_spans(tokens: Ints, ptr: Places, max_length: int) -> Spans:
    """Assign numbers to all spans of strings, shorter spans first."""
    width = int(tokens.max(initial=0)) + 1
    rest = np.repeat(ptr[1:], np.diff(ptr)) - np.arange(ptr[-1])  # to the end of the string
    ids = np.full((len(tokens), max_length), -1, dtype=np.int32)
    parents = np.zeros(len(tokens), dtype=np.int64)  # below the root
    levels, firsts, lengths, n_spans = [], [], [], 0
    for k in range(1, max_length + 1):
        check_interrupts()
        at = np.flatnonzero(rest >= k)
        keys, first, inverse = np.unique(
            parents[at] * width + tokens[at + k - 1], return_index=True, return_inverse=True
        )
        levels.append(TrieLevel(keys, n_spans, width))
        ids[at, k - 1] = n_spans + inverse
        parents[at] = n_spans + inverse
        firsts.append(at[first])
        lengths.append(np.full(len(keys), k, dtype=np.int32))
        n_spans += len(keys)
    return Spans(ids, levels, np.concatenate(firsts), np.concatenate(lengths))


def find_shared(spans: Spans) -> NDArray[np.int32]:
    """Return the length of the longest span from each letter that occurs at least twice."""
    counts = np.zeros(len(spans.first) + 1, dtype=np.int32)  # the last: past the end of a string
    shared = np.zeros(len(spans.ids), dtype=np.int32)
    for ids in spans.ids.T:
        counts[: len(spans.first)] = np.bincount(ids[ids >= 0], minlength=len(spans.first))
        shared += counts[ids] > 1
    return shared


def find_spans(spans: Spans, tokens: Ints, ptr: Places) -> NDArray[np.int32]:
    """Return the numbers of whole strings as spans, or -1 for strings that are not spans."""
    found = np.zeros(len(ptr) - 1, dtype=np.int32)
    lengths = np.diff(ptr)
    found[lengths > len(spans.levels)] = -1
    for k, level in enumerate(spans.levels, start=1):
        at = np.flatnonzero(lengths >= k)
        found[at] = level.look_up(found[at], tokens[ptr[:-1][at] + k - 1])
    return found


class Letters(NamedTuple):
    """All contexts of at most `order` - 1 letters, and the symbols that follow them."""

    # Columns of `letter_cells` and `end_cells`: 0 to order - 1 by the number of letters of context,
    # then order - 1 more by the number of letters of context after the start of the word.

    letter_cells: NDArray[np.int32]  # (n_letters, 2 * order - 1), of a letter; -1: no context
    end_cells: NDArray[np.int32]  # (n_letters, 2 * order - 1), of the end of a word after a letter
    parents: NDArray[np.int32]  # (n_cells,)
    nodes: NDArray[np.int32]  # (n_cells,)
    outcomes: NDArray[np.int32]  # (n_cells,), `END` or a letter + 1
    depths: NDArray[np.int32]  # (n_nodes,)
    node_parents: NDArray[np.int32]  # (n_nodes,)
    node_letters: NDArray[np.int32]  # (n_nodes,), oldest letter of the context, -1: word start
    first_cells: NDArray[np.int32]  # (n_nodes + 1,), the first cell of each context, and n_cells
    following: NDArray[np.int32]  # (n_cells,), longest context after a cell's letter; -1 for ends
    start: int  # the context of the first letter of a word


def number_letters(tokens: Ints, ptr: Places, order: int) -> Letters:
    """Assign numbers to the contexts and cells of all letters of strings."""
    n, width = len(tokens), int(tokens.max(initial=0)) + 1
    place = np.arange(ptr[-1]) - np.repeat(ptr[:-1], np.diff(ptr))  # in its string
    # Contexts that end before a letter (rows 0 to n - 1) or after it (n to 2 n - 1).
    ends = np.concatenate([np.arange(n), np.arange(1, n + 1)])
    available = np.concatenate([place, place + 1])
    outcomes = np.concatenate([tokens.astype(np.int64) + 1, np.full(n, END)])
    cells = np.full((2 * n, 2 * order - 1), -1, dtype=np.int32)
    contexts = np.zeros((2 * n, order), dtype=np.int64)
    node_parents, node_letters, depths = [np.array([-1])], [np.array([-1])], [np.array([0])]
    parents, nodes, cell_outcomes = [], [], []
    n_nodes, n_cells = 1, 0

    def number_cells(column: int, at: Any, context: NDArray[np.int64], above: int) -> None:
        nonlocal n_cells
        check_interrupts()
        keys, first, inverse = np.unique(
            context * (width + 1) + outcomes[at], return_index=True, return_inverse=True
        )
        cells[at, column] = n_cells + inverse
        parents.append(cells[at[first], above] if above >= 0 else np.full(len(keys), -1))
        nodes.append(keys // (width + 1))
        cell_outcomes.append(keys % (width + 1))
        n_cells += len(keys)

    number_cells(0, np.arange(2 * n), contexts[:, 0], -1)
    for m in range(1, order):
        at = np.flatnonzero(available >= m)
        keys, inverse = np.unique(
            contexts[at, m - 1] * width + tokens[ends[at] - m], return_inverse=True
        )
        contexts[at, m] = n_nodes + inverse
        node_parents.append(keys // width)
        node_letters.append(keys % width)
        depths.append(np.full(len(keys), m))
        n_nodes += len(keys)
        number_cells(m, at, contexts[at, m], m - 1)
    starts = np.zeros((2 * n, order - 1), dtype=np.int64)
    for m in range(order - 1):
        at = np.flatnonzero(available >= m)
        if m == 0:
            at = at[at < n]  # a word has a letter before its end
        above, inverse = np.unique(contexts[at, m], return_inverse=True)
        node_parents.append(above)
        node_letters.append(np.full(len(above), -1))
        depths.append(np.full(len(above), m + 1))
        starts[at, m] = n_nodes + inverse
        number_cells(order + m, at, n_nodes + inverse, m)
        n_nodes += len(above)
    following = np.full(n_cells, -1, dtype=np.int32)
    for column in range(2 * order - 1):
        m = column if column < order else column - order  # letters in the context
        behind = contexts[n:, min(m + 1, order - 1)]
        if column >= order and m + 1 < order - 1:
            behind = starts[n:, m + 1]
        at = np.flatnonzero(cells[:n, column] >= 0)
        following[cells[at, column]] = behind[at]
    of_cells = np.concatenate(nodes)
    changes = np.flatnonzero(np.diff(of_cells, prepend=-1))  # the cells of a context are contiguous
    first_cells = np.full(n_nodes + 1, n_cells)
    first_cells[of_cells[changes]] = changes
    flat = map(np.concatenate, (parents, nodes, cell_outcomes, depths, node_parents, node_letters))
    arrays = cells[:n].copy(), cells[n:].copy(), *flat, first_cells, following
    readonly = [as_readonly(array.astype(np.int32, copy=False)) for array in arrays]
    return Letters._make([*readonly, int(starts[0, 0]) if order > 1 and n else 0])


# Restaurants of a text.


_LETTERS_A_CALL = 100_000
"""Number of letters per kernel call: Python handles no signals before a kernel returns."""


def portions(lengths: NDArray[np.integer]) -> Iterator[tuple[int, int]]:
    """Yield the first string of each kernel call and of the next call, given string lengths."""
    calls = np.cumsum(lengths) // _LETTERS_A_CALL
    return pairwise([0, *(np.flatnonzero(np.diff(calls)) + 1).tolist(), len(lengths)])


class TextLayout(NamedTuple):
    """Layout of the restaurants of a text."""

    text: Text
    spans: Spans
    letters: Letters
    node_levels: Ints  # (n_nodes,)
    n_hashed: int  # largest number of cells in addition to the cells at fixed places
    collocations: Spans | None = None  # possible collocations, with possible words first


def lay_out(
    tokens: Ints,
    ptr: Places,
    known: NDArray[np.int8],
    n_symbols: int,
    max_length: int,
    character_order: int,
    word_order: int,
    n_hashed: int | None = None,  # most pairs and triples with customers; None: all in the strings
    n_spare: int = 0,  # spare cells for n_hashed=None, if more than the longest string needs
    spans: Spans | None = None,  # if they are already numbered
    *,
    for_reading: bool = False,  # new strings, for prediction
) -> TextLayout:
    """Return the numbering of all words that strings may contain."""
    if spans is None:
        spans = number_spans(tokens, ptr, max_length)
    letters = number_letters(tokens, ptr, character_order)
    n_cells, n_nodes, n_spans = len(letters.nodes), len(letters.depths), len(spans.first)
    if n_hashed is None:
        # The cells of a string's words are kept until its new words are seated.
        longest = int(np.diff(ptr).max(initial=0))
        n_hashed = (word_order - 1) * (len(tokens) + len(ptr) + max(longest, n_spare))
    root_cell, hashed_cell = n_cells, n_cells + n_spans + 1
    pair_node = n_nodes + 1 + (n_spans + 1) * (word_order > 1)
    shared = np.full(len(tokens), max_length, np.int32) if for_reading else find_shared(spans)
    text = Text(
        as_readonly(np.asarray(ptr, dtype=np.int64)),
        as_readonly(spans.ids),
        letters.letter_cells,
        letters.end_cells,
        as_readonly(spans.first),
        as_readonly(spans.lengths),
        as_readonly(shared),
        as_readonly(np.asarray(known, dtype=np.int8)),
        n_spans,
        character_order,
        word_order,
        root_cell,
        n_nodes,
        hashed_cell,
        pair_node,
        1.0 / (n_symbols + 1),
    )
    sizes = [1]
    if word_order > 1:
        sizes.append(n_spans + 1)
    if word_order > 2:
        sizes.append(n_hashed)
    levels = [np.full(size, character_order + m) for m, size in enumerate(sizes)]
    node_levels = np.concatenate([letters.depths, *levels]).astype(np.int32)
    return TextLayout(text, spans, letters, as_readonly(node_levels), n_hashed)


def open_restaurants(layout: TextLayout, n_tables: int, n_changes: int) -> DynamicFranchise:
    """Return empty restaurants for a text, with room for table sizes of all cells, and changes."""
    text = layout.text
    f = empty_franchise(
        text.hashed_cell,
        layout.n_hashed,
        text.pair_node + layout.n_hashed * (text.word_order > 2),
        n_tables,
        n_changes,
        text.character_order + text.word_order,
    )
    n_cells = text.root_cell
    f.cells[:n_cells, NODE] = layout.letters.nodes
    f.parents[:n_cells] = layout.letters.parents
    f.cells[n_cells : text.hashed_cell, NODE] = text.root_node
    return f


def chain_bytes(ptr: Places, max_length: int, character_order: int, word_order: int) -> float:
    """Return a chain's bytes, assuming new spans of half of all lengths at each character."""
    spans = 4.0 * max_length + 52.0 * max(max_length / 2.0, 4.0)
    letters = 8.0 * (2 * character_order - 1)
    tables = 12.0 * (2 * character_order + word_order)
    pairs = 80.0 * (word_order - 1)
    total = (spans + letters + tables + pairs + 60.0) * float(ptr[-1])
    if word_order > 2:
        longest = float(np.diff(ptr).max())
        total += 24.0 * float(ptr[-1]) + 16.0 * longest * max_length**2
    return total


# Strings and known cuts as arrays.


_LONG = 500
"""Number of characters from which a single string is likely a text without line breaks."""


def holds_strings(X: Any) -> bool:
    """Return whether X is a list, 1-D array or column of strings."""
    is_column = len(getattr(X, "shape", ())) == 1
    return (is_column or isinstance(X, list | tuple)) and (
        len(X) > 0 and all(isinstance(text, str) for text in X)
    )


def _check_no_other_text(X: Any, cure: str) -> None:
    """Raise if X is text but not one string per sample; `cure`: advice for a single string."""
    if isinstance(X, str):
        raise ValueError(f"X must be a list of strings, got one string, {shorten(X)}. {cure}")
    if hasattr(X, "columns"):
        texts = [name for name in X.columns if holds_strings(X[name])]
        if texts:
            raise ValueError(
                f"X must be one column of strings, got a data frame: pass X[{texts[0]!r}]."
            )
        return
    if not isinstance(X, list | tuple) and len(getattr(X, "shape", ())) != 1:
        return
    is_text = any(isinstance(text, str) for text in X)
    for i, text in enumerate(X):
        if isinstance(text, bytes):
            raise ValueError(
                f"X must hold strings: sample {i} is {shorten(text)}. Decode it first."
            )
        if is_text and not isinstance(text, str):
            raise ValueError(
                f"X must hold strings, like others in it: sample {i} is {shorten(text)}."
            )
        words = text if isinstance(text, list | tuple | np.ndarray) else ()
        if len(words) and isinstance(words[0], str):
            raise ValueError(
                f"X must hold strings of characters: sample {i} is a list of words, "
                f"{shorten(text)}. "
                'Join them: X = ["".join(words) for words in X].'
            )


def code_points(X: Any) -> tuple[NDArray[np.uint32], Places]:
    """Return the concatenated code points of strings, and their offsets."""
    ptr = np.concatenate([[0], np.cumsum([len(text) for text in X])]).astype(np.int64)
    joined = "".join(X)
    # Lone surrogates, which Python allows although files cannot contain them, are code points.
    codes = np.frombuffer(joined.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    return codes, ptr


def read_fit_input(estimator: Any, X: Any) -> TokenSequences:
    """Return X as sequences of letters, and set `alphabet_`: the characters, or None for ids."""
    if not holds_strings(X):
        _check_no_other_text(X, "Cut it into lines or at punctuation, such as X.splitlines().")
        sequences = check_sentences(estimator, X, reset=True)
        estimator.alphabet_ = None
        _warn_of_one_string(estimator, sequences.ptr)
        return sequences
    codes, ptr = code_points([without_invisible(text) for text in X])
    alphabet, ids = np.unique(codes, return_inverse=True)
    sequences = TokenSequences(ids.astype(np.int32), ptr, len(alphabet))
    check_sentences(estimator, sequences, reset=True)
    estimator.alphabet_ = [chr(code) for code in alphabet]
    _warn_of_one_string(estimator, ptr)
    return sequences


def _warn_of_one_string(estimator: Any, ptr: Places) -> None:
    """Warn about a single long string: strings are segmented with words from other strings."""
    lengths = np.diff(ptr)
    if np.count_nonzero(lengths) == 1 and lengths.max() > _LONG:
        warn_user(
            f"{type(estimator).__name__}: X holds one string, of {lengths.max()} characters. Words "
            "are learned from the other strings, and there are none: cut it into lines or at "
            "punctuation, or, if it has neither, into pieces of about 50 characters.",
            UserWarning,
        )


def read_new_input(estimator: Any, X: Any) -> tuple[Ints, Places, Any]:
    """Return the letters of X, their offsets, and X as strings if it contains strings."""
    check_is_fitted(estimator)
    if not holds_strings(X):
        _check_no_other_text(X, "Pass [X].")
        sequences = check_sentences(estimator, X, reset=False)
        return sequences.tokens, sequences.ptr, None
    if estimator.alphabet_ is None:
        raise ValueError(
            f"X holds strings, but this {type(estimator).__name__} was fitted on ids of characters."
        )
    texts = [without_invisible(text) for text in X]
    codes, ptr = code_points(texts)
    alphabet = np.array([ord(letter) for letter in estimator.alphabet_], dtype=np.uint32)
    ids = np.searchsorted(alphabet, codes)
    is_known = alphabet[np.minimum(ids, len(alphabet) - 1)] == codes
    _, new = np.unique(codes[~is_known], return_inverse=True)
    ids[~is_known] = len(alphabet) + new  # characters that were not in `fit`
    return ids.astype(np.int32), ptr, texts


def read_cuts(y: Any, ptr: Places, max_length: int) -> NDArray[np.int8]:
    """Return the known cuts after letters: 1 cut, 0 no cut, -1 unknown; labels are no cuts."""
    known = np.full(ptr[-1], -1, dtype=np.int8)
    longest = 0, 0
    check_entries(y)
    if y is None or _holds_labels(y):
        return known
    if len(y) != len(ptr) - 1:
        raise ValueError(f"y must hold known cuts of {len(ptr) - 1} samples, got {len(y)}.")
    for i, cuts in enumerate(y):
        if cuts is None:
            continue
        n = max(int(ptr[i + 1] - ptr[i]) - 1, 0)
        values = as_array(cuts, f"y[{i}]")
        if values.shape != (n,) or (n and not np.isin(values, [-1, 0, 1]).all()):
            raise ValueError(
                f"y must hold, for each sample, None or a 1, 0 or -1 for each place between two "
                f"characters: sample {i} has {n} places, got {shorten(cuts)}."
            )
        if n:
            known[ptr[i] : ptr[i + 1] - 1] = values
        edges = np.flatnonzero(np.concatenate([[True], values != 0, [True]]))
        # Find the longest run that must stay whole, between places where a cut is not forbidden.
        longest = max(longest, (int(np.diff(edges).max()), i), key=lambda word: word[0])
    if longest[0] > max_length:
        raise ValueError(
            f"y forbids cuts in sample {longest[1]} so that a word would have {longest[0]} "
            f"characters, more than max_word_length={max_length}: raise max_word_length to "
            f"{longest[0]}."
        )
    return known


def _holds_labels(y: Any) -> bool:
    """Return whether y contains one number or one string per sample."""
    if not isinstance(y, list | tuple):
        y = np.asarray(y)
        if y.dtype != object:
            return bool(y.ndim == 1)
    return len(y) > 0 and not any(value is None or is_list_like(value) for value in y)


def strip_spaces(texts: Any) -> tuple[list[str], list[NDArray[np.int8]]]:
    """Return strings without white space and byte order marks, and cuts at the white space.

    Parameters
    ----------
    texts : list of str
        White space is defined by :meth:`str.isspace`, in runs of any length.

    Returns
    -------
    X : list of str
        The strings without white space.
    y : list of (len - 1,) int8 arrays
        For each place between two remaining characters, 1 if there was white space, otherwise 0.
        `NestedPitmanYorLM.fit` accepts them as known cuts, and `skdp.metrics.segmentation_scores`
        as the truth.

    Raises
    ------
    TypeError
        If `texts` is not a list of strings.

    Examples
    --------
    >>> from skdp.language import strip_spaces
    >>> X, y = strip_spaces(["a dog ran", "no"])
    >>> X, y[0].tolist(), y[1].tolist()
    (['adogran', 'no'], [1, 0, 0, 1, 0, 0], [0])
    """
    if isinstance(texts, str) or not all(isinstance(text, str) for text in texts):
        raise TypeError(f"texts must be a list of strings, got {shorten(texts)}.")
    X, y = [], []
    for text in texts:
        words = without_invisible(text).split()
        X.append("".join(words))
        cuts = np.zeros(max(len(X[-1]) - 1, 0), dtype=np.int8)
        ends = np.cumsum([len(word) for word in words], dtype=np.int64)[:-1]
        cuts[ends - 1] = 1
        y.append(cuts)
    return X, y


# Parameters: checks, and conversion to numbers.


DISCOUNTS = Interval(Real, 0, 1, closed="left")
CONCENTRATIONS = Interval(Real, 1e-8, 1e8, closed="both")

_SQUARED_BITS, _LONGEST_MEAN = 160.0, 7.0
"""Lambda times the squared entropy of a character, and the largest lambda, as defaults.

The values were fitted to English in letters and in phonemes, Thai, Japanese and Chinese.
"""

_ANNEAL = 1.5, 15
"""First temperature, and the number of annealed sweeps if the burn-in is long enough."""


def check_length_factors(given: Any, longest: int) -> Any:
    """Return the factors of lengths as an array, or the name of the method that finds them."""
    if isinstance(given, str):
        return given
    factors = as_floats(given, "length_correction")
    if factors.shape != (longest,) or not np.all((factors > 0.0) & (factors < np.inf)):
        raise ValueError(
            f"length_correction must hold max_word_length={longest} positive numbers, got "
            f"{shorten(given)}."
        )
    return factors


def uses_word_length(length_correction: Any) -> bool:
    """Return whether the factors of word lengths depend on lambda."""
    return isinstance(length_correction, str) and length_correction == "poisson"


def check_word_length(
    word_length: Any, length_prior: Any, length_correction: Any
) -> tuple[Any, tuple[float, float] | None]:
    """Return lambda and its prior (None: by the characters); ValueError if without effect."""
    prior = None if length_prior is None else check_gamma_prior(length_prior, "length_prior")
    if not uses_word_length(length_correction):
        ways = {"word_length": (word_length, "entropy"), "length_prior": (prior, None)}
        for name, (given, default) in ways.items():
            if given != default:
                raise ValueError(
                    f"{name} has no effect without length_correction='poisson': leave it at its "
                    f"default, {default!r}; got {shorten(given)}."
                )
    return word_length, prior


def expected_word_length(tokens: Ints) -> float:
    """Return lambda for new words of a text, from the entropy of its characters."""
    # The bits of a character given the preceding characters grow roughly with the square of its
    # entropy, and a word carries roughly the same number of bits in all scripts.
    entropy = entr(np.unique(tokens, return_counts=True)[1] / len(tokens)).sum() / np.log(2.0)
    return float(np.clip(_SQUARED_BITS / max(entropy, 1.0) ** 2, 1.0, _LONGEST_MEAN))


def check_anneal(given: Any, burn_in: int) -> tuple[float, int] | None:
    """Return the first temperature, and the number of annealed sweeps of the burn-in."""
    if given is None:
        return None
    if isinstance(given, str):
        temperature, n_sweeps = _ANNEAL
        return temperature, min(n_sweeps, burn_in)
    is_pair = len(given) == 2 and all(map(is_number, given))
    if not is_pair or not 1.0 <= given[0] <= 100.0 or given[1] < 0 or given[1] != int(given[1]):
        raise ValueError(
            f"anneal must be a temperature from 1 to 100 and a number of sweeps, 'auto' or None, "
            f"got {shorten(given)}."
        )
    if given[1] > burn_in:
        raise ValueError(
            f"anneal must not outlast the burn-in: got anneal={shorten(given)} and a burn-in of "
            f"{burn_in} sweeps. Raise max_iter or burn_in, or give anneal='auto' or None."
        )
    return float(given[0]), int(given[1])


def check_levels(
    given: Any, name: str, orders: tuple[int, ...], valid: Interval, wanted: str
) -> Floats:
    """Return a parameter for each level, letters (last in `orders`) first; nan: learned."""
    n = len(orders)
    parts = given if isinstance(given, tuple | list) else (given,) * n
    if len(parts) != n:
        several = "a pair of them" if n == 2 else "three of them"
        raise ValueError(f"{name} must be a number, 'auto' or {several}, got {shorten(given)}.")
    levels = []
    for order, part in zip(reversed(orders), reversed(parts), strict=True):
        if isinstance(part, str) and part == "auto":
            levels.append(np.full(order, np.nan))
            continue
        values = np.full(order, part) if is_number(part) else as_floats(part, name)
        if values.shape != (order,) or not all(value in valid for value in values):
            whose = "words and for characters" if n == 2 else "collocations, words and characters"
            raise ValueError(
                f"{name} must hold, for {whose}, 'auto', a number {wanted} or "
                f"one for each length of context, got {shorten(given)}."
            )
        levels.append(values.astype(np.float64))
    return np.concatenate(levels)
