"""Interpolated Kneser-Ney smoothing."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Integral, Real
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from skdp._checks import as_array, shorten
from skdp._numeric import Floats
from skdp._sklearn_compat import EstimatorMixin, Interval, StrOptions, validate_parameters
from skdp.data import check_sentences
from skdp.inference._convergence import warn_user
from skdp.language._base import NgramLanguageModel
from skdp.language._ngram._trie import write_arpa
from skdp.processes._franchise import Franchise, FranchisePriors, InterpolatedModel

_N_CLASSES = 3
"""Number of discounts per depth: for counts of 1, of 2, and of more."""


class KneserNeyLM(NgramLanguageModel, EstimatorMixin, BaseEstimator):
    r"""Interpolated Kneser-Ney smoothing of n-gram probabilities from counts, without sampling.

    The probability of word w after context u is

    .. math::

        p(w \mid u) = \frac{c_{uw} - D(c_{uw})}{c_u} +
        \frac{\sum_{v} D(c_{uv})}{c_u} \, p(w \mid \pi(u))

    where pi(u) is the context without its farthest word, c are counts, and D(c), which is 0 for
    c = 0, is the discount of a count. In shorter contexts, the count of a word is the number of
    longer contexts with the word, not its frequency.

    Parameters
    ----------
    order : int, default=3
        Length of the n-grams: a context has up to `order` - 1 words. 1: no context.
    discount : {"modified", "absolute"}, float or array-like, default="modified"
        "modified": by Chen and Goodman's formulas, one discount each for counts of 1, of 2 and of
        at least 3, for contexts of m = 0, ..., `order` - 1 words. "absolute": n_1 / (n_1 + 2 n_2)
        for each m, where n_c outcomes have count c. A number in [0, 1), or (order,) numbers, or
        (order, 3) numbers, at most 1, 2 and 3: given.
    end_of_sequence : bool, default=True
        Whether the end of a sentence is an event, the last of its outcomes. If not, the model does
        not cover lengths.

    Attributes
    ----------
    discounts_ : (order, 3) array
        Discounts of counts of 1, of 2 and of at least 3.
    n_contexts_ : (order,) array of int
        Number of contexts of m words that were seen.
    n_words_ : int
        Size of the vocabulary.
    n_features_in_ : int
        Length of the sentences if X was an array, `n_words_` otherwise.

    See Also
    --------
    HierarchicalPitmanYorLM : The approximated model; some percent better.
    LanguageModelClassifier : Classes of sequences by a language model for each.
    skdp.context.CollinsBackoffClassifier : Smoothing of categories in context, also from counts.

    Notes
    -----
    The conventions are those of `HierarchicalPitmanYorLM`: one symbol for the beginning of a
    sentence and no padding, and below the empty context a uniform distribution over the outcomes.
    Small or regular corpora may lack outcomes with some count, so that the formulas give no
    discount above 0 and below the count; half the count is then used, with a warning.

    References
    ----------
    S. F. Chen, J. Goodman (1999), An empirical study of smoothing techniques for language modeling,
    Computer Speech and Language 13. -- R. Kneser, H. Ney (1995), Improved backing-off for m-gram
    language modeling, Proceedings of ICASSP.

    Examples
    --------
    >>> from skdp.language import KneserNeyLM
    >>> lm = KneserNeyLM(order=2, discount=0.5).fit([[0, 1, 2], [0, 1, 1, 2], [0, 2], [0, 1, 2]])
    >>> int(lm.predict([[0, 1]])[0]), int(lm.predict([[0, 1, 2]])[0])  # 3 is the end
    (2, 3)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "order": [Interval(Integral, 1, 100, closed="both")],
        "discount": [
            Interval(Real, 0, 1, closed="left"), "array-like", StrOptions({"modified", "absolute"})
        ],
        "end_of_sequence": ["boolean"],
    }  # fmt: skip

    def __init__(self, order: int = 3, *, discount: Any = "modified", end_of_sequence: bool = True):
        self._store(locals())

    def _check_discounts(self) -> Floats | None:
        """Return (order, 3) discounts, or None if they depend on the data."""
        if isinstance(self.discount, str):
            return None
        array = as_array(self.discount, "discount")
        if array.dtype.kind in "iuf" and array.shape in ((), (self.order,)):
            array = np.repeat(np.broadcast_to(array, self.order)[:, None], _N_CLASSES, axis=1)
            largest = np.ones(_N_CLASSES)
        else:
            largest = np.arange(1.0, _N_CLASSES + 1)
        if (
            array.dtype.kind not in "iuf"
            or array.shape != (self.order, _N_CLASSES)
            or not np.all((array >= 0.0) & (array <= largest))
        ):
            raise ValueError(
                f'discount must be "modified", "absolute", a number in [0, 1), {self.order} of them'
                f", or ({self.order}, {_N_CLASSES}) numbers of at most 1, 2 and 3; got "
                f"{shorten(self.discount)}."
            )
        return array.astype(np.float64)

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the n-gram probabilities from counts.

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
            If X or a parameter is invalid.

        Warns
        -----
        UserWarning
            If X is too small or too regular for the formulas of `discount`; the message names the
            contexts and the remedies.
        """
        validate_parameters(self)
        given = self._check_discounts()
        trie = self._index(check_sentences(self, X, reset=True, any_length=True))
        n = trie.n_outcomes
        ones = np.ones(self.order)
        # With one table in each cell, shorter contexts count the longer contexts with an outcome.
        franchise = Franchise(
            trie.layout, np.ones(np.diff(trie.layout.cell_ptr)[0]),
            FranchisePriors(0.0 * ones, ones, (1.0, 1.0), (1.0, 1.0)),
        )  # fmt: skip
        counts = franchise.customers
        discounts = np.empty((self.order, _N_CLASSES))
        discounted = np.empty(len(counts))
        without = []
        for m in range(self.order):
            cells = trie.layout.cells_at(m)
            at_depth = counts[cells]
            if given is None:
                discounts[m], is_in_range = self._learn(at_depth)
                without += [] if is_in_range else [str(m)]
            else:
                discounts[m] = given[m]
            discounted[cells] = discounts[m, np.minimum(at_depth, _N_CLASSES) - 1]
        if without:
            instead = "0.5" if self.discount == "absolute" else "half the count, at most 1.5,"
            warn_user(
                f"{type(self).__name__}: the counts of words in contexts of {', '.join(without)} "
                f'words are too few or too regular for the formulas of discount="{self.discount}". '
                f"Discounts of {instead} are used there. Fit more text, pass a number such as "
                "discount=0.5, or use HierarchicalPitmanYorLM, which learns its discounts.",
                UserWarning,
            )
        node = trie.layout.node
        totals = franchise.node_customers
        left = np.bincount(node, weights=discounted, minlength=len(totals))
        self.discounts_ = discounts
        self.n_contexts_ = np.diff(trie.layout.node_ptr)
        self._trie = trie
        self._model = InterpolatedModel(
            trie, (counts - discounted) / totals[node], left / totals, np.full(n, 1.0 / n)
        )
        return self

    def _learn(self, counts: Any) -> tuple[Floats, bool]:
        """Return the discounts of counts of 1, 2 and more, and whether the formulas were valid."""
        n = np.bincount(counts, minlength=6).astype(np.float64)
        with np.errstate(divide="ignore", invalid="ignore"):
            share = n[1] / (n[1] + 2.0 * n[2])
            if self.discount == "absolute":
                discounts = np.full(_N_CLASSES, share)
                largest = np.ones(_N_CLASSES)
            else:
                k = np.arange(1, _N_CLASSES + 1)
                discounts = k - (k + 1) * share * n[k + 1] / n[k]
                largest = k.astype(np.float64)
        wrong = ~((discounts > 0.0) & (discounts < largest))
        discounts[wrong] = 0.5 * largest[wrong]
        return discounts, not (len(counts) and wrong.any())

    def __sklearn_is_fitted__(self) -> bool:
        """Return whether there is a model."""
        return hasattr(self, "_model")

    def _interpolated_models(self) -> Iterator[InterpolatedModel]:
        yield self._model

    def _n_models(self) -> int:
        return 1

    def to_arpa(self, path: str | Path, feature_names: ArrayLike) -> None:
        """Write the model to a file in the ARPA format, which KenLM reads.

        Parameters
        ----------
        path : str or path-like
            Written atomically: if anything fails, an existing file remains unchanged.
        feature_names : (n_features,) array-like of str
            Names of the words, such as those from a vectorizer's ``get_feature_names_out()``.
            Integers are written as digits.

        Raises
        ------
        ValueError
            If names are missing, not strings, not unique or empty, contain white space, NUL or a
            lone surrogate, or denote the beginning or the end.
        TypeError
            If `path` is not a path, such as a file descriptor.
        """
        check_is_fitted(self)
        write_arpa(path, self._trie, self._model, feature_names)
