"""The nested Pitman-Yor language model for words in text without spaces."""

from __future__ import annotations

from itertools import pairwise
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from skdp._checks import check_beta_prior, check_memory
from skdp._fit import ChainEstimator, FitState
from skdp._numeric import Floats, Ints, Places
from skdp._numeric._random import Role, derive_stream
from skdp._sklearn_compat import Interval, PlainOutputMixin, StrOptions, with_callbacks
from skdp.data import TokenSequences
from skdp.inference._convergence import SHARE_AT_BOUND, warn_of_bound
from skdp.inference._trace import Trace
from skdp.language._base import OfWords
from skdp.language._kernels._predict import choose_cuts, sum_cuts
from skdp.language._nested._layout import (
    CONCENTRATIONS,
    DISCOUNTS,
    chain_bytes,
    check_anneal,
    check_length_factors,
    check_levels,
    check_word_length,
    read_cuts,
    read_fit_input,
    read_new_input,
    uses_word_length,
)
from skdp.language._nested._model import (
    Lexicon,
    lay_out_strings,
    parts_of_strings,
    read_strings,
    split_texts,
)
from skdp.language._nested._sampler import NestedSampler, Settings, Strings
from skdp.processes._franchise import check_law_priors


class NestedPitmanYorLM(PlainOutputMixin, OfWords, TransformerMixin, ChainEstimator):
    r"""Nested Pitman-Yor language model for words in text without spaces.

    The model cuts strings into words without a dictionary. Words follow a hierarchical Pitman-Yor
    n-gram model. Its base, from which new words are drawn, is a hierarchical Pitman-Yor model of
    their letters:

    .. math::

        w_i &\sim \mathrm{HPY}(w_{i-n+1}, \ldots, w_{i-1}), \\
        H(w) &= (1 - p_\$) \, g_{|w|} \prod_{j=1}^{|w|+1} p(x_j \mid x_{j-m+1}, \ldots, x_{j-1})

    Each table of a word at the root is one spelling of the word in the restaurants of letters. A
    sweep draws the words of each string as a block by a forward filter, with a Metropolis-Hastings
    step, which is exact for given length factors g.

    Parameters
    ----------
    word_order : {1, 2, 3}, default=2
        Length of the n-grams of words: 1 unigrams, 2 bigrams, 3 trigrams.
    character_order : int, default=4
        Length of the n-grams of letters.
    max_word_length : int, default=20
        Largest number L of characters in a word. If a twentieth of the words or more have it,
        `fit` warns.
    length_correction : {"none", "poisson"} or (max_word_length,) array, default="poisson"
        Factors g_k of words of k letters. "none": 1. "poisson": the factors for which lengths of
        new words are Poisson(lambda), from 1 to L; the lengths under the letter model alone are
        estimated from drawn words after each sweep, and held fixed during the next. An array: fixed
        positive factors.
    word_length : float, "entropy" or "auto", default="entropy"
        lambda, the mean length of new words before truncation at L, only with
        ``length_correction="poisson"``. "entropy": 160 / H^2, at least 1 and at most 7, for
        characters of an entropy of H bits in X: 7 for Latin letters, 6 for phonemes or Thai, 2 for
        Chinese or Japanese. "auto": learned under `length_prior` in sweeps that are not annealed.
    length_prior : (float, float) or None, default=None
        Shape and rate of the Gamma prior on lambda; its mean is the initial value. None: shape 4
        and the mean of "entropy". Only with ``length_correction="poisson"``.
    end_probability : float or "auto", default=0.95
        p_$: share of the base that goes to the end of the sentence. The rest is the price of a new
        word: larger values give fewer word types. "auto": learned under `end_probability_prior`,
        from the numbers of root tables of ends and of words.
    end_probability_prior : (float, float), default=(1.0, 1.0)
        Parameters p and q of the Beta prior on a learned `end_probability`, in [1e-8, 1e8].
    discount : float, (words, characters) or "auto", default="auto"
        Discounts d, in [0, 1). "auto": one for each length of context, learned under
        `discount_prior`. A pair has, for words and for characters, "auto", a number, or an array
        with one value per length of context.
    discount_prior : (float, float), default=(1.0, 1.0)
        Parameters p and q of the Beta prior on a learned `discount`, in [1e-8, 1e8].
    concentration : float, (words, characters) or "auto", default="auto"
        Concentrations theta > 0, specified like discounts.
    concentration_prior : (float, float), default=(1.0, 0.1)
        Shape and rate of the Gamma prior on a learned `concentration`, in [1e-8, 1e8].
    init : {"online", "whole"}, default="online"
        The initial state. "online": strings are cut in turn, the shortest first,
        starting from empty restaurants; this is done twice, the second time with the parameters
        learned in the first pass. "whole": strings are cut only where necessary.
    anneal : (float, int), "auto" or None, default="auto"
        Temperature T of the first sweep, and the sweep at which it has fallen to 1: a segmentation
        of a string is drawn in proportion to its probability to the power of 1 / T. These sweeps
        have to be part of the burn-in. "auto": 1.5, and 15 or the whole burn-in if that is shorter.
        None: no annealing.
    type_moves : float, default=0.0
        Number of proposed moves of word types per sweep and character of X: all occurrences of a
        word are split in two, or joined, at once. 0.1 doubles the time of a sweep, and finds states
        with a much higher log joint, in which frequent phrases are words.
    predict_method : {"mbr", "viterbi"}, default="mbr"
        "mbr": the words with the largest sum of posterior probabilities minus `word_price`,
        averaged over the stored samples of all chains. "viterbi": the most probable words under the
        last sample of the chain with the highest mean log joint.
    word_price : float, default=0.2
        Price of each word with "mbr": larger prices give fewer words.
    max_iter : int, default=30
    burn_in
    thin : int, default=2
    n_samples : int, default=5
    n_chains : int, default=4
        Number of independent chains, each with its own initial state.
    warm_start, n_jobs, random_state, verbose

    Attributes
    ----------
    lexicon_ : list of str, or of arrays of ids
        Words by their expected number of tokens in the training strings, the most frequent first.
    lexicon_counts_ : (n_words,) array
        Expected numbers, as means over the stored samples of all chains.
    alphabet_ : list of str or None
        Characters, if X contains strings. A character is a code point.
    word_discounts_, word_concentrations_ : (word_order,) arrays
    character_discounts_, character_concentrations_ : (character_order,) arrays
        Posterior means, or the given values; entry m belongs to contexts of m symbols.
    word_length_ : float
        lambda: its posterior mean, or the given value. Only with ``length_correction="poisson"``.
    end_probability_ : float
        p_$: its posterior mean, or the given value.
    segmentations_ : list of lists of words
        The training strings in the segmentation of the last sweep of the best chain. Only with
        ``warm_start=True``.
    trace_ : Trace
        Scalars of every kept sweep of every chain.
    n_iter_, convergence_
    n_words_ : int
        Size of the alphabet.
    n_features_in_ : int
        Size of the alphabet, or the length of a string if X was an array or a data frame.
    feature_names_in_ : array, only if X was a data frame with string column names

    See Also
    --------
    HierarchicalPitmanYorLM, CollocationPitmanYorLM : With known words; with collocations, too.
    strip_spaces : Strings without spaces, and the cuts at the spaces.
    skdp.metrics.segmentation_scores : Precision and recall of words and cuts.

    Notes
    -----
    White space is a character like others; byte order marks (U+FEFF) are removed. With the default
    orders, a chain takes 500 to 1,000 bytes per character of the training strings, a stored sample
    about 160 bytes per distinct word. With ``word_order=3`` the longest string takes 16 bytes more
    per character and `max_word_length` squared, 28 in `predict`.

    References
    ----------
    D. Mochihashi, T. Yamada and N. Ueda (2009). Bayesian unsupervised word segmentation with nested
    Pitman-Yor language modeling. ACL-IJCNLP.

    Examples
    --------
    >>> from skdp.language import NestedPitmanYorLM
    >>> texts = ["thedog", "thecat", "adog", "acat", "thedogsawacat", "thecatsawthedog"] * 5
    >>> model = NestedPitmanYorLM(n_chains=1, random_state=0).fit(texts)
    >>> len(model.transform(["thedog"]))
    1
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **ChainEstimator._parameter_constraints,
        "word_order": [Interval(Integral, 1, 3, closed="both")],
        "character_order": [Interval(Integral, 1, 20, closed="both")],
        "max_word_length": [Interval(Integral, 1, 100, closed="both")],
        "length_correction": [StrOptions({"none", "poisson"}), "array-like"],
        "word_length": [Interval(Real, 1e-3, 1e3, closed="both"), StrOptions({"entropy", "auto"})],
        "length_prior": [tuple, list, None],
        "end_probability": [Interval(Real, 0, 1, closed="neither"), StrOptions({"auto"})],
        "end_probability_prior": [tuple, list],
        "discount": [Interval(Real, 0, 1, closed="left"), StrOptions({"auto"}), tuple, list],
        "discount_prior": [tuple, list],
        "concentration": [
            Interval(Real, 0, None, closed="neither"), StrOptions({"auto"}), tuple, list
        ],
        "concentration_prior": [tuple, list],
        "init": [StrOptions({"online", "whole"})],
        "anneal": [tuple, list, StrOptions({"auto"}), None],
        "type_moves": [Interval(Real, 0, 100, closed="both")],
        "predict_method": [StrOptions({"mbr", "viterbi"})],
        "word_price": [Interval(Real, 0, 1, closed="both")],
    }  # fmt: skip

    _of_predictions: ClassVar[frozenset[str]] = frozenset(["predict_method", "word_price"])

    _free_in_warm_start = ChainEstimator._free_in_warm_start | _of_predictions
    _free_in_checkpoints = ChainEstimator._free_in_checkpoints | _of_predictions

    _feature_attributes = (
        *ChainEstimator._feature_attributes, "n_words_", "_sentence_length", "alphabet_"
    )  # fmt: skip

    _optional_attributes: ClassVar[frozenset[str]] = frozenset(["segmentations_", "word_length_"])

    _sampler: ClassVar[type[NestedSampler]] = NestedSampler
    _lay_out: ClassVar[Any] = staticmethod(lay_out_strings)
    _read: ClassVar[Any] = staticmethod(read_strings)

    def __init__(
        self,
        word_order: int = 2,
        *,
        character_order: int = 4,
        max_word_length: int = 20,
        length_correction: Any = "poisson",
        word_length: Any = "entropy",
        length_prior: tuple[float, float] | None = None,
        end_probability: Any = 0.95,
        end_probability_prior: tuple[float, float] = (1.0, 1.0),
        discount: Any = "auto",
        discount_prior: tuple[float, float] = (1.0, 1.0),
        concentration: Any = "auto",
        concentration_prior: tuple[float, float] = (1.0, 0.1),
        init: str = "online",
        anneal: tuple[float, int] | str | None = "auto",
        type_moves: float = 0.0,
        predict_method: str = "mbr",
        word_price: float = 0.2,
        max_iter: int = 30,
        burn_in: int | None = None,
        thin: int = 2,
        n_samples: int = 5,
        n_chains: int = 4,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ):
        self._store(locals())

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        return tags

    # Validation

    def _validate_parameters(self) -> None:
        super()._validate_parameters()
        self._settings_of_chain()

    def _settings_of_chain(self) -> Settings:
        return self._settings_of((int(self.word_order), int(self.character_order)), self.type_moves)

    def _settings_of(self, orders: tuple[int, ...], type_moves: float) -> Settings:
        """Return the settings, given the numbers of levels of each kind of restaurant."""
        return Settings(
            orders[0],
            orders[-1],
            int(self.max_word_length),
            check_length_factors(self.length_correction, int(self.max_word_length)),
            *check_word_length(self.word_length, self.length_prior, self.length_correction),
            self.end_probability,
            check_beta_prior(self.end_probability_prior, "end_probability_prior"),
            check_levels(self.discount, "discount", orders, DISCOUNTS, "in [0, 1)"),
            check_levels(
                self.concentration, "concentration", orders, CONCENTRATIONS, "from 1e-8 to 1e8"
            ),
            *check_law_priors(self),
            self.init,
            check_anneal(self.anneal, self._burn_in()),
            float(type_moves),
        )

    def _check_input(self, X: Any, y: Any = None) -> Strings:
        sequences = read_fit_input(self, X)
        n = len(sequences.tokens)
        if n == 0:
            raise ValueError(
                f"Found 0 character(s) in X while a minimum of 1 is required by "
                f"{type(self).__name__}."
            )
        needed = self.n_chains * self._bytes_of_chain(sequences.ptr)
        check_memory(needed, f"X: {n} characters: the restaurants")
        known = read_cuts(y, sequences.ptr, self.max_word_length)
        return Strings(sequences.tokens, sequences.ptr, known, sequences.n_features)

    def _bytes_of_chain(self, ptr: Places) -> float:
        return chain_bytes(ptr, self.max_word_length, self.character_order, self.word_order)

    # Chains

    def _start_sampler(self, data: Strings, root: np.random.SeedSequence, c: int) -> NestedSampler:
        streams = (derive_stream(root, role, c) for role in (Role.INIT, Role.SWEEP))
        return self._sampler(data, self._settings_of_chain(), *streams)

    def _fitted_attributes(self, state: FitState, *, final: bool = False) -> dict[str, Any]:
        attributes = super()._fitted_attributes(state, final=final)
        chain = state.runs[attributes["_best_chain"]]
        mine = list(chain.models.values())
        prior = np.mean([model.prior for model in mine], axis=0)
        n = int(self.character_order)
        lexicon = Lexicon.of(attributes["_models"])
        attributes |= {
            "_last_model": mine[-1],
            "_lexicon": lexicon,
            "lexicon_": self._show(lexicon.words()),
            "lexicon_counts_": lexicon.counts,
            "word_discounts_": prior[n:, 0],
            "word_concentrations_": prior[n:, 1],
            "character_discounts_": prior[:n, 0],
            "character_concentrations_": prior[:n, 1],
            "end_probability_": self._mean_or_given("end_probability", chain.trace),
        }
        if uses_word_length(self.length_correction):
            attributes["word_length_"] = self._mean_or_given("word_length", chain.trace)
        if self.warm_start:
            attributes["segmentations_"] = [
                self._show(words) for words in chain.sampler.segmentation()
            ]
        return attributes

    def _warn_of_trace(self, trace: Trace) -> None:
        super()._warn_of_trace(trace)
        lexicon: Lexicon = self._lexicon
        self._warn_of_length("max_word_length", "words", np.diff(lexicon.ptr), lexicon.counts)

    def _warn_of_length(
        self, name: str, things: str, lengths: NDArray[np.integer], counts: Floats
    ) -> None:
        """Warn if many tokens are as long as they may be."""
        bound = int(getattr(self, name))
        at_bound = counts[lengths == bound].sum()
        warn_of_bound(
            self,
            name,
            [at_bound >= SHARE_AT_BOUND * counts.sum()],
            bound,
            f"have a twentieth of their {things} or more with {name}={bound} characters, so longer "
            f"ones may have been cut. Raise {name}.",
        )

    def _mean_or_given(self, name: str, trace: list[dict[str, float]]) -> float:
        given = getattr(self, name)
        return float(np.mean([row[name] for row in trace]) if isinstance(given, str) else given)

    def _show(self, words: list[Ints]) -> list[Any]:
        """Return words from arrays of ids, as strings if X contained strings."""
        if self.alphabet_ is None:
            return words
        return ["".join(self.alphabet_[letter] for letter in word) for word in words]

    # Public methods

    @with_callbacks
    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn words.

        Parameters
        ----------
        X : list of str, TokenSequences, list of id lists, or (n_strings, length) array of int
            Strings, or sequences of ids of characters.
        y : None, or a list of None or (len - 1,) arrays of 1, 0 or -1
            Known cuts of each string, a number for each place between two characters: 1 a cut, 0 no
            cut, -1 unknown. None: nothing is known. One label per sample is ignored.

        Returns
        -------
        self

        Raises
        ------
        ValueError, TypeError
            If X, y or a parameter is invalid. The estimator is left unchanged.
        KeyboardInterrupt
            If interrupted, at the end of the current sweep. It is fitted with the samples so far,
            in the burn-in with the current state unless it was fitted before; another `fit` with
            ``warm_start=True`` continues.

        Warns
        -----
        ConvergenceWarning
            If the log joint of a chain still climbs, a chain has fewer than 12 sweeps after the
            burn-in, or chains plainly disagree.
        """
        return self._fit(X, y)

    def _posteriors(self, tokens: Ints, ptr: Places) -> Floats:
        """Return the mean posterior of all words over the samples, (n_letters, L)."""
        layout = self._lay_out(self._models[0], tokens, ptr)
        total = np.zeros(layout.text.span_ids.shape)
        for model in self._models:
            total += self._read(model, layout).posteriors()
        return total / len(self._models)

    def _predict_cuts(self, tokens: Ints, ptr: Places) -> NDArray[np.bool_]:
        cuts = np.zeros(len(tokens), dtype=np.bool_)
        for letters, offsets in parts_of_strings(ptr):
            part = tokens[letters], offsets
            if self.predict_method == "viterbi":
                layout = self._lay_out(self._last_model, *part)
                cuts[letters] = self._read(self._last_model, layout).best_cuts()
            else:
                best = np.zeros((int(np.diff(offsets).max(initial=0)) + 1, 2))
                price = float(self.word_price)
                choose_cuts(offsets, self._posteriors(*part), price, best, cuts[letters])
        return cuts

    def predict(self, X: Any) -> list[list[Any]]:
        """Return the words of strings.

        Parameters
        ----------
        X : as in `fit`
            Strings may contain characters that were not in `fit`; ids must be known.

        Returns
        -------
        list of lists of str, or of arrays of ids
        """
        check_is_fitted(self)
        self._validate_parameters()
        tokens, ptr, texts = read_new_input(self, X)
        return split_texts(self._predict_cuts(tokens, ptr), tokens, ptr, texts)

    def predict_proba(self, X: Any) -> list[Floats]:
        """Return the probability of a cut at each place between two characters.

        Parameters
        ----------
        X : as in `predict`

        Returns
        -------
        list of (len - 1,) arrays
            Means over the stored samples of all chains.
        """
        tokens, ptr, _ = read_new_input(self, X)
        out = np.zeros(len(tokens))
        for letters, offsets in parts_of_strings(ptr):
            sum_cuts(offsets, self._posteriors(tokens[letters], offsets), out[letters])
        out = np.minimum(out, 1.0)
        return [out[a : max(b - 1, a)].copy() for a, b in pairwise(ptr)]

    def transform(self, X: Any) -> TokenSequences:
        """Return the words of strings as ids in `lexicon_`.

        Parameters
        ----------
        X : as in `predict`

        Returns
        -------
        TokenSequences
            Words outside of `lexicon_` have one id, ``len(lexicon_)``.
        """
        check_is_fitted(self)
        self._validate_parameters()
        tokens, ptr, _ = read_new_input(self, X)
        ids, word_ptr = self._lexicon.look_up(tokens, ptr, self._predict_cuts(tokens, ptr))
        return TokenSequences(ids, word_ptr, len(self._lexicon.counts) + 1)

    def fit_transform(self, X: Any, y: Any = None) -> TokenSequences:
        """Learn words, and return ``transform(X)``.

        Parameters
        ----------
        X, y : as in `fit`

        Returns
        -------
        TokenSequences
        """
        return self.fit(X, y).transform(X)

    def inverse_transform(self, X: Any) -> list[list[Any]]:
        """Return the words of ids in `lexicon_`.

        Parameters
        ----------
        X : TokenSequences or list of id lists
            Ids as returned by `transform`.

        Returns
        -------
        list of lists of str, or of arrays of ids
            The unknown word is None.
        """
        check_is_fitted(self)
        n = len(self._lexicon.counts) + 1
        sequences = X if isinstance(X, TokenSequences) else TokenSequences.from_sequences(X, n)
        if sequences.n_features > n:
            raise ValueError(
                f"X must hold ids of {n} words, got n_features={sequences.n_features}."
            )
        words = [*self.lexicon_, None]
        return [[words[w] for w in sequence] for sequence in sequences]

    def score_samples(self, X: Any) -> Floats:
        """Return the held-out log probability of strings, summed over all segmentations.

        Parameters
        ----------
        X : as in `predict`

        Returns
        -------
        (n_strings,) array
            Natural logarithm of the mean over the stored samples of all chains. The end of the
            string is included. A character that was not in `fit` has the base probability of each
            of the A others, 1 / (A + 1); these and the end of a word already sum to 1, so over
            strings with new characters the probabilities sum to more than 1.
        """
        tokens, ptr, _ = read_new_input(self, X)
        return self._score_samples(tokens, ptr)

    def _score_samples(self, tokens: Ints, ptr: Places) -> Floats:
        found = []
        for letters, offsets in parts_of_strings(ptr):
            layout = self._lay_out(self._models[0], tokens[letters], offsets)
            logs = [self._read(model, layout).log_probabilities() for model in self._models]
            found.append(logsumexp(logs, axis=0) - np.log(len(logs)))
        return np.concatenate(found)

    def score(self, X: Any, y: Any = None) -> float:
        """Return the held-out log probability per character; higher is better.

        Parameters
        ----------
        X : as in `predict`
        y : ignored

        Returns
        -------
        float
            ``score_samples(X).sum()`` divided by the number of characters.

        Raises
        ------
        ValueError
            If X has no characters.
        """
        tokens, ptr, _ = read_new_input(self, X)
        if not len(tokens):
            raise ValueError("X has no characters to score.")
        return float(self._score_samples(tokens, ptr).sum() / len(tokens))

    def perplexity(self, X: Any) -> float:
        """Return ``exp(-score(X))``, the perplexity per character; lower is better.

        Parameters
        ----------
        X : as in `predict`

        Returns
        -------
        float
        """
        return float(np.exp(-self.score(X)))
