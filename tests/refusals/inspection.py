"""Displays: mistakes and their messages."""

import matplotlib.pyplot as plt
import numpy as np
from registry import DOCUMENTS, ROWS, SENTENCES, SERIES, STRINGS, fitted

from refusals.samples import HALF, TOPICS
from skdp.inspection import (
    ForecastDisplay,
    GrammarDisplay,
    HellingerDisplay,
    LexiconDisplay,
    PerplexityDisplay,
    SegmentationDisplay,
    SegmentMixingDisplay,
    StateSequenceDisplay,
    TopicAlignmentDisplay,
    TopicEvolutionDisplay,
    TransitionDisplay,
    state_report,
    topic_report,
)
from skdp.inspection._lexicon import WordLaw
from skdp.inspection._topic_evolution import check_parts
from skdp.language import KneserNeyLM
from skdp.mixture import DPMixture

SHARES = np.array([[0.2, 0.1, 0.7, 0.0], [0.5, 0.1, 0.3, 0.1], [0.7, 0.1, 0.1, 0.1]])
STATES = [0, 1, 0, 1]
TABLES = [[0.5, 0.5], HALF, HALF, np.full((2, 2, 2), 0.25)]
WORDS = [["a", "dog"], ["a", "cat"]]
IDS = [[0, 1, 1], [4, 1]]
EMPTY = [*DOCUMENTS, []]
BOUNDS = [[1.0, 2.0], [1.0], [1.0]]
THIRDS = np.repeat(np.arange(3), 4)
FAR = ROWS + 30.0 * THIRDS[:, None]
MERGES = np.array([[0.0, 2.0, 0.1, 2.0], [1.0, 3.0, 0.4, 3.0]])


def evolution(**params):
    return TopicEvolutionDisplay.from_predictions(**{"segment_topic": SHARES, **params})


def distances(**params):
    return HellingerDisplay.from_predictions(**{"segment_topic": SHARES, **params})


def mixing(weights=(1.0, 0.5), **params):
    return SegmentMixingDisplay.from_weights(weights, **params)


def align(**params):
    topics = {"components": TOPICS, "other": TOPICS[::-1]}
    return TopicAlignmentDisplay.from_components(**{**topics, **params})


def states(**params):
    return StateSequenceDisplay.from_predictions(**{"predicted": STATES, **params})


def moves(**params):
    return TransitionDisplay(**{"transmat": HALF, **params})


def rules(**changes):
    names = ["root_probs", "rule_type_probs", "emission_probs", "binary_probs"]
    return GrammarDisplay(**{**dict(zip(names, TABLES, strict=True)), **changes})


def cuts(probabilities=(0.1, 0.9), *args, **params):
    return SegmentationDisplay("dog", probabilities, *args, **params)


def lexicon(**params):
    return LexiconDisplay.from_predictions(WORDS, **params)


def clusters():
    """Return a mixture of three clusters."""
    return DPMixture(max_iter=2, burn_in=0, init=THIRDS, split_merge=False).fit(FAR)


def of_topics(display, X=DOCUMENTS, **params):
    return display.from_estimator(fitted("SegmentedTopicModel"), X, **params)


def of_weights(X=DOCUMENTS, **params):
    return SegmentMixingDisplay.from_estimator(fitted("AdaptiveTopicModel"), X, **params)


def of_cuts(display, **params):
    return display.from_estimator(fitted("TopicSegmenter"), DOCUMENTS, **params)


def of_steps(X=ROWS, name="HDPHMMLT", **params):
    return StateSequenceDisplay.from_estimator(fitted(name), X, **params)


def forecast(X=ROWS, **params):
    return ForecastDisplay.from_estimator(fitted("HDPHMMLT"), X, 2, **params)


def of_strings(X=STRINGS, **params):
    return SegmentationDisplay.from_estimator(fitted("NestedPitmanYorLM"), X, **params)


def kn(X=SENTENCES, order=3, **params):
    return KneserNeyLM(order, discount=0.5, **params).fit(X)


def compare(*models, X=SENTENCES, **params):
    return PerplexityDisplay.from_estimators(list(models), X, **params)


def topics(path="a.html", **params):
    return topic_report(fitted("SegmentedTopicModel"), DOCUMENTS, path, **params)


