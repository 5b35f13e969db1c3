"""How well parse trees agree with the true ones."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Sequence
from itertools import accumulate, compress
from typing import NamedTuple

from skdp._checks import shorten
from skdp.data._parse_tree import ParseTree, as_in_treebanks

_MARK = re.compile("[-=]")
"""What function tags of labels begin with."""

Brackets = dict[tuple[int, int], list[str]]
"""Labels of the brackets of each span, the outermost first."""


class BracketScores(NamedTuple):
    """The result of `bracket_scores`."""

    precision: float
    recall: float
    f1: float
    exact_match: float
    n_matched: int
    n_predicted: int
    n_true: int


class _Brackets(NamedTuple):
    """The scored items of a tree: preterminals are tags, all other nodes are brackets."""

    words: list[str]
    tags: list[str]
    """Labels of preterminals; "" of words that have none."""
    spans: list[tuple[str, int, int]]
    """Label, first word, word after the last; inner brackets come first."""


def bracket_scores(
    true: Sequence[ParseTree | None],
    predicted: Sequence[ParseTree | None],
    *,
    labelled: bool = True,
    trivial: bool = True,
    deleted_labels: Collection[str] = ("ROOT", "TOP", "-NONE-", ",", ":", "``", "''", "."),
    same_labels: Collection[tuple[str, str]] = (("ADVP", "PRT"),),
) -> BracketScores:
    """Compute how many brackets two sets of parse trees share, like the program EVALB.

    A bracket is a node that is not a preterminal: its label and the words that it spans. Sums run
    over all sentences, so long ones weigh more. The defaults are those of EVALB's ``COLLINS.prm``
    [1]_, with one more name for the root and without a limit on the length of sentences.

    Parameters
    ----------
    true : sequence of n_sentences ParseTree or None
        The trees of the treebank. None, here and below, stands for a tree without brackets over any
        words, which parsers return for an empty sentence.
    predicted : sequence of n_sentences ParseTree or None
        The trees to judge, of the same sentences.
    labelled : bool, default=True
        Whether labels must agree. False: only spans are compared, and a chain of nodes over the
        same words is one bracket. This suits induced grammars, whose labels are numbers.
    trivial : bool, default=True
        Whether brackets over one word, or over a whole sentence, count. They do in EVALB, but not
        when induced grammars are scored, because every tree has them.
    deleted_labels : collection of str
        Words with these tags are deleted before the comparison, and so are brackets that then span
        no words; brackets with these labels are not counted. The default holds names of roots,
        traces, and the tags of punctuation.
    same_labels : collection of (str, str), default=(("ADVP", "PRT"),)
        Pairs of labels that agree, in either order. Agreement is not transitive: with ("A", "C")
        and ("B", "C"), A and B do not agree.

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
            Share of the sentences in which all brackets, true and predicted, match.
        n_matched, n_predicted, n_true : int
            Numbers of brackets.

    Raises
    ------
    TypeError
        If `true` or `predicted` is one tree, if the trees include anything but ParseTree or None,
        if `deleted_labels` is a str, or if `same_labels` includes anything but pairs of str.
    ValueError
        If there are no trees or their numbers differ, if an item of `same_labels` does not hold two
        labels, or if the words of two trees differ; the message then names the sentence.

    Notes
    -----
    Function tags do not count: the label of a bracket ends before its first ``-`` or ``=``. If a
    label begins with one of these, it becomes empty and agrees with all others of this kind. The
    labels of words, which determine the deletions, are not cut: ``-NONE-`` is one of them.

    The true brackets, outer before inner, are matched one by one with the outermost predicted
    bracket that has the same span, a label that agrees, and no match yet. Of n true and m predicted
    brackets with the same label and span, min(n, m) match. A bracket whose label agrees with one of
    `deleted_labels` is not counted. So far, the function follows EVALB.

    The tags of the true tree decide which words are deleted, so a wrong tag of a comma costs no
    bracket; EVALB excludes such a sentence from its sums. Only if the words of the two trees
    differ, the words of each tree are deleted by its own tags, and the rest must be the same. So
    trees with and without punctuation or traces can be compared. Brackets are the same word as
    their names in treebanks, such as -LRB-.

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
    for name, trees in (("true", true), ("predicted", predicted)):
        if trees is None or isinstance(trees, ParseTree | str):
            raise TypeError(
                f"{name} must be a sequence of trees, got one {type(trees).__name__}: wrap a tree "
                "in a list."
            )
    true, predicted = list(true), list(predicted)
    if not true or len(true) != len(predicted):
        raise ValueError(
            "true and predicted must hold the same number of trees, at least one; got "
            f"{len(true)} and {len(predicted)}."
        )
    if isinstance(deleted_labels, str):
        raise TypeError(f"deleted_labels must hold labels, got the str {shorten(deleted_labels)}.")
    agree = _check_pairs(same_labels)
    deleted = frozenset(deleted_labels)
    uncounted = deleted | {second for first, second in agree if first in deleted}
    n_matched = n_predicted = n_true = n_exact = 0
    for i, pair in enumerate(zip(true, predicted, strict=True)):
        first, second = map(_find_brackets, pair)
        keep = [tag not in deleted for tag in first.tags]
        keep_predicted = keep
        if first.words != second.words:
            keep_predicted = [tag not in deleted for tag in second.tags]
            if None not in pair and (
                [*compress(first.words, keep)] != [*compress(second.words, keep_predicted)]
            ):
                raise ValueError(f"Sentence {i}: the words of the two trees differ.")
        brackets = [
            _collect(tree, mask, uncounted, labelled, trivial)
            for tree, mask in ((first, keep), (second, keep_predicted))
        ]
        matched = _match(brackets[0], brackets[1], agree)
        sizes = [sum(map(len, found.values())) for found in brackets]
        n_matched += matched
        n_true += sizes[0]
        n_predicted += sizes[1]
        n_exact += matched == sizes[0] == sizes[1]
    return BracketScores(
        _share(n_matched, n_predicted),
        _share(n_matched, n_true),
        _share(2 * n_matched, n_predicted + n_true),
        n_exact / len(true),
        n_matched,
        n_predicted,
        n_true,
    )


