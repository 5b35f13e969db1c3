"""Sentences and trees drawn from probabilistic context-free grammars, with the truth."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch

from skdp._checks import check_count, check_memory, shorten
from skdp._numeric._random import make_seed_sequence
from skdp.data import TokenSequences
from skdp.data._parse_tree import Item, ParseTree

# Grammars as dictionaries of rules, and in Chomsky normal form.


Symbols = tuple[str, ...]
Rules = dict[str, list[tuple[Symbols, float]]]
"""Right-hand sides and their positive probabilities for each nonterminal, the start first."""

_TOLERANCE = 1e-6
"""Tolerance of the sum of the probabilities of a symbol."""


def make_mouse() -> Rules:
    """Return a little grammar of English with four preterminals and four constituents."""
    third = 1.0 / 3.0
    return {
        "S": [(("NP", "VP"), 1.0)],
        "NP": [(("DT", "NN"), 0.5), (("DT", "NPBAR"), 0.5)],
        "NPBAR": [(("JJ", "NN"), 0.5), (("JJ", "NPBAR"), 0.5)],
        "VP": [(("VB", "NP"), 1.0)],
        "DT": [(("the",), 0.5), (("a",), 0.5)],
        "JJ": [(("big",), 0.5), (("black",), 0.5)],
        "NN": [(("mouse",), third), (("cat",), third), (("dog",), third)],
        "VB": [(("chased",), 0.5), (("ate",), 0.5)],
    }


def make_pairs() -> Rules:
    """Return a grammar of pairs of words that agree, by four subsymbols of one symbol."""
    numbers = range(1, 5)
    rules: Rules = {"S": [((f"X_{i}", f"X_{i}"), 0.25) for i in numbers]}
    for i in numbers:
        rules[f"X_{i}"] = [((f"{letter}_{i}",), 0.25) for letter in "abcd"]
    return rules


def check_grammar(grammar: Any) -> Rules:
    """Return a grammar without rules of probability 0, probabilities summing to 1."""
    if not isinstance(grammar, Mapping) or not grammar:
        raise ValueError(
            "grammar must be the name of a grammar or a dictionary with at least one rule; got "
            f"{shorten(grammar)}."
        )
    rules: Rules = {}
    for symbol, alternatives in grammar.items():
        kept = []
        total = 0.0
        for rule in alternatives:
            right, probability = _check_rule(symbol, rule)
            total += probability
            if probability > 0.0:
                kept.append((right, probability))
        if not abs(total - 1.0) <= _TOLERANCE:
            raise ValueError(f"The probabilities of {symbol!r} must sum to 1, not {total:g}.")
        rules[symbol] = [(right, probability / total) for right, probability in kept]
    return rules


def _check_rule(symbol: Any, rule: Any) -> tuple[Symbols, float]:
    try:
        right, probability = rule
    except (TypeError, ValueError):
        right, probability = None, None
    if (
        not isinstance(right, tuple | list)
        or len(right) == 0
        or not all(isinstance(part, str) for part in (symbol, *right))
    ):
        raise ValueError(
            f"The rules of {symbol!r} must be pairs (right-hand side, probability), the former a "
            f"tuple of at least one str; got {shorten(rule)}."
        )
    number = isinstance(probability, Real) and not isinstance(probability, bool)
    chance = float(probability) if number else np.nan
    if not 0.0 <= chance <= 1.0 + _TOLERANCE:
        raise ValueError(
            f"The probability of {symbol!r} -> {right!r} must be in [0, 1], got "
            f"{shorten(probability)}."
        )
    ParseTree(symbol, right)  # or a ValueError about white space or brackets
    return tuple(right), chance


def list_words(rules: Rules) -> list[str]:
    """Return the terminals, in the order of the rules."""
    seen = {
        part: None for alternatives in rules.values() for right, _ in alternatives for part in right
    }
    return [part for part in seen if part not in rules]


def mean_growth(rules: Rules, start: str) -> float:
    """Return the growth of the mean number of nonterminals from a generation to the next."""
    reached = [start]
    for symbol in reached:
        below = {part for right, _ in rules[symbol] for part in right if part in rules}
        reached.extend(sorted(below.difference(reached)))
    place = {symbol: k for k, symbol in enumerate(reached)}
    means = np.zeros((len(reached), len(reached)))
    for symbol, row in zip(reached, means, strict=True):
        for right, probability in rules[symbol]:
            for part in right:
                if part in rules:
                    row[place[part]] += probability
    # The spectral radius: if it is 1 or more, the mean size of a tree is infinite.
    return float(np.abs(np.linalg.eigvals(means)).max())


def least_lengths(rules: Rules) -> dict[str, float]:
    """Return the least number of words of each nonterminal; infinite if it derives none."""
    least = dict.fromkeys(rules, np.inf)
    changed = True
    while changed:
        changed = False
        for symbol, alternatives in rules.items():
            best = min(sum(least.get(part, 1.0) for part in right) for right, _ in alternatives)
            if best < least[symbol]:
                least[symbol] = best
                changed = True
    return least


class NormalForm(NamedTuple):
    """A grammar of rules X -> Y Z and X -> word that gives every sentence the same probability."""

    symbols: list[str]
    root: NDArray[np.float64]
    """(K,)"""
    rule_type: NDArray[np.float64]
    """(K, 2): of a word, of two symbols."""
    emission: NDArray[np.float64]
    """(K, V), given the type."""
    binary: NDArray[np.float64]
    """(K, K, K), parent, left, right, given the type."""


def to_normal_form(rules: Rules, start: str, words: list[str]) -> NormalForm:
    """Return a grammar in Chomsky normal form."""
    index: dict[Symbols, int] = {(symbol,): k for k, symbol in enumerate(rules)}
    vocabulary = {word: w for w, word in enumerate(words)}
    unary: list[tuple[int, int, float]] = []
    emissions: list[tuple[int, int, float]] = []
    binary: list[tuple[int, int, int, float]] = []

    # Words in longer rules, and right ends of rules of three or more parts, get their own symbols.
    def index_of(parts: Symbols) -> int:
        if parts not in index:
            index[parts] = len(index)
            add(index[parts], parts, 1.0)
        return index[parts]

    def add(k: int, right: Symbols, probability: float) -> None:
        if len(right) > 1:
            binary.append((k, index_of(right[:1]), index_of(right[1:]), probability))
        elif right[0] in vocabulary:
            emissions.append((k, vocabulary[right[0]], probability))
        else:
            unary.append((k, index[right], probability))

    for symbol, alternatives in rules.items():
        for right, probability in alternatives:
            add(index[symbol,], right, probability)

    n_symbols = len(index)
    weights_e, weights_b = np.zeros((n_symbols, len(words))), np.zeros((n_symbols,) * 3)
    for k, w, probability in emissions:
        weights_e[k, w] += probability
    for k, left, right_k, probability in binary:
        weights_b[k, left, right_k] += probability
    if unary:
        # Chains of rules X -> Y, of probabilities U, are summed out: the symbols in which they end
        # have weights (I - U)^-1.
        chains = np.eye(n_symbols)
        for k, below, probability in unary:
            chains[k, below] -= probability
        try:
            ends = np.linalg.inv(chains)
        except np.linalg.LinAlgError as error:
            raise ValueError("The grammar has symbols that can only become one another.") from error
        weights_e, weights_b = ends @ weights_e, np.tensordot(ends, weights_b, 1)
    root = np.zeros(n_symbols)
    root[index[start,]] = 1.0
    types = np.stack([weights_e.sum(axis=1), weights_b.sum(axis=(1, 2))], axis=1)
    given = np.where(types > 0.0, types, 1.0)
    return NormalForm(
        [parts[0] if len(parts) == 1 else " ".join(parts) for parts in index],
        root,
        types,
        weights_e / given[:, :1],
        weights_b / given[:, 1:, None],
    )


# Draws of sentences and trees.


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
