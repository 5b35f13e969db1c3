"""Sentences and trees of a probabilistic context-free grammar."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple

import numpy as np
from sklearn.utils import Bunch

from skdp._checks import check_count, check_memory, shorten
from skdp._numeric._random import make_seed_sequence
from skdp.data import TokenSequences
from skdp.data._brackets import Item
from skdp.data._parse_tree import ParseTree
from skdp.datasets._grammars import (
    Rules,
    Symbols,
    check_grammar,
    least_lengths,
    list_words,
    make_mouse,
    make_pairs,
    mean_growth,
    to_normal_form,
)


class _Alternatives(NamedTuple):
    """The rules of a symbol."""

    cumulated: list[float]
    rights: list[Symbols]
    log_probabilities: list[float]
    growths: list[float]
    """Increment of the least number of words of a sentence."""


_GRAMMARS = {"mouse": make_mouse, "pairs": make_pairs}
_MOST_TRIES = 1_000
"""A sentence, in the mean, before giving up."""


def make_pcfg_corpus(
    n_sentences: int = 1000,
    *,
    grammar: str | Mapping[str, Sequence[tuple[Sequence[str], float]]] = "mouse",
    max_length: int | None = None,
    random_state: int | np.random.RandomState | np.random.Generator | None = None,
) -> Bunch:
    """Draw sentences and their trees from a probabilistic context-free grammar.

    A sentence begins as the start symbol; symbols are replaced by the right-hand side of one of
    their rules, drawn with its probability, until only words are left. The grammar is also returned
    in Chomsky normal form, from which the probabilities of sentences can be computed.

    Parameters
    ----------
    n_sentences : int, default=1000
        Number of sentences, >= 1.
    grammar : {"mouse", "pairs"} or dict, default="mouse"
        "mouse": sentences such as "the big mouse ate a dog", from eight nonterminals, four of them
        preterminals, and fifteen rules, for grammar induction ([1]_, figure 6). "pairs": two words
        that agree, from ``S -> X_i X_i`` and ``X_i -> a_i | b_i | c_i | d_i`` with i in 1, ..., 4,
        all equally probable; in `trees`, all X_i are X, to be refined ([1]_, figure 7).

        The keys of a dict are the nonterminals, the start symbol first; its values are lists of
        pairs (right-hand side, probability): ``{"S": [(("S", "S"), 0.3), (("a",), 0.7)]}``. All
        other symbols are words. Right-hand sides may have any length >= 1.
    max_length : int, default=None
        Longer sentences are drawn again, so the result is a draw given this limit. None: no limit,
        which requires a grammar whose sentences have a finite mean length.
    random_state : int, RandomState, Generator or None, default=None
        Source of randomness. An int makes the corpus reproducible, and a large corpus begins with
        the sentences of a small one.

    Returns
    -------
    Bunch
        data : TokenSequences
            The sentences.
        feature_names : list of n_words str
            The words of the grammar, in the order of their ids.
        trees : list of n_sentences ParseTree
            The trees of the sentences.
        refined_trees : list of n_sentences ParseTree
            The same trees with the symbols of the grammar, which differ only for "pairs".
        tree_log_probability : ndarray of shape (n_sentences,)
            Log probability of the refined trees under the grammar. The probability of a sentence is
            a sum over all its trees.
        grammar : dict
            The rules, in the form of the argument.
        symbols : list of n_symbols str
            Names of the symbols of the normal form: first those of the grammar, in its order. If
            the grammar is not binary, there are more, for words and right ends of long rules.
        root : ndarray of shape (n_symbols,)
            Probability that each symbol is the start: 1 for one symbol.
        rule_type : ndarray of shape (n_symbols, 2)
            Probabilities that a symbol becomes a word or two symbols.
        emission : ndarray of shape (n_symbols, n_words)
            Probabilities of words, given that the symbol becomes a word; 0 if it never does.
        binary : ndarray of shape (n_symbols, n_symbols, n_symbols)
            Probabilities of the left (axis 1) and right (axis 2) symbol, given that the symbol
            becomes two; 0 if it never does.

    Raises
    ------
    ValueError
        If an argument is out of range; if the grammar is invalid, because probabilities of a symbol
        do not sum to 1, or right-hand sides are empty or not tuples of str; if the mean length of
        its sentences is infinite and there is no `max_length`; or if fewer than one sentence in a
        thousand is short enough.

    Notes
    -----
    The normal form gives each sentence the same probability as the grammar. This holds even for
    rules with one symbol on the right, because chains of these are summed out. If `max_length`
    excludes sentences, this is not the probability with which sentences are drawn.

    References
    ----------
    .. [1] P. Liang, M. I. Jordan and D. Klein, "Probabilistic grammars and hierarchical Dirichlet
       processes", The Oxford Handbook of Applied Bayesian Analysis, 2010.

    Examples
    --------
    >>> from skdp.datasets import make_pcfg_corpus
    >>> corpus = make_pcfg_corpus(100, random_state=0)
    >>> corpus.data
    <TokenSequences of 100 sentences, 699 tokens, 9 features>
    >>> corpus.trees[2]
    <ParseTree (S (NP (DT a) (NN dog)) (VP (VB chased) (NP (DT a) (NPBAR (JJ black) (NN mouse)))))>
    >>> " ".join(corpus.feature_names[w] for w in corpus.data[2])
    'a dog chased a black mouse'
    """
    n_sentences = check_count(n_sentences, "n_sentences", at_least=1)
    check_memory(2000.0 * n_sentences, f"n_sentences={n_sentences} trees")
    limit = math.inf if max_length is None else check_count(max_length, "max_length", at_least=1)
    if isinstance(grammar, str):
        if grammar not in _GRAMMARS:
            raise ValueError(
                f"grammar must be {' or '.join(map(repr, _GRAMMARS))} or a dictionary, got "
                f"{shorten(grammar)}."
            )
        rules = _GRAMMARS[grammar]()
    else:
        rules = check_grammar(grammar)
    start = next(iter(rules))
    words = list_words(rules)
    least = least_lengths(rules)
    _check_lengths(rules, start, least[start], limit)
    normal_form = to_normal_form(rules, start, words)

    rng = np.random.default_rng(make_seed_sequence(random_state))
    trees, log_probabilities = _draw_trees(n_sentences, rules, start, least, limit, rng)
    place = {word: w for w, word in enumerate(words)}
    sentences = [[place[word] for word in tree.leaves] for tree in trees]
    coarse = trees
    if isinstance(grammar, str) and grammar == "pairs":
        coarse = [tree.map_labels(lambda label: label.split("_")[0]) for tree in trees]
    return Bunch(
        data=TokenSequences.from_sequences(sentences, len(words)),
        feature_names=words,
        trees=coarse,
        refined_trees=trees,
        tree_log_probability=np.array(log_probabilities),
        grammar=rules,
        **normal_form._asdict(),
    )


def _check_lengths(rules: Rules, start: str, least: float, limit: float) -> None:
    if least == math.inf:
        raise ValueError(
            f"The grammar has no sentences: {start!r} cannot be turned into words alone."
        )
    if least > limit:
        raise ValueError(
            f"max_length must be at least {least:g}, the length of the shortest sentence of the "
            f"grammar; got {limit:g}."
        )
    if limit == math.inf and (growth := mean_growth(rules, start)) >= 1.0 - 1e-9:
        raise ValueError(
            "The sentences of the grammar have no finite mean length (symbols multiply by "
            f"{growth:.4g} from one generation to the next, which must be below 1): set max_length."
        )


def _draw_trees(
    n_sentences: int,
    rules: Rules,
    start: str,
    least: dict[str, float],
    limit: float,
    rng: np.random.Generator,
) -> tuple[list[ParseTree], list[float]]:
    """Return trees of at most `limit` words, and their log probabilities."""
    table = {symbol: _tabulate(symbol, rules, least) for symbol in rules}
    uniforms = _draw_uniforms(rng)
    trees: list[ParseTree] = []
    log_probabilities = []
    n_tries = 0
    while len(trees) < n_sentences:
        n_tries += 1
        drawn = _draw_tree(table, start, least[start], limit, uniforms)
        if drawn is not None:
            trees.append(ParseTree._from_flat(drawn[0]))
            log_probabilities.append(drawn[1])
        elif n_tries >= _MOST_TRIES * (len(trees) + 10):
            raise ValueError(
                f"Of {n_tries} sentences of the grammar {len(trees)} had at most max_length="
                f"{limit:g} words: too few to draw from."
            )
    return trees, log_probabilities


def _tabulate(symbol: str, rules: Rules, least: dict[str, float]) -> _Alternatives:
    rights = [right for right, _ in rules[symbol]]
    probabilities = [probability for _, probability in rules[symbol]]
    return _Alternatives(
        [*accumulate(probabilities[:-1]), 1.0],  # regardless of rounding
        rights,
        [math.log(probability) for probability in probabilities],
        [sum(least.get(part, 1.0) for part in right) - least[symbol] for right in rights],
    )


def _draw_uniforms(rng: np.random.Generator) -> Iterator[float]:
    while True:
        yield from rng.random(1024).tolist()


def _draw_tree(
    table: dict[str, _Alternatives],
    start: str,
    n_least: float,
    limit: float,
    uniforms: Iterator[float],
) -> tuple[Iterator[Item], float] | None:
    """Return a tree in flat form and its log probability, or None once it must be too long."""
    items: list[Item] = []
    log_probability = 0.0
    stack = [start]
    while stack:
        part = stack.pop()
        if part not in table:
            items.append(part)
            continue
        alternatives = table[part]
        i = bisect_right(alternatives.cumulated, next(uniforms))
        n_least += alternatives.growths[i]
        if n_least > limit:
            return None
        log_probability += alternatives.log_probabilities[i]
        right = alternatives.rights[i]
        items.append((part, len(right)))
        stack.extend(right)  # the last comes first: backwards, the flat form
    return reversed(items), log_probability
