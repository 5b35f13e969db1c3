"""The infinite hidden Markov model as an estimator."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import logsumexp
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from unit.sequence.hmm_models import (
    CLASSES,
    GAUSSIAN,
    MODELS,
    N_STATES,
    PHI,
    SYMBOLS,
    columns,
    every_model,
    fitted,
    quick,
)

from skdp.data import SequencePanel, TokenSequences
from skdp.sequence import (
    BinaryFactorEmission,
    CategoricalEmission,
    EmissionSimilarity,
    FactorialHMM,
    FixedSimilarity,
    GaussianEmission,
    GaussianSimilarity,
    IndependentEmissions,
    LaplacianSimilarity,
    NegativeBinomialDuration,
    PoissonDuration,
    hmm_viterbi,
)
from skdp.sequence._hmm._messages import observed_steps
from skdp.utils._checking import same_fit

OF_SIMILARITIES = {
    type(None): set(),
    FixedSimilarity: {"similarity_"},
    str: {"similarity_", "decay_"},
    EmissionSimilarity: {"similarity_", "decay_"},
    GaussianSimilarity: {"similarity_", "decay_", "locations_"},
    LaplacianSimilarity: {"similarity_", "decay_", "factors_"},
}
EVERY_OPTION = {"similarity_", "locations_", "factors_", "duration_", "decay_"}


def list_options(params):
    """Return the names of the attributes that a fit has only because of its options."""
    of_duration = {"duration_"} if "duration" in params else set()
    return OF_SIMILARITIES[type(params.get("similarity"))] | of_duration


@every_model
def test_attributes(name):
    """Those of a sample are of the likeliest one; learned scalars are means of the trace."""
    estimator, X = fitted(name)
    options, trace = list_options(MODELS[name][0]), estimator.trace_
    assert {each for each in EVERY_OPTION if hasattr(estimator, each)} == options
    assert estimator.n_features_in_ == columns(X[0]).shape[1]
    assert estimator.n_iter_ == 12
    assert trace.sweeps.tolist() == [7, 9, 11, 12]
    assert len(estimator.samples_) == trace["log_joint"].shape[1] == 4
    for sample in estimator.samples_:
        for probabilities in (sample.startprob, sample.transmat, sample.shares):
            assert_allclose(probabilities.sum(axis=-1), 1.0, rtol=1e-12)
        assert sample.n_active_components == np.count_nonzero(sample.shares)  # all are large
    numbers = [sample.n_active_components for sample in estimator.samples_]
    is_usual = np.array(numbers) == np.bincount(numbers).argmax()
    model = estimator.samples_[np.argmax(np.where(is_usual, trace["log_joint"][0], -np.inf))]
    for attribute in ("transmat", "startprob", "emission"):
        assert getattr(estimator, f"{attribute}_") is getattr(model, attribute)
    for attribute in ("similarity", "duration"):
        assert getattr(estimator, f"{attribute}_", None) is getattr(model, attribute)
    shares = estimator.state_shares_
    assert shares is model.shares
    assert name == "fixed" or np.all(np.diff(shares) <= 0.0)  # its rows keep their numbers
    counts = shares * sum(map(len, X))
    assert_allclose(counts, np.round(counts), atol=1e-9)
    assert estimator.n_active_components_ == np.count_nonzero(shares) >= 1
    assert estimator.startprob_.shape == (N_STATES,)
    assert estimator.transmat_.shape == (N_STATES, N_STATES)
    learned = {"top_concentration", "transition_concentration", "stickiness"}
    for scalar in learned | ({"decay"} if "decay_" in options else set()):
        assert getattr(estimator, f"{scalar}_") == pytest.approx(trace[scalar][0].mean())
    if "duration_" in options:
        assert_array_equal(np.diag(estimator.transmat_), np.zeros(N_STATES))
        assert "mean_duration" in trace
    names = [f"hdphmmlt{j}" for j in range(N_STATES)]
    assert estimator.get_feature_names_out().tolist() == names


def test_similarities_are_those_of_the_numbers_of_states():
    locations, factors = fitted("locations")[0], fitted("factors")[0]
    squares = ((locations.locations_[:, None] - locations.locations_) ** 2).sum(axis=2)
    hamming = (factors.factors_[:, None] != factors.factors_).sum(axis=2)
    assert set(np.unique(factors.factors_)) <= {0, 1}
    for estimator, distances in ((locations, squares / 2), (factors, hamming)):
        decay = estimator.trace_["decay"][0][np.argmax(estimator.trace_["log_joint"][0])]
        assert_allclose(estimator.similarity_, np.exp(-decay * distances), rtol=1e-5)
    # Fixed rows and columns are reordered alike: each number of the diagonal stays on it.
    for sample in fitted("fixed")[0].samples_:
        order = [int(np.argmin(np.abs(np.diag(PHI) - d))) for d in np.diag(sample.similarity)]
        assert sorted(order) == list(range(N_STATES))
        assert_allclose(sample.similarity, PHI[np.ix_(order, order)], rtol=1e-6)


def test_fit_without_an_option_has_no_attribute_of_it():
    """An estimator that is fitted again keeps nothing of a similarity it no longer has."""
    for params, X in (
        ({"similarity": "gaussian", "duration": "poisson"}, GAUSSIAN),
        MODELS["factors"],
    ):
        estimator = quick(**params).fit(X)
        estimator.set_params(similarity=None, duration=None, emission="gaussian").fit(X)
        assert not any(hasattr(estimator, option) for option in EVERY_OPTION)


@every_model
def test_results_of_all_methods_belong_together(name):
    """Filters and scores of steps are those of the sequences that end there."""
    estimator, X = fitted(name)
    n_given = estimator._n_given()
    methods = estimator.predict, estimator.predict_proba, estimator.filter_proba
    rows = zip(X, *(method(X) for method in methods), estimator.transform(X), strict=True)
    for x, states, proba, filtered, shares in rows:
        assert states.dtype.kind == "i"
        assert proba.shape == filtered.shape == (len(x), N_STATES)
        assert_allclose(filtered.sum(axis=1), 1.0, rtol=1e-12)
        assert_allclose(proba.sum(axis=1), 1.0, rtol=1e-9)
        assert_allclose(shares, proba.mean(axis=0), rtol=1e-12)
        assert_array_equal(states, proba.argmax(axis=1))
    filtered = estimator.filter_proba(X)
    of_panel = estimator.filter_proba(SequencePanel.from_sequences(X))
    assert_array_equal(np.concatenate(of_panel), np.concatenate(filtered))
    single = columns(X[0])
    assert_allclose(estimator.filter_proba(single), filtered[0], rtol=1e-12)
    steps = estimator.score_samples(single)
    assert steps.shape == (len(single),)
    for n in (1 + n_given, 4, len(single)):
        assert_allclose(steps[:n].sum(), estimator.score_samples([single[:n]])[0], rtol=1e-9)
        expected = estimator.predict_proba(single[:n])[-1]  # the past does not see the future
        assert_allclose(filtered[0][n - 1], expected, rtol=1e-9, atol=1e-12)


@every_model
def test_paths_are_those_of_the_attributes(name):
    estimator, X = fitted(name)
    log_probabilities, paths = estimator.decode(X)
    assert log_probabilities.shape == (len(X),)
    with np.errstate(divide="ignore"):
        log_start, log_transmat = np.log(estimator.startprob_), np.log(estimator.transmat_)
    for found, path, x in zip(log_probabilities, paths, X, strict=True):
        assert path.shape == (len(x),)
        log_obs = estimator.emission_.log_obs(columns(x))
        expected = log_start[path[0]] + log_obs[np.arange(len(x)), path].sum()
        jumps = np.arange(1, len(x))
        if hasattr(estimator, "duration_"):
            jumps = np.flatnonzero(np.diff(path)) + 1
            log_pmf, log_survival = estimator.duration_.tables()
            lengths, own = np.diff([0, *jumps, len(x)]), path[[0, *jumps]]
            expected += log_pmf[own[:-1], lengths[:-1] - 1].sum()
            expected += log_survival[own[-1], lengths[-1] - 1]
        expected += log_transmat[path[jumps - 1], path[jumps]].sum()
        assert found == pytest.approx(expected, rel=1e-12)


def test_forms_and_function_of_paths():
    estimator, X = fitted("gaussian")
    known = estimator.startprob_, estimator.transmat_
    of_panel = estimator.decode(SequencePanel.from_sequences(X))
    for x, log_probability, path, *same in zip(X, *estimator.decode(X), *of_panel, strict=True):
        alone = estimator.decode(x)
        assert isinstance(alone[0], float)
        (by_function,), by_path = hmm_viterbi(*known, estimator.emission_.log_obs(x))
        assert alone[0] == same[0] == by_function == log_probability
        for other in (alone[1], same[1], by_path):
            assert_array_equal(other, path)


def test_states_are_of_the_best_chain_and_scores_of_all():
    X, estimator = GAUSSIAN, quick(n_chains=3).fit(GAUSSIAN)
    log_joints = estimator.trace_["log_joint"]
    assert log_joints.shape == (3, 4)
    assert len(estimator.samples_) == 4
    assert len(estimator._models) == 12
    best = int(np.argmax(log_joints.mean(axis=1)))
    assert estimator._best_chain == best
    for scalar in ("top_concentration", "transition_concentration"):
        expected = estimator.trace_[scalar][best].mean()
        assert getattr(estimator, f"{scalar}_") == pytest.approx(expected)
    panel = SequencePanel.from_sequences(X)
    known = panel.ptr, panel.values
    logs = [model.log_likelihoods(*known) for model in estimator._models]
    expected = logsumexp(logs, axis=0) - np.log(12)
    assert_allclose(estimator.score_samples(X), expected, rtol=1e-12)
    assert np.ptp([row.sum() for row in logs]) > 1e-6  # they do differ
    expected = np.mean([model.posteriors(*known) for model in estimator.samples_], axis=0)
    expected = expected @ np.equal.outer(estimator.component_labels_, np.arange(4))
    assert_allclose(np.vstack(estimator.predict_proba(X)), expected, rtol=1e-9, atol=1e-15)


def test_states_far_apart_are_found():
    estimator = quick(n_components=8, max_iter=60, burn_in=40, stickiness=2.0)
    found = estimator.fit_predict(GAUSSIAN)
    others = estimator.predict(GAUSSIAN), estimator.decode(GAUSSIAN)[1]
    for x, z, *same in zip(GAUSSIAN, found, *others, strict=True):
        centers = np.round(x.mean(axis=1) / 4.0)
        pairs = {*zip(centers.tolist(), z.tolist(), strict=True)}
        assert len(pairs) == len(np.unique(centers)) == len(np.unique(z))
        for path in same:
            assert_array_equal(path, z)


def test_only_state_of_a_model_with_durations():
    """It stays, though nothing follows it; a sequence that outlasts it has probability 0."""
    duration = PoissonDuration(max_duration=5)
    estimator = quick(n_components=1, duration=duration).fit([np.zeros((4, 1))])
    panel, (states,) = estimator.sample(8)
    assert panel.shape == (1, 1)
    assert_array_equal(states, np.zeros(8))
    assert np.isneginf(estimator.score_samples([np.zeros((9, 1))])[0])
    steps = estimator.score_samples(np.zeros((9, 1)))
    assert np.isfinite(steps[:5]).all()
    assert np.isneginf(steps[5:]).all()
    with pytest.raises(ValueError, match="probability 0"):
        estimator.predict(np.zeros((9, 1)))


@every_model
def test_samples(name):
    estimator, _ = fitted(name)
    panel, states = estimator.sample(7, 3, random_state=1)
    assert np.diff(panel.ptr).tolist() == [7, 7, 7]
    assert panel.values.shape == (21, estimator.n_features_in_)
    assert [z.shape for z in states] == [(7,)] * 3
    assert np.isin(states, range(N_STATES)).all()
    assert np.isfinite(estimator.score(panel))
    same, same_states = estimator.sample(7, 3, random_state=1)
    assert_array_equal(panel.values, same.values)
    assert_array_equal(states, same_states)
    assert (panel.values != estimator.sample(7, 3, random_state=2)[0].values).any()


def test_sequences_are_of_all_stored_samples():
    """One symbol a sample: all four have their turn in 200 sequences, 1e-24 false alarms."""
    estimator = clone(fitted("categorical")[0]).fit(SYMBOLS)
    for symbol, sample in enumerate(estimator.samples_):
        sample.emission.probs[:] = np.arange(4) == symbol
    panel, _ = estimator.sample(3, 200, random_state=0)
    symbols = panel.values.reshape(200, 3)
    assert_array_equal(symbols, np.repeat(symbols[:, :1], 3, axis=1))
    assert set(symbols[:, 0]) == {0.0, 1.0, 2.0, 3.0}


SIMILARITIES = {
    "fixed": PHI, "gaussian": np.ones((N_STATES, N_STATES)), "durations": 1.0 - np.eye(N_STATES),
}  # fmt: skip


@every_model
def test_states_of_sweeps(name):
    """They are views of a chain; copies stay as they are."""
    params, X = MODELS[name]
    names = ("states", "transmat", "similarity", "top_weights", "initial_rates")
    kept, n_sweeps = None, 0
    for state in quick(max_iter=4, burn_in=1, **params).iter_sweeps(X):
        n_sweeps += 1
        assert state.states.shape == (sum(map(len, X)),)
        assert not state.states.flags.writeable
        rates, phi = state.transition_rates, state.similarity
        assert rates.shape == phi.shape == (N_STATES, N_STATES)
        assert np.all((phi >= 0.0) & (phi <= 1.0))
        assert_allclose(phi, SIMILARITIES.get(name, phi), rtol=1e-12)
        expected = rates * phi / (rates * phi).sum(axis=1, keepdims=True)
        assert_allclose(state.transmat, expected, rtol=1e-9, atol=1e-59)
        expected = state.initial_rates / state.initial_rates.sum()
        assert_allclose(state.startprob, expected, rtol=1e-9, atol=1e-59)
        assert_allclose(state.top_weights.sum(), 1.0, rtol=1e-9)
        assert min(state.top_concentration, state.transition_concentration) > 0.0
        assert state.stickiness >= 0.0
        assert (state.decay > 0.0) == ("decay_" in list_options(params))
        assert np.isfinite(state.log_joint())
        assert hasattr(state.emission, "write_log_obs")
        if kept is None:
            kept, joint = state.copy(), state.log_joint()
            before = {name: getattr(state, name).copy() for name in names}
    assert n_sweeps == 4
    for array, value in before.items():
        assert_array_equal(getattr(kept, array), value)
    assert kept.log_joint() == joint
    assert (state.transmat != before["transmat"]).any()


def test_fixed_hyperparameters_stay():
    fixed = {"top_concentration": 1.5, "transition_concentration": 2.5, "stickiness": 3.0}
    similarity = GaussianSimilarity(2, decay=0.7)
    estimator = quick(emission="categorical", similarity=similarity, burn_in=0, **fixed)
    estimator.fit(SYMBOLS)
    for name, value in {**fixed, "decay": 0.7}.items():
        assert np.all(estimator.trace_[name] == value)
        assert getattr(estimator, f"{name}_") == pytest.approx(value, rel=1e-12)


def test_drawn_hyperparameters_move():
    """After those sweeps of the burn-in in which they are held."""
    params = {"stickiness": "auto", "similarity": GaussianSimilarity(2)}
    sweeps = quick(burn_in=8, max_iter=20, **params).iter_sweeps(GAUSSIAN)
    names = ("stickiness", "decay", "top_concentration", "transition_concentration")
    traces = np.array([[getattr(state, name) for name in names] for state in sweeps]).T
    assert np.all(traces > 0.0)
    for trace in traces:
        assert len(set(trace[8:])) == 12
    for trace in traces[:2]:
        assert len(set(trace[:4])) == 1
        assert len(set(trace[4:])) == 16


def test_share_of_stickiness():
    """The parameter is alpha + kappa, and the trace has alpha; a prior may be sure of the share.
    Six draws are all within .05 of .9, with 1e-8 false alarms."""
    params = {"stickiness": "auto", "emission": "categorical", "burn_in": 2}
    scalars = "transition_concentration", "stickiness"
    trace = quick(transition_concentration=6.0, **params).fit(SYMBOLS).trace_
    alpha, kappa = (trace[name] for name in scalars)
    assert_allclose(alpha + kappa, 6.0, rtol=1e-12)
    assert len(np.unique(kappa)) == kappa.size
    trace = quick(stickiness_prior=(9e4, 1e4), **params).fit(SYMBOLS).trace_
    alpha, kappa = (trace[name] for name in scalars)
    assert_allclose(kappa / (alpha + kappa), 0.9, atol=0.05)


def test_classification_of_sequences():
    """Two classes whose symbols differ by states: features distinguish them."""
    # Eight sequences of 14 steps are too few for a judge to be sure that there are states.
    states = quick(emission=CategoricalEmission(n_symbols=4), max_iter=30, judge=False)
    classifier = make_pipeline(states, LogisticRegression())
    assert cross_val_score(classifier, SYMBOLS, CLASSES, cv=3).mean() > 0.8


@pytest.mark.parametrize(
    ("params", "X"),
    [
        ({"stickiness": "auto"}, [np.zeros(5), np.zeros(3)]),
        ({"emission": "poisson"}, [np.zeros(5)]),
        ({"n_components": 30, "max_iter": 4}, np.array([[1.0], [2.0]])),
        ({"n_components": 1, "stickiness": 3.0, "state_sampler": "beam"}, GAUSSIAN),
        ({"max_iter": 1, "burn_in": 0}, GAUSSIAN),
    ],
)
def test_degenerate_data_and_settings(params, X):
    estimator = quick(**params).fit(X)
    assert_allclose(np.vstack(estimator.predict_proba(X)).sum(axis=1), 1.0, rtol=1e-9)
    assert np.isfinite(estimator.score(X))
    assert_allclose(estimator.transmat_.sum(axis=1), 1.0, rtol=1e-9)


def test_missing_steps_and_columns():
    """A step without observations has density 1, and does not improve the mean of the others."""
    X = [x.copy() for x in GAUSSIAN]
    X[0][3] = np.nan
    X[1][5:8, 0] = np.nan
    estimator = quick(emission=GaussianEmission("diag")).fit(X)
    assert_allclose(np.vstack(estimator.predict_proba(X)).sum(axis=1), 1.0, rtol=1e-9)
    nothing = np.full((4, 2), np.nan)
    assert_allclose(estimator.score_samples([nothing]), 0.0, atol=1e-12)
    assert_allclose(estimator.score_samples(nothing), np.zeros(4), atol=1e-12)
    logs, steps = estimator.score_samples(X), estimator.score_samples(X[0])
    assert np.isfinite(logs).all()
    assert estimator.score(X) == pytest.approx(logs.sum() / (sum(map(len, X)) - 1))
    assert estimator.score([*X, nothing]) == pytest.approx(estimator.score(X))
    assert estimator.score(X[0]) == pytest.approx(np.delete(steps, 3).mean())


def test_words_are_symbols():
    """The symbols are the vocabulary, whether or not every word occurs."""
    words = TokenSequences.from_sequences([x.astype(int) for x in SYMBOLS], 7)
    estimator = quick(emission="categorical").fit(words)
    other = quick(emission=CategoricalEmission(7)).fit(SYMBOLS)
    assert_array_equal(estimator.emission_.probs, other.emission_.probs)
    assert estimator.score(words) == other.score(SYMBOLS)
    assert np.isfinite(estimator.score(TokenSequences.from_sequences([[6, 0]], 7)))
    for found, expected in zip(estimator.predict(words), other.predict(SYMBOLS), strict=True):
        assert_array_equal(found, expected)
    assert estimator.fit(SYMBOLS).emission_.probs.shape == (N_STATES, 4)


DEFAULTS = {
    ("similarity", "gaussian"): GaussianSimilarity(),
    ("similarity", "emission"): EmissionSimilarity(),
    ("duration", "poisson"): PoissonDuration(),
    ("duration", "negative_binomial"): NegativeBinomialDuration(),
}


@pytest.mark.parametrize(("part", "name"), DEFAULTS)
def test_names_stand_for_defaults(part, name):
    """A fit changes neither of them."""
    default = DEFAULTS[part, name]
    by_name, by_part = (quick(**{part: each}).fit(GAUSSIAN) for each in (name, default))
    same_fit(by_name, by_part)
    assert by_name.get_params()[part] == name
    assert by_part.get_params()[part] is default
    assert vars(default) == vars(type(default)())


def test_parameters_of_parts_given_by_name():
    model = quick(duration="poisson").set_params(
        emission__covariance_type="diag", duration__max_duration=9, similarity="gaussian"
    )
    assert model.similarity == "gaussian"
    model.set_params(similarity="emission", similarity__metric="bhattacharyya")
    factorial = FactorialHMM(3).set_params(n_factors=2, emission__output="probit")
    for part, kind, name, value in (
        (model.emission, GaussianEmission, "covariance_type", "diag"),
        (model.duration, PoissonDuration, "max_duration", 9),
        (model.similarity, EmissionSimilarity, "metric", "bhattacharyya"),
        (factorial.emission, BinaryFactorEmission, "n_factors", 2),
    ):
        assert isinstance(part, kind)
        assert getattr(part, name) == value


def test_classes_are_ignored():
    """There is one for each sample, even if their sum is that of lengths."""
    estimator, quicker = fitted("gaussian")[0], quick(max_iter=2, n_samples=1)
    for y in ([0, 1, 0, 1, 0], list("ababa"), [sum(map(len, GAUSSIAN)), 0, 0, 0, 0]):
        assert np.isfinite(estimator.score(GAUSSIAN, y))
        quicker.fit(GAUSSIAN, y)
    quicker.set_params(use_y=False)
    for y in (np.arange(3), np.full(len(GAUSSIAN[0]), 0.5)):
        assert np.isfinite(estimator.score(GAUSSIAN[0], y))
        quicker.fit(GAUSSIAN[0], y)


def test_lists_of_frames_have_names():
    frames = [pd.DataFrame(x, columns=["left", "right"]) for x in GAUSSIAN]
    estimator = quick().fit(frames)
    assert estimator.feature_names_in_.tolist() == ["left", "right"]
    assert estimator.score(frames) == fitted("gaussian")[0].score(GAUSSIAN)
    swapped = frames[1][["right", "left"]]
    for method in ("predict", "score", "transform", "predict_proba", "score_samples"):
        with pytest.raises(ValueError, match=r"sequence 1 has \['right', 'left'\]"):
            getattr(estimator, method)([frames[0], swapped])


def with_a_gap(values, partly):
    """Return values without those of a start and a gap, and without one of two at some steps."""
    values = np.asarray(values, dtype=float)
    values[np.r_[0:40, 70:90]] = np.nan
    values[partly, 0] = np.nan
    return values


RNG = np.random.default_rng(0)
PARTLY = np.r_[50:55, 100:110]
LEVELS = with_a_gap(RNG.normal(5.0 * np.tile(np.eye(2), (2, 1)).repeat(40, axis=0)), PARTLY)
BAGS = with_a_gap(RNG.poisson(4.0, size=(160, 2)), [])
MIXED = IndependentEmissions([("a", "gaussian", [0]), ("b", "student_t", [1])])
IS_OBSERVED = ~np.isnan(LEVELS).all(axis=1)
LAST = {"max_iter": 3, "burn_in": 2}
"""The only sample is that of the last sweep."""


@pytest.mark.parametrize(
    ("X", "emission"),
    [
        *((LEVELS, each) for each in (GaussianEmission("diag"), "student_t", MIXED)),
        (np.where(np.isnan(LEVELS), np.nan, LEVELS > 2.5), "bernoulli"),
        (BAGS, "multinomial"),
    ],
)
def test_shares_of_states_count_steps_of_which_something_was_observed(X, emission):
    model = quick(n_components=5, emission=emission, **LAST)
    *_, last = model.iter_sweeps(X)
    assert_array_equal(observed_steps(X), IS_OBSERVED)
    counts = np.bincount(last.states[IS_OBSERVED], minlength=5)
    model.fit(X)
    assert_allclose(model.state_shares_, np.sort(counts / counts.sum())[::-1])
    n_active = np.count_nonzero(counts >= 1e-3 * counts.sum())
    assert model.n_active_components_ == n_active
    assert model.trace_["n_active_components"].tolist() == [[n_active]]


def test_shares_of_factors_count_steps_of_which_something_was_observed():
    model = FactorialHMM(2, random_state=0, **LAST)
    *_, last = model.iter_sweeps(LEVELS)
    shares = last.activities[IS_OBSERVED].mean(axis=0)
    model.fit(LEVELS)
    assert_allclose(model.factor_shares_, np.sort(np.minimum(shares, 1.0 - shares))[::-1])


def test_states_of_gaps_alone_are_not_in_use():
    """A sensor that is silent at first: its two levels are two states."""
    level = np.tile(np.repeat([0.0, 5.0], 40), 5)
    X = np.r_[np.full(200, np.nan), level + np.random.default_rng(0).normal(size=400)][:, None]
    model = quick(n_components=10, stickiness=50.0, max_iter=60).fit(X)
    assert model.n_active_components_ == 2
    means = model.emission_.means[model.state_shares_ > 0.0, 0]
    assert not np.any(np.abs(means - np.nanmean(X)) < 1e-9)  # none has the prior's mean
