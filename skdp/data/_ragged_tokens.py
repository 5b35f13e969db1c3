"""Word ids of texts of unequal length, concatenated in a flat array."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_matrix

from skdp._checks import as_array, is_masked, shorten
from skdp.data._files import Folder, read_array
from skdp.data._ragged import Offsets, Ragged, offsets

MAX_TOKENS = int(np.iinfo(np.int32).max)
"""Largest number of tokens, and of words in the vocabulary: kernels count both in 32 bits."""


class RaggedTokens(Ragged):
    """Base class of containers of word ids."""

    __slots__ = ()

    _item_name = "token"
    _values_name = "tokens"
    _way_out = "Its word counts are X.to_bow(), a sparse matrix."

    @classmethod
    def _check(
        cls, tokens: ArrayLike, ptrs: tuple[ArrayLike, ...], n_features: int | None
    ) -> tuple[NDArray[np.int32], tuple[Offsets, ...], int]:
        """Return valid arrays for `_set`, without copying arrays of the right type."""
        ids = as_array(tokens, "tokens")
        if ids.ndim != 1 or (ids.size and ids.dtype.kind not in "iu"):
            raise ValueError(
                f"tokens must be a 1-D array of integers, got {ids.ndim} dimensions and type "
                f"{ids.dtype}."
            )
        checked_ptrs = cls._check_ptrs(ptrs, len(ids))
        low, high = (int(ids.min()), int(ids.max())) if ids.size else (0, -1)
        if n_features is None:
            bound = min(high + 1, MAX_TOKENS)
        elif (
            isinstance(n_features, Integral)
            and not isinstance(n_features, bool)
            and 0 <= n_features <= MAX_TOKENS
        ):
            bound = int(n_features)
        else:
            raise ValueError(
                f"n_features must be an integer from 0 to {MAX_TOKENS}, got {n_features!r}."
            )
        if low < 0 or high >= bound:
            first = int(np.argmax((ids < 0) | (ids >= bound)))
            raise ValueError(
                f"{cls._locate(checked_ptrs, first)}: word id {ids[first]} is out of range "
                f"[0, {bound})."
            )
        return np.ascontiguousarray(ids, dtype=np.int32), checked_ptrs, bound

    @classmethod
    def _join(
        cls, texts: Sequence[Any], outer: tuple[Offsets, ...]
    ) -> tuple[NDArray[Any], Offsets]:
        """Return the concatenated word ids of the innermost parts `texts`, and their offsets."""
        arrays = []
        for s, text in enumerate(texts):
            if is_masked(text):
                raise ValueError(
                    f"{cls._locate(outer, s)}: must not be a masked array; remove the masked "
                    "entries."
                )
            try:
                ids = np.asarray(text)
            except ValueError:  # its parts differ in length
                ids = np.empty((0, 0))
            if ids.ndim != 1 or (ids.size and ids.dtype.kind not in "iu"):
                raise ValueError(
                    f"{cls._locate(outer, s)}: must be a sequence of word ids (integers), "
                    f"got {shorten(text)}."
                )
            if ids.dtype == np.uint64 and ids.size:  # joined with int64 they would become floats
                if ids.max() > MAX_TOKENS:
                    raise ValueError(
                        f"{cls._locate(outer, s)}: word id {ids.max()} is larger than {MAX_TOKENS}."
                    )
                ids = ids.astype(np.int64)
            arrays.append(ids)
        filled = [ids for ids in arrays if ids.size]
        tokens = np.concatenate(filled) if filled else np.empty(0, dtype=np.int32)
        return tokens, offsets([len(ids) for ids in arrays])

    @property
    def tokens(self) -> NDArray[np.int32]:
        """(n_tokens,) read-only array of word ids in reading order."""
        return self._values

    def _arrays(self) -> dict[str, NDArray[Any] | None]:
        return {**super()._arrays(), "n_features": np.array(self.n_features)}

    @classmethod
    def _read(cls, folder: Folder, n_features: int | None, mmap_mode: str | None) -> Self:
        if n_features is None:
            n_features = cls._read_n_features(folder)
        tokens, *ptrs = cls._read_arrays(folder, mmap_mode)
        return cls._make(*cls._check(tokens, tuple(ptrs[::-1]), n_features))

    @classmethod
    def _read_n_features(cls, folder: Folder) -> int:
        """Return the size of the vocabulary that is saved in a folder."""
        n_features = read_array(folder, "n_features")
        if n_features.ndim != 0 or n_features.dtype.kind not in "iu":
            raise ValueError(f"n_features.npy of {folder} must hold an integer.")
        return int(n_features)

    def to_bow(self) -> csr_matrix:
        """Return the number of occurrences of each word in each sample.

        Returns
        -------
        (n_samples, n_features) csr_matrix of int64
            Word counts, with sorted column indices.
        """
        ptr = self._ptrs[0]
        for inner in self._ptrs[1:]:
            ptr = inner[ptr]
        ones = np.ones(len(self.tokens), dtype=np.int64)
        counts = csr_matrix((ones, self.tokens, ptr), shape=self.shape, copy=True)
        counts.sum_duplicates()
        return counts
