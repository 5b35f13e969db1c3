"""Probabilities of sentences and expected rule counts under grammars with given weights."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from skdp._checks import as_floats
from skdp._numeric import Floats
from skdp.data import TokenSequences, check_sentences
from skdp.grammar._chart._engine import expected_counts
from skdp.grammar._chart._paths import RuleWeights


class InsideOutsideResult(NamedTuple):
    """The result of `inside_outside`.

    Attributes
    ----------
    log_prob : (n,) array
    root_counts : (K,) array
    rule_type_counts : (K, 2) array
    emission_counts : (K, V) array
    binary_counts : (K, K, K) array
    """

    log_prob: Floats
    root_counts: Floats
    rule_type_counts: Floats
    emission_counts: Floats
    binary_counts: Floats


def inside_outside(
    sentences: Any, root: ArrayLike, rule_type: ArrayLike, emission: ArrayLike, binary: ArrayLike
) -> InsideOutsideResult:
    r"""Return log probabilities of sentences under a binary grammar and expected counts of rules.

    A tree starts with a symbol at the root; every symbol z then either emits a word, with weight
    ``rule_type[z, 0] * emission[z, word]``, or has two children, with weight
    ``rule_type[z, 1] * binary[z, left, right]``. The weight of a tree is the product of all these
    weights; the weight of a sentence is the sum over all trees with its words. With

    .. math:: I_{se}(z) = \sum_{ij} B_{zij} \sum_{s < m < e} I_{sm}(i) I_{me}(j)

    the inner sum is computed first, and then the rules are applied to all sentences of a batch at
    once. Time is of order :math:`n^2 K^3 + n^3 K^2` for n words and K symbols.

    Weights need not be probabilities. Sums neither underflow nor overflow for any sentence length
    and any range of weights: if the exponents of 64-bit numbers might not suffice, the sentence is
    recomputed in an extended range.

    Parameters
    ----------
    sentences : TokenSequences, list of sequences of int, or (n, length) array of int
        Word ids from 0 to V - 1, at least one in each sentence.
    root : (K,) array
        Weights of the symbol at the root; like all weights, finite and non-negative.
    rule_type : (K, 2) array
        Weights of emission and of binary rules, called phi^T in the literature.
    emission : (K, V) array
        Weights of words, phi^E.
    binary : (K, K, K) array
        Weights of the children, phi^B: parent, left child, right child.

    Returns
    -------
    InsideOutsideResult
        A named tuple of `log_prob` (n,), the natural log of the weight of each sentence (-inf if it
        has no tree), and of expected counts, summed over sentences: `root_counts` (K,),
        `rule_type_counts` (K, 2), `emission_counts` (K, V) and `binary_counts` (K, K, K). Sentences
        without a tree do not contribute to the counts.

    Raises
    ------
    ValueError
        If shapes do not agree, a weight is negative, infinite or NaN, `sentences` is empty, or a
        sentence is empty or has words out of range.

    References
    ----------
    K. Lari and S. J. Young (1990), The estimation of stochastic context-free grammars using the
    inside-outside algorithm, Computer Speech and Language 4.

    Examples
    --------
    One symbol emits the word 0 or has two children, with equal probability. Three words need three
    emissions and two binary rules, and there are two trees:

    >>> from skdp.grammar import inside_outside
    >>> found = inside_outside([[0], [0, 0, 0]], [1.0], [[0.5, 0.5]], [[1.0]], [[[1.0]]])
    >>> np.exp(found.log_prob)
    array([0.5   , 0.0625])
    >>> found.rule_type_counts
    array([[4., 2.]])
    """
    root = _as_weights(root, "root", 1)
    n_symbols = len(root)
    if n_symbols == 0:
        raise ValueError("root must have a weight for each symbol, got none.")
    rule_type = _as_weights(rule_type, "rule_type", 2, (n_symbols, 2))
    emission = _as_weights(emission, "emission", 2, (n_symbols, None))
    binary = _as_weights(binary, "binary", 3, (n_symbols,) * 3)
    checked = _check_sentences(sentences, emission.shape[1])
    with np.errstate(divide="ignore"):
        log_type = np.log(rule_type)
        weights = RuleWeights(
            np.log(root),
            log_type[:, :1] + np.log(emission),
            log_type[:, 1:, np.newaxis] + np.log(binary),
            None,
        )
    log_prob, root_counts, emission_counts, binary_counts = expected_counts(checked, weights)
    types = [emission_counts.sum(axis=1), binary_counts.sum(axis=(1, 2))]
    return InsideOutsideResult(
        log_prob, root_counts, np.stack(types, axis=1), emission_counts, binary_counts
    )


def _as_weights(
    values: ArrayLike, name: str, n_dimensions: int, shape: tuple[int | None, ...] = (None,)
) -> Floats:
    """Return an array of weights of the given shape, where None stands for any length."""
    array = as_floats(values, name, n_dimensions)
    if any(wanted not in (None, n) for wanted, n in zip(shape, array.shape, strict=True)):
        wanted = str(shape).replace("None", "n_words")
        raise ValueError(
            f"{name} must be of shape {wanted}, because root has {shape[0]} weights; got "
            f"{array.shape}."
        )
    if not np.all(array >= 0.0) or np.isinf(array).any():
        raise ValueError(f"{name} must hold finite weights that are not negative.")
    return array


class _Words(BaseEstimator):
    """Stand-in for an estimator fitted on sentences, for `check_sentences`."""

    def __init__(self, n_words: int = 1):
        self.n_words = n_words
        self.n_words_ = self.n_features_in_ = n_words
        self._sentence_length = None


_Words.__name__ = "inside_outside"  # the name in scikit-learn's error messages


def _check_sentences(sentences: Any, n_words: int) -> TokenSequences:
    """Return sentences of at least one word, after checking that all words are known."""
    if isinstance(sentences, TokenSequences):  # its own n_features may be less
        sentences = TokenSequences(sentences.tokens, sentences.ptr, n_words)
    checked = check_sentences(_Words(n_words), sentences, reset=False)
    lengths = np.diff(checked.ptr)
    if not lengths.all():
        raise ValueError(f"Sentence {np.argmin(lengths)} has no words; at least one is required.")
    return checked
