"""Language models in the ARPA format, which KenLM, SRILM and many decoders read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from numbers import Integral
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from skdp._checks import as_array, shorten
from skdp._numeric._typing import Floats, Ints
from skdp.data._writing import check_path, replace_file
from skdp.language._ngram._trie import NgramTrie
from skdp.processes._interpolated import InterpolatedModel

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
    """Write a model of a trie to a file; unseen unigrams have their base probabilities.

    An n-gram is a cell with its context; its back-off weight is that of the context that consists
    of the whole n-gram, if that was seen.
    """
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
    weights = np.zeros(n + 2)
    if trie.order > 1:
        children = np.arange(trie.child_ptr[0], trie.child_ptr[1])
        symbols = trie.symbol[children]
        weights[np.where(symbols == n, n + 1, symbols)] = log_backoff[children]
    return ids[:, None], log_prob, weights


def _ngrams(
    trie: NgramTrie, m: int, log_prob: Floats, log_backoff: Floats
) -> tuple[Ints, Floats, Floats]:
    """Return the cells of depth m as n-grams, with probabilities and weights."""
    layout = trie.layout
    cells = layout.cells_at(m)
    contexts = trie.contexts_at(m)[layout.node[cells] - layout.nodes_at(m).start]
    ngrams = np.column_stack([contexts, trie.outcome[cells]])
    weights = np.zeros(len(ngrams))
    if m + 1 < trie.order:
        followed = {tuple(row): i for i, row in enumerate(trie.contexts_at(m + 1).tolist())}
        first = layout.nodes_at(m + 1).start
        for i, row in enumerate(ngrams.tolist()):
            place = followed.get(tuple(row))
            if place is not None:
                weights[i] = log_backoff[first + place]
    return ngrams, log_prob[cells], weights
