"""Prior knowledge of topics, from parameters to arrays: given words, seed words, and labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_array

from skdp._checks import as_floats, is_list_like, is_unknown, shorten, unpack
from skdp._numeric import Floats
from skdp.data import SegmentedCorpus
from skdp.data._frames import normalize_word
from skdp.inference._convergence import warn_user
from skdp.topics._lda._sampler import tokens_of_nodes
from skdp.topics._shared._arrays import SMALLEST_FIXED, AllowedTopics, FixedTopics, Seeds, WordPrior

# Topics that are given as word probabilities.


_TOLERANCE = 1e-6
"""Largest difference of a sum of fixed probabilities from 1, for those in single precision."""


def check_topics(topics: ArrayLike, name: str, shape: tuple[int, int] | None) -> Floats:
    """Return given topics as word probabilities."""
    array, sums = _check_rows(topics, name)
    if shape is not None and array.shape != shape:
        raise ValueError(
            f"{name} must have shape (n_components, n_features) = {shape}, got {array.shape}."
        )
    return array / sums


def _check_rows(topics: Any, name: str) -> tuple[Floats, Floats]:
    """Return given topics as non-negative numbers, and the sums of rows."""
    given = as_floats(topics.toarray() if hasattr(topics, "toarray") else topics, name)
    if given.ndim != 2:
        raise ValueError(
            f"{name} must be a 2-D array (n_components, n_features), got shape {given.shape}."
        )
    if not given.size:
        raise ValueError(f"{name} must hold at least one topic, got shape {given.shape}.")
    array = check_array(given, dtype=np.float64, input_name=name)
    with np.errstate(over="ignore"):
        sums = array.sum(axis=1, keepdims=True)
    if np.any(array < 0) or np.any(sums == 0):
        raise ValueError(f"{name} must hold non-negative numbers, and no row may be all zero.")
    if not np.isfinite(sums).all():
        raise ValueError(f"{name} must have rows with finite sums.")
    return array, sums


# Seed words of topics, which become pseudo-counts.


LARGEST_SEED = 2**20
SHARE_OF_SEED = 0.0075
"""Pseudo-counts of a seed word, relative to the words of a topic of mean size. In the addresses of
presidents, .75 % and 1.5 % help to find further words of the subject; .15 % and 7.5 % do not."""


class SeededTopic(NamedTuple):
    """A topic with seed words; `name` is None if the user has given a number."""

    number: int
    name: str | None
    words: list[Any]


def number_topics(
    seed_words: dict[Any, Any], n_topics: int | None, n_fixed: int = 0
) -> list[SeededTopic]:
    """Return the topics of `seed_words`; names take the lowest numbers that are free."""
    if not seed_words:
        raise ValueError("seed_words must have at least one topic, got an empty dict.")
    given = {*range(n_fixed), *(key for key in seed_words if _is_integer(key))}
    most = len(seed_words) + n_fixed if n_topics is None else n_topics
    free = iter(sorted(set(range(len(seed_words) + len(given))) - given))
    topics = []
    for key, words in seed_words.items():
        if not (isinstance(key, str) or _is_integer(key)):
            raise ValueError(
                f"seed_words must have numbers or names of topics as keys, got {shorten(key)}."
            )
        number = next(free) if isinstance(key, str) else int(key)
        if not 0 <= number < most:
            what = (
                f"n_components={n_topics}"
                if n_topics is not None
                else f"the number of topics with seed words, {most}, because they come first"
            )
            raise ValueError(
                f"seed_words must have numbers of topics from 0 to below {what}; topic "
                f"{key!r} has the number {number}."
            )
        if number < n_fixed:
            raise ValueError(
                f"seed_words must have topics that are not in fixed_components, which holds topics "
                f"0 to {n_fixed - 1}; got topic {key!r}."
            )
        is_set = isinstance(words, set | frozenset)
        if not (is_set or is_list_like(words)) or getattr(words, "ndim", 1) > 1 or len(words) == 0:
            raise ValueError(
                f"seed_words[{key!r}] must be a list of at least one word, got {shorten(words)}."
            )
        listed = list(unpack(words))
        for word in listed:
            if not (isinstance(word, str) or (_is_integer(word) and word >= 0)):
                raise ValueError(
                    f"seed_words[{key!r}] must hold words or word ids, got {shorten(word)}."
                )
        topics.append(SeededTopic(number, key if isinstance(key, str) else None, listed))
    return topics


def find_seeds(
    topics: list[SeededTopic], weight: int, n_words: int, names: Sequence[str] | None
) -> tuple[Seeds, list[str]]:
    """Return the seeds, and a message about each topic with some unknown words."""
    ids = {normalize_word(name): i for i, name in enumerate(() if names is None else names)}
    pairs: set[tuple[int, int]] = set()
    messages = []
    for number, name, words in topics:
        key = number if name is None else name
        if names is None and any(isinstance(word, str) for word in words):
            raise ValueError(
                f"seed_words[{key!r}] has words as text, but X does not name its words. A data "
                "frame of counts does, and so does the corpus of a SegmentVectorizer, unless it "
                "was loaded from a file or is in partitions. Give word ids, such as "
                "vectorizer.vocabulary_[word]."
            )
        found = [
            ids.get(normalize_word(word), n_words) if isinstance(word, str) else int(word)
            for word in words
        ]
        missing = [word for word, i in zip(words, found, strict=True) if i >= n_words]
        if missing:
            message = (
                f"seed_words[{key!r}]: not in the vocabulary of {n_words} words: "
                f"{', '.join(map(repr, missing))}"
            )
            if len(missing) == len(words):
                raise ValueError(f"{message}. No seed word of this topic is left.")
            messages.append(f"{message}. The other seed words of this topic are used.")
        pairs.update((number, i) for i in found if i < n_words)
    of_topics, of_words = np.array(sorted(pairs), dtype=np.int64).T
    return Seeds(of_topics.copy(), of_words.copy(), weight, n_words), messages


def names_of_topics(topics: list[SeededTopic], n_topics: int) -> list[str | None] | None:
    """Return the names of all topics, None for those without; None if no topic has a name."""
    names: list[str | None] = [None] * n_topics
    for number, name, _ in topics:
        names[number] = name
    return names if any(name is not None for name in names) else None


def _is_integer(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


# Labels of documents: sets of topics that their words may use.


def read_labels(
    y: Any, n_topics: int | None, names: dict[str, int], whom: str
) -> Sequence[Any] | None:
    """Return labels as sets of topics, or None if `y` is something else, with a warning in doubt.

    `n_topics`: None for a model without labels; `names`: numbers by name; `whom`: for messages.
    """
    matrix = _as_matrix(y)
    if matrix is None:
        y = unpack(y)
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
    for k, name in enumerate(getattr(y, "column_names", getattr(y, "columns", ()))):
        if isinstance(name, str) and names.get(name, k) != k:
            raise ValueError(
                f"y must have a column for each topic in order, but column {k} is {name!r}, which "
                f"is topic {names[name]}."
            )
    return [set(np.flatnonzero(row).tolist()) for row in matrix == 1.0]


def _as_matrix(y: Any) -> Floats | None:
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


class TopicsCheck(NamedTuple):
    """A function that checks documents and labels, and returns the topics that words may have."""

    fixed: FixedTopics | None
    level: str
    n_topics: int
    names: dict[str, int]
    is_open: bool  # whether documents without labels may have further topics
    most_topics: int | None = None  # number of topics that may exist

    def __call__(
        self, labels: Any, corpus: SegmentedCorpus, first: int = 0
    ) -> AllowedTopics | None:
        """Return the topics that labels allow; messages count documents from `first`."""
        allowed = None if labels is None else self._read(labels, corpus, first)
        if self.fixed is not None:
            if allowed is None:
                of_words = AllowedTopics.every(self.n_topics + self.is_open, len(corpus.tokens))
            else:
                of_words = allowed.of_words(tokens_of_nodes(corpus, self.level))
            self._check_possible(self.fixed, corpus, of_words)
        return allowed

    def _read(self, y: Any, corpus: SegmentedCorpus, first: int) -> AllowedTopics:
        """Return the topics that the words of documents or segments may have."""
        if len(y) != len(corpus):
            raise ValueError(
                f"y must have a set of topics, or None, for each of the {len(corpus)} documents, "
                f"got {len(y)}."
            )
        n_segments, sets = np.diff(corpus.doc_ptr).tolist(), []
        for d, (place, given) in enumerate(enumerate(y, start=first)):
            if not is_list_like(given):
                own = self._numbers(given, f"y[{place}]")
                sets.extend([own] * (1 if self.level == "document" else n_segments[d]))
                continue
            if self.level == "document":
                raise ValueError(
                    f"y[{place}] must be one set for the whole document, because level is "
                    "'document'; use level='segment' for a set for each segment."
                )
            if len(given) != n_segments[d]:
                raise ValueError(
                    f"y[{place}] must have a set for each of the {n_segments[d]} segments of "
                    f"document {place}, got {len(given)}."
                )
            sets.extend(self._numbers(s, f"y[{place}][{j}]") for j, s in enumerate(given))
        distinct = {own: i for i, own in enumerate(dict.fromkeys(sets))}
        is_allowed = np.zeros((len(distinct), self.n_topics + self.is_open), dtype=np.bool_)
        for own, i in distinct.items():
            is_allowed[i, sorted(own)] = True
        return AllowedTopics(is_allowed, np.array([distinct[own] for own in sets], dtype=np.int64))

    def _numbers(self, given: Any, place: str) -> frozenset[int]:
        """Return the numbers of the topics of a set; all topics if it is empty or unknown."""
        if is_unknown(given):
            given = ()
        elif not isinstance(given, set | frozenset):
            raise ValueError(f"{place} must be a set of topics or None, got {shorten(given)}.")
        numbers = set()
        for topic in given:
            number = int(topic) if _is_integer(topic) else self.names.get(topic, -1)
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

    def _check_possible(
        self, fixed: FixedTopics, corpus: SegmentedCorpus, allowed: AllowedTopics
    ) -> None:
        """Raise if a word can have no topic, because all that it may have are fixed without it."""
        n_fixed, tokens = len(fixed.phi), corpus.tokens
        for s, own in enumerate(allowed.sets):
            if own[n_fixed : self.most_topics].any():
                continue
            possible: NDArray[np.bool_] = fixed.possible[own[:n_fixed]].any(axis=0)
            bad = (allowed.set_of == s) & ~possible[tokens]
            if bad.any():
                i = int(bad.argmax())
                place = corpus._locate((corpus.doc_ptr, corpus.segment_ptr), i)
                raise ValueError(
                    f"The word {tokens[i]} ({place}) can have no topic: all topics that it may "
                    "have are in fixed_components, where its probability is 0 or less than "
                    f"{SMALLEST_FIXED:g}."
                )


class GivenTopicsMixin:
    """Mixin of the topic models: what is known of topics, by their words and by labels."""

    n_components: Any
    n_features_in_: int
    seed_words: dict[Any, Any] | None
    seed_weight: int | str
    _topic_word_prior: Any
    _most_topics: Any

    fixed_components: Any = None
    """Default for models without this parameter."""

    _n_fixed_in_fit = 0
    """Number of topics in `components_` whose words were given."""

    _seeds: Seeds | None = None
    """Seeds in the vocabulary of X, found by a fit."""

    def _fixed_topics(self, n_words: int | None = None) -> FixedTopics | None:
        """Return the topics with given words, or None; raise a ValueError if they are invalid."""
        if self.fixed_components is None:
            return None
        phi, sums = _check_rows(self.fixed_components, "fixed_components")
        n_most = getattr(self, "n_components", "auto")
        if not isinstance(n_most, str) and len(phi) > n_most:
            raise ValueError(
                f"fixed_components has {len(phi)} topics, but n_components is {n_most}."
            )
        if n_words is not None and phi.shape[1] != n_words:
            raise ValueError(
                f"fixed_components must have shape (n_fixed, n_features) with n_features={n_words},"
                f" got {phi.shape}."
            )
        if (far := np.abs(sums[:, 0] - 1.0) > _TOLERANCE).any():
            k = int(far.argmax())
            raise ValueError(
                f"fixed_components must have rows that sum to 1, but row {k} sums to "
                f"{float(sums[k, 0]):.8g}."
            )
        return FixedTopics(phi.copy())

    @property
    def _n_fixed(self) -> int:
        """Number of topics whose words are given."""
        fixed = self._fixed_topics()
        return 0 if fixed is None else len(fixed.phi)

    def _seeded_topics(self) -> list[SeededTopic]:
        """Return the topics that have seed words."""
        if self.seed_words is None:
            return []
        n_topics = self.n_components if self._numbers_topics else None
        return number_topics(self.seed_words, n_topics, self._n_fixed)

    @property
    def _numbers_topics(self) -> bool:
        """Whether the number of topics is given."""
        return True

    def _check_seeds(
        self, n_tokens: int, n_topics: int, names: Sequence[str] | None = None
    ) -> None:
        """Find the seeds in the vocabulary of X, and warn of seed words that are not in it."""
        self._seeds = None
        topics, names = self._seeded_topics(), getattr(self, "feature_names_in_", names)
        if topics:
            weight = self.seed_weight
            if isinstance(weight, str):
                weight = min(max(round(SHARE_OF_SEED * n_tokens / n_topics), 1), LARGEST_SEED)
            self._seeds, messages = find_seeds(topics, int(weight), self.n_features_in_, names)
            for message in messages:
                warn_user(message, UserWarning)

    def _word_prior(self) -> Any:
        """Return the prior of words for samplers, with seeds for X and fixed topics."""
        gamma = self._topic_word_prior()
        fixed = self._fixed_topics()
        has_hints = not (self._seeds is None and fixed is None)
        return WordPrior(gamma, self._seeds, fixed) if has_hints else gamma

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
        return {topic.name: topic.number for topic in self._seeded_topics() if topic.name}

    def _read_labels(self, y: Any) -> Any:
        """Return the sets of topics in `y`, or None if it has none."""
        n_topics = None if self._level_of_labels is None else self._n_named_topics
        return read_labels(y, n_topics, self._numbers_by_name(), f"this {type(self).__name__}")

    def _topics_check(self, n_words: int) -> TopicsCheck:
        """Return a function that checks documents and their labels."""
        return TopicsCheck(
            self._fixed_topics(n_words), self._level_of_labels or "document", self._n_named_topics,
            self._numbers_by_name(), not self._numbers_topics,
            None if self._numbers_topics else self._most_topics,
        )  # fmt: skip
