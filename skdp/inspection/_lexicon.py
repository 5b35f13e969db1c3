"""Displays of the words of a text (numbers, frequencies, lengths), and of perplexity by order."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from random import Random
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import poisson
from sklearn.utils.validation import check_is_fitted

from skdp._checks import as_floats, check_choice, check_count, check_unmasked, is_number, shorten
from skdp._numeric._random import make_seed_sequence
from skdp.data import TokenSequences, check_sentences
from skdp.inspection._axes import PALETTE, Display, as_names, write_name
from skdp.processes import expected_table_count

# Words drawn from the prior of a hierarchical Pitman-Yor process.


_BEGINNING = -1
"""The symbol before the first word of a sentence."""


class WordLaw(NamedTuple):
    """A hierarchical Pitman-Yor process of words."""

    discounts: NDArray[np.float64]  # (order,), of contexts of 0, 1, ... words
    concentrations: NDArray[np.float64]  # (order,)
    base: NDArray[np.float64] | None  # (n_words,); None: every draw is a new word

    @classmethod
    def of(cls, discount: Any, concentration: Any, base: Any) -> WordLaw | None:
        """Return a law with checked parameters, or None if there are no parameters."""
        if discount is None and concentration is None:
            if base is not None:
                raise ValueError("base needs a discount and a concentration, too.")
            return None
        if discount is None or concentration is None:
            raise ValueError("discount and concentration belong together: give both or neither.")
        discounts = np.atleast_1d(as_floats(discount, "discount"))
        concentrations = np.atleast_1d(as_floats(concentration, "concentration"))
        if discounts.ndim != 1 or not len(discounts) or discounts.shape != concentrations.shape:
            raise ValueError(
                "discount and concentration must be numbers, or hold one for each length of "
                f"context, got shapes {discounts.shape} and {concentrations.shape}."
            )
        if not np.all((discounts >= 0.0) & (discounts < 1.0)):
            raise ValueError(f"discount must be in [0, 1), got {shorten(discount)}.")
        if not np.all((concentrations > 0.0) & np.isfinite(concentrations)):
            raise ValueError(f"concentration must be finite and > 0, got {shorten(concentration)}.")
        if base is not None:
            base = as_floats(base, "base", 1)
            if not (np.all(base >= 0.0) and abs(base.sum() - 1.0) < 1e-6):
                raise ValueError(f"base must hold probabilities with sum 1, got {shorten(base)}.")
        return cls(discounts, concentrations, base)

    def draw(self, lengths: NDArray[np.int64], random: Random) -> NDArray[np.int64]:
        """Return the concatenated words of sentences of given lengths."""
        return np.fromiter(self._draw(lengths, random), np.int64, int(lengths.sum()))

    def _draw(self, lengths: NDArray[np.int64], random: Random) -> Iterator[int]:
        """Yield words, with a Chinese restaurant for each context."""
        uniform = random.random
        new_words = self._new_words(random)
        d, theta = self.discounts.tolist(), self.concentrations.tolist()
        root = _Restaurant()
        for length in lengths.tolist():
            history = [_BEGINNING]
            for _ in range(length):
                path = [root]  # the restaurants of increasingly long contexts
                for symbol in reversed(history[-(len(d) - 1) :] if len(d) > 1 else []):
                    path.append(path[-1].children[symbol])
                opened = []  # restaurants with a new table, whose word comes from the next
                word = -1
                for m in range(len(path) - 1, -1, -1):
                    here = path[m]
                    n = len(here.seats)
                    if not n or uniform() * (theta[m] + n) < theta[m] + d[m] * len(here.sizes):
                        opened.append(here)
                        continue
                    # A table of m customers has weight m - d: the new customer joins that of a
                    # random earlier customer, and stays with probability 1 - d / m.
                    table = here.seats[int(uniform() * n)]
                    while uniform() * here.sizes[table] < d[m]:
                        table = here.seats[int(uniform() * n)]
                    here.seats.append(table)
                    here.sizes[table] += 1
                    word = here.words[table]
                    break
                else:
                    word = next(new_words)
                for here in opened:
                    here.seats.append(len(here.sizes))
                    here.sizes.append(1)
                    here.words.append(word)
                history.append(word)
                yield word

    def _new_words(self, random: Random) -> Iterator[int]:
        """Yield draws from the base."""
        if self.base is None:
            yield from count()
            return
        cumulative = np.cumsum(self.base)
        bounds = (cumulative / cumulative[-1]).tolist()
        while True:
            yield bisect_right(bounds, random.random())


class _Restaurant:
    """A context with the table of each customer, and the size and word of each table."""

    __slots__ = ("children", "seats", "sizes", "words")

    def __init__(self) -> None:
        self.seats: list[int] = []
        self.sizes: list[int] = []
        self.words: list[int] = []
        # The restaurants of contexts with one more preceding symbol.
        self.children: defaultdict[int, _Restaurant] = defaultdict(_Restaurant)


# Numbers, frequencies and lengths of words.


_KINDS = ("rank-frequency", "growth", "lengths")
_N_POINTS = 400
"""Number of points of a growth curve: more are indistinguishable."""
_GUIDE_FROM, _GUIDE_AT = 25, 5
"""A power law is drawn from rank n / 25 on, through the text at rank n / 5."""
_BLACK = "#000000"


class LexiconDisplay(Display):
    r"""Frequencies of the words of a text by rank, growth of their number, and their lengths.

    Create it with `from_estimator`, `from_predictions`, or the constructor and `plot`. Besides the
    text it shows the prior expectation of a hierarchical Pitman-Yor process: texts with the same
    sentence lengths that are drawn from it.

    Parameters
    ----------
    words : list of sentences, or TokenSequences
        Each sentence is a sequence of words: str, ids, or arrays of the ids of their characters.
    discount, concentration : float or (order,) array-like, default=None
        Discounts and concentrations of words after 0, 1, ... words. A number: without context.
        None: only the text is shown.
    base : (n_features,) array-like, default=None
        Probabilities of the words below the empty context. None: every draw from the base is a new
        word.
    word_length : float, default=None
        Mean of a Poisson distribution of the lengths of words, from 1 on. None: not shown.
    max_word_length : int, default=None
        Largest length under this distribution. None: unlimited.
    feature_names : list of str, default=None
        Names of the words, if they are ids. Only ``kind="lengths"`` needs them.

    Attributes
    ----------
    frequencies : ndarray of int
        Frequencies of all words that occur, the most frequent first.
    n_tokens : int
        Number of words in the text.
    discounts, concentrations : (order,) ndarrays or None
    ax_, figure_ : matplotlib Axes and Figure
    line_ : matplotlib Line2D or None
        The text; None with ``kind="lengths"``.
    draws_ : list of matplotlib Line2D
        One line for each drawn text.
    law_ : matplotlib Line2D or None
        The power law of frequencies, the expected growth, or the Poisson distribution.
    bars_ : list of matplotlib BarContainer
        Lengths of distinct words and of all words; empty with other kinds.
    legend_ : matplotlib Legend

    Raises
    ------
    ValueError
        If there are no words, or an argument is invalid.

    See Also
    --------
    skdp.processes.expected_table_count : Growth without contexts in closed form.
    SegmentationDisplay : Plots the segmentation of a text into words.

    Notes
    -----
    The base of a :class:`~skdp.language.HierarchicalPitmanYorLM` is a closed vocabulary, so its
    draws never have more words than the vocabulary. The base of a
    :class:`~skdp.language.NestedPitmanYorLM` gives every string a probability; here every draw from
    it counts as a new word, so short words that are spelled twice are counted twice. Ends of
    sentences are those of the text; they are not drawn. A text, unlike a draw, stays with a subject
    for a while, so its number of words initially grows more slowly than if its sentences were
    shuffled.

    Without context, the number of words that occur at least f times falls in proportion to
    :math:`f^{-d}`, where d is the discount, as long as f is small compared with the length of the
    text and new words are not used up. So the frequency at rank r is proportional to
    :math:`r^{-1/d}` for large r. Only the slope of the dashed line is meaningful. With contexts, a
    word is a customer of the empty context once for each of its tables in longer contexts, not once
    for each occurrence; d and the concentration are learned from these customers. So the closed
    form of the growth does not apply to n words of a text, and only draws are shown.

    A draw of a million words takes 1 to 2 seconds without context, and 5 to 7 with order 3.

    Examples
    --------
    >>> from skdp.inspection import LexiconDisplay
    >>> sentences = [["a", "dog", "ran"], ["the", "dog", "sat"], ["a", "cat", "sat"]]
    >>> display = LexiconDisplay(sentences, discount=0.5, concentration=1.0)
    >>> display.frequencies
    array([2, 2, 2, 1, 1, 1])
    >>> display.plot(kind="growth", random_state=0).ax_.get_ylabel()
    'distinct words'
    """

    draws_: list[Any]
    bars_: list[Any]

    def __init__(
        self,
        words: Any,
        *,
        discount: ArrayLike | None = None,
        concentration: ArrayLike | None = None,
        base: ArrayLike | None = None,
        word_length: float | None = None,
        max_word_length: int | None = None,
        feature_names: Sequence[str] | None = None,
    ):
        self._ids, self._sentence_lengths, kinds = _read_words(words)
        self._lengths = _find_lengths(kinds, words, feature_names)
        self.frequencies = np.sort(np.bincount(self._ids))[::-1]
        self.n_tokens = len(self._ids)
        self._law = WordLaw.of(discount, concentration, base)
        self.discounts = None if self._law is None else self._law.discounts
        self.concentrations = None if self._law is None else self._law.concentrations
        if word_length is not None and not (is_number(word_length) and 0.0 < word_length < 1e6):
            raise ValueError(f"word_length must be a positive number, got {shorten(word_length)}.")
        self.word_length = word_length
        if max_word_length is not None:
            check_count(max_word_length, "max_word_length", at_least=1)
        self.max_word_length = max_word_length

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        *,
        kind: str = "rank-frequency",
        feature_names: Sequence[str] | None = None,
        n_draws: int = 3,
        random_state: Any = None,
        ax: Any = None,
    ) -> Self:
        """Plot the words of X and the words expected by a fitted model.

        Parameters
        ----------
        estimator : fitted HierarchicalPitmanYorLM, NestedPitmanYorLM or CollocationPitmanYorLM
            With collocations, only the expected lengths of words are shown.
        X : as in the estimator's `fit`
            For a nested model, strings, which it cuts into words. (For texts that are already cut
            into words, use `from_predictions`.)
        kind : {"rank-frequency", "growth", "lengths"}, default="rank-frequency"
            See `plot`. "lengths" also shows the Poisson distribution of new words of a nested
            model.
        feature_names : list of str, default=None
            Names of word ids, such as a vectorizer's ``get_feature_names_out()``; for "lengths".
        n_draws, random_state, ax

        Raises
        ------
        sklearn.exceptions.NotFittedError, TypeError
            If the estimator is not fitted, or has no discounts and concentrations of words.
        ValueError, ImportError
            If X has no words, or another argument is invalid, or matplotlib is not installed.
        """
        cls._check_matplotlib()
        check_choice(kind, "kind", *_KINDS)
        check_is_fitted(estimator)
        if hasattr(estimator, "word_concentrations_"):
            is_poisson = isinstance(estimator.length_correction, str) and (
                estimator.length_correction == "poisson"
            )
            # Under collocations, words are draws within new collocations, not words of the text.
            is_direct = not hasattr(estimator, "collocations_")
            shown = {
                "words": estimator.predict(X),
                "discount": estimator.word_discounts_ if is_direct else None,
                "concentration": estimator.word_concentrations_ if is_direct else None,
                "word_length": estimator.word_length_ if is_poisson else None,
                "max_word_length": int(estimator.max_word_length),
            }
        elif hasattr(estimator, "concentrations_") and hasattr(estimator, "n_contexts_"):
            base = estimator.base_[: estimator.n_words_]
            shown = {
                "words": check_sentences(estimator, X, reset=False, any_length=True),
                "discount": estimator.discounts_,
                "concentration": estimator.concentrations_,
                "base": base / base.sum(),
            }
        else:
            raise TypeError(
                "estimator must be a HierarchicalPitmanYorLM or NestedPitmanYorLM, got "
                f"{type(estimator).__name__}. from_predictions plots the words of any model."
            )
        return cls._show(locals(), **shown)

    @classmethod
    def from_predictions(
        cls,
        words: Any,
        *,
        discount: ArrayLike | None = None,
        concentration: ArrayLike | None = None,
        base: ArrayLike | None = None,
        word_length: float | None = None,
        max_word_length: int | None = None,
        feature_names: Sequence[str] | None = None,
        kind: str = "rank-frequency",
        n_draws: int = 3,
        random_state: Any = None,
        ax: Any = None,
    ) -> Self:
        """Plot given words.

        Parameters
        ----------
        words, discount, concentration, base, word_length, max_word_length, feature_names
        kind, n_draws, random_state, ax

        Raises
        ------
        ValueError, ImportError
            If there are no words, or an argument is invalid, or matplotlib is not installed.
        """
        return cls._show(locals())

    def plot(
        self,
        ax: Any = None,
        *,
        kind: str = "rank-frequency",
        n_draws: int = 3,
        random_state: Any = None,
        name: str = "text",
    ) -> Self:
        """Draw the words.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw. None: in a new figure. Your own figure should have
            ``layout="constrained"``, which makes room for the legend on the right.
        kind : {"rank-frequency", "growth", "lengths"}, default="rank-frequency"
            "rank-frequency": the frequencies of the most frequent word, the second, and so on, with
            drawn texts and the power law of the discount. "growth": the number of distinct words in
            the first n, with drawn texts and, for a law without context and base, its expectation.
            "lengths": shares of words by their number of characters, and the Poisson distribution,
            which applies to distinct words.
        n_draws : int, default=3
            Number of texts to draw, for the first two kinds.
        random_state : int, RandomState, Generator or None, default=None
            Seed or source of random numbers for them.
        name : str, default="text"
            Name of the text, for the legend.

        Raises
        ------
        ValueError, ImportError
            If an argument is invalid, or if lengths of words are to be shown but not known, or
            matplotlib is not installed.
        """
        check_choice(kind, "kind", *_KINDS)
        n_draws = check_count(n_draws, "n_draws")
        if kind == "lengths" and self._lengths is None:
            raise ValueError('kind="lengths" needs the words themselves: give feature_names.')
        name = write_name(str(name), 40)
        self.line_, self.law_, self.draws_, self.bars_ = None, None, [], []
        # Reserve room for the longest label of a legend.
        ax = self._open(ax, (4.6, 3.6), ["expected without context", name])
        if kind == "lengths":
            entries = self._draw_lengths(ax)
        else:
            draws = []
            if self._law is not None and n_draws:
                (seed,) = make_seed_sequence(random_state).generate_state(1, np.uint64).tolist()
                random = Random(seed)
                draws = [self._law.draw(self._sentence_lengths, random) for _ in range(n_draws)]
            show = self._draw_frequencies if kind == "rank-frequency" else self._draw_growth
            entries = show(ax, name, draws)
            ax.set(xscale="log", yscale="log")
            for axis in (ax.xaxis, ax.yaxis):
                axis.set_major_formatter(_write_number)
                axis.set_minor_formatter("")
        ax.spines[["top", "right"]].set_visible(False)
        self._add_legend(list(entries.values()), list(entries))
        return self

    def _draw_frequencies(self, ax: Any, name: str, draws: list[NDArray[Any]]) -> dict[str, Any]:
        for draw in draws:
            counts = np.bincount(draw)
            self.draws_ += _draw_ranks(ax, np.sort(counts[counts > 0])[::-1], _OF_DRAWS)
        (self.line_,) = _draw_ranks(ax, self.frequencies, _OF_TEXT)
        entries = {name: self.line_, **self._entry_of_draws()}
        discount = 0.0 if self.discounts is None else float(self.discounts[0])
        n = len(self.frequencies)
        if discount > 0.0 and n > 1:
            at = max(n // _GUIDE_AT, 1)
            height = float(self.frequencies[at - 1])
            ends = np.array([max(n / _GUIDE_FROM, 1.0), min(1.0 * n, at * height**discount)])
            (self.law_,) = ax.plot(ends, height * (ends / at) ** (-1.0 / discount), **_OF_LAW)
            entries[f"power law of d = {discount:.2f}"] = self.law_
        ax.set(xlabel="rank", ylabel="frequency")
        return entries

    def _draw_growth(self, ax: Any, name: str, draws: list[NDArray[Any]]) -> dict[str, Any]:
        at = np.unique(np.geomspace(1, self.n_tokens, _N_POINTS).round().astype(np.int64))
        for draw in draws:
            self.draws_ += ax.plot(at, _count_distinct(draw)[at - 1], **_OF_DRAWS)
        (self.line_,) = ax.plot(at, _count_distinct(self._ids)[at - 1], **_OF_TEXT)
        entries = {name: self.line_, **self._entry_of_draws()}
        law = self._law
        if law is not None and law.base is None and len(law.discounts) == 1:
            expected = expected_table_count(at, *map(float, (*law.discounts, *law.concentrations)))
            (self.law_,) = ax.plot(at, expected, **_OF_LAW)
            entries["expected"] = self.law_
        ax.set(xlabel="words", ylabel="distinct words")
        return entries

    def _draw_lengths(self, ax: Any) -> dict[str, Any]:
        from matplotlib.ticker import MaxNLocator

        lengths = self._lengths
        assert lengths is not None  # as `plot` has checked
        longest = int(lengths.max())
        at = np.arange(1, longest + 1)
        shown = {"distinct words": lengths, "all words": lengths[self._ids]}
        for side, values, color in zip((-0.21, 0.21), shown.values(), _OF_LENGTHS, strict=True):
            shares = np.bincount(values, minlength=longest + 1)[1:] / len(values)
            self.bars_.append(ax.bar(at + side, shares, width=0.42, color=color))
        entries: dict[str, Any] = dict(zip(shown, self.bars_, strict=True))
        if self.word_length is not None:
            mean, end = float(self.word_length), self.max_word_length
            n = max(longest, int(poisson.ppf(0.999, mean))) if end is None else end
            total = poisson.sf(0, mean) - (0.0 if end is None else poisson.sf(end, mean))
            law = poisson.pmf(np.arange(1, n + 1), mean) / total
            (self.law_,) = ax.plot(
                np.arange(1, n + 1), law, "o-", color=_BLACK, markersize=3.5, linewidth=1.0
            )
            entries[f"Poisson({mean:.1f})"] = self.law_
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
        ax.set(xlabel="characters", ylabel="share of words")
        ax.set_xlim(left=0.3)
        return entries

    def _entry_of_draws(self) -> dict[str, Any]:
        if not self.draws_:
            return {}
        return {"draw" if len(self.draws_) == 1 else f"{len(self.draws_)} draws": self.draws_[0]}


_OF_TEXT: dict[str, Any] = {"color": _BLACK, "linewidth": 2.0, "zorder": 3}
_OF_DRAWS: dict[str, Any] = {"color": PALETTE[0], "linewidth": 1.0, "alpha": 0.75}
_OF_LAW: dict[str, Any] = {"color": PALETTE[5], "linewidth": 1.4, "linestyle": "--", "zorder": 4}
_OF_LENGTHS = (PALETTE[0], PALETTE[1])


def _write_number(x: float, _: Any = None) -> str:
    """Return a power of ten in ordinary notation."""
    return f"{x:,.0f}" if x >= 1.0 else ""


def _draw_ranks(ax: Any, frequencies: NDArray[Any], style: dict[str, Any]) -> list[Any]:
    """Draw frequencies by rank, with the first and last point of each run of equal values."""
    steps = np.flatnonzero(np.diff(frequencies))
    at = np.unique(np.concatenate([[0], steps, steps + 1, [len(frequencies) - 1]]))
    drawn: list[Any] = ax.plot(at + 1, frequencies[at], **style)
    return drawn


def _count_distinct(words: NDArray[Any]) -> NDArray[np.int64]:
    """Return the numbers of distinct words among the first 1, 2, ... words."""
    first = np.zeros(len(words), dtype=np.int64)
    first[np.unique(words, return_index=True)[1]] = 1
    return np.cumsum(first)


def _read_words(words: Any) -> tuple[NDArray[np.int64], NDArray[np.int64], list[Any]]:
    """Return the concatenated word numbers, the lengths of sentences, and the words by number."""
    check_unmasked(words, "words")
    if isinstance(words, TokenSequences):
        known, numbers = np.unique(words.tokens, return_inverse=True)
        lengths, kinds = np.diff(words.ptr), known.tolist()
    else:
        if isinstance(words, str | bytes | dict) or not hasattr(words, "__iter__"):
            raise ValueError(
                f"words must be a list of sentences, each a list of words, got {shorten(words)}."
            )
        number: dict[Any, int] = {}
        ids: list[int] = []
        sizes = []
        for i, sentence in enumerate(words):
            if isinstance(sentence, str | bytes | dict) or not hasattr(sentence, "__iter__"):
                raise ValueError(
                    "words must be a list of sentences, each a list of words: sentence "
                    f"{i} is {shorten(sentence)}. Split text into words first."
                )
            before = len(ids)
            ids += [number.setdefault(_as_key(word, i), len(number)) for word in sentence]
            sizes.append(len(ids) - before)
        numbers, lengths, kinds = np.array(ids, dtype=np.int64), np.array(sizes), list(number)
    if not len(numbers):
        raise ValueError("words must hold at least one word.")
    return numbers.astype(np.int64), lengths.astype(np.int64), kinds


def _as_key(word: Any, i: int) -> Any:
    """Return a hashable key for a word; the ids of characters become a tuple."""
    if isinstance(word, str | int | np.integer):
        return word
    if isinstance(word, np.ndarray | list | tuple) and np.ndim(word) == 1 and len(word):
        return tuple(np.asarray(word).tolist())
    raise ValueError(
        "words must be str, ids, or arrays of the ids of their characters: sentence "
        f"{i} holds {shorten(word)}."
    )


def _find_lengths(
    kinds: list[Any], words: Any, feature_names: Sequence[str] | None
) -> NDArray[np.int64] | None:
    """Return the number of characters of each distinct word; None if they are ids without names."""
    if feature_names is None:
        if any(isinstance(word, int | np.integer) for word in kinds):
            return None
        found = [len(word) for word in kinds]
    else:
        if not all(isinstance(word, int | np.integer) for word in kinds):
            raise ValueError("feature_names are names of word ids, but words has none.")
        n = len(feature_names) if hasattr(feature_names, "__len__") else 0
        if isinstance(words, TokenSequences):
            n = words.n_features
        names = as_names(feature_names, "feature_names", n)
        if not 0 <= min(kinds) <= max(kinds) < n:
            raise ValueError(
                f"words must hold ids from 0 to {n - 1}, as there are {n} feature_names; got "
                f"{min(kinds)} to {max(kinds)}."
            )
        found = [len(names[word]) for word in kinds]
    if min(found) < 1:
        raise ValueError("words must have at least one character, got an empty one.")
    return np.array(found, dtype=np.int64)


# Perplexity of language models by order.


_MARKERS = "os^Dv<>p"


class PerplexityDisplay(Display):
    """The perplexity of language models against their order, the length of their n-grams.

    Create it with `from_estimators`, or with the constructor and `plot`. Perplexity is the number
    of equally likely words that would be as hard to guess as the next word; lower is better. Models
    can be compared only if they have the same vocabulary and the same events.

    Parameters
    ----------
    perplexities : dict of str to dict of int to float
        The label of each line, with the perplexity for each order.

    Attributes
    ----------
    perplexities : dict
        As passed, with ascending orders.
    ax_, figure_ : matplotlib Axes and Figure
    lines_ : list of matplotlib Line2D
        One for each label.
    legend_ : matplotlib Legend

    Raises
    ------
    ValueError
        If there are no perplexities, or if they or their orders are invalid.

    See Also
    --------
    TraceDisplay : Plots the trace of a fit.

    Examples
    --------
    >>> from skdp.inspection import PerplexityDisplay
    >>> from skdp.language import KneserNeyLM
    >>> train, test = [[0, 1, 2], [0, 1, 1, 2], [0, 2], [0, 1, 2]], [[0, 1, 2], [0, 2]]
    >>> models = [KneserNeyLM(order, discount=0.5).fit(train) for order in (1, 2)]
    >>> display = PerplexityDisplay.from_estimators(models, test)
    >>> display.perplexities["KneserNeyLM"][2] < display.perplexities["KneserNeyLM"][1]
    True
    """

    def __init__(self, perplexities: Mapping[str, Mapping[int, float]]):
        if not isinstance(perplexities, Mapping) or not perplexities:
            raise ValueError(
                "perplexities must be a dict of labels, each with a dict of orders and their "
                f"perplexities, got {shorten(perplexities)}."
            )
        self.perplexities = {
            str(label): _check_curve(curve, label) for label, curve in perplexities.items()
        }

    @classmethod
    def from_estimators(
        cls, estimators: Any, X: Any, *, labels: Sequence[str] | None = None, ax: Any = None
    ) -> Self:
        """Plot the perplexities of fitted language models on held-out sentences.

        Parameters
        ----------
        estimators : list of fitted language models, or dict
            :class:`~skdp.language.HierarchicalPitmanYorLM` and
            :class:`~skdp.language.KneserNeyLM`. A dict has labels as keys, and a model or a list of
            models of several orders as each value.
        X : as in the estimators' `fit`
            Sentences that were not used in training.
        labels : list of n_estimators str, default=None
            A label for each model in the list. Models with the same label form a line. None: the
            names of their classes.
        ax : matplotlib Axes, default=None

        Raises
        ------
        sklearn.exceptions.NotFittedError, TypeError
            If an estimator is not fitted, or has no order or no perplexity.
        ValueError, ImportError
            If two models have the same label and order, if models differ in their vocabulary or in
            their use of ends of sentences, or if X or another argument is invalid, or matplotlib is
            not installed.
        """
        cls._check_matplotlib("from_estimators")
        pairs = _read_estimators(estimators, labels)
        for _, model in pairs:
            if not hasattr(model, "perplexity") or not hasattr(model, "order"):
                raise TypeError(
                    "estimators must be language models with an order, such as "
                    f"HierarchicalPitmanYorLM or KneserNeyLM, got {type(model).__name__}."
                )
            check_is_fitted(model)
        models = [model for _, model in pairs]
        for name, what in _SAME.items():
            values = {getattr(model, name, None) for model in models}
            if len(values) > 1:
                raise ValueError(
                    f"perplexities cannot be compared: estimators {what} ({name} is "
                    f"{' or '.join(sorted(map(str, values)))})."
                )
        curves: dict[str, dict[int, float]] = {}
        for label, model in pairs:
            if int(model.order) in curves.setdefault(label, {}):
                raise ValueError(
                    f"two models of order {model.order} are labeled {shorten(label)}: give labels "
                    "that tell them apart."
                )
            curves[label][int(model.order)] = np.nan  # scored after all checks
        for label, model in pairs:
            curves[label][int(model.order)] = model.perplexity(X)
        return cls(curves).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw the perplexities.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw. None: in a new figure. Your own figure should have
            ``layout="constrained"``, which makes room for the legend on the right.
        """
        labels = list(self.perplexities)
        ax = self._open(ax, (4.6, 3.4), labels)
        self.lines_ = []
        for i, curve in enumerate(self.perplexities.values()):
            self.lines_ += ax.plot(
                list(curve),
                list(curve.values()),
                color=PALETTE[i % len(PALETTE)],
                marker=_MARKERS[i % len(_MARKERS)],
                markersize=5.0,
                linewidth=1.4,
            )
        orders = sorted({order for curve in self.perplexities.values() for order in curve})
        if len(orders) <= 12:
            ax.set_xticks(orders)
        if len(orders) == 1:
            ax.set_xlim(orders[0] - 1.0, orders[0] + 1.0)
        ax.set(xlabel="order", ylabel="perplexity")
        ax.ticklabel_format(axis="y", useOffset=False, style="plain")
        ax.margins(y=0.08)
        ax.spines[["top", "right"]].set_visible(False)
        self._add_legend(self.lines_, labels)
        return self


