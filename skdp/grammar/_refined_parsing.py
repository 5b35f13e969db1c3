"""Predictions of a fitted `HDPPCFGRefiner`."""

from __future__ import annotations

from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from skdp._checks import check_count, check_jobs
from skdp._sklearn_compat import validate_parameters
from skdp.data._parse_tree import ParseTree
from skdp.grammar._refinement._input import (
    binarize_all,
    check_sentences,
    check_tags,
    check_trees,
    check_yields,
)
from skdp.grammar._refinement._lexicon import TreebankLexicon
from skdp.grammar._refinement._parser import RefinedParser
from skdp.grammar._refinement._parses import (
    Asked,
    FindTree,
    FindTrees,
    RankedTree,
    SumTrees,
    WeighTree,
)
from skdp.grammar._unparsed import warn_of_unparsed
from skdp.metrics import bracket_scores


class RefinedParsing:
    """Mixin for trees and probabilities of sentences, from `_lexicon` and `_parser`."""

    _lexicon: TreebankLexicon
    _parser: RefinedParser
    _backoff: Asked | None = None
    _orders: tuple[int, int]
    decoding: str
    n_jobs: int | None

    def predict(self, X: Any, tags: Any = None) -> list[ParseTree | None]:
        """Return the best coarse tree of each sentence.

        Parameters
        ----------
        X : sequence of n_sentences sequences of str
        tags : sequence of n_sentences sequences of str or None, or None, default=None
            Known tags of the words: symbols that have words in the training trees. None instead of
            a tag, of the tags of a sentence, or of all tags: unknown.

        Returns
        -------
        list of n_sentences ParseTree or None
            Trees that are not binarized, with the words of X. A sentence that has no parse gets the
            best tree of the treebank's own grammar if `horizontal_order` or `vertical_order` led to
            a finer grammar. If that also has no parse, it gets a flat tree of preterminals below
            the most common root, with a warning that gives its number. Other methods still treat
            both as sentences without a parse. A sentence without words has no tree: None.

        Raises
        ------
        ValueError, TypeError
            If X is not a sequence of sentences of words, a word is empty or has white space, or
            `tags` do not belong to X.
        """
        found = self._ask(FindTree, X, tags, self.decoding, self._backoff)
        unparsed = np.array([not is_parsed for _, is_parsed in found], dtype=bool)
        warn_of_unparsed(unparsed, "get a flat tree", 2)
        return [tree for tree, _ in found]

    def k_best(self, X: Any, k: int = 10, *, tags: Any = None) -> list[list[RankedTree]]:
        """Return the best coarse trees of each sentence, and their log probabilities.

        Parameters
        ----------
        X : sequence of n_sentences sequences of str
        k : int, default=10
        tags : as in `predict`

        Returns
        -------
        list of n_sentences lists of (ParseTree, float)
            The k best trees by `decoding`, starting with the tree that `predict` returns. The
            number is log p(tree, words), summed over subsymbols, under the same grammar as
            `score_samples`. With "max-rule" and "projection" the numbers need not be in descending
            order. A sentence has fewer than k trees if its pruned chart has no more, and no trees
            if it has no parse or no words.

        Raises
        ------
        ValueError, TypeError
            If X is not a sequence of sentences of words, `tags` do not belong to X, or k < 1.
        """
        k = check_count(k, "k", at_least=1)
        return self._ask(FindTrees, X, tags, self.decoding, k)

    def score_samples(self, X: Any) -> NDArray[np.float64]:
        """Return the log probability of the words of each sentence.

        The probability is under the posterior mean of the grammar (without "vb", the grammar
        itself), summed over the trees whose items are parts of coarse trees at most exp(20) times
        less likely than the best tree. Rare words have the probability of their class. If the
        training sentences had no rare words, all unknown words are one class that counts as half a
        token more: of N training tokens, known words keep N / (N + 1/2) of the probability of a
        symbol's words, and the class has the rest.

        Parameters
        ----------
        X : sequence of n_sentences sequences of str

        Returns
        -------
        (n_sentences,) array
            Natural logarithm; 0 for a sentence without words; -inf for a sentence without a parse.

        Raises
        ------
        ValueError, TypeError
            If X is not a sequence of sentences of words.
        """
        check_is_fitted(self)
        ask = SumTrees(*self._asked)
        return np.array(self._map(ask, check_sentences(X)), dtype=np.float64)

    def tree_proba(self, X: Any, y: Any) -> NDArray[np.float64]:
        """Return the posterior probability of each tree given its words.

        For a tree that `predict` returned, it is the certainty of the grammar about the whole tree.

        Parameters
        ----------
        X : sequence of n_sentences sequences of str
        y : sequence of n_sentences ParseTree or None
            Trees over these words, in the format of the treebank; None for sentences without words.

        Returns
        -------
        (n_sentences,) array
            p(tree, words) / p(words), both as in `k_best` and `score_samples`. 0 for a tree that
            the grammar does not allow; 1 for a sentence without words.

        Raises
        ------
        ValueError, TypeError
            If X or y is invalid, or the words of a tree differ from its sentence.
        """
        check_is_fitted(self)
        sentences, trees = check_sentences(X), check_trees(y)
        check_yields(sentences, trees)
        binary = binarize_all(trees, *self._orders)
        ask = WeighTree(*self._asked)
        return np.array(self._map(ask, sentences, binary), dtype=np.float64)

    def _ask(self, kind: Any, X: Any, tags: Any, *how: Any) -> list[Any]:
        """Return the results of a query for all sentences."""
        check_is_fitted(self)
        validate_parameters(self)
        sentences = check_sentences(X)
        symbols = check_tags(tags, sentences, self._parser.tags)
        return self._map(kind(*self._asked, *how), sentences, symbols)

    @property
    def _asked(self) -> tuple[TreebankLexicon, RefinedParser, int]:
        return self._lexicon, self._parser, self._orders[1]

    def _map(self, ask: Any, *rows: Any) -> list[Any]:
        return list(
            Parallel(n_jobs=check_jobs(self.n_jobs), prefer="threads")(map(delayed(ask), *rows))
        )

    def score(self, X: Any, y: Any) -> float:
        """Return the F1 score of labeled brackets; higher is better.

        Parameters
        ----------
        X : sequence of n_sentences sequences of str
        y : sequence of n_sentences ParseTree or None
            The true trees; None for sentences without words.

        Returns
        -------
        float
            From 0 to 1, by the conventions of EVALB (see :func:`skdp.metrics.bracket_scores`):
            punctuation is deleted after parsing.

        Raises
        ------
        ValueError, TypeError
            If X or y is invalid, or no sentence has a word.
        """
        check_is_fitted(self)
        sentences, trees = check_sentences(X), check_trees(y)
        check_yields(sentences, trees)
        if not any(sentences):
            raise ValueError("X has no words to score.")
        return float(bracket_scores(trees, self.predict(sentences)).f1)
