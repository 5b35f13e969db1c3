"""Mixtures and latent features: mistakes and their messages."""

from fractions import Fraction
from functools import cache

import numpy as np
import pandas as pd
from sklearn.base import clone

from skdp.emissions import GaussianEmission, IndependentEmissions
from skdp.mixture import DPMixture, HDPMixture, IBPLatentFeatures, PitmanYorMixture

X = np.random.default_rng(0).normal(size=(12, 2))
COUNTS = np.random.default_rng(0).poisson(3.0, (12, 2)).astype(float)
GROUPS = [X[:5], X[5:]]
LABELS = [0, 0, 3, *[-1] * 9]
WEIGHTS = np.array([2, 1, 0, 3, 1, 1, 2, 0, 1, 4, 1, 1])
CONSTANT = np.column_stack([X, np.full(12, 7.0)])
HOLES = np.where(np.arange(24).reshape(12, 2) % 7 < 2, np.nan, COUNTS > 3.0)
WIDE = np.random.default_rng(0).normal(size=(4, 9))
FRAME = pd.DataFrame({"age": X[:, 0], "job": ["cook", "clerk", None] * 4, "kids": COUNTS[:, 0]})
NO_JOBS = FRAME.assign(job=pd.Series([None] * 12, dtype=object))
TURNED = FRAME[["job", "kids", "age"]]
PARTS = IndependentEmissions(
    [("age", GaussianEmission("diag"), ["age"]), ("job", "categorical", ["job"]),
     ("kids", "poisson", ["kids"])]
)  # fmt: skip
BAR = [("a", "categorical", [1, 0])]


def entry(value, rows=X):
    """Return rows with another entry."""
    changed = rows.copy()
    changed[3, 1] = value
    return changed


def groups(value, rows=COUNTS):
    return [rows[:3], entry(value, rows)]


def py(emission, X=COUNTS):
    return PitmanYorMixture(emission).fit(X)


@cache
def fitted(model=DPMixture, emission="gaussian"):
    """Return a fit to X, to its groups, or to a table."""
    data = X if emission == "gaussian" else FRAME
    X_or_groups = [data[:5], data[5:]] if model is HDPMixture else data
    return model(emission, max_iter=4, random_state=0).fit(X_or_groups)


@cache
def features():
    return IBPLatentFeatures(max_iter=4, random_state=0).fit(X)


def fits(model, X):
    """Fit a few sweeps, of each sampler that there is, and see that all scores are finite."""
    samplers = ["collapsed", "blocked"] if "sampler" in model.get_params() else [None]
    for sampler in samplers:
        again = clone(model).set_params(max_iter=6, random_state=0)
        again = again.set_params(**{"sampler": sampler} if sampler else {}).fit(X)
        assert np.all(np.isfinite(again.score_samples(X)))
        if sampler is None:  # groups, or latent features
            shares = again.transform(X)
            assert shares.shape[1] == again.n_components_
            assert np.all((shares >= 0.0) & (shares <= 1.0 + 1e-9))
        else:
            assert np.isfinite(again.predict_proba(X)).all()
        if isinstance(model, HDPMixture):
            np.testing.assert_allclose(shares.sum(axis=1), 1.0)
        if isinstance(model, IBPLatentFeatures):
            assert np.isfinite(again.impute(X)).all()


def labeled(y):
    """Fit with odd labels that are allowed; rows keep theirs."""
    for sampler in ("collapsed", "blocked"):
        model = DPMixture(sampler=sampler, max_iter=8, random_state=0).fit(X, y)
        known = [(i, label) for i, label in enumerate(y) if label not in (None, -1)]
        assert all(model.labels_[i] == label for i, label in known)
        n_labels = len({label for _, label in known})
        assert model.component_labels_[:n_labels].max() == known[-1][1]


def to_arviz(y=None, sample_weight=None, X=COUNTS, rows=COUNTS):
    model = DPMixture("poisson", max_iter=4, random_state=0)
    return model.fit(X, y, sample_weight=sample_weight).to_arviz(rows)


