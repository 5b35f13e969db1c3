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
lm(HIDDEN) -> ValueError: X must not be a masked array
lm(DAYS) -> ValueError: X must hold numbers, got dates
lm(TEXTS) -> ValueError: X holds text...TokenVectorizer
kn([[0, 1], [1]]).score(['the cat'])
    ValueError ~ X holds text.*: pass transform\(X\) of the vectorizer of the fit\.$
kn(['the', 'cat']) -> ValueError: X holds text...TokenVectorizer
lm(pd.Series([['the', 'cat'], ['a']])) -> ValueError: X holds text...Token
lm((s for s in SENTENCES)) -> TypeError: pass list(X)
lm([]) -> ValueError: minimum of 1 is required
lm([[], []], end_of_sequence=False) -> ValueError: 0 feature
lm(TokenSequences.from_sequences([[], []], 3), end_of_sequence=False)
    ValueError: X has no words at all...HierarchicalPitmanYorLM
lm(np.array([[0.5, 1.0]])) -> ValueError: word ids (integers)...0.5
lm([[0.5, 1.0], [2.0]]) -> ValueError: sentence 0...integers
lm([[0, -1], [1]]) -> ValueError: sentence 0: word id -1
lm(discount=[0.5] * 3) -> ValueError: discount must be...2 numbers
lm(discount=[0.5, 1.5]) -> ValueError: discount must be a number in
lm(order=None, discount=[0.5] * 3, concentration=[1.0] * 2)
    ValueError: concentration must be...3 numbers...from 0 to 2 and more
lm(order=None, discount=[]) -> ValueError: discount must be...1 numbers
kn(discount=$) for $ in [0.5] * 3 | [[1, 2, 4]] * 2 -> ValueError: discount must be...2 of them
lm(burn_in=4) -> ValueError: burn_in must be smaller than max_iter
lm(base=[0.5, 0.5]) -> ValueError: base must hold 4...3 words and
lm(base=[1, 1, 1, 1]) -> ValueError: base...with sum 1
lm(base=[0, 0.5, 0.2, 0.3]) -> ValueError: outcome 0 of X the probability
lm(base=HierarchicalPitmanYorLM())
    NotFittedError: base...HierarchicalPitmanYorLM, is not fitted...FrozenEstimator
GridSearchCV(HierarchicalPitmanYorLM(2, base=lm(), max_iter=4), {'order': [1]}, cv=2,
        error_score='raise').fit(SENTENCES)
    NotFittedError: FrozenEstimator
lm().score([[0, 7]]) -> ValueError: sentence 0: word id 7...TokenVec
kn().predict([[3, 7]]) -> ValueError: word id 3...TokenVectorizer
lm(end_of_sequence=False).score([[], []]) -> ValueError: no words
KneserNeyLM().score(SENTENCES) -> NotFittedError: KneserNeyLM
lm().sample(0) -> ValueError: n_sequences
lm().to_arpa('x.arpa', ['a', 'b']) -> ValueError: 3 names
lm().to_arpa('x.arpa', ['a', 'b', 'c d']) -> ValueError: 'c d'...white
kn().to_arpa('x.arpa', ['a', 'b', '<s>']) -> ValueError: <s>
kn().to_arpa('x.arpa', ['a', 'b', 'a']) -> ValueError: 'a' names two
kn().to_arpa(1, list('abc')) -> TypeError: path must be a str...int
lm().to_arpa(True, list('abc')) -> TypeError: path must be...bool
lm().to_arpa(b'x', list('abc')) -> TypeError: path must be...bytes
lm(order=None).to_arpa('x.arpa', list('abc')) -> ValueError: order=None
lm().to_arpa('x.arpa', list('abc'), sample=9) -> ValueError: sample must
classifier(None) -> ValueError: requires y
classifier([0]) -> ValueError: 2 sequences, y has 1
classifier([0.5, 1.7]) -> ValueError: Unknown label type
LanguageModelClassifier(KneserNeyLM).fit([[0]], [0]) -> TypeError: KneserN
LanguageModelClassifier(GridSearchCV).fit([[0]], [0]) -> TypeError: Grid
classifier([0, 1], class_prior=[1.0]) -> ValueError: 2 positive prob
classifier([0, 1], class_prior=[0.9, 0.9]) -> ValueError: sum 1
lm([[0, STRAY]]) -> ValueError: largest word id is 2147483646...GiB
kn([[0, STRAY]]) -> ValueError: largest word id is 2147483646...GiB
kn().to_arpa('x.arpa', ['a', 'b', 'b\0']) -> ValueError: feature_na...NUL
kn().to_arpa('x.arpa', ['a', 'b', '']) -> ValueError: feature_na...empty
kn().to_arpa('x.arpa', ['a', 'b', '\ud800']) -> ValueError: feature_na...surrogate
kn().to_arpa('x.arpa', ['a', 'b', 'b\u2028']) -> ValueError: feature_na...white
kn().to_arpa('x.arpa', ['a', 'b', None]) -> ValueError: feature_na...None...word 2...NoneType
kn().to_arpa('x.arpa', ['a', 'b', np.nan]) -> ValueError: feature_na...nan...word 2...float
kn().to_arpa('x.arpa', ['a', 'b', b'c']) -> ValueError: feature_na...bytes
kn().to_arpa('x.arpa', ['a', 'b', True]) -> ValueError: feature_na...bool
kn().to_arpa('x.arpa', ['a', 'b', 1.0]) -> ValueError: feature_na...float
kn().to_arpa('x.arpa', ['a', 'b', []]) -> ValueError: feature_na...got ...list
NestedPitmanYorLM(max_iter=2).fit(["thedog", "thecat"], {0: [1]}) -> TypeError: y must be a list
NestedPitmanYorLM(max_iter=2).fit(["thedog", "thecat"], [[[1], [1, 2]], None])
    ValueError: y must hold, for each sample, None or a 1, 0 or -1
