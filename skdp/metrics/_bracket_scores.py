"""How well parse trees agree with the true ones."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Sequence
from itertools import accumulate
from typing import NamedTuple

from skdp.data._parse_tree import ParseTree

_CATEGORY = re.compile("[^-=]+")
"""What comes before the function tags of a label."""

Span = tuple[str, int, int]


class BracketScores(NamedTuple):
    """What `bracket_scores` returns."""

    precision: float
    recall: float
    f1: float
    exact_match: float
    n_matched: int
    n_predicted: int
    n_true: int


class _Brackets(NamedTuple):
    """A tree as what is scored: preterminals are tags, all other nodes are brackets."""

    words: list[str]
    tags: list[str]
    """Labels of preterminals; "" of words that have none."""
    spans: list[Span]


def bracket_scores(
    true: Sequence[ParseTree],
    predicted: Sequence[ParseTree],
    *,
    labelled: bool = True,
    trivial: bool = True,
    deleted_labels: Collection[str] = ("ROOT", "TOP", "-NONE-", ",", ":", "``", "''", "."),
    same_labels: Collection[tuple[str, str]] = (("ADVP", "PRT"),),
) -> BracketScores:
    """Compute how many brackets two sets of parse trees share, as the program EVALB does.

    A bracket is a node that is not a preterminal: its label and the words it spans. Sums run over
    all sentences, so long ones weigh more. The defaults are those of EVALB's ``COLLINS.prm`` [1]_,
    with one more name for the root, at all lengths of sentences.

    Parameters
    ----------
    true : sequence of n_sentences ParseTree
        The treebank's.
    predicted : sequence of n_sentences ParseTree
        The trees to judge, of the same sentences.
    labelled : bool, default=True
        Whether labels must agree. False: only spans are compared, and a chain of nodes over the
        same words is one bracket: what is asked of induced grammars, whose labels are numbers.
    trivial : bool, default=True
        Whether brackets of one word, or of a whole sentence, count. They do for EVALB, not where
        grammars are induced: every tree has them.
    deleted_labels : collection of str
        Words with these tags are deleted before anything is compared, and then brackets that span
        no words; brackets with these labels are not counted. The default is names of roots,
        traces, and the tags of punctuation.
    same_labels : collection of (str, str), default=(("ADVP", "PRT"),)
        Pairs of labels that agree.

    Returns
    -------
    BracketScores
        A named tuple of

        precision : float
            Share of the predicted brackets that match, nan if there are none.
        recall : float
            Share of the true brackets that are matched, nan if there are none.
        f1 : float
            Their harmonic mean, ``2 n_matched / (n_predicted + n_true)``, nan without brackets.
        exact_match : float
            Share of the sentences whose brackets all match, none missing.
        n_matched, n_predicted, n_true : int
            Numbers of brackets.

    Raises
    ------
    TypeError
        If something else than a ParseTree is among the trees, or `deleted_labels` is a str.
    ValueError
        If there are no trees or not as many predicted as true ones, or, with the number of the
        sentence, if two trees are not of the same words.

    Notes
    -----
    Function tags do not count: a label ends before its first ``-`` or ``=``, unless it begins with
    it, as in EVALB. Of n true and m predicted brackets with the same label and span, min(n, m)
    match.

    Which words are deleted is decided by the tags of the true tree, so that a wrong tag of a comma
    costs no bracket; EVALB leaves such a sentence out of its sums. Only if the two trees are not of
    the same words, the words of each are deleted by its own tags, and what is left must be the
    same: trees with and without punctuation or traces can be compared.

    References
    ----------
    .. [1] M. Collins, "Three generative, lexicalised models for statistical parsing", ACL 1997.

    Examples
    --------
    >>> from skdp.grammar import ParseTree
    >>> from skdp.metrics import bracket_scores
    >>> true = ParseTree.from_brackets("(ROOT (S (NP (DT the) (NN cat)) (VP (VB ate)) (. .)))")
    >>> predicted = ParseTree.from_brackets("(ROOT (S (DT the) (VP (NN cat) (VB ate)) (. .)))")
    >>> scores = bracket_scores([true], [predicted])
    >>> scores.n_matched, scores.n_predicted, scores.n_true
    (1, 2, 3)
    >>> scores.precision, round(scores.recall, 3), scores.f1
    (0.5, 0.333, 0.4)
    """
    true, predicted = list(true), list(predicted)
    if not true or len(true) != len(predicted):
        raise ValueError(
            "true and predicted must be equally many trees, at least one; got "
            f"{len(true)} and {len(predicted)}."
        )
    if isinstance(deleted_labels, str):
        raise TypeError(f"deleted_labels must hold labels, got the str {deleted_labels!r}.")
    deleted = frozenset(deleted_labels)
    names = {second: first for first, second in same_labels}
    n_matched = n_predicted = n_true = n_exact = 0
    for i, pair in enumerate(zip(true, predicted, strict=True)):
        first, second = map(_find_brackets, pair)
        keep = [tag not in deleted for tag in first.tags]
        keep_predicted = keep
        if first.words != second.words:
            keep_predicted = [tag not in deleted for tag in second.tags]
            if _select(first.words, keep) != _select(second.words, keep_predicted):
                raise ValueError(f"Sentence {i}: the two trees are not of the same words.")
        counts = [
            _count(tree, mask, deleted, names, labelled, trivial)
            for tree, mask in ((first, keep), (second, keep_predicted))
        ]
        n_matched += (counts[0] & counts[1]).total()
        n_true += counts[0].total()
        n_predicted += counts[1].total()
        n_exact += counts[0] == counts[1]
    return BracketScores(
        _share(n_matched, n_predicted),
        _share(n_matched, n_true),
        _share(2 * n_matched, n_predicted + n_true),
        n_exact / len(true),
        n_matched,
        n_predicted,
        n_true,
    )


def _find_brackets(tree: ParseTree) -> _Brackets:
    if not isinstance(tree, ParseTree):
        raise TypeError(f"Trees must be of class ParseTree, got {type(tree).__name__}.")
    found = _Brackets([], [], [])
    begins: list[int] = []  # of the children that wait for their parent
    below_is_word = False
    for item in tree._flat():
        is_word = isinstance(item, str)
        if isinstance(item, str):
            begins.append(len(found.words))
            found.words.append(item)
            found.tags.append("")
        else:
            label, n_children = item
            begins[-n_children:] = [begin := begins[-n_children]]
            if n_children == 1 and below_is_word:
                found.tags[begin] = label
            else:
                found.spans.append((label, begin, len(found.words)))
        below_is_word = is_word
    return found


def _count(
    tree: _Brackets,
    keep: list[bool],
    deleted: frozenset[str],
    names: dict[str, str],
    labelled: bool,
    trivial: bool,
) -> Counter[Span]:
    """Return how often each bracket occurs among the words to keep."""
    place = list(accumulate(keep, initial=0))  # of every word among those
    counts: Counter[Span] = Counter()
    for label, begin, end in tree.spans:
        if category := _CATEGORY.match(label):
            label = category.group()
        n_words = place[end] - place[begin]
        if n_words == 0 or label in deleted or (not trivial and n_words in (1, place[-1])):
            continue
        if labelled:
            counts[names.get(label, label), place[begin], place[end]] += 1
        else:
            counts["", place[begin], place[end]] = 1
    return counts


def _select(words: list[str], keep: list[bool]) -> list[str]:
    return [word for word, kept in zip(words, keep, strict=True) if kept]


def _share(part: int, whole: int) -> float:
    return part / whole if whole else math.nan