TABLE = r"""
# Rows

PitmanYorMixture().fit(entry(np.inf)) -> Input X contains infinity
PitmanYorMixture().fit(entry(1e130)) -> numbers up to 1e
PitmanYorMixture().fit(np.empty((0, 2))) -> 0 sample
PitmanYorMixture().fit(X[:, 0]) -> Expected 2D array
PitmanYorMixture().fit(SequencePanel(X, [0, 12])) -> TypeError: got a SequencePanel
PitmanYorMixture().fit(HIDDEN) -> masked
DPMixture().fit(pd.DataFrame({'a': $})) for $ in [1j, 2, 3], 'b': ['1', 2, 3] |
        [1j, '2', 3], 'b': [1, 2, 3]
    Complex data not supported: X, column 'a', must hold real numbers, got complex
DPMixture().fit(np.array([[np.complex64(1j), 2], [1, '2']], dtype=object))
    Complex data not supported: X must hold real numbers, got complex
py('poisson', entry(-1.0, COUNTS)) -> got -1
py('multinomial', entry(0.5, COUNTS)) -> got 0.5 in column 1
py('poisson', [['a'], ['b']]) -> preprocessing.OrdinalEncoder
py(3) -> got 3. If this was to be
py(PoissonEmission) -> TypeError: got the class
py(BernoulliEmission()) -> must hold 0 and 1
py(IndependentEmissions([('full', 'gaussian', [0, 1])]), entry(np.nan))
    takes no missing values next to other parts
py(AutoregressiveEmission()) -> TypeError: got AutoregressiveEmission
py(IndependentEmissions([('t', StudentTEmission(), [0, 1])]))
    TypeError: cannot be a part of IndependentEmissions
py(GaussianEmission(mean_prior=[0.0])) -> shape (2,) for X of 2
PitmanYorMixture(concentration=-0.5, discount=0.5).fit(X) -> must be a finite number > -0.5, got
PitmanYorMixture(concentration=-0.1).fit(X) -> > 0, got -0.1
DPMixture(concentration=0).fit(X) -> must be a finite number > 0, got
PitmanYorMixture(concentration='learn').fit(X) -> may also be 'auto'
PitmanYorMixture(concentration=10 ** 400).fit(X) -> concentration
PitmanYorMixture(discount=Fraction(1, 2)).fit(X) -> 'discount' parameter
PitmanYorMixture(init=[0, 1]).fit(X) -> 12 integers, a label per row
PitmanYorMixture(init=np.zeros(12)).fit(X) -> got float64
PitmanYorMixture(max_iter=4, burn_in=9).fit(X) -> burn_in must be smaller
fits($) for $ in PitmanYorMixture(), X[:1] | PitmanYorMixture(), X[:2] |
        PitmanYorMixture(), CONSTANT | PitmanYorMixture(), np.full((5, 2), 3.0) |
        PitmanYorMixture(), WIDE | PitmanYorMixture('multinomial'), COUNTS * 0.0 |
        PitmanYorMixture('poisson'), COUNTS[:1] |
        PitmanYorMixture('categorical', concentration=1e-08), COUNTS[:, :1] |
        DPMixture(GaussianEmission('diag')), HOLES | DPMixture('poisson'), HOLES |
        DPMixture('categorical'), HOLES | DPMixture('bernoulli'), HOLES |
        PitmanYorMixture(discount=0.9, concentration=-0.89), X -> fine

# Known labels

DPMixture().fit(X, LABELS[:-1]) -> y must have shape (12,), a label per row of X
DPMixture().fit_predict(X, [[0], [1, 2], *[0] * 10]) -> got shape ()
DPMixture().iter_sweeps(X, [*LABELS[:-1], -2]) -> got y[11]=-2. If y is for a later step
PitmanYorMixture().fit(X, [0.5, *LABELS[1:]]) -> got y[0]=0.5. If y is for a later step
DPMixture().fit(X, [np.inf, *LABELS[1:]]) -> got y[0]=inf
DPMixture().fit(X, [2 ** 31, *LABELS[1:]]) -> from 0 to 2147483647, or -1
DPMixture().fit(X, ['a'] * 12) -> TypeError: Encode other labels with a LabelEncoder
DPMixture().fit(X, [None, 'a', *LABELS[2:]]) -> TypeError: got y[1]='a'. Encode other labels
DPMixture().fit(X, np.array(LABELS) > 0) -> TypeError: got values of type bool
DPMixture().fit(X, [True, None, *LABELS[2:]]) -> TypeError: got y[0]=True
DPMixture().fit(X, np.ma.masked_less(LABELS, 0)) -> masked
DPMixture(init=np.arange(12) // 2).fit(X, [-1, 4, -1, -1, -1, 4, *[-1] * 6])
    init separates rows 1 and 5, which y gives the same lab
DPMixture(init=np.arange(12) // 2).fit(X, [-1, -1, 8, 9, *[-1] * 8])
    init joins rows 2 and 3, ... different labels, 8 and 9
labeled($) for $ in np.zeros(12) | range(12) | [5, *[-1] * 11] | [0, *[None] * 10, 0] -> fine

# Weights

DPMixture().fit(X, sample_weight=-WEIGHTS) -> got -2 for row 0
DPMixture().fit(X, sample_weight=np.where(WEIGHTS == 4, np.nan, 1.0)) -> got nan for row 9
DPMixture().fit(X, sample_weight=np.where(WEIGHTS == 4, np.inf, 1.0)) -> got inf
DPMixture().fit(X, sample_weight=np.zeros(12)) -> zero for all rows
DPMixture().fit(X, sample_weight=$) for $ in np.ones(11) | 2.0 -> must hold 12 numbers
DPMixture().fit(X, sample_weight=np.ones((12, 1))) -> shape
DPMixture().fit(X, sample_weight=['a'] * 12) -> TypeError: must hold numbers
DPMixture().fit(X, sample_weight=[None] * 12) -> got nan
DPMixture().fit(X, sample_weight=np.full(12, $)) for $ in 1e12 | 1e300 -> Scale sample_weight
DPMixture('student_t', max_iter=4).fit(X, sample_weight=WEIGHTS) -> fine
DPMixture(init=[0] * 17).fit(X, sample_weight=WEIGHTS) -> a label per row of X
DPMixture($).fit(X, sample_weight=np.tile([0.5, 1.5], 6)) for $ in 'gaussian' | 'student_t'
    whole weights only...GaussianEmission("diag")
fitted().score(X, sample_weight=-WEIGHTS) -> got -2 for row 0
fitted().score(X, sample_weight=np.ones(11)) -> must hold 12 numbers
fitted().score(X, sample_weight=['a'] * 12) -> TypeError: must hold numbers
fitted().score(X, sample_weight=np.zeros(12)) -> zero for all rows
CoAssignmentDisplay.from_estimator( DPMixture(max_iter=4, random_state=0).fit(X,
        sample_weight=WEIGHTS), rows=[0, 2])
    weight of row 2 was 0

# Groups

HDPMixture().fit([X[:3], entry(np.inf)]) -> contains infinity: sequence 1
HDPMixture().fit([]) -> 0 sample
HDPMixture().fit([X, X[:0]]) -> 0 observation(s) (sequence 1) while a minimum of 1
HDPMixture().fit([X, X[:, :1]]) -> sequence 1 has 1 features, but sequence 0
HDPMixture().fit(X.reshape(3, 4, 2)) -> write list(X)
HDPMixture().fit(HIDDEN) -> masked
HDPMixture().fit(TokenSequences([0, 1], [0, 2], 2)) -> TypeError: TokenSequences
HDPMixture('poisson').fit(groups(-1.0)) -> got -1
HDPMixture('multinomial').fit(groups(0.5)) -> got 0.5
HDPMixture(concentration=0.0).fit(GROUPS) -> must be 'auto' or a number
HDPMixture(concentration=$).fit(GROUPS) for $ in 'learn' | True -> got $
HDPMixture(top_concentration=-1.0).fit(GROUPS) -> top_concentration must be 'auto' or
HDPMixture(top_concentration=np.inf).fit(GROUPS) -> from 1e-08 to 1e+08, got inf
HDPMixture(init=[[0] * 5]).fit(GROUPS) -> a list of 2 arrays of int, one per group
HDPMixture(init=np.zeros(12, int)).fit(GROUPS) -> one per group of X; got 1
HDPMixture(init=[[0] * 5, [1]]).fit(GROUPS) -> 7 for group 1, got
HDPMixture(init=[[0.0] * 5, [0] * 7]).fit(GROUPS) -> got float64
HDPMixture().fit(X, [5, 7]) -> y holds what look like the lengths of groups
fitted(HDPMixture).score(X, [5, 7]) -> lengths of groups... one per group
HDPMixture().fit(GROUPS, [[0] * 5]) -> an array of labels for each of the 2 groups of X
HDPMixture().fit(GROUPS, 3) -> an array of labels for each of the 2 groups of X
HDPMixture().fit(GROUPS, [[0] * 5, [0] * 6]) -> y[1] must have shape (7,), a label per row
HDPMixture().fit(GROUPS, [1, [0] * 7]) -> y[0] must have shape (5,), a label per row
HDPMixture().fit(GROUPS, [[0] * 5, [-2] * 7]) -> got y[1][0]=-2. If y is for a later step
HDPMixture().fit(GROUPS, [[0.5] * 5, None]) -> got y[0][0]=0.5
HDPMixture().fit(GROUPS, [None, ['a'] * 7]) -> TypeError: Encode other labels with a LabelEncoder
HDPMixture().fit(GROUPS, [None, [1, 'a', *[None] * 5]]) -> TypeError: got y[1][1]='a'
HDPMixture(init=[[0, 0, 1, 1, 1], [1] * 7]).fit(GROUPS, [[2, -1, -1, -1, -1], [-1, 2, *[-1] * 5]])
    init separates rows 0 and 6, which y gives the same lab
HDPMixture().fit(GROUPS, sample_weight=$) for $ in np.ones(12) | [np.ones(5)] | [1.0, 1.0] | 'ab' |
        3 -> for each of the 2 groups
HDPMixture().fit(GROUPS, sample_weight=[None, [1.0]]) -> sample_weight[1] must hold 7 numbers
HDPMixture().fit(GROUPS, sample_weight=[np.zeros(5), np.zeros(7)]) -> zero for all rows
HDPMixture().fit(GROUPS, sample_weight=[None, np.full(7, 0.5)]) -> whole weights only
fitted(HDPMixture).score([X[:1]], sample_weight=[[1.0]]) -> no rows to score
fitted(HDPMixture).score([X[:1], X[1:2]]) -> every group has only one row
fitted(HDPMixture).predict([X[:, :1]]) -> expecting 2 features
fitted(HDPMixture).sample(n_rows=$) for $ in 0 | 1.5 -> n_rows
fitted(HDPMixture).sample(n_rows=1, n_groups=0) -> n_groups
HDPMixture(CategoricalEmission(4), max_iter=6).fit([[[0], [1], [0]], [[1], [1]]]).score( [[[4],
        [3], [0]]])
    symbol
HDPMixture(CategoricalEmission(4), max_iter=6).fit([[[0], [1], [0]], [[1], [1]]]).score( [[[3],
        [3], [0]]])
    fine
fits($) for $ in HDPMixture(), [X[:1]] | HDPMixture(), [X[:1], X[1:2]] | HDPMixture(), X |
        HDPMixture(n_chains=2), X[:1] | HDPMixture(init=[0] * 12), X |
        HDPMixture(), [CONSTANT[:5], CONSTANT[5:]] | HDPMixture(), [np.full((5, 2), 3.0)] * 2 |
        HDPMixture(), [X[:5, 0], X[5:, 0]] | HDPMixture(), [WIDE] * 2 |
        HDPMixture('multinomial'), [COUNTS * 0.0] | HDPMixture('poisson'), [COUNTS[:1], COUNTS] |
        HDPMixture('categorical', concentration=1e-08), [COUNTS[:, :1]] |
        HDPMixture(concentration=1e8, top_concentration=1e-08), GROUPS |
        HDPMixture(concentration=1e-08, top_concentration=1e8), GROUPS |
        HDPMixture(init=[[-3] * 5, [1] * 7], burn_in=0), GROUPS -> fine

# Tables

DPMixture(PARTS).fit($) for $ in NO_JOBS | NO_JOBS.astype({'job': 'str'}).assign(job=None) |
        NO_JOBS.astype({'job': 'category'}) | NO_JOBS.astype({'job': float}) |
        NO_JOBS.astype({'job': pd.CategoricalDtype(['cook'])}) |
        FRAME.assign(job=['cook', *[None] * 11]), sample_weight=[0.0, *[1.0] * 11]
    column 'job', has no observed value
HDPMixture(PARTS).fit([NO_JOBS[:5], NO_JOBS[5:]]) -> column 'job', has no observed value
DPMixture($).fit(np.column_stack([np.full(9, np.nan), np.arange(9) % 2])) for $ in 'categorical' |
        IndependentEmissions(BAR) -> column 0, has no observed value
fitted(DPMixture, PARTS).impute(FRAME.assign(job='pilot'))
    column 'job', holds 'pilot'...categories of fit
fitted(DPMixture, PARTS).sample(3, as_frame='yes') -> as_frame must be 'auto' or a bool
fitted().sample(5, as_frame=True) -> needs a fit to a data frame
fitted(DPMixture, PARTS).predict(TURNED) -> must be in the same order as they were in fit
fitted(HDPMixture, PARTS).predict(TURNED) -> must be in the same order as they were in fit
fitted(DPMixture, PARTS).impute(TURNED) -> must be in the same order as they were in fit
fitted(DPMixture, PARTS).predict(FRAME.rename(columns={'job': 'work'}))
    Feature names unseen at fit time:...- work
fitted(DPMixture, PARTS).predict(FRAME.to_numpy()[:, 1:])
    X has 2 features, but ... is expecting 3 features
fitted(HDPMixture, PARTS).predict([TURNED, TURNED]) -> must be in the same order as they were in fit
fitted(HDPMixture, PARTS).predict([FRAME, TURNED]) -> same columns in the same order: sequence 1
HDPMixture(PARTS).fit([FRAME, TURNED]) -> same columns in the same order: sequence 1

# What fits are asked

fitted().labels_at($) for $ in 0 | 99 | 2.0 | 'two' | True -> n_clusters must be
fitted().explain($) for $ in ['a'] | ['a', 'a'] | 'ab' -> 2 different names
to_arviz(rows=COUNTS[::-1]) -> the data that the model was fitted to
to_arviz(sample_weight=WEIGHTS) -> without sample_weight
to_arviz(LABELS) -> known labels
DPMixture('student_t', max_iter=4).fit(X).to_arviz(X) -> TypeError: StudentTEmission draws weights

# Latent features

IBPLatentFeatures().fit(entry(np.inf)) -> Input X contains infinity
IBPLatentFeatures().fit(entry(1e130)) -> X must hold numbers up to 1e+120
IBPLatentFeatures().fit(np.column_stack([X, np.full(12, np.nan)])) -> Column 2 of X has no observed
IBPLatentFeatures().fit(1e-151 * X) -> vary by 1e-150 or more... in column 0: scale
IBPLatentFeatures().fit(1e-300 * X) -> in column 0: scale
IBPLatentFeatures().fit(np.empty((0, 2))) -> 0 sample
IBPLatentFeatures().fit(X[:, 0]) -> Expected 2D array
IBPLatentFeatures().fit(SequencePanel(X, [0, 12])) -> TypeError: got a SequencePanel
IBPLatentFeatures().fit(HIDDEN) -> masked
IBPLatentFeatures(concentration=0.0).fit(X) -> > 0, got 0.0. It may also be 'auto'
IBPLatentFeatures(concentration=np.inf).fit(X) -> concentration must be a finite number
IBPLatentFeatures(concentration='learn').fit(X) -> may also be 'auto'
IBPLatentFeatures(concentration=1e9).fit(X) -> concentration=1e+09, 3.1e+09 features
IBPLatentFeatures(concentration=10 ** 400).fit(X) -> concentration
IBPLatentFeatures(noise_variance=Fraction(1, 2)).fit(X) -> 'noise_variance' parameter
IBPLatentFeatures(noise_prior=(1e-20, 1)).fit(X) -> noise_prior must have a shape from
IBPLatentFeatures(max_iter=4, burn_in=9).fit(X) -> burn_in must be smaller
fits(IBPLatentFeatures(noise_variance=1e-200, center=False), np.ones((5, 3)))
    a larger noise_variance
features().inverse_transform(np.ones((2, 99))) -> X has 99 features, but IBPLatentF
fits(IBPLatentFeatures(), $) for $ in X[:1] | CONSTANT | np.full((5, 2), 3.0) | 1e100 * X |
        np.vstack([X, np.full((3, 2), np.nan)]) -> fine
fits(IBPLatentFeatures(center=False), $) for $ in X[:1] | np.zeros((5, 2)) -> fine
fits(IBPLatentFeatures(noise_prior=(1.0, 1e-59)), 1e-100 * X) -> fine
fits(IBPLatentFeatures(noise_variance=1e-08), WIDE) -> fine
fits(IBPLatentFeatures(concentration=1e-08), entry(np.nan)) -> fine
fits(IBPLatentFeatures(30.0, noise_variance=0.001, weights_variance=1000.0), X) -> fine
"""
