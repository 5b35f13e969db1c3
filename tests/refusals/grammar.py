"""Grammars and trees: mistakes and their messages."""

import io

import nltk
import numpy as np

from refusals.samples import (
    DAYS,
    HIDDEN,
    SENTENCES,
    STRAY,
    TREES,
    VAST,
    WORDS,
    pcfg,
    refine,
)
from skdp.grammar import (
    HDPPCFG,
    HDPPCFGRefiner,
    ParseTree,
    binarize,
    debinarize,
    inside_outside,
    read_trees,
)

MARKED = ParseTree.from_brackets("(@S (A c) (B d))")


def refiner():
    return refine(WORDS, TREES)


def tagged(tags):
    return refiner().predict(WORDS, tags)


def known(y):
    return HDPPCFG(2, max_iter=1).fit([[0, 1, 1], [1, 0]], y)


TABLE = r"""
HDPPCFG(2).fit(HIDDEN) -> ValueError: X must not be a masked array
inside_outside([[0]], [1.0], [[0.5, 0.5]], HIDDEN[:1, :1], [[[1.0]]])
    ValueError: emission must not be a masked
HDPPCFG(2).fit(DAYS) -> ValueError: X must hold numbers, got dates
HDPPCFG(2).fit((s for s in SENTENCES)) -> TypeError: pass list(X)
refine(iter(WORDS), TREES) -> TypeError: X must be a sequence
refine(WORDS, iter(TREES)) -> TypeError: y must be a sequence
pcfg(max_iter=True) -> ValueError: max_iter...True
pcfg(n_components=10 ** 6) -> ValueError ~ n_components=10{6}.*GiB
pcfg(n_init=2 ** 31 - 1) -> ValueError: n_init=2147483647...GiB
HDPPCFGRefiner(10 ** 6).fit(WORDS, TREES) -> ValueError ~ n_components=10{6} subsymbols.*GiB
known({0: [(0, 2)]}) -> TypeError: y must be a sequence ...got dict
known(['(S a b)', None]) -> TypeError: y[0] must be a list of spans
known([['ab'], None]) -> TypeError: y[0] must hold spans...'ab'
known([(0, 2), None]) -> TypeError: y[0] must hold spans...got 0
known(np.ma.masked_array([1, 2])) -> ValueError: y must not be a masked
known([[(0, VAST)], None]) -> ValueError: y[0]: ...out of range
known([1]) -> ValueError: X has 2 sentence...and y has 1 entries
refine(np.array('a'), TREES) -> TypeError: X must...without dimensions
refine({0: WORDS[0]}, TREES) -> TypeError: X must be a sequence...got dict
refiner().predict({('a', 'b')}) -> TypeError: X must be...got set
refiner().predict([{'a', 'b'}]) -> TypeError: sentence 0: ...got set
refiner().score_samples([{'a': 1}]) -> TypeError: sentence 0: ...got dict
refiner().predict([b'ab']) -> TypeError: sentence 0: ...got bytes
refiner().predict([['a'], np.array('b')])
    TypeError: sentence 1: must be a sequence of words, got an array without dimensions
refine(WORDS, np.array(1)) -> TypeError: y must...without dimensions
refine(WORDS, dict(enumerate(TREES))) -> TypeError: y must be...got dict
refine(WORDS, TREES[:1])
    ValueError: inconsistent numbers of samples: X has 2 sentence(s), and y has 1 tree(s)
refine(WORDS, [TREES[0], MARKED])
    ValueError: tree 1: Labels must not begin with '@' before binarization: '@S'
refiner().tree_proba(WORDS, [TREES[0], MARKED])
    ValueError: tree 1: Labels must not begin with '@'
refine([['a' * 1000, 'b'], WORDS[1]], TREES)
    ValueError ~ word 0 is 'a' in the tree and 'a{199}\.\.\. in the sentence
tagged([['A', {}], None]) -> ValueError ~ sentence 0: .*the tag {}
tagged([[['A'], 'B'], None]) -> ValueError: sentence 0: ...tag ['A']
tagged([['A', np.ones(2)], None]) -> ValueError: sentence 0: ...tag array
tagged([{'A', 'B'}, None]) -> TypeError: sentence 0: tags must...got set
tagged({0: ['A', 'B'], 1: None}) -> TypeError: tags must be...got dict
tagged(np.array(1)) -> TypeError: tags must...without dimensions
tagged([b'AB', None]) -> TypeError: sentence 0: tags must...got bytes
tagged(np.ma.masked_array([['A', 'B']] * 2)) -> ValueError: tags must not be
refiner().count_active_rules(-VAST) -> ValueError: thresh...type int
refine(WORDS, TREES, n_jobs=10 ** 6) -> ValueError: 'n_jobs'...4096
refiner().set_params(n_jobs=10 ** 6).score_samples(WORDS)
    ValueError: n_jobs must be...4096...got 1000000
refiner().set_params(n_jobs='all').tree_proba(WORDS, TREES)
    ValueError: n_jobs must be...got 'all'
pcfg().set_params(n_jobs=np.nan).predict(SENTENCES) -> ValueError: n_jobs must be...got nan
refiner().k_best(WORDS, VAST) -> ValueError: k must be...type int
binarize('(S a)') -> TypeError: ParseTree...from_brackets
debinarize('(S a)') -> TypeError: ParseTree...from_brackets
binarize(None) -> TypeError: tree must be a ParseTree, got NoneType
binarize(nltk.Tree('S', ['a'])) -> TypeError: must be a ParseTree...ParseTree.from_nltk
refine(WORDS, [tree.to_nltk() for tree in TREES])
    TypeError: tree 0: must be a ParseTree...ParseTree.from_nltk
ParseTree('S', [nltk.Tree('A', ['a'])]) -> TypeError: A child must be...ParseTree.from_nltk
refine(WORDS, ['(S a)', '(S b)']) -> TypeError: from_brackets
refine(WORDS, TREES[::-1])
    ValueError: tree 0 and sentence 0 differ in their words...'c' in the tree...'a' in the sentence
refine([['a', 'b'], ['c']], TREES)
    ValueError: tree 1 and sentence 1 differ in their words...has 2 words and the sentence 1
ParseTree.from_brackets(None) -> TypeError: text must be a str
ParseTree.from_brackets(b'(S a)') -> TypeError: text must be a str
ParseTree('S', None) -> TypeError: children must be a sequence
TREES[0].with_leaves(None) -> TypeError: words must be a list
TREES[0].with_leaves('ab') -> TypeError: words must be a list
TREES[0].map_labels(None) -> TypeError: function must be callable
read_trees(' (S (A a))') -> ValueError: got trees, ' (S (A a))': use ParseTree.from_brackets
read_trees(10 ** 9) -> TypeError: file must be a path
refine(WORDS, TREES).count_active_rules(0) -> ValueError: thresh
inside_outside([[0]], 'x', 0, 0, 0) -> ValueError: root must hold
inside_outside([], [1.0], [[0.5, 0.5]], [[1.0]], [[[1.0]]])
    ValueError: required by inside_outside
refine(np.array(WORDS), np.array(TREES, dtype=object)) -> fine
refine({0: WORDS[0], 1: WORDS[1]}.values(), tuple(TREES)) -> fine
refiner().predict([iter(['a', 'b'])], [iter(['A', 'B'])]) -> fine
tagged(np.array([['A', 'B'], ['A', 'B']])) -> fine
pcfg(rule_type_prior=[1, 2], binary_concentration=np.float64(1)) -> fine
ParseTree('S', (word for word in ['a', 'b'])) -> fine
read_trees(io.BytesIO(b'(S a)')) -> fine
HDPPCFG(20).fit([[0, STRAY]]) -> ValueError: 2147483647 words...GiB
"""
