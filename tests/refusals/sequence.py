"""Models of sequences: mistakes and their messages."""

import numpy as np
import pandas as pd

from refusals.samples import HALF, SERIES, hmm
from skdp.data import PartitionedPanel, SequencePanel, TokenSequences
from skdp.sequence import (
    HDPHMMLT,
    BinaryFactorEmission,
    EmissionSimilarity,
    FactorialHMM,
    FixedSimilarity,
    PoissonEmission,
)
from skdp.sequence._similarities._emission import check_distances

LONG = np.tile(SERIES, (2, 1))

TWICE = [("a", "gaussian", [0, 1]), ("b", "poisson", 1)]


def measured(distances):
    """Fit states whose distances a function gives for their number."""
    metric = EmissionSimilarity(lambda model: distances(len(model.means)))
    return hmm(similarity=metric)


def asked(method, n_jobs):
    return getattr(hmm().set_params(n_jobs=n_jobs), method)(SERIES)


def apart(n):
    return 1.0 - np.eye(n)


WORDS = TokenSequences.from_sequences([[0, 1], [1]])


class Complete(PoissonEmission):
    """Counts without missing values."""

    allows_nan = False


def make(n_components=4, **params):
    return HDPHMMLT(n_components, **{"max_iter": 2, **params})


def factors(n_factors=2, **params):
    return FactorialHMM(n_factors, **{"max_iter": 2, **params})


def many_factors():
    """Return a fit of more factors than can be summed over."""
    emission = BinaryFactorEmission(21, weights=np.eye(22)[:, :2])
    return factors(21, emission=emission, burn_in=0).fit(SERIES)


def between(matrix):
    """Return a model of two states of the given similarities."""
    return HDPHMMLT(2, max_iter=2, similarity=FixedSimilarity(matrix))


def row(*values):
    """Return a sequence of one column."""
    return np.array(values)


def two_states(**changed):
    """Return arguments of the functions."""
    known = {"startprob": [0.5, 0.5], "transmat": HALF, "log_obs": np.zeros((3, 2))}
    return {**known, "ptr": [0, 1, 3], **changed}


def on_counts():
    return hmm(np.array([[0], [2], [1]]), emission="poisson")


PARTS = [SERIES[:2], SERIES]
"""Sequences of two and of five steps."""

SIX = [np.zeros(6), np.ones(6)]
FREE = np.full(6, -1)
ONCE = np.array([0, 1, 0, 1, 1, 0])
UNKNOWN = np.full((5, 2), -1)
WEIGHTS = np.array([[0.5, -0.2], [2.0, 0.0], [0.0, 2.0]])
STEPS = np.arange(600.0).reshape(-1, 2) % 7
HALF_SEEN = np.where(np.arange(300)[:, np.newaxis] % 2, STEPS, np.nan)


def given(**params):
    return BinaryFactorEmission(2, **{"weights": WEIGHTS, **params})


def chain(X=(SIX[0], ONCE), y=None, **params):
    """Fit symbols; their posterior draws can be compared."""
    params = {"n_components": 2, "emission": "categorical", "max_iter": 6, **params}
    return HDPHMMLT(**params).fit(list(X), y)


def in_parts(X):
    return PartitionedPanel.from_panel(SequencePanel.from_sequences(X), 2)


