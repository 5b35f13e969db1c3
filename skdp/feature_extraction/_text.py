"""What the vectorizers of ordered text have in common."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from skdp._sklearn_compat import HasDocs


class WordNumbers:
    """Texts as numbers of their words, counted in order of first appearance.

    A vocabulary is decided on word types, so it can follow when all texts are read.
    """

    def __init__(self) -> None:
        self._numbers: defaultdict[str, int] = defaultdict()
        self._numbers.default_factory = self._numbers.__len__
        self._tokens = array("q")
        self._ends = array("q", [0])

    def add(self, words: Iterable[str]) -> None:
        """Read a text."""
        self._tokens.extend(map(self._numbers.__getitem__, words))
        self._ends.append(len(self._tokens))

    @property
    def types(self) -> list[str]:
        """The words that were read, each once."""
        return list(self._numbers)

    def count(self) -> NDArray[np.int64]:
        """Return how often each word was read."""
        return np.bincount(self._tokens, minlength=len(self._numbers))

    def translate(self, ids: Sequence[int]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Return the texts as word ids end to end, and their offsets.

        Parameters
        ----------
        ids : list of int
            The id of every type; -1 leaves it out of the texts.
        """
        tokens = np.asarray(ids, dtype=np.int32)[np.asarray(self._tokens)]
        kept = tokens >= 0
        kept_before = np.concatenate(([0], np.cumsum(kept)))
        return tokens[kept], kept_before[np.asarray(self._ends)]


class TextVectorizer(HasDocs, TransformerMixin, BaseEstimator):
    """Base of the vectorizers: raw text in, a container of word ids out."""

    vocabulary_: dict[str, int]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        # Containers are never wrapped into data frames.
        super().__init_subclass__(auto_wrap_output_keys=None, **kwargs)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        return tags

    def fit(self, X: Iterable[Any], y: Any = None) -> Self:
        """Learn the vocabulary.

        Parameters
        ----------
        X : as in `transform`
        y : ignored

        Returns
        -------
        self
        """
        self.fit_transform(X)
        return self

    def set_output(self, *, transform: str | None = None) -> Self:
        """Do nothing: the output is a container whatever is asked for.

        So a whole Pipeline can be set to data frames, which its later steps return.

        Parameters
        ----------
        transform : {"default", "pandas", "polars"} or None, default=None

        Returns
        -------
        self
        """
        return self

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the words of the vocabulary in the order of their ids.

        Parameters
        ----------
        input_features : ignored

        Returns
        -------
        (n_features,) array of str objects
        """
        check_is_fitted(self, "vocabulary_")
        return np.array(sorted(self.vocabulary_, key=self.vocabulary_.__getitem__), dtype=object)


def check_raw(X: Any) -> None:
    """Raise for what would be read by the letter (a lone text) or by column name (a frame)."""
    if isinstance(X, (str, bytes)):
        raise ValueError("Iterable over raw text documents expected, string object received.")
    if hasattr(X, "columns"):
        raise ValueError("X is a data frame; pass the column that holds the text.")