def _check_pairs(same_labels: Collection[tuple[str, str]]) -> frozenset[tuple[str, str]]:
    """Return the pairs of labels that agree, both ways round."""
    if isinstance(same_labels, str):
        raise TypeError(
            f"same_labels must hold pairs of labels, got the str {shorten(same_labels)}."
        )
    agree = set()
    for pair in same_labels:
        labels = () if isinstance(pair, str) or not isinstance(pair, Collection) else tuple(pair)
        if not labels or not all(isinstance(label, str) for label in labels):
            raise TypeError(
                "same_labels must hold pairs of labels such as ('ADVP', 'PRT'), got "
                f"{shorten(pair)}."
            )
        if len(labels) != 2:
            raise ValueError(
                f"same_labels must hold pairs of labels, got {len(labels)}: {shorten(pair)}."
            )
        agree |= {labels, labels[::-1]}
    return frozenset(agree)


def _find_brackets(tree: ParseTree | None) -> _Brackets:
    found = _Brackets([], [], [])
    if tree is None:
        return found
    if not isinstance(tree, ParseTree):
        raise TypeError(f"Trees must be of class ParseTree, got {type(tree).__name__}.")
    begins: list[int] = []  # of the children that wait for their parent
    below_is_word = False
    for item in tree._flat():
        is_word = isinstance(item, str)
        if isinstance(item, str):
            begins.append(len(found.words))
            found.words.append(as_in_treebanks(item))
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


def _collect(
    tree: _Brackets, keep: list[bool], uncounted: frozenset[str], labelled: bool, trivial: bool
) -> Brackets:
    """Return the brackets that count, over the words to keep."""
    place = list(accumulate(keep, initial=0))  # of every word among those
    brackets: Brackets = {}
    for label, begin, end in reversed(tree.spans):
        category = _MARK.split(label, maxsplit=1)[0]
        span = place[begin], place[end]
        n_words = span[1] - span[0]
        if n_words == 0 or category in uncounted or (not trivial and n_words in (1, place[-1])):
            continue
        if labelled:
            brackets.setdefault(span, []).append(category)
        else:
            brackets[span] = [""]
    return brackets


def _match(true: Brackets, predicted: Brackets, agree: frozenset[tuple[str, str]]) -> int:
    """Return how many brackets match: each true one takes the first that is left for it."""
    n_matched = 0
    for span, labels in true.items():
        rest = list(predicted.get(span, ()))
        for label in labels:
            for i, other in enumerate(rest):
                if label == other or (label, other) in agree:
                    del rest[i]
                    n_matched += 1
                    break
    return n_matched


def _share(part: int, whole: int) -> float:
    return part / whole if whole else math.nan