_SAME = {
    "n_words_": "have vocabularies of different sizes",
    "end_of_sequence": "differ in whether ends of sentences count",
}
"""Attributes in which models must agree."""


def _read_estimators(estimators: Any, labels: Any) -> list[tuple[str, Any]]:
    """Return labels and models."""
    if isinstance(estimators, Mapping):
        if labels is not None:
            raise ValueError("labels are the keys of estimators if these are a dict.")
        pairs = [
            (str(label), model)
            for label, models in estimators.items()
            for model in (models if isinstance(models, list | tuple) else [models])
        ]
    else:
        models = list(estimators) if isinstance(estimators, list | tuple) else [estimators]
        if labels is None:
            names = [type(model).__name__ for model in models]
        else:
            names = as_names(labels, "labels", len(models), ", one for each estimator")
        pairs = list(zip(names, models, strict=True))
    if not pairs:
        raise ValueError("estimators must hold at least one fitted language model.")
    return pairs


def _check_curve(curve: Any, label: Any) -> dict[int, float]:
    """Return perplexities by ascending order."""
    if not isinstance(curve, Mapping) or not curve:
        raise ValueError(
            f"perplexities of {shorten(label)} must be a dict of orders and their perplexities, "
            f"got {shorten(curve)}."
        )
    for value in curve.values():
        if not is_number(value) or not 0.0 < value < np.inf:
            raise ValueError(
                f"perplexities of {shorten(label)} must be positive numbers, got {shorten(value)}."
            )
    orders = sorted(check_count(order, "an order", at_least=1) for order in curve)
    return {order: float(curve[order]) for order in orders}