TABLE = r"""
hmm([['a', 'b'], ['c']], emission='poisson')
    must hold numbers, got text...OrdinalEncoder...TokenVectorizer
hmm({'a': SERIES, 'b': SERIES})
    TypeError: must not be a dict: pass a list of its parts, [*X.values()]
hmm(pd.DataFrame({'who': [0, 0, 1], 'x': [1.0, 2.0, 3.0]}).groupby('who'))
    TypeError: must not be a DataFrameGroupBy: ...[part for _, part in X]
log_obs(np.zeros((3, 2), complex)) -> log_obs must hold real
hmm_posterior([0.5, 0.5j], HALF, np.zeros((3, 2))) -> startprob must hold real
hmm_sample_states([0.5, 0.5], HALF * 1j, np.zeros((3, 2))) -> transmat must hold real
hmm_viterbi([0.5, 0.5], HALF, np.zeros((3, 2)) * 1j) -> log_obs must hold real
hmm().decode(SERIES[:, :1]) -> X has 1 feature...expecting 2 features
hmm().forecast(SERIES[:, :1], 2) -> X has 1 feature...expecting 2 features
hmm().forecast(SERIES, 0) -> n_steps must be ... >= 1...0
hmm().forecast(SERIES, 1, 1.0) -> quantiles must be betw
hmm().forecast(SERIES, 2 ** 31 - 1) -> forecast of n_steps=2147483647...GiB
hmm().sample(2, given=SERIES[:, :1]) -> X has 1 feature...expecting 2 features
hmm(np.arange(12.0).reshape(-1, 1) % 2, emission='categorical').impute(np.array([[0.0], [np.nan]]))
    TypeError: no value for a missing category
log_obs(HIDDEN) -> log_obs must not be a masked array
hmm($) for $ in HIDDEN | [HIDDEN] -> X must not be a masked array...NaN
hmm(similarity=FixedSimilarity(HIDDEN / 9))
    'matrix' parameter of FixedSimilarity must not be a masked array
hmm(SERIES * 1e+160) -> e+160 in column 1: scale the columns of X
hmm(SERIES * 1e+160, emission=$) for $ in GaussianEmission('diag') | BinaryFactorEmission(2) |
        'autoregressive' -> e+160 in column 1: scale the columns of X
hmm().score(SERIES * 1e+160) -> scale the columns of X
hmm(np.array([[1e+300], [1.0]]), emission='poisson') -> X must hold counts up to
hmm([SERIES > 1.0, SERIES], emission='bernoulli')
    X must hold 0 and 1...got 0.5 in column 1 at step 6, counted through all sequences
hmm(emission=IndependentEmissions(TWICE)) -> column 1 is given to both 'a' and 'b'
hmm(emission=IndependentEmissions([('a', 'gaussian', [0])])) -> column 1 of X belongs to no emission
HDPHMMLT(2).fit(LONG, [4, 6]) -> y holds what look like the lengths...SequencePanel
HDPHMMLT(2).fit_predict(LONG, np.array([4, 6])) -> y holds what look like the lengths
HDPHMMLT(2).fit_transform(LONG, pd.Series([4, 6])) -> y holds what look like the lengths
FactorialHMM(2).fit(LONG, (10,)) -> y holds what look like the lengths
hmm().score(LONG, [4, 6]) -> y holds what look like the lengths
HDPHMMLT(2).fit(LONG, lengths=[4, 6]) -> TypeError: SequenceEstimator.fit()...len
hmm(LONG[:, 0]) -> 1D array...np.reshape(X, (-1, 1))
hmm($) for $ in [1.0, 2.0] | pd.Series([1.0, 2.0]) -> 1D array...or the list [X]
hmm(np.zeros((4, 9, 2))) -> dim 3...HDPHMMLT...write list(X) if...list(np.swapaxes(X, 1, 2))
hmm(emission=AutoregressiveEmission(0)) -> 'lags'...Autoreg
hmm(emission=AutoregressiveEmission($)) for $ in 1.5 | 'two' -> 'lags'...Auto
hmm([LONG[:2], LONG[:3]], emission=AutoregressiveEmission(3))
    more than 3 step(s)...The longest sequence has 3 step(s)
hmm(emission='autoregressive').predict([LONG[:1], LONG[:1]])
    more than 1 step(s)...The longest sequence has 1 step(s)
hmm(emission='autoregressive').decode(np.where(LONG > 2.7, np.nan, LONG))
    decode...requires complete sequences...impute
hmm(emission=AutoregressiveEmission(2)).forecast([LONG, LONG[:1]], 2)
    continued only from at least 2 step(s)...sequence 1 has 1
hmm(LONG * np.nan, emission='autoregressive') -> X holds noth
hmm([np.where(LONG > 2.7, np.inf, LONG)], emission='autoregressive') -> infin
hmm(np.zeros((1000002, 2)), emission=AutoregressiveEmission(1000000))
    lags=1000000 of 2 features...GiB
hmm(LONG * [1, np.nan]) -> X: column 1 holds nothing
FactorialHMM(2).fit([LONG * [np.nan, 1], LONG * [np.nan, 1]]) -> X: column 0 holds nothing
hmm(pd.DataFrame(LONG * [1, np.nan], columns=['a', 'b'])) -> X: column 1 ('b') holds nothing
hmm([LONG * np.nan]) -> X holds nothing but missing
hmm().score(LONG * np.nan) -> X holds nothing but
hmm(emission='autoregressive').score(LONG * np.nan) -> X holds nothing but
hmm(WORDS)
    TypeError: word ids are for HDPHMMLT(emission="categorical"), not for HDPHMMLT with...Gaussian
FactorialHMM(2).fit(WORDS) -> TypeError: not for FactorialHMM with emission=BinaryFactor
hmm(DAYS) -> X must hold numbers, got dates
hmm(pd.DataFrame({'a': pd.to_datetime(['2020-01-01']), 'b': [1.0]}))
    X, column 'a', must hold numbers, got dates...make them the index, or leave them out
hmm(np.array([[0.0], [2.0 ** 31 - 2]]), n_components=20, emission='categorical')
    CategoricalEmission of 2147483647 symbols...GiB
hmm((x for x in [SERIES])) -> TypeError: generator...pass list(X)
hmm(n_components=10 ** 9) -> ~ n_components=10{9} .*GiB
factorial(n_factors=2 ** 31 - 1) -> n_factors=21...GiB
hmm(duration=$) for $ in PoissonDuration(max_duration=10 ** 9) |
        NegativeBinomialDuration(max_duration=10 ** 9) -> ~ max_duration=10{9} with 2 states.*GiB
hmm(similarity=GaussianSimilarity(2 ** 31 - 1)) -> n_dims=2147483647...GiB
hmm().sample(2 ** 31 - 1, 5) -> n_sequences=5 of n_steps=2147483647...GiB
factorial().sample(5, 2 ** 31 - 1) -> n_sequences=2147483647 of n_steps=5...GiB
counts(base=[0.5, 0.5]) -> base must be...3 positive
counts(prior=[1, 1e+300, 1]) -> Categ...prior must be
hmm(emission=GaussianEmission(covariance_prior=np.eye(2) * 1e+160))
    covariance_prior must hold numbers up to
asked('predict', 10 ** 6) -> n_jobs must...4096...got 10
asked('score', 0) -> n_jobs must be None...got 0
asked('transform', 'all') -> n_jobs must...got 'all'
asked('predict_proba', 2.5) -> n_jobs must...got 2.5
factorial().set_params(n_jobs=2.5).score(SERIES) -> n_jobs must...got 2.5
measured(lambda n: $) for $ in None | apart(n).astype(str) | apart(n).astype('M8[D]') |
        apart(n) * 1j | (apart(n).astype(int).astype(object) * 10 ** 400).tolist()
    the array that metric returns must hold real numbers
measured(lambda n: np.ma.masked_array(apart(n), np.eye(n) == 0))
    the array that metric returns must not be a masked array
hmm(10 ** 400) -> X must hold numbers...got 1
hmm(duration=PoissonDuration(max_duration=VAST))
    'max_duration' parameter of PoissonDuration...an object of type int that is too long
hmm(duration=NegativeBinomialDuration(prior=(VAST, 1.0)))
    prior must be two positive numbers...an object of type tuple that is too long
hmm(similarity=GaussianSimilarity(decay=[1.0] * 1000))
    ~ 'decay' parameter of GaussianSimilarity.*Got \[1.0, .{0,200}\.\.\. instead
hmm(similarity=GaussianSimilarity(decay_prior=[1.0] * 1000))
    ~ decay_prior must be two positive numbers.*got \[1.0, .{0,200}\.\.\.\.$
hmm(pd.DataFrame(SERIES, columns=['a', 'b'])) -> fine
hmm(SERIES.astype(np.float32), n_components=np.int32(2), stickiness=1) -> fine
hmm(np.where(SERIES > 2, np.nan, SERIES) * 1000000.0) -> fine
hmm(SERIES * 1e-09, emission=small_factors()) -> fine
hmm(emission=GaussianEmission(mean_prior=[0, 1], covariance_prior=[[1, 0], [0, 1]])) -> fine
hmm_log_likelihood([0.5, 0.5], HALF.tolist(), [[0, 0], [-np.inf, 0]]) -> fine
measured(lambda n: $) for $ in pd.DataFrame(apart(n)) | (apart(n) > 0).tolist() -> fine
hmm(similarity=FixedSimilarity(np.full((2, 2), 0.5, dtype=object))) -> fine
hmm(duration=PoissonDuration(np.float32(2), np.int8(1), np.uint8(200))) -> fine
hmm(similarity=GaussianSimilarity(np.int8(2), np.float16(1), (np.int8(1), 1))) -> fine
hmm(emission=AutoregressiveEmission($)) for $ in [] | [1, -2] | [1, 1] | [1, 2.0] | [True, 2]
    'lags' parameter of AutoregressiveEmission must be...different integers >= 1...Got
hmm().filter_update(3, SERIES[0]) -> state must be a result of filter_update
hmm().sample(3, given=[1]) -> given: Expected 2D array, got 1D array
hmm(emission=AutoregressiveEmission([[1], [1, 2]])) -> The 'lags' parameter of

# Observations
make().fit([np.zeros((3, 2)), np.zeros((3, 1))]) -> has 1 features, but sequence 0 has 2
make().fit([row(1.0, 2.0), row(3.0, np.inf)]) -> infinity: sequence 1
make().iter_sweeps([row(1.0), row(-np.inf, 0.0)]) -> infinity: sequence 1
make().fit(row(np.inf, 0.0).reshape(-1, 1)) -> Input X contains infinity
make().iter_sweeps(np.empty((0, 2))) -> 0 sample
make().fit([np.zeros((2, 1)), np.zeros((0, 1))]) -> 0 observation...sequence 1
make().fit(SequencePanel(np.zeros((2, 1)), [0, 0, 2])) -> 0 observation...sequence 0
make().fit(row('a', 'b').reshape(-1, 1)) -> X must hold numbers, got text
make(emission='categorical').fit([row(np.nan), row(np.nan)]) -> nothing but missing
make(emission='poisson').fit(np.array([[0.0, np.nan]] * 2)) -> column 1 holds nothing but
make(emission=Complete()).fit([row(0.0, np.nan)]) -> NaN: sequence 0
make(emission='categorical').fit([row(0.0, 1.5)]) -> integers from 0; got 1.5
make(emission='categorical').iter_sweeps([row(0.0, -1.0)]) -> integers from 0; got -1
make(emission=CategoricalEmission(3)).fit([row(0.0, 3.0)]) -> from 0 to 2; got 3
make(emission='categorical').fit(np.zeros((3, 2))) -> must have 1 feature
make(emission='poisson').fit([row(0.0, -1.0)]) -> -1
make(emission='poisson').fit([row(0.0, 0.5)]) -> 0.5
counts().predict([row(0.0, 4.0)]) -> integers from 0 to 2; got 4
counts().predict_proba([row(0.0, 0.5)]) -> integers from 0 to 2; got 0.5
counts().transform([row(-1.0)]) -> integers from 0 to 2; got -1
counts().score([row(np.nan, -2.0)]) -> integers from 0 to 2; got -2
on_counts().predict([row(np.nan, 0.5)]) -> or NaN for missing values; got 0.5
on_counts().predict_proba([row(-1.0)]) -> -1
on_counts().transform([row(0.0), row(np.inf)]) -> Input X contains infinity: sequence 1
hmm().predict([]) -> 0 sample
hmm().predict_proba([SERIES, np.zeros((0, 2))]) -> 0 observation...sequence 1
hmm().transform(np.full((2, 2), np.inf)) -> infinity
hmm().sample($) for $ in 0 | True | 3, -1 -> must be an integer >= 1
make().predict(in_parts([SERIES, SERIES])) -> NotFittedError: HDPHMMLT
hmm().forecast(SERIES, $) for $ in -1 | True -> n_steps must be an integer >= 1
hmm().forecast(SERIES, 2, [$]) for $ in -0.1 | 0.5, np.nan | [0.5]
    quantiles must be between 0 and 1
hmm().filter_update(None, SERIES[:2]) -> x must be one observation, got 2
hmm().filter_update(None, [0.0, 1.0, 2.0]) -> X has 3 features
hmm().filter_update(None, [0.0, np.inf]) -> infinity
hmm().filter_update(hmm($).filter_update(None, SERIES[0]), SERIES[1]) for $ in n_components=4 |
        duration='poisson' -> since its last fit
hmm(emission='autoregressive').filter_update(None, [np.nan, 0.0])
    filter_update takes no missing values of autoreg
hmm(emission='autoregressive').filter_update(None, [np.inf, 0.0]) -> infinity

# Parts of a model
make(burn_in=2).fit(SERIES) -> burn_in must be smaller than max_iter
make(stickiness=1.0, duration=PoissonDuration()).fit(SERIES)
    stickiness must be 0 with a duration...got stickiness=1.0
make(stickiness='auto', duration='negative_binomial').iter_sweeps(SERIES) -> got stickiness='auto'
make(state_sampler='beam', duration='poisson').fit(SERIES)
    state_sampler='beam' is for models without a duration
make(similarity=LaplacianSimilarity()).fit(SERIES) -> TypeError: use it with BinaryFactorEmission
make(emission=GaussianEmission).fit(SERIES)
    TypeError: emission must be an object, got the class Gauss
make(similarity=GaussianSimilarity).fit(SERIES)
    TypeError: write similarity=GaussianSimilarity(...)
make(duration=PoissonDuration).iter_sweeps(SERIES)
    TypeError: duration must be an object, got the class Poisson
make(emission=LaplacianSimilarity()).fit(SERIES)
    TypeError: emission must have a method make_sampler(values, n_states), unlike Laplacian
make(emission=PoissonDuration()).fit(SERIES)
    TypeError: emission must have ... unlike PoissonDuration
make(similarity=PoissonEmission()).iter_sweeps(SERIES)
    TypeError: similarity must have a method make_sampler(n_states), unlike PoissonEmission
make(similarity=PoissonDuration()).fit(SERIES)
    TypeError: similarity must make a SimilaritySampler, unlike PoissonDuration: ...write, coupl
make(duration=GaussianEmission()).fit(SERIES)
    TypeError: duration must have ... unlike GaussianEmission
make(duration=GaussianSimilarity()).fit(SERIES)
    TypeError: duration must make a DurationSampler, unlike GaussianSimilarity: ... tables
HDPHMMLT().set_params(emission__foo=1) -> Invalid parameter 'foo' for estimator GaussianEm
between(np.ones($)).fit(SERIES) for $ in 4 | (2, 3) -> must be square
between(np.ones((3, 3))).fit(SERIES) -> must be (2, 2)...n_components=2
between([[1.0, 0.5], [0.0, 0.0]]).fit(SERIES) -> row 1 of matrix holds only zeros
between([[1.0, 1.0], [1.5, 1.0]]).fit(SERIES) -> got 1.5 in row 1, column 0
between([[1.0, 1.0], [-0.5, 1.0]]).fit(SERIES) -> between 0 and 1; got -0.5 in row 1, column 0
between([[1.0, 1.0], [1.0, np.nan]]).fit(SERIES) -> got nan in row 1, column 1
between([[1.0, np.inf], [1.0, 1.0]]).fit(SERIES) -> got inf
between(0.5).fit(SERIES) -> matrix
between([[1.0, 0.5], [1.0]]).fit(SERIES) -> matrix must hold real numbers, in rows of equal length
between([['a', 'b']] * 2).fit(SERIES) -> must hold real numbers
between(np.ones((2, 2), complex)).fit(SERIES) -> real numbers
make(similarity=$).fit(SERIES) for $ in 'emission', emission='student_t' |
        'emission', emission='autoregressive' | EmissionSimilarity(np.ndim), emission='student_t' |
        'emission', emission=IndependentEmissions([('a', 'student_t', [0, 1])])
    TypeError: does not support: use it with GaussianEmission, Poisson
make(similarity=EmissionSimilarity(lambda model: np.ones((3, 3)))).fit(SERIES) -> metric must return
check_distances(np.zeros((2, 3)), 2) -> shape (2, 2) for 2 states, got (2, 3)
check_distances(1.0, 2) -> got ()
check_distances('far', 2) -> must hold real numbers, got 'far'
check_distances([[0.0, 1.0], [1.0]], 2) -> must hold real numbers, in rows of equal length
check_distances([[0.0, -1.0], [-1.0, 0.0]], 2) -> got -1 for states 0 and 1 of 2
check_distances([[0.0, np.nan], [np.nan, 0.0]], 2) -> got nan
check_distances([[0.0, np.inf], [np.inf, 0.0]], 2) -> got inf
check_distances([[0.0, 1.0], [1.1, 0.0]], 2) -> symmetric; got 1 from state 0 to state 1, and 1.1
check_distances([[1.0, 0.3], [0.3, 1.0]], 2) -> 0 from a state to itself; got 1 ...Return -log S

# Functions
hmm_posterior(**two_states(startprob=[1.0])) -> startprob must be of shape (2,)
hmm_viterbi(**two_states(startprob=[[0.5, 0.5]])) -> startprob must have 1 dimension(s), got 2
hmm_sample_states(**two_states(startprob=[0.5, 0.4]))
    startprob must hold probabilities that sum to 1
hmm_log_likelihood(**two_states(startprob=[1.5, -0.5])) -> startprob must hold probabilities
hmm_posterior(**two_states(startprob=[np.nan, 1.0])) -> startprob must hold probabilities
hmm_viterbi(**two_states(transmat=np.eye(3))) -> transmat must be of shape (2, 2)
hmm_sample_states(**two_states(transmat=np.zeros((2, 2)))) -> transmat must hold probabilities
hmm_log_likelihood(**two_states(log_obs=np.zeros(3))) -> log_obs must have 2 dimension(s), got 1
hmm_posterior(**two_states(log_obs=np.zeros((3, 0)))) -> a column for each state
hmm_viterbi(**two_states(log_obs=[[0.0, np.nan]] * 3))
    log_obs must hold log probabilities, got NaN
hmm_sample_states(**two_states(log_obs=[[0.0, np.inf]] * 3)) -> log_obs must hold log probabilities
hmm_log_likelihood(**two_states(ptr=[0, 2])) -> ptr must rise from 0 to the 3 rows of log_obs
hmm_log_likelihood(**two_states(ptr=[])) -> ptr must rise from 0 to the 3 rows of log_obs
hmm_posterior(**two_states(ptr=[1, 3])) -> ptr must rise from 0
hmm_viterbi(**two_states(ptr=[0, 2, 1, 3])) -> ptr must rise from 0
hmm_sample_states(**two_states(ptr=[0.0, 3.0])) -> ptr must rise from 0

# First and known states, possible transitions
make(init=[row(0, 0)]).fit(PARTS) -> states of 2 sequences...got 1
make(init=[row(0, 0)] * 2).fit([SERIES, SERIES])
    for sequence 0, got an array of int64 of shape (2,)
make(init=[np.zeros(2), np.zeros(5)]).fit(PARTS) -> integers...of float64
make(init=[np.full(2, 4), np.full(5, 4)]).fit(PARTS) -> n_components - 1 = 3, got 4
make(init=[np.full(2, -1), np.full(5, 0)]).fit(PARTS) -> n_components - 1 = 3, got -1
make(init=np.zeros((2, 3), int)).fit(SERIES) -> for sequence 0...(2, 3)
make(8).fit($, [FREE, FREE, FREE]) for $ in SIX | in_parts(SIX)
    2 arrays of states, one for each sequence of X; got 3
make(8).fit(SIX, [FREE, FREE[:-1]]) -> y[1] must have shape (6,), a state per step
make(8).fit(SIX, [FREE, row(0, 0, 9, 0, 0, 0)]) -> y[1] ... from 0 to 7...got y[1][2]=9
make(8).fit(SIX, [FREE, FREE - 1]) -> =-2
make(8).fit(SIX, [FREE, FREE + 0.5]) -> integers
make(8).fit(SIX, [FREE, [None] * 5 + ['a']]) -> TypeError: y[1][5]='a'...LabelEncoder...use_y=False
make(8).fit(SIX, [FREE, [FREE]]) -> y[1] must have shape
make(8).fit(SIX, 'abc') -> TypeError: an array, or a list
make(8).fit(SIX[0].reshape(-1, 1), FREE[:-1]) -> y
make(8, transitions=np.ones((7, 7), dtype=bool)).fit(SIX) -> transitions ... (8, 8)
make(8, transitions=np.full((8, 8), 0.5)).fit(SIX) -> bool
make(8, transitions=np.triu(np.ones((8, 8), dtype=bool), 1)).fit(SIX) -> row 7 allows no state
make(8, start=np.zeros(8, dtype=bool)).fit(SIX) -> start allows no state
make(8, start=[True, False]).fit(SIX) -> start ... (8,)
make(8, transitions='left-right', state_order='share').fit(SIX) -> state_order='share'
make(8, transitions='left-right', duration='poisson').fit(SIX)
    state 7 without a successor other than itself
make(2, transitions='left-right', similarity=FixedSimilarity(np.eye(2)[::-1])).fit(SIX)
    state 1 without a successor.
make(state_order='mean', emission='categorical').fit(SIX) -> state_order='mean'
make(state_order='mean').fit(SIX, [FREE, np.maximum(FREE, 0)]) -> known states in y

chain(warm_start=True, emission=CategoricalEmission(prior=0.5)).set_params(emission__prior=0.7,
        max_iter=8).fit([SIX[0], ONCE])
    ~ emission=.*0\.5.*got emission=.*0\.7

# What compares or leaves out sequences
chain().to_arviz($) for $ in np.ones((6, 1)) | [ONCE] -> X is one sequence
chain().to_arviz([ONCE, SIX[0]]) -> the data that the model was fitted to
chain().to_arviz([np.append(SIX[0], ONCE[:3]), ONCE[3:]]) -> the data that the model was fitted to
chain(y=[FREE, ONCE]).to_arviz([SIX[0], ONCE]) -> TypeError: without known states in y
chain(duration='poisson').to_arviz([SIX[0], ONCE]) -> TypeError: without a duration
make().fit(in_parts(SIX)).to_arviz(SIX) -> TypeError: not to a PartitionedPanel
hmm().decode(in_parts(PARTS)) -> TypeError: .compute()
hmm().forecast(in_parts(PARTS), 3) -> TypeError: .compute()
hmm().impute(in_parts(PARTS)) -> TypeError: .compute()
hmm().predict(in_parts([np.ones((3, 4))] * 2)) -> 4 features, but ... expecting 2
factorial().predict(in_parts([np.ones((3, 4))] * 2)) -> 4 features, but ... expecting 2
hmm().score(in_parts([np.full((2, 2), np.nan)] * 2)) -> nothing but missing values
make($).fit(in_parts(PARTS)) for $ in emission='student_t' |
        emission=IndependentEmissions([('a', 'student_t', [0, 1])]) | state_sampler='beam' |
        similarity='emission' | warm_start=True
    TypeError: takes no PartitionedPanel...X.compute()
make().fit(in_parts([SERIES, SERIES + np.inf])) -> partition 1: ...infinity
make().fit(in_parts([SERIES * [1.0, np.nan]] * 2)) -> column 1 holds nothing but missing values
make(emission='poisson').fit(in_parts([SIX[1], -SIX[1]])) -> partition 1: X must hold counts...-1
make().fit(in_parts([SERIES, SERIES[:0]])) -> partition 1: Found sequence with 0 observation
make(init=[row(0, 0)]).fit(in_parts(PARTS)) -> init must hold the states of 2 sequences

# Factors
factors('auto', emission=given()).fit(SERIES) -> the same... got 'auto' and 2
factors('auto', emission=BinaryFactorEmission('auto', weights=WEIGHTS)).fit(SERIES)
    leave them at None
factors('auto', start_prior=(1.0, 2.0)).fit(SERIES) -> leave start_prior at
factors('auto', switch_on_prior=(2.0, 1.0)).iter_sweeps(SERIES) -> leave it at 1.0
factors('auto', mass_prior=(0.0, 1.0)).fit(SERIES) -> mass_prior must be two positive
factors(emission=BinaryFactorEmission(3)).fit(SERIES) -> must be the same... got 2 and 3
factors(emission=given(activity_prior=(2.0, 1.0))).fit(SERIES) -> activity_prior of the emission
factors(emission=given(mass_prior=(2.0, 1.0))).fit(SERIES)
    mass_prior of the emission is for states of HDPHMMLT
factors(emission=given(amplitude_variance=0.1)).fit(SERIES) -> amplitude_variance of the emission
factors(emission=given(weights=WEIGHTS[:2])).fit(SERIES) -> ~ weights must be .* shape \(3, 2\)
factors(emission=given(output=['normal'] * 3)).fit(SERIES) -> list of 2
factors(emission='probit').iter_sweeps(SERIES) -> must hold 0, 1 or NaN in column 1
factors().fit([np.zeros((2, 1)), np.zeros((0, 1))]) -> 0 observation...sequence 1
factors().fit([np.zeros((3, 2)), np.zeros((3, 1))]) -> has 1 features, but sequence 0 has 2
factors(emission=$).fit([SERIES, np.full((2, 2), 1e160)]) for $ in given(noise_variance=0.1) |
        given() -> 1e+160 in column 0: scale the columns of X
factors().fit([1e-151 * SERIES]) -> vary by 1e-150 or more...in column 0: scale
factorial().sample(0) -> n_steps
many_factors().predict(SERIES) -> up to 20 factors, got 21
many_factors().score(SERIES) -> up to 20 factors, got 21
many_factors().transform(SERIES) -> up to 20 factors, got 21
factors().fit([SERIES] * 2, [UNKNOWN] * 3) -> 10 rows of bits... 2 such arrays... got 3 entries
factors().fit([SERIES] * 2, [UNKNOWN, UNKNOWN[:-1]])
    y[1][:, 0] must have shape (5,), a bit per step
factors(3).fit([SERIES] * 2, [UNKNOWN, UNKNOWN])
    y[0] must have n_factors=3 columns...shape (5, 2)...use_y
factors().fit([SERIES] * 2, [UNKNOWN, UNKNOWN + 3]) -> y[1][:, 0] ... 0 to 1...[0]=2
factors().fit([SERIES] * 2, [UNKNOWN, UNKNOWN - 1]) -> =-2
factors().fit([SERIES] * 2, [UNKNOWN, UNKNOWN + 0.5]) -> integers
factors().fit([SERIES] * 2, [UNKNOWN, [['a'] * 2] * 5]) -> TypeError: use_y=False
factors().fit([SERIES] * 2, [UNKNOWN, UNKNOWN[:, 0]]) -> y[1] must have a row for each step...(5,)
factors().fit([SERIES] * 2, [UNKNOWN, [[0, 1], [0]]]) -> y[1] must have a row for each step
factors().fit([SERIES] * 2, np.full((9, 2), -1)) -> 10 rows of bits
factors().fit([SERIES] * 2, [np.zeros(5), np.zeros(4), np.zeros(5)])
    10 rows of bits...got 3 entries
factors().fit([SERIES] * 2, 'abc') -> TypeError: an array, or a list
factors('auto').fit([SERIES], [UNKNOWN + [1, 2]]) -> y[:, 0] holds no 1
factors('auto').fit([SERIES] * 2, [UNKNOWN + 2, UNKNOWN[:, :1] + 2]) -> the same number of columns
factors('auto').fit([SERIES], [np.ones((5, 80))]) -> ~ at most \d+ columns

# Detectors
StateDetector(features='values', step=2).fit(HALF_SEEN) -> step=2 leaves no observed value
StateDetector(features=WindowFeatures(4000)).fit(STEPS) -> window=4000 exceeds the longest sequence
StateDetector().fit(STEPS * np.nan) -> nothing but missing values
StateDetector().fit(STEPS * 1e170) -> numbers up to 1e+120, because squares of larger ones overflow
StateDetector(features='windows').fit(STEPS * 1e170) -> numbers up to 1e+120, because squares
StateDetector().fit(STEPS * [1.0, np.nan]) -> column 1 holds nothing but missing values
StateDetector().fit(STEPS + 1j) -> ~ Complex data not supported: X must hold real.*complex128.$
StateDetector().fit(STEPS[:, 0]) -> Expected 2D array, got 1D array
StateDetector().fit($) for $ in STEPS, [100, 200] | [STEPS[:200], STEPS[200:]], [100, 100, 100]
    what look like the lengths of sequences
StateDetector().fit(STEPS, np.full(299, -1)) -> y must hold
StateDetector().fit(STEPS, np.full(300, $)) for $ in 20 | 0.5 | -2 -> y must hold
ChangePointDetector('poisson').fit(STEPS - 1) -> X must hold integers from 0, got -1
ChangePointDetector('poisson').fit(STEPS + 0.5) -> X must hold integers from 0, got 0.5
ChangePointDetector('bernoulli').fit(STEPS) -> X must hold 0 and 1, got 2
ChangePointDetector('categorical').fit(STEPS).predict(STEPS + 2)
    ValueError: column 0 has the symbol 8, but only 7 symbols are known
ChangePointDetector('multinomial').fit(np.where(STEPS == 6, np.nan, STEPS))
    ValueError: only whole rows may be missing
ChangePointDetector('poisson', trend='level').fit(STEPS)
    ValueError: 'gaussian' or 'auto', not for emission='poisson'
ChangePointDetector('poisson', autocorrelation=0.5).fit(STEPS)
    ValueError: autocorrelation=0.5 is for numbers
ChangePointDetector(min_length=5, max_length=4).fit(STEPS)
    ValueError: max_length=4 must be at least min_length=5
ChangePointDetector(min_length=301).fit(STEPS)
    ValueError: A sequence of 300 steps cannot be divided into parts of at least min_length=301
ChangePointDetector(min_length=200, max_length=250).fit(STEPS)
    ValueError: and at most max_length=250 steps
ChangePointDetector(change_probability=(0.0, 1.0)).fit(STEPS)
    ValueError: change_probability must be two positive numbers
ChangePointDetector(change_probability=1.0).fit(STEPS) -> 'change_probability'
ChangePointDetector(power=0.0).fit(STEPS) -> 'power'
ChangePointDetector().fit(STEPS * np.nan) -> nothing but missing values
ChangePointDetector().fit(STEPS * 1e170) -> because squares of larger ones overflow
ChangePointDetector().fit(STEPS[:, 0]) -> Expected 2D array, got 1D array
ChangePointDetector().fit(STEPS, [100, 200]) -> what look like the lengths of sequences
ChangePointDetector().fit(STEPS).predict(STEPS, n_parts=301) -> n_parts=301 parts of 1
ChangePointDetector().fit(STEPS).predict(STEPS, n_parts=0) -> n_parts
ChangePointDetector().fit(STEPS).score(STEPS * np.nan) -> log evidence per observed step
"""
