"""Faults in the use of sequence models are named.

The message has the parameter, the class or the place, and what to do about it.

Beside them stand habits that look alike and are fine.
"""

import numpy as np
import pandas as pd
import pytest
from bad_inputs import (
    DAYS,
    HALF,
    HIDDEN,
    SERIES,
    TINY,
    VAST,
    check_fault,
    counts,
    factorial,
    faults,
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


@faults(
    (
        "a prior of nothing",
        lambda: hmm(emission=BinaryFactorEmission(2, activity_prior=TINY)),
        ValueError,
        "activity_prior must be two positive numbers.*from 1e-08 to 1e.08",
    ),
    (
        "symbols that are strings",
        lambda: hmm([["a", "b"], ["c"]], emission="poisson"),
        ValueError,
        "must hold numbers, got text.*OrdinalEncoder.*TokenVectorizer",
    ),
    (
        "sequences by name",
        lambda: hmm({"a": SERIES, "b": SERIES}),
        TypeError,
        r"must not be a dict: pass a list of its parts, \[\*X.values\(\)\]",
    ),
    (
        "groups of a data frame",
        lambda: hmm(pd.DataFrame({"who": [0, 0, 1], "x": [1.0, 2.0, 3.0]}).groupby("who")),
        TypeError,
        r"must not be a DataFrameGroupBy: .*\[part for _, part in X\]",
    ),
    ("complex", lambda: log_obs(np.zeros((3, 2), complex)), ValueError, "log_obs must hold real"),
    (
        "complex",
        lambda: hmm_posterior([0.5, 0.5j], HALF, np.zeros((3, 2))),
        ValueError,
        "startprob must hold real",
    ),
    (
        "complex",
        lambda: hmm_sample_states([0.5, 0.5], HALF * 1j, np.zeros((3, 2))),
        ValueError,
        "transmat must hold real",
    ),
    (
        "complex",
        lambda: hmm_viterbi([0.5, 0.5], HALF, np.zeros((3, 2)) * 1j),
        ValueError,
        "log_obs must hold real",
    ),
    (
        "paths of other columns",
        lambda: hmm().decode(SERIES[:, :1]),
        ValueError,
        "X has 1 feature.*expecting 2 features",
    ),
    (
        "a forecast of other columns",
        lambda: hmm().forecast(SERIES[:, :1], 2),
        ValueError,
        "X has 1 feature.*expecting 2 features",
    ),
    ("no forecast", lambda: hmm().forecast(SERIES, 0), ValueError, "n_steps must be .* >= 1.*0"),
    ("a sure thing", lambda: hmm().forecast(SERIES, 1, 1.0), ValueError, "quantiles must be betw"),
    (
        "a forecast of all time",
        lambda: hmm().forecast(SERIES, 2**31 - 1),
        ValueError,
        "forecast of n_steps=2147483647.*GiB",
    ),
    (
        "a beginning of other columns",
        lambda: hmm().sample(2, given=SERIES[:, :1]),
        ValueError,
        "X has 1 feature.*expecting 2 features",
    ),
    (
        "gaps in symbols",
        lambda: hmm(np.arange(12.0).reshape(-1, 1) % 2, emission="categorical").impute(
            np.array([[0.0], [np.nan]])
        ),
        TypeError,
        "no value for a missing category",
    ),
    # Masked arrays
    ("masked", lambda: log_obs(HIDDEN), ValueError, "log_obs must not be a masked array"),
    ("masked", lambda: hmm(HIDDEN), ValueError, "X must not be a masked array.*NaN"),
    ("masked", lambda: hmm([HIDDEN]), ValueError, "masked array"),
    (
        "masked",
        lambda: hmm(similarity=FixedSimilarity(HIDDEN / 9)),
        ValueError,
        "'matrix' parameter of FixedSimilarity must not be a masked array",
    ),
    # Data
    (
        "huge numbers",
        lambda: hmm(SERIES * 1e160),
        ValueError,
        r"e\+160 in column 1: scale the columns of X",
    ),
    (
        "huge numbers",
        lambda: hmm(SERIES * 1e160, emission=GaussianEmission("diag")),
        ValueError,
        "scale the columns of X",
    ),
    (
        "huge numbers",
        lambda: hmm(SERIES * 1e160, emission=BinaryFactorEmission(2)),
        ValueError,
        "scale the columns of X",
    ),
    (
        "huge numbers for a fitted model",
        lambda: hmm().score(SERIES * 1e160),
        ValueError,
        "scale the columns of X",
    ),
    (
        "huge counts",
        lambda: hmm(np.array([[1e300], [1.0]]), emission="poisson"),
        ValueError,
        "X must hold counts up to",
    ),
    (
        "no bits",
        lambda: hmm([SERIES > 1.0, SERIES], emission="bernoulli"),
        ValueError,
        "X must hold 0 and 1.*got 0.5 in column 1 at step 6, counted through all sequences",
    ),
    (
        "columns of two parts",
        lambda: hmm(emission=IndependentEmissions(TWICE)),
        ValueError,
        "column 1 is given to both 'a' and 'b'",
    ),
    (
        "columns of no part",
        lambda: hmm(emission=IndependentEmissions([("a", "gaussian", [0])])),
        ValueError,
        "column 1 of X belongs to no emission",
    ),
    # Habits of other libraries
    (
        "lengths as labels",
        lambda: HDPHMMLT(2).fit(LONG, [4, 6]),
        ValueError,
        "y holds what look like the lengths.*SequencePanel",
    ),
    (
        "lengths as labels",
        lambda: HDPHMMLT(2).fit_predict(LONG, np.array([4, 6])),
        ValueError,
        "y holds what look like the lengths",
    ),
    (
        "lengths as labels",
        lambda: HDPHMMLT(2).fit_transform(LONG, pd.Series([4, 6])),
        ValueError,
        "y holds what look like the lengths",
    ),
    (
        "lengths as labels",
        lambda: FactorialHMM(2).fit(LONG, (10,)),
        ValueError,
        "y holds what look like the lengths",
    ),
    (
        "lengths as labels",
        lambda: hmm().score(LONG, [4, 6]),
        ValueError,
        "y holds what look like the lengths",
    ),
    (
        "lengths",
        lambda: HDPHMMLT(2).fit(LONG, lengths=[4, 6]),
        TypeError,
        r"SequenceEstimator.fit\(\).*len",
    ),
    ("a series", lambda: hmm(LONG[:, 0]), ValueError, r"1D array.*np.reshape\(X, \(-1, 1\)\)"),
    ("a series", lambda: hmm([1.0, 2.0]), ValueError, r"1D array.*or the list \[X\]"),
    ("a series", lambda: hmm(pd.Series([1.0, 2.0])), ValueError, r"1D array.*or the list \[X\]"),
    (
        "a cube",
        lambda: hmm(np.zeros((4, 9, 2))),
        ValueError,
        r"dim 3.*HDPHMMLT.*write list\(X\) if.*list\(np.swapaxes\(X, 1, 2\)\)",
    ),
    # Lags
    ("no lags", lambda: hmm(emission=AutoregressiveEmission(0)), ValueError, "'lags'.*Autoreg"),
    ("half a lag", lambda: hmm(emission=AutoregressiveEmission(1.5)), ValueError, "'lags'.*Auto"),
    (
        "some lags",
        lambda: hmm(emission=AutoregressiveEmission("two")),
        ValueError,
        "'lags'.*Auto",
    ),
    (
        "more lags than steps",
        lambda: hmm([LONG[:2], LONG[:3]], emission=AutoregressiveEmission(3)),
        ValueError,
        r"more than 3 step\(s\).*The longest sequence has 3 step\(s\)",
    ),
    (
        "more lags than steps of another sequence",
        lambda: hmm(emission="autoregressive").predict([LONG[:1], LONG[:1]]),
        ValueError,
        r"more than 1 step\(s\).*The longest sequence has 1 step\(s\)",
    ),
    *[
        (
            "lags",
            lambda lags=lags: hmm(emission=AutoregressiveEmission(lags)),
            ValueError,
            "'lags' parameter of AutoregressiveEmission must be.*different integers >= 1.*Got",
        )
        for lags in ([], [0, 1], [1, -2], [1, 1], [1, 2.0], [[1, 2]], [True, 2], (1, None))
    ],
    (
        "a trend",
        lambda: hmm(emission=AutoregressiveEmission(trend="linear")),
        ValueError,
        "'trend' parameter of Auto.*",
    ),
    (
        "NaN in lags",
        lambda: hmm(emission="autoregressive").decode(np.where(LONG > 2.7, np.nan, LONG)),
        ValueError,
        "decode.*requires complete sequences.*impute",
    ),
    (
        "too short to go on",
        lambda: hmm(emission=AutoregressiveEmission(2)).forecast([LONG, LONG[:1]], 2),
        ValueError,
        r"continued only from at least 2 step\(s\).*sequence 1 has 1",
    ),
    ("all NaN", lambda: hmm(LONG * np.nan, emission="autoregressive"), ValueError, "X holds noth"),
    (
        "infinite",
        lambda: hmm([np.where(LONG > 2.7, np.inf, LONG)], emission="autoregressive"),
        ValueError,
        "infin",
    ),
    (
        "huge numbers",
        lambda: hmm(SERIES * 1e160, emission="autoregressive"),
        ValueError,
        "scale the columns of X",
    ),
    (
        "a million lags",
        lambda: hmm(np.zeros((1_000_002, 2)), emission=AutoregressiveEmission(1_000_000)),
        ValueError,
        "lags=1000000 of 2 features.*GiB",
    ),
    # Nothing observed
    ("a column of NaN", lambda: hmm(LONG * [1, np.nan]), ValueError, "X: column 1 holds nothing"),
    (
        "a column of NaN",
        lambda: FactorialHMM(2).fit([LONG * [np.nan, 1], LONG * [np.nan, 1]]),
        ValueError,
        "X: column 0 holds nothing",
    ),
    (
        "a column of NaN in a frame",
        lambda: hmm(pd.DataFrame(LONG * [1, np.nan], columns=["a", "b"])),
        ValueError,
        r"X: column 1 \('b'\) holds nothing",
    ),
    ("nothing but NaN", lambda: hmm([LONG * np.nan]), ValueError, "X holds nothing but missing"),
    ("a score of nothing", lambda: hmm().score(LONG * np.nan), ValueError, "X holds nothing but"),
    # Words
    (
        "words as vectors",
        lambda: hmm(WORDS),
        TypeError,
        r'word ids are for HDPHMMLT\(emission="categorical"\), not for HDPHMMLT with.*Gaussian',
    ),
    (
        "words as factors",
        lambda: FactorialHMM(2).fit(WORDS),
        TypeError,
        "not for FactorialHMM with emission=BinaryFactor",
    ),
    ("dates", lambda: hmm(DAYS), ValueError, "X must hold numbers, got dates"),
    (
        "dates in a frame",
        lambda: hmm(pd.DataFrame({"a": pd.to_datetime(["2020-01-01"]), "b": [1.0]})),
        ValueError,
        "X, column 'a', must hold numbers, got dates.*make them the index, or leave them out",
    ),
    (
        "a stray symbol",
        lambda: hmm(np.array([[0.0], [2.0**31 - 2]]), n_components=20, emission="categorical"),
        ValueError,
        "CategoricalEmission of 2147483647 symbols.*GiB",
    ),
    ("a generator", lambda: hmm(x for x in [SERIES]), TypeError, r"generator.*pass list\(X\)"),
    ("a truth value", lambda: hmm(stickiness=True), ValueError, "stickiness.*True"),
    ("a huge number", lambda: hmm(n_components=10**9), ValueError, "n_components=10{9} .*GiB"),
    ("a huge number", lambda: factorial(n_factors=2**31 - 1), ValueError, "n_factors=21.*GiB"),
    (
        "a long duration",
        lambda: hmm(duration=PoissonDuration(max_duration=10**9)),
        ValueError,
        "max_duration=10{9} with 2 states.*GiB",
    ),
    (
        "a long duration",
        lambda: hmm(duration=NegativeBinomialDuration(max_duration=10**9)),
        ValueError,
        "max_duration=10{9} with 2 states.*GiB",
    ),
    (
        "many phases",
        lambda: hmm(duration=NegativeBinomialDuration(n_phases=2**31 - 1)),
        ValueError,
        r"'n_phases'.*in the range \[1, 100000\]. Got 2147483647",
    ),
    (
        "many dimensions",
        lambda: hmm(similarity=GaussianSimilarity(2**31 - 1)),
        ValueError,
        "n_dims=2147483647.*GiB",
    ),
    (
        "a long sequence",
        lambda: hmm().sample(2**31 - 1, 5),
        ValueError,
        "n_sequences=5 of n_steps=2147483647.*GiB",
    ),
    (
        "many sequences",
        lambda: factorial().sample(5, 2**31 - 1),
        ValueError,
        "n_sequences=2147483647 of n_steps=5.*GiB",
    ),
    (
        "an extreme prior",
        lambda: hmm(top_concentration_prior=(1e-300, 1.0)),
        ValueError,
        "top_concentration_prior must be two positive numbers.*1e-08 to 1e.08",
    ),
    (
        "an extreme prior",
        lambda: hmm(transition_concentration_prior=(1e-300, 1e300)),
        ValueError,
        "transition_concentration_prior must be two",
    ),
    (
        "an extreme prior",
        lambda: hmm(stickiness="auto", stickiness_prior=(1e-300, 1e-300)),
        ValueError,
        "stickiness_prior must be two",
    ),
    ("an extreme prior", lambda: factorial(start_prior=TINY), ValueError, "start_prior must be"),
    ("an extreme prior", lambda: counts(prior=1e-300), ValueError, "prior.*CategoricalEmission"),
    ("a word", lambda: counts(prior="learn"), ValueError, "prior.*among {'auto'}.*'learn'"),
    ("a base of others", lambda: counts(base=[0.5, 0.5]), ValueError, "base must be.*3 positive"),
    ("an extreme prior", lambda: counts(concentration_prior=TINY), ValueError, "conc.*prior must"),
    ("an extreme prior", lambda: counts(prior=[1, 1e300, 1]), ValueError, "Categ.*prior must be"),
    (
        "an extreme prior",
        lambda: hmm(emission=PoissonEmission(1e-300, 1e300)),
        ValueError,
        "PoissonEmission.*1e-08",
    ),
    (
        "an extreme prior",
        lambda: hmm(duration=PoissonDuration(rate=1e-300)),
        ValueError,
        "rate.*PoissonDuration",
    ),
    (
        "an extreme prior",
        lambda: hmm(duration=NegativeBinomialDuration(prior=TINY)),
        ValueError,
        "prior must be two positive numbers",
    ),
    (
        "an extreme prior",
        lambda: hmm(emission=GaussianEmission(mean_precision_prior=1e-300)),
        ValueError,
        "mean_precision_prior",
    ),
    (
        "an infinite prior",
        lambda: hmm(emission=GaussianEmission(degrees_of_freedom_prior=np.inf)),
        ValueError,
        "degrees_of_freedom_prior",
    ),
    (
        "a huge covariance",
        lambda: hmm(emission=GaussianEmission(covariance_prior=np.eye(2) * 1e160)),
        ValueError,
        "covariance_prior must hold numbers up to",
    ),
    (
        "an extreme decay",
        lambda: hmm(similarity=GaussianSimilarity(decay=1e300)),
        ValueError,
        "decay.*GaussianSimilarity",
    ),
    (
        "an extreme decay",
        lambda: hmm(emission=BinaryFactorEmission(2), similarity=LaplacianSimilarity(decay=np.inf)),
        ValueError,
        "decay.*LaplacianSimilarity",
    ),
    # Jobs that are set after the fit
    (
        "a million threads",
        lambda: asked("predict", 10**6),
        ValueError,
        "n_jobs must.*4096.*got 10",
    ),
    ("no threads", lambda: asked("score", 0), ValueError, "n_jobs must be None.*got 0"),
    ("threads by name", lambda: asked("transform", "all"), ValueError, "n_jobs must.*got 'all'"),
    ("half a thread", lambda: asked("predict_proba", 2.5), ValueError, "n_jobs must.*got 2.5"),
    (
        "half a thread",
        lambda: factorial().set_params(n_jobs=2.5).score(SERIES),
        ValueError,
        "n_jobs must.*got 2.5",
    ),
    # Distances of one's own
    ("no distances", lambda: measured(lambda n: None), ValueError, "metric returns must hold real"),
    (
        "distances that are text",
        lambda: measured(lambda n: apart(n).astype(str)),
        ValueError,
        "the array that metric returns must hold real numbers",
    ),
    (
        "dates",
        lambda: measured(lambda n: apart(n).astype("M8[D]")),
        ValueError,
        "the array that metric returns must hold real numbers",
    ),
    (
        "complex",
        lambda: measured(lambda n: apart(n) * 1j),
        ValueError,
        "the array that metric returns must hold real numbers",
    ),
    (
        "masked",
        lambda: measured(lambda n: np.ma.masked_array(apart(n), np.eye(n) == 0)),
        ValueError,
        "the array that metric returns must not be a masked array",
    ),
    (
        "a vast distance",
        lambda: measured(lambda n: (apart(n).astype(int).astype(object) * 10**400).tolist()),
        ValueError,
        "the array that metric returns must hold real numbers",
    ),
    # Values of any length
    (
        "a vast number for X",
        lambda: hmm(10**400),
        ValueError,
        "X must hold numbers.*got 1",
    ),
    (
        "a vast number",
        lambda: hmm(duration=PoissonDuration(max_duration=VAST)),
        ValueError,
        "'max_duration' parameter of PoissonDuration.*an object of type int that is too long",
    ),
    (
        "a vast number",
        lambda: hmm(duration=NegativeBinomialDuration(prior=(VAST, 1.0))),
        ValueError,
        "prior must be two positive numbers.*an object of type tuple that is too long",
    ),
    (
        "a long list",
        lambda: hmm(similarity=GaussianSimilarity(decay=[1.0] * 1000)),
        ValueError,
        r"'decay' parameter of GaussianSimilarity.*Got \[1.0, .{0,200}\.\.\. instead",
    ),
    (
        "a long list",
        lambda: hmm(similarity=GaussianSimilarity(decay_prior=[1.0] * 1000)),
        ValueError,
        r"decay_prior must be two positive numbers.*got \[1.0, .{0,200}\.\.\.\.$",
    ),
)
def test_a_fault_is_named(fault):
    check_fault(fault)


@pytest.mark.parametrize(
    "call",
    [
        lambda: hmm(pd.DataFrame(SERIES, columns=["a", "b"])),
        lambda: hmm(SERIES.astype(np.float32), n_components=np.int32(2), stickiness=1),
        lambda: hmm(np.where(SERIES > 2, np.nan, SERIES) * 1e6),
        lambda: hmm(
            SERIES * 1e-9,
            emission=small_factors(),
        ),
        lambda: hmm(
            emission=GaussianEmission(mean_prior=[0, 1], covariance_prior=[[1, 0], [0, 1]])
        ),
        lambda: hmm_log_likelihood([0.5, 0.5], HALF.tolist(), [[0, 0], [-np.inf, 0]]),
        lambda: measured(lambda n: pd.DataFrame(apart(n))),
        lambda: measured(lambda n: (apart(n) > 0).tolist()),
        lambda: hmm(similarity=FixedSimilarity(np.full((2, 2), 0.5, dtype=object))),
        lambda: hmm(duration=PoissonDuration(np.float32(2), np.int8(1), np.uint8(200))),
        lambda: hmm(similarity=GaussianSimilarity(np.int8(2), np.float16(1), (np.int8(1), 1))),
    ],
)
def test_habits_that_are_fine(call):
    call()
