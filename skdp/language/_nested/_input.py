"""Strings and known cuts as arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from skdp._checks import as_array, check_entries, is_list_like, shorten
from skdp._numeric._typing import Ints, Places
from skdp.data import TokenSequences, check_sentences
from skdp.data._characters import without_invisible
from skdp.inference._convergence import warn_user

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
