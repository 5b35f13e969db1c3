"""Models of sequences: mistakes and their messages."""

import numpy as np
import pandas as pd

from refusals.samples import (
    DAYS,
    HALF,
    HIDDEN,
    SERIES,
    TINY,
    VAST,
    counts,
    factorial,
    hmm,
    log_obs,
    small_factors,
)
from skdp.data import TokenSequences
from skdp.sequence import (
    HDPHMMLT,
    AutoregressiveEmission,
    BinaryFactorEmission,
    EmissionSimilarity,
    FactorialHMM,
    FixedSimilarity,
    GaussianEmission,
    GaussianSimilarity,
    IndependentEmissions,
    LaplacianSimilarity,
    NegativeBinomialDuration,
    PoissonDuration,
    PoissonEmission,
    hmm_log_likelihood,
    hmm_posterior,
    hmm_sample_states,
    hmm_viterbi,
)

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

TABLE = r"""
hmm(emission=BinaryFactorEmission(2, activity_prior=TINY))
    ValueError: activity_prior must be two positive numbers...from 1e-08 to 1e+08
hmm([['a', 'b'], ['c']], emission='poisson')
    ValueError: must hold numbers, got text...OrdinalEncoder...TokenVectorizer
hmm({'a': SERIES, 'b': SERIES})
    TypeError: must not be a dict: pass a list of its parts, [*X.values()]
hmm(pd.DataFrame({'who': [0, 0, 1], 'x': [1.0, 2.0, 3.0]}).groupby('who'))
    TypeError: must not be a DataFrameGroupBy: ...[part for _, part in X]
log_obs(np.zeros((3, 2), complex)) -> ValueError: log_obs must hold real
hmm_posterior([0.5, 0.5j], HALF, np.zeros((3, 2))) -> ValueError: startprob must hold real
hmm_sample_states([0.5, 0.5], HALF * 1j, np.zeros((3, 2))) -> ValueError: transmat must hold real
hmm_viterbi([0.5, 0.5], HALF, np.zeros((3, 2)) * 1j) -> ValueError: log_obs must hold real
hmm().decode(SERIES[:, :1]) -> ValueError: X has 1 feature...expecting 2 features
hmm().forecast(SERIES[:, :1], 2) -> ValueError: X has 1 feature...expecting 2 features
hmm().forecast(SERIES, 0) -> ValueError: n_steps must be ... >= 1...0
hmm().forecast(SERIES, 1, 1.0) -> ValueError: quantiles must be betw
hmm().forecast(SERIES, 2 ** 31 - 1) -> ValueError: forecast of n_steps=2147483647...GiB
hmm().sample(2, given=SERIES[:, :1]) -> ValueError: X has 1 feature...expecting 2 features
hmm(np.arange(12.0).reshape(-1, 1) % 2, emission='categorical').impute(np.array([[0.0], [np.nan]]))
    TypeError: no value for a missing category
log_obs(HIDDEN) -> ValueError: log_obs must not be a masked array
hmm(HIDDEN) -> ValueError: X must not be a masked array...NaN
hmm([HIDDEN]) -> ValueError: masked array
hmm(similarity=FixedSimilarity(HIDDEN / 9))
    ValueError: 'matrix' parameter of FixedSimilarity must not be a masked array
hmm(SERIES * 1e+160) -> ValueError: e+160 in column 1: scale the columns of X
hmm(SERIES * 1e+160, emission=GaussianEmission('diag')) -> ValueError: scale the columns of X
hmm(SERIES * 1e+160, emission=BinaryFactorEmission(2)) -> ValueError: scale the columns of X
hmm().score(SERIES * 1e+160) -> ValueError: scale the columns of X
hmm(np.array([[1e+300], [1.0]]), emission='poisson') -> ValueError: X must hold counts up to
hmm([SERIES > 1.0, SERIES], emission='bernoulli')
    ValueError: X must hold 0 and 1...got 0.5 in column 1 at step 6, counted through all sequences
hmm(emission=IndependentEmissions(TWICE)) -> ValueError: column 1 is given to both 'a' and 'b'
hmm(emission=IndependentEmissions([('a', 'gaussian', [0])]))
    ValueError: column 1 of X belongs to no emission
HDPHMMLT(2).fit(LONG, [4, 6]) -> ValueError: y holds what look like the lengths...SequencePanel
HDPHMMLT(2).fit_predict(LONG, np.array([4, 6])) -> ValueError: y holds what look like the lengths
HDPHMMLT(2).fit_transform(LONG, pd.Series([4, 6])) -> ValueError: y holds what look like the lengths
FactorialHMM(2).fit(LONG, (10,)) -> ValueError: y holds what look like the lengths
hmm().score(LONG, [4, 6]) -> ValueError: y holds what look like the lengths
HDPHMMLT(2).fit(LONG, lengths=[4, 6]) -> TypeError: SequenceEstimator.fit()...len
hmm(LONG[:, 0]) -> ValueError: 1D array...np.reshape(X, (-1, 1))
hmm([1.0, 2.0]) -> ValueError: 1D array...or the list [X]
hmm(pd.Series([1.0, 2.0])) -> ValueError: 1D array...or the list [X]
hmm(np.zeros((4, 9, 2)))
    ValueError: dim 3...HDPHMMLT...write list(X) if...list(np.swapaxes(X, 1, 2))
hmm(emission=AutoregressiveEmission(0)) -> ValueError: 'lags'...Autoreg
hmm(emission=AutoregressiveEmission(1.5)) -> ValueError: 'lags'...Auto
hmm(emission=AutoregressiveEmission('two')) -> ValueError: 'lags'...Auto
hmm([LONG[:2], LONG[:3]], emission=AutoregressiveEmission(3))
    ValueError: more than 3 step(s)...The longest sequence has 3 step(s)
hmm(emission='autoregressive').predict([LONG[:1], LONG[:1]])
    ValueError: more than 1 step(s)...The longest sequence has 1 step(s)
hmm(emission=AutoregressiveEmission(trend='linear')) -> ValueError: 'trend' parameter of Auto...
hmm(emission='autoregressive').decode(np.where(LONG > 2.7, np.nan, LONG))
    ValueError: decode...requires complete sequences...impute
hmm(emission=AutoregressiveEmission(2)).forecast([LONG, LONG[:1]], 2)
    ValueError: continued only from at least 2 step(s)...sequence 1 has 1
hmm(LONG * np.nan, emission='autoregressive') -> ValueError: X holds noth
hmm([np.where(LONG > 2.7, np.inf, LONG)], emission='autoregressive') -> ValueError: infin
hmm(SERIES * 1e+160, emission='autoregressive') -> ValueError: scale the columns of X
hmm(np.zeros((1000002, 2)), emission=AutoregressiveEmission(1000000))
    ValueError: lags=1000000 of 2 features...GiB
hmm(LONG * [1, np.nan]) -> ValueError: X: column 1 holds nothing
FactorialHMM(2).fit([LONG * [np.nan, 1], LONG * [np.nan, 1]])
    ValueError: X: column 0 holds nothing
hmm(pd.DataFrame(LONG * [1, np.nan], columns=['a', 'b']))
    ValueError: X: column 1 ('b') holds nothing
hmm([LONG * np.nan]) -> ValueError: X holds nothing but missing
hmm().score(LONG * np.nan) -> ValueError: X holds nothing but
hmm(WORDS)
    TypeError: word ids are for HDPHMMLT(emission="categorical"), not for HDPHMMLT with...Gaussian
FactorialHMM(2).fit(WORDS) -> TypeError: not for FactorialHMM with emission=BinaryFactor
hmm(DAYS) -> ValueError: X must hold numbers, got dates
hmm(pd.DataFrame({'a': pd.to_datetime(['2020-01-01']), 'b': [1.0]}))
    ValueError: X, column 'a', must hold numbers, got dates...make them the index, or leave them out
hmm(np.array([[0.0], [2.0 ** 31 - 2]]), n_components=20, emission='categorical')
    ValueError: CategoricalEmission of 2147483647 symbols...GiB
hmm((x for x in [SERIES])) -> TypeError: generator...pass list(X)
hmm(stickiness=True) -> ValueError: stickiness...True
hmm(n_components=10 ** 9) -> ValueError ~ n_components=10{9} .*GiB
factorial(n_factors=2 ** 31 - 1) -> ValueError: n_factors=21...GiB
hmm(duration=PoissonDuration(max_duration=10 ** 9))
    ValueError ~ max_duration=10{9} with 2 states.*GiB
hmm(duration=NegativeBinomialDuration(max_duration=10 ** 9))
    ValueError ~ max_duration=10{9} with 2 states.*GiB
hmm(duration=NegativeBinomialDuration(n_phases=2 ** 31 - 1))
    ValueError: 'n_phases'...in the range [1, 100000]. Got 2147483647
hmm(similarity=GaussianSimilarity(2 ** 31 - 1)) -> ValueError: n_dims=2147483647...GiB
hmm().sample(2 ** 31 - 1, 5) -> ValueError: n_sequences=5 of n_steps=2147483647...GiB
factorial().sample(5, 2 ** 31 - 1) -> ValueError: n_sequences=2147483647 of n_steps=5...GiB
hmm(top_concentration_prior=(1e-300, 1.0))
    ValueError: top_concentration_prior must be two positive numbers...1e-08 to 1e+08
hmm(transition_concentration_prior=(1e-300, 1e+300))
    ValueError: transition_concentration_prior must be two
hmm(stickiness='auto', stickiness_prior=(1e-300, 1e-300))
    ValueError: stickiness_prior must be two
factorial(start_prior=TINY) -> ValueError: start_prior must be
counts(prior=1e-300) -> ValueError: prior...CategoricalEmission
counts(prior='learn') -> ValueError ~ prior.*among {'auto'}.*'learn'
counts(base=[0.5, 0.5]) -> ValueError: base must be...3 positive
counts(concentration_prior=TINY) -> ValueError: conc...prior must
counts(prior=[1, 1e+300, 1]) -> ValueError: Categ...prior must be
hmm(emission=PoissonEmission(1e-300, 1e+300)) -> ValueError: PoissonEmission...1e-08
hmm(duration=PoissonDuration(rate=1e-300)) -> ValueError: rate...PoissonDuration
hmm(duration=NegativeBinomialDuration(prior=TINY)) -> ValueError: prior must be two positive numbers
hmm(emission=GaussianEmission(mean_precision_prior=1e-300)) -> ValueError: mean_precision_prior
hmm(emission=GaussianEmission(degrees_of_freedom_prior=np.inf))
    ValueError: degrees_of_freedom_prior
hmm(emission=GaussianEmission(covariance_prior=np.eye(2) * 1e+160))
    ValueError: covariance_prior must hold numbers up to
hmm(similarity=GaussianSimilarity(decay=1e+300)) -> ValueError: decay...GaussianSimilarity
hmm(emission=BinaryFactorEmission(2), similarity=LaplacianSimilarity(decay=np.inf))
    ValueError: decay...LaplacianSimilarity
asked('predict', 10 ** 6) -> ValueError: n_jobs must...4096...got 10
asked('score', 0) -> ValueError: n_jobs must be None...got 0
asked('transform', 'all') -> ValueError: n_jobs must...got 'all'
asked('predict_proba', 2.5) -> ValueError: n_jobs must...got 2.5
factorial().set_params(n_jobs=2.5).score(SERIES) -> ValueError: n_jobs must...got 2.5
measured(lambda n: None) -> ValueError: metric returns must hold real
measured(lambda n: apart(n).astype(str))
    ValueError: the array that metric returns must hold real numbers
measured(lambda n: apart(n).astype('M8[D]'))
    ValueError: the array that metric returns must hold real numbers
measured(lambda n: apart(n) * 1j)
    ValueError: the array that metric returns must hold real numbers
measured(lambda n: np.ma.masked_array(apart(n), np.eye(n) == 0))
    ValueError: the array that metric returns must not be a masked array
measured(lambda n: (apart(n).astype(int).astype(object) * 10 ** 400).tolist())
    ValueError: the array that metric returns must hold real numbers
hmm(10 ** 400) -> ValueError: X must hold numbers...got 1
hmm(duration=PoissonDuration(max_duration=VAST))
    ValueError: 'max_duration' parameter of PoissonDuration...an object of type int that is too long
hmm(duration=NegativeBinomialDuration(prior=(VAST, 1.0)))
    ValueError: prior must be two positive numbers...an object of type tuple that is too long
hmm(similarity=GaussianSimilarity(decay=[1.0] * 1000))
    ValueError ~ 'decay' parameter of GaussianSimilarity.*Got \[1.0, .{0,200}\.\.\. instead
hmm(similarity=GaussianSimilarity(decay_prior=[1.0] * 1000))
    ValueError ~ decay_prior must be two positive numbers.*got \[1.0, .{0,200}\.\.\.\.$
hmm(pd.DataFrame(SERIES, columns=['a', 'b'])) -> fine
hmm(SERIES.astype(np.float32), n_components=np.int32(2), stickiness=1) -> fine
hmm(np.where(SERIES > 2, np.nan, SERIES) * 1000000.0) -> fine
hmm(SERIES * 1e-09, emission=small_factors()) -> fine
hmm(emission=GaussianEmission(mean_prior=[0, 1], covariance_prior=[[1, 0], [0, 1]])) -> fine
hmm_log_likelihood([0.5, 0.5], HALF.tolist(), [[0, 0], [-np.inf, 0]]) -> fine
measured(lambda n: pd.DataFrame(apart(n))) -> fine
measured(lambda n: (apart(n) > 0).tolist()) -> fine
hmm(similarity=FixedSimilarity(np.full((2, 2), 0.5, dtype=object))) -> fine
hmm(duration=PoissonDuration(np.float32(2), np.int8(1), np.uint8(200))) -> fine
hmm(similarity=GaussianSimilarity(np.int8(2), np.float16(1), (np.int8(1), 1))) -> fine
hmm(emission=AutoregressiveEmission([]))
    ValueError: 'lags' parameter of AutoregressiveEmission must be...different integers >= 1...Got
hmm(emission=AutoregressiveEmission([1, -2]))
    ValueError: 'lags' parameter of AutoregressiveEmission must be...different integers >= 1...Got
hmm(emission=AutoregressiveEmission([1, 1]))
    ValueError: 'lags' parameter of AutoregressiveEmission must be...different integers >= 1...Got
hmm(emission=AutoregressiveEmission([1, 2.0]))
    ValueError: 'lags' parameter of AutoregressiveEmission must be...different integers >= 1...Got
hmm(emission=AutoregressiveEmission([True, 2]))
    ValueError: 'lags' parameter of AutoregressiveEmission must be...different integers >= 1...Got
hmm().filter_update(3, SERIES[0]) -> ValueError: state must be a result of filter_update
hmm().sample(3, given=[1]) -> ValueError: given: Expected 2D array, got 1D array
hmm(emission=AutoregressiveEmission([[1], [1, 2]])) -> ValueError: The 'lags' parameter of
"""