def runs(path="a.html", **params):
    return state_report(fitted("HDPHMMLT"), ROWS, path, **params)


TABLE = r"""
FactorDisplay(HIDDEN / 9) -> factors must not be a masked array
FactorDisplay(HALF).plot('here') -> TypeError: ax must be a matplotlib
GrammarDisplay([1.0], [[1.0, 0.0]], [[1.0]], [[[1.0]]]).plot(7)
    TypeError: ax must be a matplotlib
FactorDisplay(HALF).plot(cmap=[]) -> cmap must be
StateSequenceDisplay([0, 1]).plot(cmap='x') -> cmap must be
CoAssignmentDisplay([[0, 1]]).plot(cmap='no') -> cmap must be
TopicEvolutionDisplay(HALF).plot(colors=['?', '?']) -> colors must hold matplotlib colors
TopicEvolutionDisplay(HALF).plot(colors=1.5) -> colors must be
TopicAlignmentDisplay(HALF).plot(kind=HALF) -> kind must be
TopicAlignmentDisplay(HALF).plot(include_values=HALF) -> include_values must be
TransitionDisplay(HALF).plot(min_probability=None) -> min_probability must be
SegmentMixingDisplay([0.5], prior_mean='x') -> prior_mean
SegmentMixingDisplay([0.5, 1], boundaries=DAYS[0]) -> boundaries
LowerBoundDisplay(None) -> lower_bounds must be a list
TraceDisplay({}) -> TypeError: trace must be a Trace, got dict
TraceDisplay(hmm().trace_).plot(names=1.5) -> names must be
TopicAlignmentDisplay.from_components(TOPICS, None) -> other must be a 2-D array
ParseTreeDisplay(None) -> trees must be a ParseTree
HellingerDisplay([0.1]).plot(line_kw='red') -> TypeError: line_kw must be
TopicEvolutionDisplay('x') -> segment_topic must hold real
ParseTreeDisplay((tree for tree in TREES)) -> fine

# topics
evolution(segment_topic=SHARES[0]) -> Expected 2D array
evolution(segment_topic=$) for $ in 2 * SHARES | [[1.5, -0.5]] -> segment_topic must hold shares
evolution(segment_topic=SHARES * np.nan) -> segment_topic contains NaN
evolution(doc_topic=SHARES[$]) for $ in 0, :3 | :1 -> doc_topic must have shape
evolution(doc_topic=[1.0, 1.0, 0.0, 0.0]) -> doc_topic must hold shares
evolution(topic_names=['a', 'b']) -> topic_names must hold 4 names
evolution(kind='line') -> kind must be
evolution(n_topics=0) -> n_topics must be
evolution(colors=['red']) -> colors must hold 4
evolution(smooth=0) -> smooth must be
evolution(smooth=2) -> smooth must be odd
evolution(smooth=3, kind='bar') -> smooth must be 1
evolution(boundaries=[3]) -> boundaries must hold increasing integers
evolution(cut_proba=[0.1]) -> cut_proba must have shape (2,)
evolution(cut_proba=[0.1, 1.5]) -> cut_proba must hold probabilities in [0, 1]
evolution(true_cuts=[$]) for $ in 0 | 3 -> true_cuts must hold increasing integers between 0 and 3
evolution(true_cuts=[1], kind='bar') -> kind='bar' shows no cuts
of_cuts(TopicEvolutionDisplay, true_cuts=[1], kind='bar') -> kind='bar' shows no cuts
of_cuts($, document=None, true_cuts=[1]) for $ in TopicEvolutionDisplay | HellingerDisplay
    true_cuts must not be given if document is None
of_topics(TopicEvolutionDisplay, document=None, boundaries=[3])
    boundaries must not be given if document is None
of_topics(TopicEvolutionDisplay, document=None, part_names=['a']) -> part_names must hold 6 names
of_topics(TopicEvolutionDisplay, [[]], document=None) -> X has no segments
of_topics($, document=6) for $ in TopicEvolutionDisplay | HellingerDisplay -> document must be below
of_topics(TopicEvolutionDisplay, document=$) for $ in -1 | 0.5 | 'first' -> document must be
of_topics(TopicEvolutionDisplay, EMPTY, document=6) -> document 6 has no segments
of_topics(HellingerDisplay, EMPTY, document=6) -> document 6 has no segments
distances(to='next') -> to must be 'previous', 'document' or 'both'
distances(to=$) for $ in 'document' | 'both' -> needs distances to_document
distances(segment_topic=SHARES[:1]) -> no segment has a distance to_previous
distances(segment_topic=SHARES[0]) -> 2-D array
distances(segment_topic=-SHARES) -> segment_topic must hold finite numbers >= 0
distances(doc_topic=SHARES[:2]) -> doc_topic must have a row for each
distances(doc_topic=SHARES[0], doc_ptr=[0, 3]) -> doc_topic must be a 2-D array
distances(doc_ptr=[0, 2]) -> doc_ptr must rise from 0 to 3
distances(boundaries=[9]) -> boundaries must hold increasing integers
distances(part_names=['a', 'b']) -> part_names must hold 1 names
distances(cut_proba=[0.1]) -> cut_proba must have shape (2,)
distances(cut_proba=[0.1, 1.5]) -> cut_proba must hold probabilities in [0, 1]
distances(true_cuts=[$]) for $ in 0 | 3 -> true_cuts must hold increasing integers between 0 and 3
HellingerDisplay() -> to_previous or to_document must be given
HellingerDisplay([0.1], [0.1, 0.2]) -> both must have the same length
HellingerDisplay([[0.1]]) -> to_previous must be a 1-D array
HellingerDisplay(to_document=['a']) -> to_document must be a 1-D array
HellingerDisplay(to_document=[1.5]) -> to_document must hold distances in [0, 1]
mixing($) for $ in [] | [[0.5]] -> 1-D array of weights
mixing([$]) for $ in 2.0 | np.nan -> weights in [0, 1]
mixing(prior_mean=1.5) -> prior_mean must be in
mixing(boundaries=[9]) -> boundaries must hold increasing integers
of_weights(DOCUMENTS[:2]) -> with 12 segments in all; got 4 segments
of_weights(document=6) -> document must be below
of_weights(EMPTY, document=6) -> document 6 has
of_topics(SegmentMixingDisplay)
    TypeError: a fitted SegmentedTopicModel, which has no segment_mixing_
check_parts(5, [$], None) for $ in 0 | 5 | -1 | 2, 2 | 3, 1 | 1.5 | [1, 2] | 'a' | True
    boundaries must hold increasing integers
check_parts(5, [3], ['a']) -> part_names must hold 2 names
check_parts(5, None, ['a']) -> give both
align(kind='angle') -> kind must be 'distance' or 'similarity'
align(components=TOPICS[0]) -> 2-D array
align(other=TOPICS[:, :2]) -> other must have as many columns
align(topic_names=['a']) -> topic_names must hold 2 names
align(other_topic_names=['a']) -> other_topic_names must hold 2 names
align(names=['a']) -> names must hold 2 names
TopicAlignmentDisplay($) for $ in [0.5] | np.empty((0, 2)) -> 2-D array
TopicAlignmentDisplay([[1.5]]) -> in [0, 1]
TopicTreeDisplay(np.ones((2, 4))) -> linkage must be a linkage matrix
TopicTreeDisplay(MERGES, names=['a']) -> names
TopicTreeDisplay.from_estimator(stm(), n_topics=1) -> at least two topics
TopicTreeDisplay.from_estimator(stm(), n_topics=3) -> at most the number of topics, 2, got 3
TopicTreeDisplay.from_estimator(GibbsLDA.from_topics(np.eye(3), doc_topic_prior=1.0))
    needs the shares of topics
TraceDisplay.from_estimator(given(TOPICS)) -> NotFittedError: SegmentedTopicModel
TraceDisplay.from_estimator(stm(), names=$) for $ in ['log_joint', 'loss'] | 'loss' | []
    names must be some of log_joint,
topic_report(fitted('DPMixture'), ROWS, 'a.html')
    TypeError: model must be a topic model of skdp.topics, got DPMix
topic_report(GibbsLDA(2), DOCUMENTS, 'a.html') -> NotFittedError: GibbsLDA
topic_report(given(TOPICS), SegmentedCorpus.from_documents([[]], n_features=3), 'a.html')
    X must have words if topics were given
topics(1) -> TypeError: path must be a str or a path-like
topics('no folder/a.html') -> FileNotFoundError: path: there is no folder
topics('/') -> IsADirectoryError: path must be a file
topics(titles=['a']) -> titles must hold 6 names, one for each document of X
topics(feature_names=['a']) -> feature_names
topics(n_words=0) -> n_words must be
topics(max_documents=0) -> max_documents must be

# states
states(predicted=$) for $ in [] | [0.5, 1.0] | [-1, 0] -> predicted must hold states
states(predicted=[[0.0, 1.5]]) -> predicted must hold numbers in [0, 1]
states(predicted=[[0, 1]], factors=HALF) -> predicted must be 1-D
states(predicted=[0, 2], factors=HALF) -> states below 2
states(factors=[0, 1]) -> factors must be a 2-D array
states(true=[0, 1]) -> true must have shape (4,)
states(predicted=HALF, true=STATES) -> true must be a 2-D array
states(predicted=HALF, true=HALF[:, :1]) -> true must have shape (2, 2)
states(factor_names=['a']) -> predicted holds states
states(predicted=HALF, factor_names=['a']) -> factor_names must hold 2 names
states(predicted=HALF, state_names=['a', 'b']) -> state_names are the names of states, but factors
states(boundaries=[$]) for $ in 4 | 3, 3 | 1.5 -> boundaries must hold increasing integers
states(n_states=0) -> n_states must be an integer >= 1
states(observations=HALF) -> ~ observations must.*each of the 4 steps.*\(2, 2\)
states(observations=[HALF]) -> ~ observations must hold real numbers.*\(1, 2, 2\)
states(observations=$) for $ in 3.0 | ['a'] * 4 -> observations must hold real numbers
states(observations=np.ones(4) * 1j) -> observations must hold real numbers...complex
states(observations=np.empty((4, 0))) -> observations must hold real...(4, 0)
states(observations=STATES, column_names=['a', 'b']) -> column_names must hold 1 names
states(column_names=['a']) -> column_names are the names of observations, which are not
states(state_names=['calm']) -> for every state up to 1: at least 2 names, got 1
states(state_names=3) -> state_names must be a list
states(times=[0, 1, 2]) -> times must hold a time for each of the 4 steps...(3,)
states(times='2024-01-01') -> times must hold a time for each of the 4 steps, got shape
states(times=np.zeros((4, 1))) -> times must hold a time...(4, 1)
of_steps(sequence=1) -> number of sequences in X, 1, got 1
of_steps(kind='bands') -> kind must be 'states' or 'factors'
of_steps(kind='factors') -> HDPHMMLT has none
of_steps(name='FactorialHMM', kind='states') -> kind='states' needs states: FactorialHMM predicts
moves(transmat=HALF[:1]) -> transmat must be square
moves(transmat=HALF[0]) -> transmat must be a 2-D array
moves(transmat=0.5 * HALF) -> transmat must have rows that sum to 1
moves(transmat=np.nan * HALF) -> transmat must hold numbers in [0, 1]
moves(startprob=[1.0]) -> startprob must hold 2 numbers
moves(startprob=[1.0, 1.0]) -> startprob must be non-negative, with a sum of 1
moves(shares=[1.5, -0.5]) -> shares must be non-negative
moves(locations=HALF[:1]) -> locations must have shape (2, n_dims)
moves(locations=np.nan * HALF) -> finite numbers
moves(state_names=['a']) -> state_names must hold 2 names
moves().plot(kind='graph') -> kind must be 'matrix' or 'space'
moves().plot(kind='space') -> kind='space' needs states with locations
moves().plot(scale='sqrt') -> scale must be 'log' or 'linear'
moves().plot(states=$) for $ in [0, 2] | [0, 0] | [] | [0.0]
    states must hold different integers from 0 to 1
moves().plot(min_probability=1.5) -> min_probability must be in
FactorDisplay(HALF[0]) -> factors must be a 2-D array
FactorDisplay(4 * HALF) -> factors must hold numbers in [0, 1]
FactorDisplay(HALF, [1.0]) -> shares must hold 2 numbers
FactorDisplay(HALF, [1.0, 1.0]) -> shares must be non-negative, with a sum of 1
FactorDisplay(HALF, factor_names=$) for $ in ['a'] | 'abc' -> factor_names must hold 2 names
FactorDisplay(HALF, factor_names=$) for $ in 7 | b'ab' | {'a': 1, 'b': 2}
    factor_names must be a list of 2 names
FactorDisplay(HALF, factor_names=['', None]).plot() -> fine
FactorDisplay(HALF).plot(states=[4]) -> states must hold different integers from 0 to 1
FactorDisplay.from_estimator(fitted('HDPHMMLT')) -> The states of HDPHMMLT have no factors
ForecastDisplay([1.0], [2.0], [1.0]) -> lower must not exceed upper
ForecastDisplay([1.0], [0.0], [1.0, 2.0]) -> must have the same length
ForecastDisplay([], [], []) -> at least 1
ForecastDisplay([1.0], [0.0], [2.0], history=[1.0], times=[0]) -> a time for each of the 2 steps
forecast(interval=1.0) -> interval must be between 0 and 1
forecast(column='cold') -> column 'cold' is not one column of X
forecast(column=2) -> column must be below 2
forecast(column=0.5) -> TypeError: column must be a number or a name
forecast(n_past=-1) -> n_past must be an integer
forecast([ROWS]) -> X must be one sequence
state_report(FactorialHMM(), ROWS, 'a.html')
    TypeError: model must be an HDPHMMLT or a StateDetector, got Fac
state_report(HDPHMMLT(), ROWS, 'a.html') -> NotFittedError: HDPHMMLT
state_report(fitted('StateDetector'), SERIES, 'a.html', n_forecast=5)
    TypeError: StateDetector has no forecasts
runs(None) -> TypeError: path must be a str
runs('no folder/a.html') -> FileNotFoundError: path: there is no folder
runs(titles=['a', 'b']) -> titles must hold 1 names, one for each sequence of X
runs(state_names=[]) -> ~ every state up to \d: at least \d names, got 0
runs(interval=1) -> interval must be between 0 and 1
runs(n_forecast=-1) -> n_forecast must be
runs(max_sequences=0) -> max_sequences must be

# mixtures
ClusterDisplay([[0.0]], [0]) -> points must have two columns
ClusterDisplay(HALF, [0]) -> labels must have shape
ClusterDisplay(HALF, [0, 1], grid=([0], [1])) -> grid must be
ClusterDisplay(HALF, [0, 1], grid=([0, 1], [1], [[1.0]])) -> density of grid must have shape (1, 2)
ClusterDisplay(HALF, [0, 1], column_names=['a']) -> column_names must hold 2
ClusterDisplay(HALF, [0, 1]).plot(masses=[1.0]) -> masses must be
ClusterDisplay.from_estimator(fitted('DPMixture'), ROWS, columns=(0, 2))
    columns must be two numbers of columns, from 0 to 1
ClusterDisplay.from_estimator(fitted('HDPMixture'), ROWS)
    TypeError: got HDPMixture...ClusterDisplay(points, labels)
ClusterTreeDisplay(np.ones((2, 4))) -> linkage must be a linkage matrix
ClusterTreeDisplay.from_estimator(fitted('DPMixture'), n_clusters=1) -> at least two clusters
ClusterTreeDisplay.from_estimator(clusters(), n_clusters=99)
    n_clusters must be at most the number of components
CoAssignmentDisplay([0, 1]) -> partitions must have shape
CoAssignmentDisplay([[0.5, 1]]) -> partitions must
CoAssignmentDisplay([[0, 1]], labels=[0]) -> labels must have shape
CoAssignmentDisplay(np.zeros((1, 5001), dtype=int))
    co-assignments of 5001 rows ...choose up to 5000
CoAssignmentDisplay.from_estimator(fitted('DPMixture'), rows=[0, 12])
    rows must be a list of rows, from 0 to 11
CoAssignmentDisplay.from_estimator(stm()) -> TypeError: estimator must be a mixture
CoAssignmentDisplay.from_estimator(fitted('IBPLatentFeatures'))
    TypeError: a mixture that stores sampled partitions...got IBPLatent
ComponentCountDisplay($) for $ in [0.5, 0.4] | [-0.5, 1.5] | [] | [[1.0]] | ['a'] -> probabilities
ComponentCountDisplay([1.0], n_samples=0) -> n_samples must be an integer >= 1
ComponentCountDisplay.from_estimator(fitted('GibbsLDA'))
    TypeError: number of components, got a fitted GibbsLDA

# grammars
rules(root_probs=[[1.0]]) -> root_probs must be a 1-D array of numbers, got shape
rules(emission_probs=4 * HALF) -> emission_probs must hold numbers in [0, 1]
rules(rule_type_probs=HALF[$]) for $ in :1 | :, :1 -> do not belong to one grammar
rules(binary_probs=TABLES[3][:, 1:]) -> do not belong to one grammar
rules(emission_probs=np.ones((3, 2))) -> do not belong to one grammar
rules(shares=[1.0]) -> shares must hold 2 numbers
rules(feature_names=['a']) -> feature_names must hold 2 names, got 1
rules(symbol_names=['a']) -> symbol_names must hold 2 names, got 1
rules().plot(n_columns=0) -> n_columns must be
rules().plot(threshold=0.0) -> threshold must be in (0, 1], got 0
rules().plot(threshold=1.0) -> No rule has a probability of threshold=1 or more
rules().plot(n_rules=0) -> n_rules must be an integer >= 1, got 0
rules().plot(n_words=0) -> n_words must be an integer >= 1, got 0
ParseTreeDisplay($) for $ in [] | ['(S a)'] | [TREES[0], None]
    trees must be a ParseTree or several, got
ParseTreeDisplay(TREES, names=['a']) -> names must hold 2 names, got 1
ParseTreeDisplay(TREES).plot(n_columns=0) -> n_columns must be an integer >= 1, got 0
ParseTreeDisplay.from_estimator(fitted('HDPPCFG'), SENTENCES, feature_names='x')
    feature_names must hold 3 names, got 1
LowerBoundDisplay([]) -> must hold the bounds of at least one fit
LowerBoundDisplay([[1.0], []]) -> lower_bounds of fit 1 must be a 1-D array of numbers, at least one
LowerBoundDisplay([$]) for $ in [[1.0]] | 'a' -> lower_bounds of fit 0 must be a 1-D array
LowerBoundDisplay([1.0, np.inf]) -> lower_bounds of fit 0 must be finite
LowerBoundDisplay(BOUNDS, names=['a']) -> names must hold 3 names, got 1
LowerBoundDisplay(BOUNDS).plot(kind='log') -> kind must be 'bound' or 'gap', got 'log'
LowerBoundDisplay.from_estimator([fitted('HDPPCFG'), HDPPCFG()]) -> NotFittedError: HDPPCFG

# words
cuts([0.5]) -> for each of the 2 places between 3 characters
cuts([0.1, $]) for $ in 1.1 | np.nan -> a number in [0, 1]
cuts('?') -> probabilities must hold real numbers
cuts([0.5, 0.5], [$]) for $ in 1 | -1, 0 -> predicted must hold 1, 0 for each of the 2 places
cuts(true=[2, 0]) -> true must hold 1, 0, -1 for each
cuts(true=['a', 'dog']) -> true must hold the words of the text
cuts(known=[1]) -> known must hold 1, 0, -1 for each
cuts().plot(width=0) -> width must be an integer >= 1
SegmentationDisplay('', []) -> must be 1 to 5000 characters, got 0
SegmentationDisplay('a' * 5001, np.zeros(5000)) -> got 5001: choose a part of the text
SegmentationDisplay(['a', 'b'], [0.5], ['ab']) -> predicted must hold the words of the text
SegmentationDisplay(b'ab', [0.5]) -> characters must be a string or a list
SegmentationDisplay($, []) for $ in 7 | {'a': 1} | None -> characters must be a string or a list
of_strings(['', 'ab']) -> must be 1 to 5000 characters, got 0
of_strings(sample=3) -> sample must be below the number of strings in X, 3
of_strings(sample=-1) -> sample must be an integer >= 0
of_strings('ab') -> X must be a list of strings, got one string
of_strings(feature_names=['a']) -> feature_names are names of ids, but X holds strings
SegmentationDisplay.from_estimator(NestedPitmanYorLM(max_iter=2).fit(IDS), IDS, feature_names='a')
    feature_names must hold 5 names, got 1
LexiconDisplay($) for $ in 'a dog' | 7 -> words must be a list of sentences
LexiconDisplay(TEXTS) -> sentence 0 is 'the cat sat'. Split text into words first
LexiconDisplay([['a'], 3]) -> sentence 1 is 3
LexiconDisplay($) for $ in [] | [[], []] -> at least one word
LexiconDisplay([['a', $]]) for $ in None | 1.5 -> sentence 0 holds $
LexiconDisplay(HIDDEN) -> masked
lexicon(discount=0.5) -> belong together
lexicon(word_length=$) for $ in 0 | 'auto' -> word_length must be a positive number
lexicon(max_word_length=0) -> max_word_length must be an integer >= 1
lexicon(feature_names=['a']) -> feature_names are names of word ids
lexicon(kind='zipf') -> kind must be one of 'rank-frequency', 'growth', 'lengths', got 'zipf'
lexicon(n_draws=-1) -> n_draws must be an integer >= 0
LexiconDisplay(IDS).plot(kind='lengths') -> kind="lengths" needs the words themselves
LexiconDisplay([[0, 1, 4]], feature_names=['a', 'b']) -> words must hold ids from 0 to 1
LexiconDisplay([[0, 1]], feature_names=['a', '']) -> at least one character
LexiconDisplay.from_estimator(fitted('KneserNeyLM'), SENTENCES)
    TypeError: got KneserNeyLM. from_predictions plots the words
LexiconDisplay.from_estimator(fitted('HierarchicalPitmanYorLM'), TEXTS) -> X holds text
LexiconDisplay.from_estimator(fitted('HierarchicalPitmanYorLM'), [[]]) -> at least one word
LexiconDisplay.from_estimator(fitted('NestedPitmanYorLM'), 'thedog') -> Pass [X]
WordLaw.of($, None) for $ in 0.5, None | None, 1.0 -> belong together
WordLaw.of(None, None, [1.0]) -> base needs a discount
WordLaw.of(1.0, 1.0, None) -> discount must be in [0, 1)
WordLaw.of(0.5, $, None) for $ in 0.0 | np.inf -> concentration must be finite and > 0
WordLaw.of([0.5, 0.5], 1.0, None) -> got shapes (2,) and (1,)
WordLaw.of([], [], None) -> one for each length of context
WordLaw.of('auto', 1.0, None) -> discount must hold real numbers
WordLaw.of(0.5, 1.0, [$]) for $ in 0.5, 0.2 | 1.5, -0.5 -> probabilities with sum 1
PerplexityDisplay($) for $ in {} | [1.0, 2.0] -> perplexities must be a dict of labels
PerplexityDisplay({'a': $}) for $ in [] | {} -> perplexities of 'a' must be a dict of orders
PerplexityDisplay({'a': {0: 1.0}}) -> an order must be an integer >= 1
PerplexityDisplay({'a': {1: $}}) for $ in 0.0 | 'x' -> of 'a' must be positive numbers, got $
PerplexityDisplay({'a': {1: np.nan}}) -> of 'a' must be positive numbers, got nan
compare() -> at least one fitted language model
compare(kn(), kn()) -> two models of order 3 are labeled 'KneserNeyLM'
compare(kn(), kn(), labels=['a']) -> labels must hold 2 names, one for each estimator, got 1
compare(kn(), kn([[0, 3]], 1)) -> vocabularies of different sizes ...is 3 or 4
compare(kn(), kn(order=1, end_of_sequence=False))
    whether ends of sentences count ...is False or True
compare(kn(), X=[[0, 7]]) -> TokenVectorizer
compare(kn(end_of_sequence=False), X=[[]]) -> X has no words to score
PerplexityDisplay.from_estimators({'a': kn()}, SENTENCES, labels=['a'])
    labels are the keys of estimators
PerplexityDisplay.from_estimators(NestedPitmanYorLM(), SENTENCES)
    TypeError: must be language models with an order...got NestedPitman
PerplexityDisplay.from_estimators('models', SENTENCES)
    TypeError: must be language models with an order...got str
"""
