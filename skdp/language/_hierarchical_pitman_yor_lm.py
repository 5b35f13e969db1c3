"""The hierarchical Pitman-Yor language model."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Integral, Real
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.frozen import FrozenEstimator
from sklearn.utils.validation import check_is_fitted

from skdp._checks import as_array, as_floats, check_memory, shorten
from skdp._fit import ChainEstimator, FitState
from skdp._fit._estimator import StreamMixin
from skdp._numeric import Floats
from skdp._numeric._random import Role, derive_stream
from skdp._sklearn_compat import HasMethods, Interval, StrOptions, with_callbacks
from skdp.data import TokenSequences, check_sentences
from skdp.language._base import NgramLanguageModel
from skdp.language._ngram._trie import NgramData, NgramSampler, NgramTrie, write_arpa
from skdp.processes._franchise import FranchisePriors, InterpolatedModel, LawAverages, check_laws

_N_LAWS = 6
"""Number of discounts and concentrations without an order; longer contexts share the last."""


class HierarchicalPitmanYorLM(StreamMixin, NgramLanguageModel, ChainEstimator):
    r"""Hierarchical Pitman-Yor language model (HPYLM) of the next word given the preceding words.

    The distribution of the next word after a context u of m words is a draw from a Pitman-Yor
    process around that of the context without its farthest word, pi(u):

    .. math::

        G_u \sim \mathrm{PY}(d_m, \theta_m, G_{\pi(u)})

    Above the empty context is a base H. So contexts share strength with other contexts that end in
    the same words, and rare words have the probabilities of a power law. Interpolated Kneser-Ney
    smoothing is an approximation to it. Discounts and concentrations are also learned.

    Without an order (``order=None``) contexts go back to the beginning of the sentence: the
    sequence memoizer, here with its own concentrations.

    Parameters
    ----------
    order : int or None, default=3
        Length of the n-grams: a context has up to `order` - 1 words. 1: no context. None: contexts
        of any length.
    discount : "auto", float or (order,) array-like, default="auto"
        Discounts d_m, in [0, 1), of contexts of m = 0, ..., `order` - 1 words. "auto": drawn.
        With ``order=None`` any number of discounts: the last also applies to all longer contexts.
        "auto" then has six, unless `concentration` has another length.
    discount_prior : tuple of two floats, default=(1.0, 1.0)
        Parameters p and q of the Beta prior on a learned `discount`, in [1e-8, 1e8].
    concentration : "auto", float or (order,) array-like, default="auto"
        Concentrations theta_m, > 0. "auto": drawn. With ``order=None`` as many as `discount`.
    concentration_prior : tuple of two floats, default=(1.0, 0.1)
        Shape and rate of the Gamma prior on a learned `concentration`, in [1e-8, 1e8].
    end_of_sequence : bool, default=True
        Whether the end of a sentence is an event, the last of its outcomes. If not, the model does
        not cover lengths.
    max_iter : int, default=60
    burn_in
    thin : int, default=1
    n_samples : int, default=20
    n_chains, stream_sweeps, stream_window
    base : None, (n_outcomes,) array-like, or fitted language model, default=None
        Probabilities H of the words, and with `end_of_sequence` of the end, which are the base
        distribution of the empty context. A language model stands for its distribution of single
        words without context; because cloning would discard its fit, wrap it in
        :class:`~sklearn.frozen.FrozenEstimator` in a grid search. None: uniform.
    warm_start, n_jobs, random_state, verbose

    Attributes
    ----------
    discounts_, concentrations_ : (order,) arrays
        Posterior means of d_m and theta_m, or the given values. With ``order=None`` these and the
        following arrays are as long as `discount`, and the last entry is for all longer contexts.
    base_ : (n_outcomes,) array
        Probabilities H of the words and, with `end_of_sequence`, of the end, regardless of the
        type of `base`.
    n_contexts_ : (order,) array of int
        Number of contexts of m words that were seen. With ``order=None`` a context that was seen
        once has the smallest length that distinguishes it from all others.
    n_tables_ : (order,) array
        Mean number of tables of contexts of m words, which count as customers of shorter contexts.
    trace_ : Trace
        Scalars of every kept sweep of every chain: log_joint and, for each m, discount_m,
        concentration_m and tables_m.
    n_iter_, convergence_
    n_words_ : int
        Size of the vocabulary.
    n_features_in_ : int
        Length of the sentences if X was an array, `n_words_` otherwise.

    See Also
    --------
    KneserNeyLM : Fast approximation without sampling.
    skdp.feature_extraction.TokenVectorizer : Converts sentences to word ids.
    NestedPitmanYorLM : The same model of words that have to be found first.
    LanguageModelClassifier : Classes of sequences by a language model for each.
    skdp.context.HDPBackoffClassifier : The same model for categories in context.

    Notes
    -----
    An event is a word or an end. Its context goes back to the beginning of the sentence, which is
    one symbol: the first word has the context (beginning), the second (beginning, first word).

    Probabilities are averaged over the stored samples of all chains, which reduces the perplexity
    by some percent. Samples consist of numbers of tables, with the seating arrangements integrated
    out. A sweep visits every word in every context once, the longest contexts first, then draws
    discounts and concentrations by slice sampling given sizes of tables. The longest contexts have
    a concentration near 0 in natural language, which is not an error.

    With ``order=None`` a context that was seen once is not stored: it is the text before the single
    word that followed it, which the model keeps (4 bytes per word), and its single customer, at one
    table, is integrated out. The model stores contexts that were seen more often, and those with
    one more word. If a long text recurs verbatim, each of its places has contexts of all lengths:
    memory grows with the square of its length, and the time of a sweep with the third power. In a
    run of n equal words, places share contexts: memory grows with n, and time with its square. Set
    an `order` if that is too much.

    Memory: about 28 bytes for each cell (an outcome seen in a context) and 20 for each context,
    plus 4 bytes for each stored sample and cell with more than one event; each further chain takes
    8 bytes for each cell and context. One million words of news at order 3: 1 million cells,
    360,000 contexts, 37 MB, and 16 MB for 20 samples.

    References
    ----------
    Y. W. Teh (2006), A hierarchical Bayesian language model based on Pitman-Yor processes,
    Proceedings of COLING/ACL. -- F. Wood, C. Archambeau, J. Gasthaus, L. James, Y. W. Teh (2009), A
    stochastic memoizer for sequence data, Proceedings of ICML. -- P. Blunsom, T. Cohn,
    S. Goldwater, M. Johnson (2009), A note on the implementation of hierarchical Dirichlet
    processes, Proceedings of ACL-IJCNLP.

    Examples
    --------
    >>> from skdp.language import HierarchicalPitmanYorLM
    >>> sentences = [[0, 1, 2], [0, 1, 1, 2], [0, 2], [0, 1, 2]]
    >>> lm = HierarchicalPitmanYorLM(order=2, random_state=0).fit(sentences)
    >>> int(lm.predict([[0, 1]])[0]), int(lm.predict([[0, 1, 2]])[0])  # 3 is the end
    (2, 3)
    """

    _stream: NgramData

    _feature_attributes = (*ChainEstimator._feature_attributes, "n_words_", "_sentence_length")

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **ChainEstimator._parameter_constraints,
        **StreamMixin._stream_constraints,
        "order": [Interval(Integral, 1, 100, closed="both"), None],
        "discount": [Interval(Real, 0, 1, closed="left"), "array-like", StrOptions({"auto"})],
        "discount_prior": [tuple, list],
        "concentration": [
            Interval(Real, 0, None, closed="neither"), "array-like", StrOptions({"auto"})
        ],
        "concentration_prior": [tuple, list],
        "end_of_sequence": ["boolean"],
        "base": ["array-like", HasMethods(["fit", "log_proba"]), FrozenEstimator, None],
    }  # fmt: skip

    def __init__(
        self,
        order: int | None = 3,
        *,
        discount: Any = "auto",
        discount_prior: tuple[float, float] = (1.0, 1.0),
        concentration: Any = "auto",
        concentration_prior: tuple[float, float] = (1.0, 0.1),
        end_of_sequence: bool = True,
        max_iter: int = 60,
        burn_in: int | None = None,
        thin: int = 1,
        n_samples: int = 20,
        n_chains: int = 1,
        stream_sweeps: int = 20,
        stream_window: int | None = None,
        base: Any = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ):
        self._store(locals())

    # Validation

    def _validate_parameters(self) -> None:
        super()._validate_parameters()
        self._priors()

    def _priors(self) -> FranchisePriors:
        n = self._n_laws()
        what = f"number of words in a context from 0 to {n - 1}"
        if self.order is None:
            what += " and more"
        return check_laws(self, n, what)

    def _n_laws(self) -> int:
        if self.order is not None:
            return int(self.order)
        given = [as_array(getattr(self, name), name) for name in ("discount", "concentration")]
        lengths = [len(array) for array in given if array.ndim == 1]
        return max(1, *lengths) if lengths else _N_LAWS

    def _check_input(self, X: Any, y: Any = None) -> NgramData:
        return self._lay_out(check_sentences(self, X, reset=True, any_length=True))

    def _check_batch(self, earlier: NgramData, X: Any, y: Any) -> tuple[NgramData, range]:
        batch = check_sentences(self, X, reset=False, any_length=True)
        sentences, staying = self._join(earlier.sentences, batch)
        return self._lay_out(sentences), staying

    def _lay_out(self, sentences: TokenSequences) -> NgramData:
        trie = self._index(sentences)
        self._check_base(trie)
        check_memory(
            self.n_chains * trie.layout.bytes_of_ratios(),
            f"X: tables for contexts of up to {self._n_laws() - 1} words, in "
            f"n_chains={self.n_chains} chains",
            "A lower order needs less.",
        )
        return NgramData(sentences, trie)

    def _check_base(self, trie: NgramTrie) -> Floats:
        """Return the base probabilities of all outcomes."""
        n = trie.n_outcomes
        if self.base is None:
            return np.full(n, 1.0 / n)
        if isinstance(self.base, BaseEstimator):
            base = self._read_model(self.base)
        else:
            base = as_floats(self.base, "base", 1)
        what = f"{trie.n_words} words" + (" and the end" if n > trie.n_words else "")
        if base.shape != (n,):
            raise ValueError(
                f"base must hold {n} probabilities, of {what}, got {base.shape[0]}. "
                "The size of the vocabulary is n_features of TokenSequences."
            )
        if not (np.all(base >= 0.0) and abs(base.sum() - 1.0) < 1e-6):
            raise ValueError(f"base must hold probabilities with sum 1, got {shorten(base)}.")
        impossible = trie.outcome[trie.layout.cells_at(0)]
        impossible = impossible[base[impossible] == 0.0]
        if len(impossible):
            raise ValueError(
                f"base gives outcome {impossible[0]} of X the probability 0: it must be positive."
            )
        return base / base.sum()

    @staticmethod
    def _read_model(model: Any) -> Floats:
        """Return the distribution of single words of a fitted language model."""
        if isinstance(model, FrozenEstimator):
            model = model.estimator
        if not isinstance(model, NgramLanguageModel):
            raise TypeError(
                f"base must be a language model of skdp.language or an array, got {shorten(model)}."
            )
        check_is_fitted(
            model,
            msg="base, a %(name)s, is not fitted. A grid search clones it: wrap it in "
            "sklearn.frozen.FrozenEstimator.",
        )
        return model._unigrams()

    # Chains

    def _start_sampler(self, data: NgramData, root: np.random.SeedSequence, c: int) -> NgramSampler:
        rng = derive_stream(root, Role.SWEEP, c)
        return NgramSampler(data, self._check_base(data.trie), self._priors(), rng)

    def _extend_sampler(self, sampler: NgramSampler, data: NgramData, n_left: int) -> NgramSampler:
        return sampler.extended(data, self._stream, n_left)

    def _make_averages(self) -> LawAverages:
        return LawAverages()

    def _make_runner(self) -> Any:
        runner = super()._make_runner()
        runner.base = self.base  # a clone would have discarded its fit
        return runner

    def _fitted_attributes(self, state: FitState, *, final: bool = False) -> dict[str, Any]:
        attributes = super()._fitted_attributes(state, final=final)
        best = state.runs[attributes["_best_chain"]]
        trie = best.sampler.context_index
        return {
            **attributes,
            **best.averages.means(),
            "n_contexts_": trie.layout.n_nodes_by_law(),
            "_trie": trie,
            "base_": best.sampler.base,
        }

    def _interpolated_models(self) -> Iterator[InterpolatedModel]:
        return (sample.interpolated(self._trie, self.base_) for sample in self._models)

    def _n_models(self) -> int:
        return len(self._models)

    # Public methods

    @with_callbacks
    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the distributions of the next word.

        Parameters
        ----------
        X : TokenSequences, list of sentences, or (n_sentences, length) array of int
            A sentence in a list is a sequence of word ids; the rows of an array are sentences. The
            vocabulary of lists and arrays ends with the largest id: use TokenSequences for a larger
            vocabulary.
        y : ignored
            Present by scikit-learn's convention.

        Returns
        -------
        self

        Raises
        ------
        ValueError, TypeError
            If X or a parameter is invalid. The estimator is left unchanged.
        KeyboardInterrupt
            If interrupted, at the end of the current sweep. It is fitted with the samples so far,
            in the burn-in with the current state unless it was fitted before; another `fit` with
            ``warm_start=True`` continues.

        Warns
        -----
        ConvergenceWarning
            If the log joint of a chain still climbs, or there are fewer than 12 sweeps after the
            burn-in, too few for a diagnosis; raise `max_iter` then.
            If chains plainly disagree; compare them in `trace_` then.
        """
        return self._fit(X)

    def to_arpa(self, path: str | Path, feature_names: ArrayLike, *, sample: int = -1) -> None:
        """Write a stored sample to a file in the ARPA format, which KenLM reads.

        A file contains one sample, whose perplexity is some percent higher than that of the mean
        over all samples.

        Parameters
        ----------
        path : str or path-like
            Written atomically: if anything fails, an existing file remains unchanged.
        feature_names : (n_features,) array-like of str
            Names of the words, such as those from a vectorizer's ``get_feature_names_out()``.
            Integers are written as digits.
        sample : int, default=-1
            Index of the stored sample; the last by default.

        Raises
        ------
        ValueError
            If names are missing, not strings, not unique or empty, contain white space, NUL or a
            lone surrogate, or denote the beginning or the end; if there is no such sample; or with
            ``order=None``, because a file has n-grams of given lengths.
        TypeError
            If `path` is not a path, such as a file descriptor.
        """
        check_is_fitted(self)
        if len(self._trie.text):
            raise ValueError(
                "A file in the ARPA format holds n-grams of given lengths, but the model was "
                "fitted with order=None: fit it with a number."
            )
        try:
            chosen = self._models[sample]
        except (IndexError, TypeError):
            raise ValueError(
                f"sample must be an index of the {len(self._models)} stored samples, got "
                f"{sample!r}."
            ) from None
        model = chosen.interpolated(self._trie, self.base_)
        write_arpa(path, self._trie, model, feature_names)
