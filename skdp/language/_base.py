"""Base class of all models of the next word."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from skdp._checks import MAX_INTEGER, check_count, check_memory
from skdp._numeric._random import make_seed_sequence, make_stream
from skdp.data import TokenSequences, check_sentences
from skdp.inference._convergence import warn_user
from skdp.language._ngram._trie import NgramEvents, NgramTrie, draw_sequences, join
from skdp.processes._franchise import InterpolatedModel


class OfWords:
    """Mixin of estimators that take sequences of ids of words."""

    _sample_kind = "text"
    """Kind of the data that `skdp.utils.estimator_checks` passes to the estimator."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.positive_only = True
        tags.input_tags.categorical = True
        return tags


class NgramLanguageModel(OfWords):
    """Mixin with the public methods of a model of the next word, for any learning algorithm."""

    # A fitted model has `_trie`, and predicts the mean over the models of `_interpolated_models`.

    _trie: NgramTrie

    def _interpolated_models(self) -> Iterator[InterpolatedModel]:
        """Yield the models whose mean is the predictive distribution."""
        raise NotImplementedError

    def _n_models(self) -> int:
        """Return the number of models."""
        raise NotImplementedError

    def _index(self, sentences: TokenSequences) -> NgramTrie:
        """Return the contexts of the training sentences."""
        ends: bool = self.end_of_sequence  # type: ignore[attr-defined]
        order = self.order  # type: ignore[attr-defined]
        events = NgramEvents.of(sentences, ends=ends)
        if len(events.slots) == 0:
            raise ValueError(
                f"X has no words at all, while a minimum of 1 is required by {type(self).__name__}."
            )
        n_words = sentences.n_features
        what = f"X: n_features={n_words} words"
        if n_words > max(len(sentences.tokens), 1):  # more words than tokens: possibly a stray id
            what += f" (the largest word id is {sentences.tokens.max(initial=-1)})"
        check_memory(24.0 * n_words, f"{what}: their probabilities")
        if order is None:
            if len(events.symbols) > MAX_INTEGER:
                raise ValueError(
                    f"X has {len(events.symbols)} words and ends, more than the {MAX_INTEGER} that "
                    "can be counted."
                )
            return NgramTrie.of(events, None, n_words, n_words + ends, self._n_laws())
        order = int(order)
        if len(events.slots) * order > MAX_INTEGER:
            raise ValueError(
                f"X has {len(events.slots)} words and ends, which with order={order} is more than "
                f"the {MAX_INTEGER} cells that can be counted."
            )
        return NgramTrie.of(events, order, n_words, n_words + ends)

    def _n_laws(self) -> int:
        """Return the number of discounts and of concentrations."""
        return int(self.order)  # type: ignore[attr-defined]

    def _find(self, X: Any) -> tuple[NgramEvents, NDArray[np.float64]]:
        """Return the events of X and their probabilities."""
        check_is_fitted(self)
        sentences = check_sentences(self, X, reset=False, any_length=True)
        trie = self._trie
        events = NgramEvents.of(sentences, ends=trie.n_outcomes > trie.n_words)
        found, outcomes = trie.find(events), events.outcomes
        total = np.zeros(len(outcomes))
        for model in self._interpolated_models():
            trie.add_probabilities(model, outcomes, found, total)
        return events, total / self._n_models()

    def _unigrams(self) -> NDArray[np.float64]:
        """Return the distribution after the empty context: (n_outcomes,)."""
        total = sum(model.top() for model in self._interpolated_models())
        return np.asarray(total) / self._n_models()

    def log_proba(self, X: Any) -> list[NDArray[np.float64]]:
        """Return the log probability of each word given the preceding words, and of each end.

        Parameters
        ----------
        X : as in `fit`

        Returns
        -------
        list of (length [+ 1],) arrays
            One array for each sentence: a value for every word and, with `end_of_sequence`, one for
            the end. Natural logarithms.
        """
        events, proba = self._find(X)
        return np.split(_log(proba), events.ptr[1:-1])

    def score_samples(self, X: Any) -> NDArray[np.float64]:
        """Return the log probability of each sentence.

        Parameters
        ----------
        X : as in `fit`

        Returns
        -------
        (n_sentences,) array
            Sums of ``log_proba(X)``; 0 for a sentence without words if ends are not events.
        """
        return np.array([part.sum() for part in self.log_proba(X)])

    def score(self, X: Any, y: Any = None) -> float:
        """Return the mean log probability per event, a word or an end; higher is better.

        Parameters
        ----------
        X : as in `fit`
        y : ignored

        Returns
        -------
        float

        Raises
        ------
        ValueError
            If there is nothing to score: no words, and ends are not events.
        """
        _, proba = self._find(X)
        if len(proba) == 0:
            raise ValueError("X has no words to score.")
        return float(_log(proba).mean())

    def perplexity(self, X: Any) -> float:
        """Return ``exp(-score(X))``; lower is better.

        Parameters
        ----------
        X : as in `fit`

        Returns
        -------
        float
        """
        return float(np.exp(-self.score(X)))

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the distribution of the next word or end after each sequence.

        Parameters
        ----------
        X : as in `fit`
            Sequences of words, from the beginning of a sentence on.

        Returns
        -------
        (n_sequences, n_outcomes) array
            Probabilities of the words and, with `end_of_sequence`, of the end in the last column.
        """
        check_is_fitted(self)
        sentences = check_sentences(self, X, reset=False, any_length=True)
        n_outcomes = self._trie.n_outcomes
        check_memory(
            8.0 * len(sentences) * n_outcomes,
            f"predict_proba: {len(sentences)} sequences and {n_outcomes} outcomes",
            "Call it for fewer sequences at a time, or log_proba for given words.",
        )
        found = self._trie.find_last(sentences)
        total = np.zeros((len(sentences), n_outcomes))
        for model in self._interpolated_models():
            self._trie.add_distributions(model, found, total)
        return total / self._n_models()

    def predict(self, X: Any) -> NDArray[np.int64]:
        """Return the most probable next word or end after each sequence.

        Parameters
        ----------
        X : as in `predict_proba`

        Returns
        -------
        (n_sequences,) array of int
            Word ids; `n_words_` for the end.
        """
        check_is_fitted(self)
        sentences = check_sentences(self, X, reset=False, any_length=True)
        parts = [sentences[i : i + 256] for i in range(0, len(sentences), 256)]
        return np.concatenate([np.argmax(self.predict_proba(part), axis=1) for part in parts])

    def sample(
        self, n_sequences: int = 1, *, max_length: int = 1000, random_state: Any = None
    ) -> TokenSequences:
        """Draw sequences from the model.

        Each sequence is drawn from one stored sample of the model, chosen at random.

        Parameters
        ----------
        n_sequences : int, default=1
        max_length : int, default=1000
            Largest length of a sequence, with a warning if a sequence is truncated. Without
            `end_of_sequence`, all sequences have this length.
        random_state : int, RandomState, Generator or None, default=None

        Returns
        -------
        TokenSequences
        """
        check_is_fitted(self)
        n_sequences = check_count(n_sequences, "n_sequences", at_least=1)
        max_length = check_count(max_length, "max_length", at_least=1)
        root = make_seed_sequence(random_state)
        rng = make_stream(root)
        chosen = np.random.default_rng(root).integers(self._n_models(), size=n_sequences)
        sequences: list[Any] = [None] * n_sequences
        n_cut = 0
        for i, model in enumerate(self._interpolated_models()):
            places = np.flatnonzero(chosen == i)
            drawn, ended = draw_sequences(self._trie, model, len(places), max_length, rng)
            n_cut += int(np.count_nonzero(~ended))
            for place, sequence in zip(places, drawn, strict=True):
                sequences[place] = sequence
        if n_cut and self._trie.n_outcomes > self._trie.n_words:
            warn_user(
                f"{n_cut} of {n_sequences} sequences were cut at max_length={max_length} words.",
                UserWarning,
            )
        return join(sequences, self._trie.n_words)


def _log(proba: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return logarithms of probabilities; -inf for 0, which occurs without smoothing."""
    with np.errstate(divide="ignore"):
        return np.log(proba)
