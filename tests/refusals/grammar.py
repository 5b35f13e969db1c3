"""Grammars and trees: mistakes and their messages."""

import io

import nltk
import numpy as np

from refusals.samples import TREES, WORDS, refine
from skdp.data import PartitionedSentences, TokenSequences
from skdp.grammar import HDPPCFG, ParseTree, inside_outside

tree_of = ParseTree.from_brackets

MARKED = tree_of("(@S (A c) (B d))")


def refiner():
    return refine(WORDS, TREES)


def tagged(tags):
    return refiner().predict(WORDS, tags)


BRACKETED = [[0, 1, 1], [1, 0]]


def known(y):
    return HDPPCFG(2, max_iter=1).fit(BRACKETED, y)


def parts(sentences, n_words=None):
    whole = TokenSequences.from_sequences(sentences, n_words)
    return PartitionedSentences.from_sentences(whole, min(2, len(whole)))


def weigh(sentences=([0, 1],), **weights):
    shapes = {"root": 2, "rule_type": (2, 2), "emission": (2, 4), "binary": (2, 2, 2)}
    return inside_outside(sentences, **{k: np.ones(v) for k, v in shapes.items()} | weights)


TABLE = r"""
HDPPCFG(2).fit(HIDDEN) -> X must not be a masked array
inside_outside([[0]], [1.0], [[0.5, 0.5]], HIDDEN[:1, :1], [[[1.0]]])
    emission must not be a masked
HDPPCFG(2).fit(DAYS) -> X must hold numbers, got dates
HDPPCFG(2).fit((s for s in SENTENCES)) -> TypeError: pass list(X)
refine(iter(WORDS), TREES) -> TypeError: X must be a sequence
refine(WORDS, iter(TREES)) -> TypeError: y must be a sequence
pcfg(n_components=10 ** 6) -> ~ n_components=10{6}.*GiB
pcfg(n_init=2 ** 31 - 1) -> n_init=2147483647...GiB
HDPPCFGRefiner(10 ** 6).fit(WORDS, TREES) -> ~ n_components=10{6} subsymbols.*GiB
known({0: [(0, 2)]}) -> TypeError: y must be a sequence ...got dict
known(['(S a b)', None]) -> TypeError: y[0] must be a list of spans
known([['ab'], None]) -> TypeError: y[0] must hold spans...'ab'
known([(0, 2), None]) -> TypeError: y[0] must hold spans...got 0
known(np.ma.masked_array([1, 2])) -> y must not be a masked
known([[(0, VAST)], None]) -> y[0]: ...out of range
pcfg(rule_type_prior=[1.0, $]) for $ in 0.0 | np.nan -> rule_type_prior must be pos
pcfg(rule_type_prior=[1.0] * 4) -> rule_type_prior must be a number or 2
pcfg(rule_type_prior=[$]) for $ in 1.0, 'a' | [1.0, 1.0] -> rule_type_prior must be a number or 2
pcfg(n_preterminals=2, rule_type_prior=[1.0] * 2) -> rule_type_prior must be...4
pcfg(emission_prior=[1.0] * 4) -> 'emission_prior'
pcfg(binary_concentration=[1.0] * 4) -> binary_concentration must be a number or 1
pcfg(n_preterminals=2, binary_concentration=[1.0, 1.0, -1.0, 1.0])
    binary_concentration must be positive
pcfg(inference=$, child_prior='independent') for $ in 'em' | 'viterbi-em' -> child_prior is for
pcfg($) for $ in top_concentration='auto' | root_concentration='auto' -> $ is for inference='gibbs'
pcfg(inference='em', binary_concentration='auto') -> binary_concentration='auto' is for
pcfg(n_chains=2) -> n_chains has no effect with inference='vb'
pcfg(inference='em', n_chains=3) -> n_chains has no effect with inference='em'
pcfg(inference='gibbs', n_init=2) -> n_init has no effect with inference='gibbs'
pcfg(inference='gibbs', tol=0.1) -> tol has no effect
pcfg(inference='gibbs', init='annealed') -> init has no effect
pcfg(inference='gibbs', dtype='float32') -> dtype has no effect
pcfg(inference='gibbs', pseudo_count=0.1) -> pseudo_count is for
pcfg(inference='gibbs', max_iter=9, burn_in=9) -> burn_in must be smaller than max_iter
pcfg(pseudo_count=0.1) -> pseudo_count is for inference='em'
pcfg(inference='viterbi-em', init='annealed') -> init='annealed' has no effect
HDPPCFG(2).fit(np.empty((0, 3), int)) -> 0 sample
HDPPCFG(2).fit(TokenSequences([], [0, 0, 0], 2)) -> 0 word(s) in X
HDPPCFG(2).fit([[0, 1], [-1, 0, 1]]) -> ~ -1|[Nn]egative
HDPPCFG(2).fit($) for $ in [[0, 1], [0.5, 0, 1]] | np.array([[0.5, 1.0]]) -> ~ 0.5|whole|integer
HDPPCFG(2).fit(np.array([[0.0, np.nan]])) -> NaN
HDPPCFG(2).fit(np.array([[0.0, np.inf]])) -> infinity
HDPPCFG(2).fit([['the', 'dog'], ['a']]) -> X holds text
HDPPCFG(2).fit(['the dog']) -> X holds text...or TokenVectorizer(analyzer="char")
HDPPCFG(2).fit([TREES[0]]) -> X holds trees, and HDPPCFG reads
HDPPCFG(2).fit([[2 ** 40], [0, 1]]) -> out of range
HDPPCFG(2, max_length=2).fit([[0, 1, 2], [1, 1, 1, 1]])
    All sentences are longer than max_length=2
HDPPCFG(2, max_length=1).fit(parts([[0, 1]])) -> longer than max_length=1
HDPPCFG(2, inference='gibbs', max_length=3).fit([[0], [], [1, 0, 1, 0], [0] * 5])
    Sentence 2 has 4 words, more than max_length=3
HDPPCFG(2, inference='gibbs', max_length=4).fit([[0], [], [1, 0, 1, 0]]) -> fine
pcfg($) for $ in max_length=3 | rule_type_prior=[1, 2], binary_concentration=np.float64(1) -> fine
HDPPCFG(2, inference='gibbs').fit(parts(SENTENCES))
    TypeError: takes no PartitionedSentences...X.compute()
HDPPCFG(2).fit(parts([[], []], 2)) -> Found 0 word(s)
HDPPCFG(2, n_jobs=0).fit(parts(SENTENCES)) -> n_jobs
pcfg().score(parts([[], []], 3)) -> no words to score
pcfg().score_samples(parts([[0]], 5)) -> 5 features, but HDPPCFG is expecting 3
HDPPCFG(2).fit(np.array([[0, 1], [1, 1]])).predict(parts([[0]], 2)) -> fitted on an array
HDPPCFG(2).fit(np.array([[0, 1, 2]])).transform(np.array([[0, 1]])) -> 2 features
pcfg().predict([[0, 3]]) -> ~ 3|vocabulary|range
pcfg().transform([]) -> 0 sample
pcfg().score([[-1]]) -> ~ -1|[Nn]egative
pcfg().score_samples([[0, 3]]) -> ~ 3|vocabulary|range
pcfg().sample($) for $ in 0 | 1.5 -> n_sentences
pcfg().sample(max_length=0) -> max_length
HDPPCFG(2, n_preterminals=2, inference='em').fit([[0, 1, 0, 1, 1]] * 3).sample(max_length=1)
    max_length=1
pcfg().k_best(SENTENCES, $) for $ in 0 | -1 | 1.5 -> k must be an integer >= 1
pcfg().top_words(['a', 'b']) -> feature_names must hold n_features=3 names
pcfg().top_words(n=0) -> n must be
pcfg().top_words(n=100) -> n must be at most n_words=3, got 100
pcfg().predict(SENTENCES, feature_names=['a']) -> feature_names must hold n_features=3
pcfg().k_best(SENTENCES, feature_names=['a']) -> feature_names must hold n_features=3
pcfg().predict(parts(SENTENCES), feature_names=['a', 'b', 'c'])
    feature_names go with sentences in memory
known([[(0, 3)]]) -> X has 2 sentence(s), and y has 1 entries
known([0, 1, 0]) -> y has 3 entries
known([]) -> y has 0 entries
known('ab') -> TypeError: y must be a sequence...got str
known(3) -> TypeError: y must be a sequence...got int
known(np.array(3)) -> TypeError: y must be a sequence
known([None, $]) for $ in 4 | 0.5 | {(0, 2): 'NP'}
    TypeError: y[1] must be a list of spans...got $
known([[], 'NP']) -> TypeError: y[1] must be a list of spans...got 'NP'
known([None, [$]]) for $ in 'NP' | (0, 1, 2) | (0, 2.0) | (False, True) | ('NP', 0, 2) | None
    TypeError: y[1] must hold spans...got $
known([None, [(0, 2), '02']]) -> TypeError: y[1] must hold spans...got '02'
known([None, [(0, 3)]]) -> y[1]: the span (0, 3) is out of range...<= 2
known([None, [($)]]) for $ in -1, 2 | 2, 2 | 2, 1 -> y[1]: the span ($) is out of range
known([None, [(0, 2 ** 70)]]) -> y[1]: the span...is out of range
known([[(1, 3), (0, 3), (0, 2)], None]) -> y[0]: the spans (0, 2) and (1, 3) cross...sentence
known([TREES[0], None]) -> y[0] is a tree of 2 words, but the sentence has 3
HDPPCFG(2, max_length=2).fit(BRACKETED, [[(0, 4)], None]) -> y[0]: the span (0, 4)
HDPPCFG(2, inference='gibbs').iter_sweeps(BRACKETED, [None, ['NP']])
    TypeError: y[1] must hold spans...got 'NP'
HDPPCFG(2).fit(parts(BRACKETED), [None]) -> an entry for each of the 2 partitions
HDPPCFG(2).fit(parts(BRACKETED), [None, [None, None]]) -> and y[1] has 2 entries
HDPPCFG(2).fit(parts(BRACKETED), [None, [[(0, 9)]]]) -> y[1][0]: the span (0, 9) is out of range
HDPPCFG(2).fit(parts(BRACKETED), 3) -> TypeError: y must be a sequence
known([1]) -> X has 2 sentence...and y has 1 entries
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
    inconsistent numbers of samples: X has 2 sentence(s), and y has 1 tree(s)
refine(WORDS, [TREES[0], MARKED])
    tree 1: Labels must not begin with '@' before binarization: '@S'
refiner().tree_proba(WORDS, [TREES[0], MARKED]) -> tree 1: Labels must not begin with '@'
refine([['a' * 1000, 'b'], WORDS[1]], TREES)
    ~ word 0 is 'a' in the tree and 'a{199}\.\.\. in the sentence
tagged([['A', {}], None]) -> ~ sentence 0: .*the tag {}
tagged([[['A'], 'B'], None]) -> sentence 0: ...tag ['A']
tagged([['A', np.ones(2)], None]) -> sentence 0: ...tag array
tagged([{'A', 'B'}, None]) -> TypeError: sentence 0: tags must...got set
tagged({0: ['A', 'B'], 1: None}) -> TypeError: tags must be...got dict
tagged(np.array(1)) -> TypeError: tags must...without dimensions
tagged([b'AB', None]) -> TypeError: sentence 0: tags must...got bytes
tagged(np.ma.masked_array([['A', 'B']] * 2)) -> tags must not be
refiner().count_active_rules(-VAST) -> thresh...type int
refiner().set_params(n_jobs=10 ** 6).score_samples(WORDS) -> n_jobs must be...4096...got 1000000
refiner().set_params(n_jobs='all').tree_proba(WORDS, TREES) -> n_jobs must be...got 'all'
pcfg().set_params(n_jobs=np.nan).predict(SENTENCES) -> n_jobs must be...got nan
refiner().k_best(WORDS, VAST) -> k must be...type int
tree_of('(S a') -> line 1: a bracket is never closed
tree_of('(S\n(A a)\n(B b') -> line 3: a bracket is never closed
tree_of('(S a))') -> line 1: a closing bracket without an opening bracket
tree_of('(S a)\n)') -> line 2: a closing bracket without an opening bracket
tree_of('(S\n(A))') -> line 2: the bracket (A) is empty
tree_of('(S\n())') -> line 2: the bracket () is empty
tree_of('( () (A a))') -> line 1: the bracket () is empty
tree_of($) for $ in '()' | '( ( ) )' -> The tree is empty
tree_of('(S a)\nb') -> line 2: 'b' is outside of brackets
tree_of('(S (A a)\n((B b)))') -> line 2: an inner bracket has no label
tree_of('(((S a)))') -> line 1: an inner bracket has no label
tree_of('') -> must hold one tree, but it holds 0
tree_of('(S a) (S b)') -> must hold one tree, but it holds 2
tree_of('(A a)', root_label='(') -> root_label must not contain white space
read_trees(io.StringIO('(S a)'), root_label='') -> root_label must not be empty
read_trees(io.StringIO('(S a)'), on_bad_trees='skip') -> on_bad_trees must be 'error' or 'warn'
ParseTree('S', []) -> A node must have children, but 'S' has none
ParseTree('S', 'dog') -> TypeError: children must be a sequence of trees and words, got 'dog'
ParseTree('S', TREES[0]) -> TypeError: pass a single child as a list of one
ParseTree('S', [3]) -> TypeError: A word must be a str, got 3
ParseTree('S', ['']) -> A word must not be empty
ParseTree('S', ['New York']) -> A word must not contain white space, got 'New York'
ParseTree('', ['a']) -> A label must not be empty
ParseTree('S(', ['a']) -> must not contain white space or parentheses, got 'S('
ParseTree(7, ['a']) -> TypeError: A label must be a str, got 7
TREES[0].with_leaves(['a']) -> words must hold 2 words, one per leaf, got 1
TREES[0].with_leaves(['a', '']) -> A word must not be empty
TREES[0].map_labels(lambda label: '') -> A label must not be empty
TREES[0].map_labels(lambda label: None) -> TypeError: A label must be a str, got None
ParseTree.from_nltk(nltk.Tree('S', [('he', 'PRP')]))
    TypeError: A word must be a str, got ('he', 'PRP')
ParseTree.from_nltk(nltk.Tree('S', [])) -> A node must have children, but 'S' has none
ParseTree.from_nltk($) for $ in ['S', 'a'] | '(S a)' | None
    TypeError: tree must be an nltk.Tree, got
binarize(MARKED) -> Labels must not begin with '@' before binarization
debinarize(MARKED) -> The root must not be an intermediate node, got '@S'
binarize(TREES[0], $) for $ in -1 | 1.0 | '1' | True | None
    horizontal_order must be an integer >= 0, got
binarize(TREES[0], vertical_order=$) for $ in 0 | '2' -> vertical_order must be an integer >= 1, got
debinarize(TREES[0], $) for $ in -1 | 2.0 | True | None
    vertical_order must be an integer >= 1, got
binarize(tree_of('(X^Y a b)'), 0, 3) -> Labels must not contain '^' with vertical_order=3: 'X^Y'
binarize(tree_of('(S (X^ a) (B b))'), 0, 3)
    Labels must not contain '^' with vertical_order=3: 'X^'
binarize(tree_of('(S (^ a) (B b))'), 0, 3) -> Labels must not contain '^' with vertical_order=3: '^'
debinarize(tree_of('(S^ (^S a b) c)'), 2) -> Labels must not begin with '^' with vertical_order=2
head_children(tree_of('(S (NP (NN a)) he)')) -> The word 'he' has siblings below 'S'
lexicalize(tree_of('(S (NP (NN a)) he)')) -> The word 'he' has siblings below 'S'
binarize('(S a)') -> TypeError: ParseTree...from_brackets
debinarize('(S a)') -> TypeError: ParseTree...from_brackets
binarize(None) -> TypeError: tree must be a ParseTree, got NoneType
binarize(nltk.Tree('S', ['a'])) -> TypeError: must be a ParseTree...ParseTree.from_nltk
refine(WORDS, [tree.to_nltk() for tree in TREES])
    TypeError: tree 0: must be a ParseTree...ParseTree.from_nltk
ParseTree('S', [nltk.Tree('A', ['a'])]) -> TypeError: A child must be...ParseTree.from_nltk
refine(WORDS, ['(S a)', '(S b)']) -> TypeError: from_brackets
refine(WORDS, TREES[::-1])
    tree 0 and sentence 0 differ in their words...'c' in the tree...'a' in the sentence
refine([['a', 'b'], ['c']], TREES)
    tree 1 and sentence 1 differ in their words...has 2 words and the sentence 1
ParseTree.from_brackets($) for $ in None | b'(S a)' -> TypeError: text must be a str
ParseTree('S', None) -> TypeError: children must be a sequence
TREES[0].with_leaves($) for $ in None | 'ab' -> TypeError: words must be a list
TREES[0].map_labels(None) -> TypeError: function must be callable
read_trees(' (S (A a))') -> got trees, ' (S (A a))': use ParseTree.from_brackets
read_trees(10 ** 9) -> TypeError: file must be a path
refine(WORDS, TREES).count_active_rules(0) -> thresh
refine([], []) -> 0 sample
refine([()], TREES[:1]) -> tree 0 and sentence 0 differ in their words
refine([()], [None]) -> 0 word(s) in X
refine(WORDS[:1], [None]) -> tree 0 is None, but sentence 0 has words
refine(['a b'], TREES[:1]) -> TypeError ~ got str. Cut it into words: .* \[sentence.split\(\)\]
refine([7], TREES[:1]) -> TypeError ~ sentence 0: must be a sequence of words, got int.$
refine(TREES, TREES) -> TypeError: got ParseTree. Trees are y...leaves for tree in trees
refine('a b', TREES[:1]) -> TypeError: X must be a sequence of sentences, got str
refine([(1, 2)], TREES[:1]) -> TypeError: words must be str
refine(WORDS[:1], None) -> y must hold the parse trees
refine(WORDS[:1], ['(S a)']) -> TypeError: tree 0: must be a ParseTree, got str
refine([('a', 'b')], [tree_of("(S a (X b))")])
    tree 0: a word must be the only child...'S' has the word 'a' and other children
refine([(), ('a', 'b', 'c')], [None, tree_of('(NP (X a) b c)')])
    tree 1: a word must be the only child...'NP' has the word 'b' and other children
refine([('a', '')], TREES[:1]) -> sentence 0: word 1 must not be empty or contain
refine(WORDS, TREES, pseudo_count=0.1) -> pseudo_count is for
refine(WORDS, TREES, inference='split-merge', pseudo_count=0.1) -> pseudo_count
refine(WORDS, TREES, n_cycles=2) -> n_cycles is for inference='split-merge'. Got n_cycles=2
refine(WORDS, TREES, inference='em', n_cycles=0)
    n_cycles is for inference='split-merge'. Got n_cycles=0
refine(WORDS, TREES, inference='viterbi-em', merge_share=0)
    merge_share is for inference='split-merge'. Got merge_share=0
refine(WORDS, TREES).score(WORDS[:1], TREES[1:]) -> differ in their words
refiner().predict([['a', 'b'], ['a', 'New York']])
    sentence 1: word 1 must not be empty or contain
refiner().k_best([['a', 'b'], ['a', '']]) -> sentence 1: word 1 must not be empty or contain
refiner().score_samples([['a', 'b'], ['a', ' ']]) -> sentence 1: word 1 must not be empty or contain
refiner().predict([[$]]) for $ in 'a\tb' | 'a\n' -> sentence 0: word 0 must not be empty or contain
refiner().k_best(WORDS, $) for $ in 0 | 1.5 | '2' -> k must be
tagged('AB') -> TypeError: tags must be a sequence
tagged([['A', 'B']]) -> tags must be of 2 sentences, as X, got 1
tagged([None, 'AB']) -> TypeError: sentence 1: tags must be a sequence
tagged([None, ['A']]) -> sentence 1 has 2 words, but 1 tags
refiner().k_best(WORDS, tags=[['S', 'B'], None]) -> sentence 0: no word of...has the tag 'S'
refiner().set_params(decoding='best').predict(WORDS) -> decoding
refine([['a', 'b', 'c']], [tree_of('(S (NP^X (A a) (B b)) (C c))')], vertical_order=2)
    vertical_order=2: 'NP^X'
weigh(root=[]) -> root must have a weight for each symbol
weigh(root=[[1.0]]) -> root must have 1 dimension
weigh(root=[1.0]) -> rule_type must be of shape (1, 2)
weigh(rule_type=np.ones((2, 3))) -> rule_type must be of shape (2, 2)
weigh(emission=np.ones((1, 4))) -> emission must be of shape (2, n_words)
weigh(emission=np.ones(2)) -> emission must have 2 dimension
weigh(binary=np.ones((2, 2, 1))) -> binary must be of shape (2, 2, 2)
weigh(binary=np.full((2, 2, 2), -1.0)) -> binary must hold finite weights
weigh(root=[1.0, np.nan]) -> root must hold finite weights
weigh(emission=np.full((2, 4), np.inf)) -> emission must hold finite weights
weigh([]) -> minimum of 1 is required
weigh([[0], []]) -> Sentence 1 has no words
weigh([[0], [4]]) -> ~ id 4 .* not in the vocabulary, which has 4 words:
weigh([[0, -1]]) -> word id -1 is out of range
weigh([[0.5, 1.0], [1.0]]) -> must be a sequence of word ids
weigh(['a b']) -> holds text
weigh(TokenSequences.from_sequences([[0, 5]])) -> word id 5 is out of range
inside_outside([[0]], 'x', 0, 0, 0) -> root must hold
inside_outside([], [1.0], [[0.5, 0.5]], [[1.0]], [[[1.0]]]) -> required by inside_outside
refine(np.array(WORDS), np.array(TREES, dtype=object)) -> fine
refine({0: WORDS[0], 1: WORDS[1]}.values(), tuple(TREES)) -> fine
refiner().predict([iter(['a', 'b'])], [iter(['A', 'B'])]) -> fine
tagged(np.array([['A', 'B'], ['A', 'B']])) -> fine
ParseTree('S', (word for word in ['a', 'b'])) -> fine
read_trees(io.BytesIO(b'(S a)')) -> fine
HDPPCFG(20).fit([[0, STRAY]]) -> 2147483647 words...GiB
"""
