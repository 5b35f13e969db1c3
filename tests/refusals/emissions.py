"""Distributions of observations given a state: mistakes and their messages."""

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator

from skdp.data import PartitionedPanel, SequencePanel
from skdp.emissions import (
    AutoregressiveEmission,
    BinaryFactorEmission,
    CategoricalEmission,
    GaussianEmission,
    IndependentEmissions,
    PoissonEmission,
    RegressionEmission,
)
from skdp.emissions._binary_factors._part import BinaryFactorModel
from skdp.emissions._common._columns import check_shared_out, find_columns
from skdp.emissions._discrete._categorical import as_symbols
from skdp.emissions._discrete._poisson import PoissonModel
from skdp.emissions._gaussian._model import GaussianModel, factorize_precisions
from skdp.mixture import DPMixture
from skdp.sequence import HDPHMMLT

RNG = np.random.default_rng(0)
ROWS = RNG.normal(size=(12, 2))
TRIALS = np.column_stack([ROWS[:, 0] > 0.0, RNG.normal(size=(12, 2))])
SPIKES = TRIALS * [3.0, 1.0, 1.0]
BITS = (RNG.random((12, 2)) < 0.5).astype(float)
EVENTS = RNG.multinomial(6, [0.5, 0.3, 0.2], 12).astype(float)
MIXED = np.column_stack([ROWS[:, 0], 3.0 * BITS[:, 0], BITS])
WORDS = np.array([["a"], ["b"], ["a"]], dtype=object)
FRAME = pd.DataFrame({"w": WORDS[:, 0]})
NAMES = ["a", "b", "c", "d"]
WIDE = np.column_stack([ROWS, np.tile([3.0, 4.0, 5.0], (12, 1))])
TINY = 1e-200 * np.column_stack([ROWS[:, 0]])
NAN = np.nan


def sampler(emission, X=ROWS):
    return emission.make_sampler(np.array(X, dtype=float), 3)


def lagging(X=ROWS, **params):
    X = np.array(X, dtype=float)
    return AutoregressiveEmission(**params).make_sampler(X, 3, np.array([0, len(X)]))


def changed(X, *changes):
    """Return a copy with other values, given with their row and column."""
    X = np.array(X, dtype=float)
    for row, column, value in changes:
        X[row, column] = value
    return X


def hmm(X=ROWS, n_components=3, **params):
    return HDPHMMLT(n_components, max_iter=2, random_state=0, **params).fit(X)


def panel(X, *changes):
    """Return two sequences, with other values."""
    return np.split(changed(X, *changes), 2)


def factors(X=((0.0,) * 3,) * 5, **params):
    return sampler(BinaryFactorEmission(2, **params), X)


def buffet(**params):
    return hmm(emission=BinaryFactorEmission("auto", **params))


def mixed_factors():
    return sampler(BinaryFactorEmission(1, output=["normal", "probit"]), np.zeros((5, 2)))


def known_factors():
    zeros = np.zeros((2, 1), dtype=np.int8), np.zeros((2, 2)), np.ones(2)
    return BinaryFactorModel(*zeros, ("normal", "probit"))


def gaussian():
    """Return a sampler after its first draw."""
    own = sampler(GaussianEmission())
    own.attach(ROWS)
    return own


def symbols(X=((0.0,), (2.0,), (1.0,)), **params):
    return sampler(CategoricalEmission(**params), X)


def mixture(X, emission):
    return DPMixture(emission, max_iter=2).fit(X)


def parts(**replaced):
    known = {
        "level": ("gaussian", [0]),
        "events": (PoissonEmission(), [1]),
        "kinds": ("categorical", [2]),
        "bits": ("bernoulli", [3]),
        **replaced,
    }
    return [(name, *part) for name, part in known.items() if part is not None]


def independent(emissions=None, X=MIXED, **replaced):
    return hmm(X, emission=IndependentEmissions(emissions or parts(**replaced)))


def independent_of(*emissions):
    return hmm(MIXED, emission=IndependentEmissions(list(emissions)))


def regression(X=TRIALS, targets=0, inputs=None, output="normal", part=False, **params):
    settings = {key: params.pop(key) for key in ("similarity", "state_order") if key in params}
    emission = RegressionEmission(targets, inputs, output, **params)
    if part:
        emission = IndependentEmissions([("part", emission, [0, 1, 2])])
    return hmm(X, emission=emission, **settings)


