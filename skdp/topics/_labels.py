"""Labels of documents: sets of topics that their words may use, from y to arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skdp._checks import is_list_like, is_unknown, shorten
from skdp.data import SegmentedCorpus
from skdp.inference._convergence import warn_user
from skdp.topics._given_topics import check_possible
from skdp.topics._lda._model import tokens_of_nodes
from skdp.topics._shared._allowed import AllowedTopics
from skdp.topics._shared._fixed import FixedTopics


def read_labels(
    y: Any, n_topics: int | None, names: dict[str, int], whom: str
) -> Sequence[Any] | None:
    """Return labels as sets of topics, or None if `y` is something else, with a warning in doubt.

    `n_topics`: None for a model without labels; `names`: numbers by name; `whom`: for messages.
    """
    matrix = _as_matrix(y)
    if matrix is None:
        y = y if n_topics is None else _named_sets(y, names, whom)
        found = not hasattr(y, "toarray") and has_sets(y)
        if found and n_topics is None:
            raise ValueError(f"y has sets of topics, which are no input for {whom}.")
        return y if found else None
    is_unknown_row = np.isnan(matrix).all(axis=1)
    if is_unknown_row.all():
        return None
    matrix[is_unknown_row] = 0.0
    is_wrong = ~np.isin(matrix, [0.0, 1.0])
    if is_wrong.any():
        if matrix.shape[1] == n_topics:
            row, column = np.argwhere(is_wrong)[0].tolist()
            value = matrix[row, column]
            warn_user(
                f"y is ignored: it has a column for each of {n_topics} topics, but "
                f"{'an unknown entry' if np.isnan(value) else f'{value:g}'} in row {row}, column "
                f"{column}. A row must hold zeros and ones, or only -1 or NaN.",
                UserWarning,
            )
        return None
    if matrix.shape[1] != n_topics:
        why = "" if n_topics is None else f", whose labels name {n_topics} topics"
        warn_user(
            f"y is ignored: it is a matrix of zeros and ones with {matrix.shape[1]} columns, which "
            f"is no input for {whom}{why}.",
            UserWarning,
        )
        return None
    for k, name in enumerate(getattr(y, "columns", ())):
        if isinstance(name, str) and names.get(name, k) != k:
            raise ValueError(
                f"y must have a column for each topic in order, but column {k} is {name!r}, which "
                f"is topic {names[name]}."
            )
    return [set(np.flatnonzero(row).tolist()) for row in matrix == 1.0]


def _as_matrix(y: Any) -> NDArray[np.float64] | None:
    """Return a matrix of numbers with at least two columns and NaN if unknown, or None."""
    if hasattr(y, "toarray"):
        y = y.toarray()
    elif not hasattr(y, "__array__"):
        return None
    array = np.asarray(y)
    if array.ndim != 2 or array.shape[1] < 2 or array.dtype.kind not in "biufO":
        return None
    if array.dtype == object:  # pandas.NA is no float
        array = np.where(np.frompyfunc(is_unknown, 1, 1)(array).astype(np.bool_), np.nan, array)
    try:
        array = array.astype(np.float64)
    except (TypeError, ValueError):
        return None
    array[array == -1.0] = np.nan
    return array


def _named_sets(y: Any, names: dict[str, int], whom: str) -> Any:
    """Return sets of one topic each if all strings in `y` are names of topics, else `y`."""
    if not names or getattr(y, "ndim", 1) != 1 or not is_list_like(y):
        return y
    known = [entry for entry in y if isinstance(entry, str)]
    others = [entry for entry in y if not (isinstance(entry, str) or is_unknown(entry))]
    if not known or others or not names.keys() & {*known}:
        return y
    unknown = sorted({*known} - names.keys())
    if not unknown:
        return [{entry} if isinstance(entry, str) else None for entry in y]
    warn_user(
        f"y is ignored: it has strings, some of which are names of topics with seed words, but "
        f"{shorten(unknown[0])} is none for {whom}. If the others are meant, replace it by None.",
        UserWarning,
    )
    return None


def has_sets(y: Any) -> bool:
    """Return whether `y` has sets of topics; raise a ValueError if it has lists without sets."""
    if hasattr(y, "__array__"):
        y = np.asarray(y)
        if y.dtype != object or y.ndim != 1:
            return False
    elif isinstance(y, str) or not hasattr(y, "__len__"):
        return False
    found = False
    for d, given in enumerate(y):
        is_list = is_list_like(given) or isinstance(given, Mapping)
        known = [part for part in (given if is_list else [given]) if not is_unknown(part)]
        is_set = any(isinstance(part, set | frozenset) for part in known)
        found |= is_set
        if is_list and known and not is_set:
            raise ValueError(
                f"y[{d}] must be a set of topics, or a list of such sets, one for each segment; "
                f"got {shorten(given)}."
            )
    return found


def check_labels(
    y: Any,
    corpus: SegmentedCorpus,
    level: str,
    n_topics: int,
    names: dict[str, int],
    *,
    is_open: bool = False,  # whether documents without labels may have further topics
    first: int = 0,  # index of the first document, for messages
) -> AllowedTopics:
    """Return the topics that the words of documents or segments may have."""
    topics = _Topics(n_topics, names, is_open)
    if len(y) != len(corpus):
        raise ValueError(
            f"y must have a set of topics, or None, for each of the {len(corpus)} documents, got "
            f"{len(y)}."
        )
    n_segments, sets = np.diff(corpus.doc_ptr).tolist(), []
    for d, (place, given) in enumerate(enumerate(y, start=first)):
        if not is_list_like(given):
            own = topics.numbers(given, f"y[{place}]")
            sets.extend([own] * (1 if level == "document" else n_segments[d]))
            continue
        if level == "document":
            raise ValueError(
                f"y[{place}] must be one set for the whole document, because level is 'document'; "
                "use level='segment' for a set for each segment."
            )
        if len(given) != n_segments[d]:
            raise ValueError(
                f"y[{place}] must have a set for each of the {n_segments[d]} segments of document "
                f"{place}, got {len(given)}."
            )
        sets.extend(topics.numbers(s, f"y[{place}][{j}]") for j, s in enumerate(given))
    distinct = {own: i for i, own in enumerate(dict.fromkeys(sets))}
    is_allowed = np.zeros((len(distinct), n_topics + is_open), dtype=np.bool_)
    for own, i in distinct.items():
        is_allowed[i, sorted(own)] = True
    return AllowedTopics(is_allowed, np.array([distinct[own] for own in sets], dtype=np.int64))


class _Topics(NamedTuple):
    """The topics that sets may name."""

    n_topics: int
    names: dict[str, int]
    is_open: bool

    def numbers(self, given: Any, place: str) -> frozenset[int]:
        """Return the numbers of the topics of a set; all topics if it is empty or unknown."""
        if is_unknown(given):
            given = ()
        elif not isinstance(given, set | frozenset):
            raise ValueError(f"{place} must be a set of topics or None, got {shorten(given)}.")
        numbers = set()
        for topic in given:
            is_number = isinstance(topic, Integral) and not isinstance(topic, bool)
            number = int(topic) if is_number else self.names.get(topic, -1)
            if not 0 <= number < self.n_topics:
                if self.n_topics == 0:
                    raise ValueError(
                        f"{place} has the topic {topic!r}, but no topics have numbers: if the "
                        "number of topics is inferred, sets hold topics with seed words or given "
                        "words, so give seed_words or fixed_components."
                    )
                what = (
                    f"below the number of topics with seed words or given words, {self.n_topics}"
                    if self.is_open
                    else f"below n_components={self.n_topics}"
                )
                known = f", or names among {shorten(sorted(self.names))}" if self.names else ""
                raise ValueError(
                    f"{place} must hold topics from 0 to {what}{known}; got {topic!r}."
                )
            numbers.add(number)
        return frozenset(numbers or range(self.n_topics + self.is_open))


def check_documents(
    labels: Any,
    corpus: SegmentedCorpus,
    *,
    fixed: FixedTopics | None,
    level: str,
    n_topics: int,
    names: dict[str, int],
    is_open: bool,
    most_topics: int | None = None,  # number of topics that may exist
    first: int = 0,
) -> AllowedTopics | None:
    """Return the topics that labels allow; raise if a word can have none because all are fixed."""
    allowed = None
    if labels is not None:
        allowed = check_labels(labels, corpus, level, n_topics, names, is_open=is_open, first=first)
    if fixed is not None:
        if allowed is None:
            of_words = AllowedTopics.every(n_topics + is_open, len(corpus.tokens))
        else:
            of_words = allowed.of_words(tokens_of_nodes(corpus, level))
        check_possible(fixed, corpus, of_words, most_topics)
    return allowed


class LabelsMixin:
    """Mixin of the topic models: the topics that labels allow."""

    n_components: Any

    @property
    def _level_of_labels(self) -> str | None:
        """The units whose topics y may restrict; None if y is not read."""
        return None

    @property
    def _n_named_topics(self) -> int:
        """Number of topics that labels may name."""
        return int(self.n_components)

    def _numbers_by_name(self) -> dict[str, int]:
        """Return the numbers of the topics that have names."""
        estimator: Any = self
        return {topic.name: topic.number for topic in estimator._seeded_topics() if topic.name}

    def _read_labels(self, y: Any) -> Any:
        """Return the sets of topics in `y`, or None if it has none."""
        n_topics = None if self._level_of_labels is None else self._n_named_topics
        return read_labels(y, n_topics, self._numbers_by_name(), f"this {type(self).__name__}")

    def _topics_check(self, n_words: int) -> Callable[..., AllowedTopics | None]:
        """Return a function that checks documents and their labels."""
        estimator: Any = self
        return partial(
            check_documents,
            fixed=estimator._fixed_topics(n_words),
            level=self._level_of_labels or "document",
            n_topics=self._n_named_topics,
            names=self._numbers_by_name(),
            is_open=not estimator._numbers_topics,
            most_topics=None if estimator._numbers_topics else estimator._most_topics,
        )
