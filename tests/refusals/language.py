"""Language models: mistakes and their messages."""

import warnings

import numpy as np
import pandas as pd
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV

from refusals.samples import SENTENCES
from skdp.language import (
    CollocationPitmanYorLM,
    HierarchicalPitmanYorLM,
    KneserNeyLM,
    LanguageModelClassifier,
    NestedPitmanYorLM,
)

RUN = ["thedog", "sat"]
CUTS = [np.array([0, 0, 1, 0, 0]), np.array([0, 0])]
SHORT = {"max_iter": 8, "n_chains": 1}


def lm(X=SENTENCES, order=2, **params):
    return HierarchicalPitmanYorLM(order, **{"max_iter": 4, **params}).fit(X)


def kn(X=SENTENCES, order=2, **params):
    return KneserNeyLM(order, **{"discount": 0.5, **params}).fit(X)


def classifier(y, X=SENTENCES, **params):
    return LanguageModelClassifier(KneserNeyLM(2, discount=0.5), **params).fit(X, y)


def nested(X=RUN, y=None, **params):
    return NestedPitmanYorLM(**{**SHORT, **params}).fit(X, y)


def collocations(X=RUN, y=None, **params):
    return CollocationPitmanYorLM(**{**SHORT, **params}).fit(X, y)


TABLE = r"""
lm(HIDDEN) -> X must not be a masked array
lm(DAYS) -> X must hold numbers, got dates
lm(TEXTS) -> X holds text...TokenVectorizer
kn([[0, 1], [1]]).score(['the cat'])
    ~ X holds text.*: pass transform\(X\) of the vectorizer of the fit\.$
kn(['the', 'cat']) -> X holds text...TokenVectorizer
lm(pd.Series([['the', 'cat'], ['a']])) -> X holds text...Token
lm((s for s in SENTENCES)) -> TypeError: pass list(X)
lm([]) -> minimum of 1 is required
lm([[], []], end_of_sequence=False) -> 0 feature
lm(TokenSequences.from_sequences([[], []], 3), end_of_sequence=False)
    X has no words at all...HierarchicalPitmanYorLM
lm(np.array([[0.5, 1.0]])) -> word ids (integers)...0.5
lm([[0.5, 1.0], [2.0]]) -> sentence 0...integers
lm([[0, -1], [1]]) -> sentence 0: word id -1
lm(discount=[0.5] * 3) -> discount must be...2 numbers
lm(discount=[0.5, 1.5]) -> discount must be a number in
lm(order=None, discount=[0.5] * 3, concentration=[1.0] * 2)
    concentration must be...3 numbers...from 0 to 2 and more
lm(order=None, discount=[]) -> discount must be...1 numbers
kn(discount=$) for $ in [0.5] * 3 | [[1, 2, 4]] * 2 -> discount must be...2 of them
lm(burn_in=4) -> burn_in must be smaller than max_iter
lm(base=[0.5, 0.5]) -> base must hold 4...3 words and
lm(base=[1, 1, 1, 1]) -> base...with sum 1
lm(base=[0, 0.5, 0.2, 0.3]) -> outcome 0 of X the probability
lm(base=HierarchicalPitmanYorLM())
    NotFittedError: base...HierarchicalPitmanYorLM, is not fitted...FrozenEstimator
GridSearchCV(HierarchicalPitmanYorLM(2, base=lm(), max_iter=4), {'order': [1]}, cv=2,
        error_score='raise').fit(SENTENCES)
    NotFittedError: FrozenEstimator
lm().score([[0, 7]]) -> sentence 0: word id 7...TokenVec
kn().predict([[3, 7]]) -> word id 3...TokenVectorizer
lm(end_of_sequence=False).score([[], []]) -> no words
lm().sample(0) -> n_sequences
lm().to_arpa('x.arpa', ['a', 'b']) -> 3 names
lm().to_arpa('x.arpa', ['a', 'b', 'c d']) -> 'c d'...white
kn().to_arpa('x.arpa', ['a', 'b', '<s>']) -> <s>
kn().to_arpa('x.arpa', ['a', 'b', 'a']) -> 'a' names two
kn().to_arpa(1, list('abc')) -> TypeError: path must be a str...int
lm().to_arpa(True, list('abc')) -> TypeError: path must be...bool
lm().to_arpa(b'x', list('abc')) -> TypeError: path must be...bytes
lm(order=None).to_arpa('x.arpa', list('abc')) -> order=None
lm().to_arpa('x.arpa', list('abc'), sample=9) -> sample must
classifier(None) -> requires y
classifier([0]) -> 2 sequences, y has 1
classifier([0.5, 1.7]) -> Unknown label type
LanguageModelClassifier(KneserNeyLM).fit([[0]], [0]) -> TypeError: KneserN
LanguageModelClassifier(GridSearchCV).fit([[0]], [0]) -> TypeError: Grid
classifier([0, 1], class_prior=[1.0]) -> 2 positive prob
classifier([0, 1], class_prior=[0.9, 0.9]) -> sum 1
lm([[0, STRAY]]) -> largest word id is 2147483646...GiB
kn([[0, STRAY]]) -> largest word id is 2147483646...GiB
kn().to_arpa('x.arpa', ['a', 'b', 'b\0']) -> feature_na...NUL
kn().to_arpa('x.arpa', ['a', 'b', '']) -> feature_na...empty
kn().to_arpa('x.arpa', ['a', 'b', '\ud800']) -> feature_na...surrogate
kn().to_arpa('x.arpa', ['a', 'b', 'b\u2028']) -> feature_na...white
kn().to_arpa('x.arpa', ['a', 'b', None]) -> feature_na...None...word 2...NoneType
kn().to_arpa('x.arpa', ['a', 'b', np.nan]) -> feature_na...nan...word 2...float
kn().to_arpa('x.arpa', ['a', 'b', b'c']) -> feature_na...bytes
kn().to_arpa('x.arpa', ['a', 'b', True]) -> feature_na...bool
kn().to_arpa('x.arpa', ['a', 'b', 1.0]) -> feature_na...float
kn().to_arpa('x.arpa', ['a', 'b', []]) -> feature_na...got ...list
NestedPitmanYorLM(max_iter=2).fit(["thedog", "thecat"], {0: [1]}) -> TypeError: y must be a list
NestedPitmanYorLM(max_iter=2).fit(["thedog", "thecat"], [[[1], [1, 2]], None])
    y must hold, for each sample, None or a 1, 0 or -1
strip_spaces($) for $ in 'a b' | ['a', 1] | [['a']] -> TypeError: texts must be a list of strings
nested('thedog') -> X must be a list of strings, got one string...X.splitlines()
nested().predict('thedog') -> got one string, 'thedog'. Pass [X]
nested().predict(pd.DataFrame({'id': range(2), 'text': RUN})) -> one column of strings...X['text']
nested([]) -> 0 sample
nested([$]) for $ in '' | '', '' -> Found array with 0 feature
nested().score(['']) -> no characters to score
nested(np.array([[0, -1]])) -> Negative values
nested([[0, -1]]) -> sentence 0: word id -1 is out of range
nested([[0, 1], [1]]).predict(RUN) -> was fitted on ids of characters
nested([[0, 1], [1]]).predict([[2]]) -> word id
nested(np.array([[0, 1], [1, 0]])).predict([[0, 1, 0]]) -> expecting 2 features
nested().inverse_transform(TokenSequences.from_sequences([[10**6]])) -> X must hold ids of
nested([['the', 'dog'], ['a', 'cat']]) -> characters: sample 0 is a list of words, ['the'...join
nested([[], np.array(['the', 'dog'])]) -> sample 1 is a list of words
nested(['thedog', $]) for $ in None | [0, 1] -> sample 1 is $
nested([b'thedog', b'acat']) -> sample 0 is b'thedog'...Decode
nested().predict(['thedog', None]) -> sample 1 is None
nested().score([b'thedog']) -> sample 0 is b'thedog'...Decode
nested(y=CUTS[:1]) -> known cuts of 2 samples, got 1
NestedPitmanYorLM(**SHORT).iter_sweeps(RUN, CUTS[:1]) -> y must hold known cuts of 2 samples, got 1
nested(y=[np.zeros(3), None]) -> sample 0 has 5 places
nested(y=[None, np.array([2, 0])]) -> sample 1 has
nested(['ab', 'abcdefghi', 'abc'], [np.zeros(n) for n in (1, 8, 2)], max_word_length=2)
    in sample 1 so that a word would have 9...: raise max_word_length to 9
nested(['ab', 'abcdefghi', 'abc'], [np.zeros(n) for n in (1, 8, 2)], max_word_length=9) -> fine
collocations(['abcdefghijklm', 'b'], [np.zeros(12), None]) -> so that a word would have 13
nested(warm_start=True).fit(RUN[:1]) -> needs the same X
nested(anneal=(1.5, 5)) -> anneal must not outlast the burn-in
nested(anneal=($)) for $ in 0.5, 2 | 1.5, 1.5 | 1.5, -> anneal must be a temperature
nested(length_correction=[1.0]) -> length_correction must hold max_word_length=20
nested(length_correction=[0.0] * 20) -> length_correction must hold
nested(length_correction='none', word_length=4) -> word_length has no effect without
nested(length_correction=[1.0] * 20, word_length='auto') -> word_length has no effect without
nested(length_correction='none', length_prior=(1, 1)) -> length_prior has no effect
nested(discount=(0.5, [0.1, 0.2])) -> discount must hold, for words and for characters
nested(discount=(0.5, 0.5, 0.5)) -> discount must be a number, 'auto' or a pair
nested(concentration=(0.0, 1.0)) -> concentration must hold
nested(burn_in=8) -> burn_in must be smaller than max_iter
collocations(max_collocation_length=11) -> must not be smaller than max_word_length=12
collocations(discount=(0.5, 0.5)) -> discount must be a number, 'auto' or three of them
collocations(discount=(0.5, [0.1, 0.2], 0.5)) -> must hold, for collocations, words and
collocations(concentration=(0.0, 1.0, 1.0)) -> concentration must hold
collocations(word_length=3.0) -> word_length has no effect without length_correction='poisson'
"""