def partitioned(X):
    return PartitionedPanel.from_panel(SequencePanel.from_sequences([X] * 2), 2)


def find(columns, names=None):
    return find_columns(columns, 4, names, "here")


def share(names=None, **columns):
    return check_shared_out({key: np.array(c) for key, c in columns.items()}, 4, names, "here")


class Complete(PoissonEmission):
    """Counts without missing values."""

    allows_nan = False


class Lagging(BaseEstimator):
    """An emission that looks back."""

    n_lags = 1

    def make_sampler(self, values, n_states):
        raise AssertionError


TABLE = r"""
# Gaussian, Student t

sampler(GaussianEmission(degrees_of_freedom_prior=1.0))
    GaussianEmission...must be above the number of features minus 1, 1;
sampler(GaussianEmission(degrees_of_freedom_prior=3.5), WIDE) -> number of features minus 1, 4
sampler(GaussianEmission(mean_prior=[0.0])) -> mean_prior must be of shape (2,)
sampler(GaussianEmission(mean_prior=[0.0, np.inf])) -> mean_prior must be finite
sampler(GaussianEmission(mean_prior=["a", "b"])) -> mean_prior must hold numbers
sampler(GaussianEmission(covariance_prior=np.eye(3))) -> covariance_prior must be of shape (2, 2)
sampler(GaussianEmission(covariance_prior=np.ones(2))) -> covariance_prior must be of shape (2, 2)
sampler(GaussianEmission(covariance_prior=[[1.0, 0.5], [0.0, 1.0]]))
    covariance_prior must be symmetric
sampler(GaussianEmission(covariance_prior=$)) for $ in np.ones((2, 2)) | -np.eye(2)
    covariance_prior must be positive definite
sampler(GaussianEmission(covariance_prior=[[1.0, NAN], [NAN, 1.0]]))
    covariance_prior must be finite
sampler(GaussianEmission("diag", covariance_prior=np.eye(2)))
    covariance_prior must be of shape (2,)
sampler(GaussianEmission("diag", covariance_prior=[1.0, 0.0])) -> covariance_prior must be positive
sampler(GaussianEmission(), changed(ROWS, (3, 1, -np.inf))) -> X must hold finite numbers...got -inf
gaussian().attach(changed(ROWS, (3, 1, -np.inf))) -> X must hold finite numbers
GaussianModel(ROWS[:3], np.ones((3, 2))).log_obs(changed(ROWS, (3, 1, -np.inf)))
    X must hold finite numbers
factorize_precisions(np.array([np.eye(2), [[1e24, 1e24], [1e24, 1e24]]]))
    not positive definite to rounding: scale the columns
hmm(ROWS[:, [0, 0]], 1, emission=GaussianEmission(covariance_prior=1e-40 * np.eye(2)))
    not positive definite to rounding
sampler($) for $ in GaussianEmission(), np.column_stack([ROWS[:, 0], TINY]) |
        GaussianEmission("diag"), np.column_stack([ROWS[:, 0], 1e45 * TINY]) |
        StudentTEmission(), np.column_stack([ROWS[:, 0], 1e40 * TINY])
    X must hold columns...column 1 goes from
hmm($) for $ in TINY | ROWS * 1e160, emission="student_t" -> scale the columns of X
DPMixture().fit(TINY) -> scale the columns of X
PitmanYorMixture().fit(TINY) -> scale the columns of X
HDPMixture().fit([TINY]) -> scale the columns of X
sampler(StudentTEmission(mean_prior=[0.0])) -> StudentTEmission: mean_prior must be of shape (2,)
sampler(StudentTEmission(covariance_prior=[[1.0, 2.0], [2.0, 1.0]]))
    StudentTEmission: ...positive definite
sampler(StudentTEmission(degrees_of_freedom_prior=1.0))
    StudentTEmission: degrees_of_freedom_prior must be

# Autoregressive

lagging(degrees_of_freedom_prior=1.0)
    AutoregressiveEmission...must be above the number of features minus 1, 1;
lagging(WIDE, degrees_of_freedom_prior=3.5) -> number of features minus 1, 4
lagging(coef_prior=np.eye(2))
    AutoregressiveEmission: coef_prior must be of shape (2, 3) for X of 2 features
lagging(coef_prior=np.full((2, 3), np.inf)) -> coef_prior must be finite
lagging(coef_precision_prior=np.eye(2)) -> coef_precision_prior must be of shape (3, 3)
lagging(coef_precision_prior=np.ones((3, 3))) -> coef_precision_prior must be positive definite
lagging(coef_precision_prior=np.tri(3)) -> coef_precision_prior must be symmetric
lagging(covariance_prior=np.eye(3)) -> covariance_prior must be of shape (2, 2)
lagging(covariance_prior=[[1.0, 0.5], [0.0, 1.0]]) -> covariance_prior must be symmetric
lagging(covariance_prior=-np.eye(2)) -> covariance_prior must be positive definite
lagging(TINY) -> column 0 goes from

# Binary factors

factors(output=["normal", $]) for $ in "probit" | "probit", "gamma" -> list of 3
factors(weights=np.zeros(($))) for $ in 2, 3 | 3, 2 -> shape (3, 3)
factors(weights=np.full((3, 3), NAN)) -> finite
factors(noise_variance=[1.0, 2.0]) -> 3 of them
factors(noise_variance=[1.0, 2.0, $]) for $ in -1.0 | NAN -> positive
factors(noise_variance=1.0, output="probit") -> all columns are probit
factors(amplitude_variance=0.1, output=["normal", "probit", "normal"]) -> probit columns
factors(amplitude_variance="auto", output="probit") -> probit columns
mixed_factors().attach(np.array([[0.0, 0.5]])) -> 0, 1 or NaN in column 1; got 0.5
mixed_factors().attach(np.array([[0.0, 2.0]])) -> got 2
mixed_factors().attach(np.array([[np.inf, 1.0]])) -> finite numbers or NaN in column 0
mixed_factors().attach(np.array([[0.0, 1.0, 1.0]])) -> 2 features, got 3
known_factors().log_obs(np.array([[0.0, 0.5]])) -> 0, 1 or NaN in column 1; got 0.5
known_factors().log_obs(np.array([[0.0, 2.0]])) -> got 2
known_factors().log_obs(np.array([[np.inf, 1.0]])) -> finite numbers or NaN in column 0
known_factors().log_obs(np.array([[0.0, 1.0, 1.0]])) -> 2 features, got 3
LaplacianSimilarity().make_sampler(3).start(sampler(PoissonEmission(), BITS), None)
    TypeError: PoissonSampler does not have
buffet(weights=np.zeros((3, 2))) -> no given weights
buffet(amplitude_variance=$) for $ in 0.5 | "auto" -> only factors of one strength
buffet(activity_prior=(2.0, 1.0)) -> leave it at 1.0, got (2.0, 1.0)
buffet(mass_prior=(1e8, 1e-8)) -> allows...factors
FactorialHMM("auto", emission=BinaryFactorEmission("auto", mass_prior=(2.0, 1.0))).fit(ROWS)
    mass_prior of the emission is for states of HDPHMMLT

# Bits, counts, symbols

hmm(panel(BITS, (9, 1, 2.0), (10, 0, 2.0)), emission="bernoulli")
    X must hold 0 and 1...got 2 in column 1 at step 9, counted through all sequences
hmm(panel(BITS, (9, 1, 0.5), (10, 0, 0.5)), emission="bernoulli") -> got 0.5 in column 1 at step 9
hmm(BITS, emission="bernoulli").score(panel(BITS, (9, 1, -1.0), (10, 0, -1.0)))
    X must hold 0 and 1...got -1 in column 1 at step 9
hmm(BITS, emission=BernoulliEmission((1e-20, 1.0)))
    BernoulliEmission: prior must be two positive numbers
PoissonModel(np.ones((2, 2))).log_obs(np.array([[1.0, -1.0]])) -> X must hold counts
PoissonModel(np.ones((2, 2)), np.ones((2, 2))).log_obs(np.array([[1.0, 0.5]])) -> X must hold counts
PoissonModel(np.ones((2, 2))).log_obs(np.array([[1.0, np.inf]])) -> X must hold counts
mixture([[1.0], [2.0**53 + 2]], "poisson") -> counts up to 9007199254740992, got 9007199254740994.
mixture([[1.0], [1e300]], "poisson") -> counts up to 9007199254740992, got 1e+300.
mixture([[1.0], [-10000001.0]], "poisson") -> NaN for missing values; got -10000001.
mixture([[1.0], [0.5]], "poisson") -> NaN for missing values; got 0.5.
symbols(prior=[1.0, 1.0]) -> prior must be 'auto', a positive number or 3 of them
symbols(base=[0.5, 0.5]) -> base must be 'uniform', 'empirical' or 3 positive numbers
symbols(base=[$]) for $ in [1.0, 1.0, 1.0] | 0.5, -0.5, 1.0 | 0.0, 0.0, 0.0 | 1.0, NAN, 1.0 |
        1.0, np.inf, 1.0 -> base must be...3 positive numbers
symbols(base=["a", "b", "c"]) -> base must hold real numbers
symbols(base=[1.0, 1e-12, 1.0]) -> base differs too much between symbols
symbols(prior=[1.0, 1.0, 1.0], base="empirical") -> Leave base='uniform', or give
symbols(base="empirical", n_symbols=2) -> from 0 to 1; got 2
symbols([[0.0], [2.0**31]]) -> integers from 0 to 2147483647; got 2147483648.
symbols([[0.0], [2.0**53 + 2]]) -> integers from 0 to 2147483647; got 9007199254740994.
symbols([[0.0], [-3.0]]) -> integers from 0; got -3.
as_symbols(np.array([[0.0], [20_000_000]]), 20_000_000)
    integers from 0 to 19999999; got 20000000.
hmm(panel(EVENTS, (9, 2, -1.0), (10, 0, -1.0)), emission="multinomial")
    X must hold counts...got -1 in column 2 at step 9, counted through all
hmm(panel(EVENTS, (9, 2, 0.5), (10, 0, 0.5)), emission="multinomial")
    got 0.5 in column 2 at step 9
hmm(panel(EVENTS, (9, 2, 1e17)), emission="multinomial")
    integers from 0 to 9.0072e+15...got 1e+17
hmm(panel(EVENTS, (9, 2, NAN)), emission="multinomial")
    missing in part at step 9,...column 2: its number of events is unknown
hmm(EVENTS, emission="multinomial").score(panel(EVENTS, (9, 2, NAN)))
    missing in part at step 9,...column 2: its number of events is unknown
hmm(EVENTS, emission=MultinomialEmission([$])) for $ in 1.0, 1.0 | 1.0, 1.0, 0.0 | 1.0, 1.0, NAN |
        "a" -> MultinomialEmission: prior must

# Text

hmm(FRAME, emission="categorical").predict(FRAME.replace("b", "q"))
    column 'w', holds 'q'...not one of the categories of fit
hmm(FRAME, emission="categorical").predict(pd.DataFrame({"w": [0, 1]}))
    TypeError: column 'w', holds numbers, but in fit it held strings
hmm([[0], [1], [0]], emission="categorical").predict(WORDS)
    TypeError: column 0, holds text...in fit it held numbers
hmm(FRAME.assign(v="a"), emission="categorical") -> must have 1 feature
mixture(FRAME, "categorical").predict(FRAME.replace("b", "q"))
    column 'w', holds 'q'...not one of the categories of fit
mixture(FRAME, "categorical").predict(pd.DataFrame({"w": [0, 1]}))
    TypeError: column 'w', holds numbers, but in fit it held strings
mixture([[0], [1], [0]], "categorical").predict(WORDS)
    TypeError: column 0, holds text...in fit it held numbers
mixture(FRAME.assign(v="a"), "categorical") -> fine

# Columns

find(4, NAMES) -> here: there is no column 4, X has 4 columns
find([0, -5], NAMES) -> there is no column -5
find("e", NAMES) -> there is no column 'e', X has a, b, c, d
find($, NAMES) for $ in ["a", "e"] | slice("a", "e") -> there is no column 'e'
find("a") -> column 'a' is given by its name, but X has none: fit to data frames
find($, NAMES) for $ in [] | slice(3, 1) | [False] * 4 -> here has no columns
find([True, False], NAMES) -> a mask must have an entry for each of the 4 columns of X, got 2
find([1, $], NAMES) for $ in 1 | -3 -> names a column twice
find($, NAMES) for $ in 1.5 | True | None | [0.5, 1.0] | [[0, 1]] | [0, None] | len
    TypeError: here: columns must be
share(x=[0, 1], y=[2, 1, 3]) -> here: column 1 is given to both 'x' and 'y'
share(NAMES, x=[0, 1], y=[2, 1, 3]) -> here: column 1 ('b') is given to both
share(x=[0, 1], y=[2]) -> here: column 3 of X belongs to no emission: add one
share(NAMES, y=[2]) -> here: columns 0 ('a'), 1 ('b'), 3 ('d') of X belong to no emission

# Mixed columns

independent_of() -> must be a list of (name, emission, columns), got none
independent_of(("a", "gaussian"))
    IndependentEmissions: ...must be a list of...got ('a', 'gaussian')
independent_of("gaussian") -> must be a list of...got 'gaussian'
independent(level=("gaussian", [])) -> emission 'level' has no columns
independent(level=("gaussian", [0, 1])) -> column 1 is given to both 'level' and 'events'
independent(level=None) -> column 0 of X belongs to no emission
independent(level=("gaussian", [0, 7])) -> emission 'level': there is no column 7
independent([*parts(), ("bits", "bernoulli", [3])]) -> two emissions have the name 'bits'
independent_of(("a__b", "gaussian", slice(None))) -> names must be text...'a__b'
independent_of(("emissions", "gaussian", slice(None))) -> not 'emissions'
independent_of((3, "gaussian", slice(None))) -> names must be text...got 3
independent(kinds=("categorical", [0]), level=("gaussian", [2]))
    emission 'kinds' (columns 0 of X): X must hold symbols
independent(bits=(BernoulliEmission((0, 1)), [3]))
    IndependentEmissions: emission 'bits'...BernoulliEmission: prior must be two
independent(level=(GaussianEmission, [0]))
    TypeError: emission 'level' must be an object, got the class Gauss...write GaussianEmission
independent(level=("gauss", [0]))
    TypeError: emission 'level' must be an emission or one of 'gaussian',...got 'gauss'
independent(level=(None, [0])) -> TypeError: must be an emission or one of...got None
independent(level=(BinaryFactorEmission(2), [0])) -> TypeError: must not be a BinaryFactorEmission
independent(level=(Lagging(), [0]))
    TypeError: IndependentEmissions: emission 'level' must not be a Lagging: it looks back in time
independent("gaussian") -> 'emissions' parameter of IndependentEmissions
independent(level=("gaussian", 0.5)) -> TypeError: emission 'level': columns must be an int
independent(level=(PoissonDuration(), [0])) -> TypeError: make_sampler
independent(kinds=(CategoricalEmission(2), [2])).predict(changed(MIXED, (3, 2, 5.0)))
    emission 'kinds'...integers from 0 to 1; got 5
independent(events=(Complete(), [1]), X=changed(MIXED, (4, 1, NAN)))
    emission 'events' (columns 1 of X): X contains NaN in column 1 at step 4
independent(events=(Complete(), [1])).score(changed(MIXED, (4, 1, NAN)))
    emission 'events' (columns 1 of X): X contains NaN in column 1 at step
independent(X=changed(MIXED, (2, 2, NAN))).impute(changed(MIXED, (2, 2, NAN)))
    TypeError: no value for a missing category
IndependentEmissions(parts()).set_params(events__foo=1)
    Invalid parameter 'foo' for estimator Poisson
hmm(MIXED, emission=IndependentEmissions(parts()), similarity=LaplacianSimilarity())
    TypeError: use it with BinaryFactorEmission

# Regressions

regression(targets=3) -> targets: there is no column 3, X has 3 columns
regression(targets=[]) -> targets has no columns
regression(targets=[0, 0]) -> targets names a column twice
regression(targets="y") -> column 'y' is given by its name, but X has none
regression(targets=[0, 1, 2]) -> all 3 columns of X are targets: no inputs
regression(inputs=[0, 1, 2]) -> column 0 is both a target and an input
regression(inputs=[1]) -> column 2 of X is neither a target nor an input
regression(inputs=[1.5, 2.0]) -> TypeError: inputs: columns must be
regression(changed(TRIALS, (7, 2, NAN))) -> NaN in column 2, an input of...at step 7
regression(pd.DataFrame(changed(TRIALS, (7, 2, NAN)), columns=["y", "a", "b"]))
    column 2 ('b'), an input
regression(output="bernoulli").predict(changed(TRIALS, (7, 2, NAN)))
    NaN in column 2, an input of...at step 7
regression(output="poisson").score(changed(TRIALS, (7, 2, NAN)))
    NaN in column 2, an input of...at step 7
regression().predict_proba(changed(TRIALS, (7, 2, NAN))) -> NaN in column 2, an input of...at step 7
regression(output="bernoulli").impute(changed(TRIALS, (7, 2, NAN)))
    NaN in column 2, an input of...at step 7
regression(changed(TRIALS, (5, 0, 2.0)), output="bernoulli")
    must hold 0 and 1...got 2 in column 0 at step 5
regression(changed(TRIALS, (5, 0, 0.5)), output="bernoulli")
    must hold 0 and 1...got 0.5 in column 0 at step 5
regression(output="bernoulli").score(changed(TRIALS, (5, 0, -1.0)))
    must hold 0 and 1...got -1 in column 0 at step 5
regression(changed(SPIKES, (5, 0, -1.0)), output="poisson")
    hold counts,...; got -1 in column 0 at step 5
regression(changed(SPIKES, (5, 0, 1e16)), output="poisson")
    hold counts,...; got 1e+16 in column 0 at step 5
regression(changed(SPIKES, (5, 0, np.inf)), output="poisson") -> inf
regression(SPIKES, output="poisson").score(changed(SPIKES, (5, 0, 0.5))) -> must hold counts
regression(changed(TRIALS, (4, 1, NAN)), targets=[0, 1]) -> only in part at step 4,...in column 1
regression(changed(TRIALS, *[(t, 0, NAN) for t in range(12)]))
    column 0 holds nothing but missing values
regression(output="bernoulli").score(changed(TRIALS, *[(t, 0, NAN) for t in range(12)]))
    X holds nothing but missing values
regression(coef_prior=[[0.0, 0.0]]) -> coef_prior must be of shape (1, 3)
regression(coef_precision_prior=np.eye(2)) -> coef_precision_prior must be of shape (3, 3)
regression(coef_precision_prior=-np.eye(3), output="bernoulli") -> must be positive definite
regression(covariance_prior=[[-1.0]]) -> must be positive definite
regression(coef_precision_prior=np.tri(3), output="poisson")
    coef_precision_prior must be symmetric
regression(output="bernoulli", degrees_of_freedom_prior=4.0) -> is for output='normal'
regression(output="bernoulli", covariance_prior=[[1.0]]) -> covariance_prior is for output='normal'
regression(output="poisson", covariance_prior=[[1.0]]) -> covariance_prior is for output='normal'
regression().sample(3) -> TypeError: sample has no inputs for new steps
regression(output="bernoulli").sample(3) -> TypeError: sample has no inputs for new steps
regression(output="poisson").sample(3) -> TypeError: sample has no inputs for new steps
regression().forecast(TRIALS, 3) -> TypeError: forecast has no inputs for the next steps
regression(output="bernoulli").forecast(TRIALS, 3)
    TypeError: forecast has no inputs for the next steps
regression($) for $ in state_order="mean" | output="bernoulli", state_order="mean" |
        output="poisson", state_order="mean", part=True -> its states have no mean
regression($) for $ in similarity="emission" | output="bernoulli", similarity="emission" |
        output="poisson", similarity="emission" -> TypeError: ComparableEmission
regression(partitioned(TRIALS), output="bernoulli") -> TypeError: RegressionEmission
regression(partitioned(TRIALS), output="poisson") -> TypeError: RegressionEmission
regression().emission_.predict([[0.0]]) -> inputs must be of shape (n, 2)
regression(output="bernoulli").emission_.predict(np.zeros((1, 3))) -> inputs must be of shape (n, 2)
regression(output="poisson").emission_.draw_targets([0], [0.0, 1.0], 0)
    inputs must be of shape (n, 2)
regression().emission_.predict([[0.0, NAN]]) -> inputs must be finite
regression(output="poisson").emission_.draw_targets([0], [[0.0, NAN]], 0) -> inputs must be finite
regression().emission_.draw_targets([0] * 12, TRIALS[:, 1:], "seed")
    random_state must be None, an int
"""