strip_spaces($) for $ in 'a b' | ['a', 1] | [['a']] -> TypeError: texts must be a list of strings
nested('thedog') -> ValueError: X must be a list of strings, got one string...X.splitlines()
nested().predict('thedog') -> ValueError: got one string, 'thedog'. Pass [X]
nested().predict(pd.DataFrame({'id': range(2), 'text': RUN}))
    ValueError: one column of strings...X['text']
nested([]) -> ValueError: 0 sample
nested([$]) for $ in '' | '', '' -> ValueError: Found array with 0 feature
nested().score(['']) -> ValueError: no characters to score
nested(np.array([[0, -1]])) -> ValueError: Negative values
nested([[0, -1]]) -> ValueError: sentence 0: word id -1 is out of range
nested([[0, 1], [1]]).predict(RUN) -> ValueError: was fitted on ids of characters
nested([[0, 1], [1]]).predict([[2]]) -> ValueError: word id
nested(np.array([[0, 1], [1, 0]])).predict([[0, 1, 0]]) -> ValueError: expecting 2 features
nested().inverse_transform(TokenSequences.from_sequences([[10**6]]))
    ValueError: X must hold ids of
nested([['the', 'dog'], ['a', 'cat']])
    ValueError: characters: sample 0 is a list of words, ['the'...join
nested([[], np.array(['the', 'dog'])]) -> ValueError: sample 1 is a list of words
nested(['thedog', None]) -> ValueError: sample 1 is None
nested(['thedog', [0, 1]]) -> ValueError: sample 1 is [0, 1]
nested([b'thedog', b'acat']) -> ValueError: sample 0 is b'thedog'...Decode
nested().predict(['thedog', None]) -> ValueError: sample 1 is None
nested().score([b'thedog']) -> ValueError: sample 0 is b'thedog'...Decode
nested(y=CUTS[:1]) -> ValueError: known cuts of 2 samples, got 1
NestedPitmanYorLM(**SHORT).iter_sweeps(RUN, CUTS[:1])
    ValueError: y must hold known cuts of 2 samples, got 1
nested(y=[np.zeros(3), None]) -> ValueError: sample 0 has 5 places
nested(y=[None, np.array([2, 0])]) -> ValueError: sample 1 has
nested(['ab', 'abcdefghi', 'abc'], [np.zeros(n) for n in (1, 8, 2)], max_word_length=2)
    ValueError: in sample 1 so that a word would have 9...: raise max_word_length to 9
nested(['ab', 'abcdefghi', 'abc'], [np.zeros(n) for n in (1, 8, 2)], max_word_length=9) -> fine
collocations(['abcdefghijklm', 'b'], [np.zeros(12), None])
    ValueError: so that a word would have 13
nested(warm_start=True).fit(RUN[:1]) -> ValueError: needs the same X
nested(anneal=(1.5, 5)) -> ValueError: anneal must not outlast the burn-in
nested(anneal=($)) for $ in 0.5, 2 | 1.5, 1.5 | 1.5, -> ValueError: anneal must be a temperature
nested(length_correction=[1.0]) -> ValueError: length_correction must hold max_word_length=20
nested(length_correction=[0.0] * 20) -> ValueError: length_correction must hold
nested(length_correction=$) for $ in 'none', word_length=4 | [1.0] * 20, word_length='auto'
    ValueError: word_length has no effect without
nested(length_correction='none', length_prior=(1, 1)) -> ValueError: length_prior has no effect
nested(discount=(0.5, [0.1, 0.2])) -> ValueError: discount must hold, for words and for characters
nested(discount=(0.5, 0.5, 0.5)) -> ValueError: discount must be a number, 'auto' or a pair
nested(concentration=(0.0, 1.0)) -> ValueError: concentration must hold
nested(burn_in=8) -> ValueError: burn_in must be smaller than max_iter
collocations(max_collocation_length=11) -> ValueError: must not be smaller than max_word_length=12
collocations(discount=(0.5, 0.5)) -> ValueError: discount must be a number, 'auto' or three of them
collocations(discount=(0.5, [0.1, 0.2], 0.5)) -> ValueError: must hold, for collocations, words and
collocations(concentration=(0.0, 1.0, 1.0)) -> ValueError: concentration must hold
collocations(word_length=3.0)
    ValueError: word_length has no effect without length_correction='poisson'
"""
