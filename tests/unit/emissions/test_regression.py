"""Regressions on inputs within hidden Markov models: what fits find, columns, and gaps."""

from functools import cache

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import adjusted_rand_score

from skdp.emissions import IndependentEmissions, RegressionEmission
from skdp.sequence import HDPHMMLT

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

FEW = {"max_iter": 6, "random_state": 0}
RNG = np.random.default_rng(0)
STATES = np.tile(np.repeat([0, 1], 30), 3)
STIMULUS = RNG.normal(size=(len(STATES), 2))
LOG_ODDS = np.where(STATES == 0, 4.0 * STIMULUS[:, 0], 1.5 - STIMULUS[:, 1])
CHOICE = RNG.random(len(STATES)) < 1.0 / (1.0 + np.exp(-LOG_ODDS))
X = np.column_stack([CHOICE, STIMULUS]).astype(float)
Y = np.column_stack([LOG_ODDS + RNG.normal(0.0, 0.5, len(STATES)), STIMULUS])
SPIKES = RNG.poisson(np.exp(np.where(STATES == 0, STIMULUS[:, 0], 1.5 - 0.5 * STIMULUS[:, 1])))
C = np.column_stack([SPIKES, STIMULUS]).astype(float)
DATA = {"bernoulli": X, "normal": Y, "poisson": C}
each = pytest.mark.parametrize("output", ["bernoulli", "normal", "poisson"])


def make(output, n=4, **params):
    own = {"targets": [0], "output": output}
    own |= {key: params.pop(key) for key in list(params) if key in ("targets", "inputs")}
    return HDPHMMLT(n, emission=RegressionEmission(**own), **{**FEW, **params})


@cache
def fitted(output):
    """Return a fit that no test changes."""
    return make(output).fit(DATA[output])


def glm_hmm(seed, n_sequences=6, n_steps=500):
    """Return trials of three strategies: a stimulus decides, or a side is preferred."""
    rng = np.random.default_rng(seed)
    weights = np.array([[6.0, 0.0], [0.8, 2.5], [0.8, -2.5]])
    sequences, states = [], []
    for _ in range(n_sequences):
        z = np.empty(n_steps, dtype=int)
        for t in range(n_steps):
            stays = t > 0 and rng.random() < 0.98
            z[t] = z[t - 1] if stays else rng.integers(3)
        stimulus = rng.choice([-1.0, -0.5, -0.25, 0.0, 0.25, 0.5, 1.0], n_steps)
        p = 1.0 / (1.0 + np.exp(-weights[z, 0] * stimulus - weights[z, 1]))
        sequences.append(np.column_stack([rng.random(n_steps) < p, stimulus]).astype(float))
        states.append(z)
    return sequences, states


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_three_strategies(seed):
    """The number of strategies is inferred, and weights are found up to their sampling errors."""
    sequences, states = glm_hmm(seed)
    emission = RegressionEmission(0, output="bernoulli")
    model = HDPHMMLT(10, emission=emission, stickiness=50.0, random_state=seed).fit(sequences)
    assert np.count_nonzero(model.state_shares_ > 0.05) == 3
    found = np.concatenate(model.predict(sequences))
    assert adjusted_rand_score(np.concatenate(states), found) > 0.85
    of_state = model.emission_
    engaged, *biased = np.argsort(np.abs(of_state.intercepts[:3, 0]))
    assert 4.5 < of_state.coefs[engaged, 0, 0] < 8.0
    assert abs(of_state.intercepts[engaged, 0]) < 0.7
    assert_allclose(np.sort(of_state.intercepts[biased, 0]), [-2.5, 2.5], atol=0.8)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_three_states_of_two_neurons(seed):
    """The number of states is inferred, and coefficients are found up to their sampling errors."""
    rng = np.random.default_rng(seed)
    weights = np.array(
        [[[0.8, 0.2], [0.0, 1.0]], [[-0.5, 1.2], [0.3, 0.4]], [[0.2, 0.8], [-0.8, -0.5]]]
    )
    states = np.repeat(rng.permutation(np.arange(24) % 3), 60)
    stimulus = rng.normal(size=len(states))
    psi = weights[states, :, 0] * stimulus[:, np.newaxis] + weights[states, :, 1]
    values = np.column_stack([rng.poisson(np.exp(psi)), stimulus]).astype(float)
    emission = RegressionEmission([0, 1], output="poisson")
    model = HDPHMMLT(10, emission=emission, stickiness=20.0, random_state=seed).fit(values)
    assert np.count_nonzero(model.state_shares_ > 0.02) == 3
    assert adjusted_rand_score(states, model.predict(values)) > 0.9
    of_state = model.emission_
    order = [int(np.argmin(np.abs(of_state.coefs[:3, 0, 0] - w))) for w in weights[:, 0, 0]]
    assert_allclose(of_state.coefs[order, :, 0], weights[:, :, 0], atol=0.2)
    assert_allclose(of_state.intercepts[order], weights[:, :, 1], atol=0.2)


def test_two_regressions():
    model = make("normal", stickiness=10.0, max_iter=60).fit(Y)
    assert model.n_active_components_ == 2
    assert adjusted_rand_score(STATES, model.predict(Y)) > 0.9
    order = np.argsort(-model.emission_.coefs[:2, 0, 0])
    assert_allclose(model.emission_.coefs[order, 0], [[4.0, 0.0], [0.0, -1.0]], atol=0.3)
    assert_allclose(model.emission_.intercepts[order, 0], [0.0, 1.5], atol=0.3)


# Columns


@each
def test_columns_by_names_numbers_and_order(output):
    values = DATA[output]
    score = fitted(output).score(values)
    frame = pd.DataFrame(values, columns=["y", "a", "b"])
    for targets, inputs in (("y", None), (["y"], ["a", "b"]), ("y", slice("a", "b"))):
        model = make(output, targets=targets, inputs=inputs).fit(frame)
        assert model.score(frame) == score
        assert "_names" not in vars(model.emission)
    for targets in (np.int64(0), [True, False, False]):
        assert make(output, targets=targets).fit(values).score(values) == score
    moved = values[:, [1, 0, 2]]
    assert make(output, targets=-2).fit(moved).score(moved) == score


def test_several_targets():
    """Those of them that are known stay."""
    values = np.column_stack([X, 1.0 - X[:, 0]])
    values[[3, 3, 9], [0, 3, 3]] = np.nan
    model = make("bernoulli", targets=[0, 3]).fit(values)
    assert model.emission_.coefs.shape == (4, 2, 2)
    assert model.emission_.predict(STIMULUS[:5]).shape == (5, 4, 2)
    filled, seen = model.impute(values), ~np.isnan(values)
    assert_array_equal(filled[seen], values[seen])
    assert np.all((filled[~seen] > 0.0) & (filled[~seen] < 1.0))
    rows = model.emission_.fill(values, model.predict_proba(values))
    assert_array_equal(rows[seen], values[seen])
    twice = np.column_stack([Y, Y[:, 0] + RNG.normal(size=len(Y))])
    assert make("normal", targets=[0, 3]).fit(twice).emission_.covariances.shape == (4, 2, 2)


@each
def test_inputs_of_predictions(output):
    emission = fitted(output).emission_
    for states in ([0, 1], [0, 1, 2, 0], [[0, 1, 2]], 0):
        with pytest.raises(ValueError, match=r"states must be of shape \(3,\), one for each"):
            emission.draw_targets(states, np.zeros((3, 2)), RNG)
    assert emission.predict(STIMULUS.tolist()).shape == (len(X), 4, 1)
    one = make(output).fit(DATA[output][:, :2]).emission_
    assert_array_equal(one.predict([0.5, 1.0]), one.predict([[0.5], [1.0]]))


@each
def test_seeds_of_draws(output):
    emission = fitted(output).emission_
    states = emission.predict(STIMULUS).argmax(axis=1)[:, 0]
    drawn = [emission.draw_targets(states, STIMULUS, seed) for seed in (0, np.int64(0), 1)]
    assert drawn[0].shape == (len(X), 1)
    assert_array_equal(drawn[0], drawn[1])
    assert not np.array_equal(drawn[0], drawn[2])
    for kind in (np.random.RandomState, np.random.default_rng):
        rng = kind(3)
        again = emission.draw_targets(states, STIMULUS, random_state=kind(3))
        assert_array_equal(emission.draw_targets(states, STIMULUS, rng), again)
        assert not np.array_equal(emission.draw_targets(states, STIMULUS, rng), again)
    first, second = (emission.draw_targets(states.tolist(), STIMULUS) for _ in range(2))
    assert not np.array_equal(first, second)


# Missing targets


def without_targets(output):
    values = DATA[output].copy()
    values[10:14, 0] = values[-1, 0] = np.nan
    return values


@each
def test_missing_targets_do_not_count(output):
    values = without_targets(output)
    model = make(output).fit(values)
    steps = model.score_samples(values)
    assert_allclose(steps[[*range(10, 14), -1]], 0.0, atol=1e-12)
    assert model.score(values) == pytest.approx(steps.sum() / (len(values) - 5))
    filled = model.impute(values)
    assert np.isfinite(filled).all()
    assert_array_equal(filled[:10], values[:10])
    counts = model.state_shares_ * (len(values) - 5)
    assert_allclose(counts, np.round(counts), atol=1e-9)
    nothing = np.where([True, False, False], np.nan, values)
    assert_allclose(model.score_samples(nothing), 0.0, atol=1e-12)


@each
def test_parts_without_targets_do_not_count(output):
    values = without_targets(output)
    part = RegressionEmission(1, output=output)
    emission = IndependentEmissions([("part", part, [2, 0, 1])])
    model = HDPHMMLT(4, emission=emission, **FEW).fit(values)
    steps = model.score_samples(values)
    assert model.score(values) == pytest.approx(steps.sum() / (len(values) - 5))
    counts = model.state_shares_ * (len(values) - 5)
    assert_allclose(counts, np.round(counts), atol=1e-9)
    noise = np.where(np.arange(len(values)) % 12 < 4, np.nan, 0.0)
    values = np.column_stack([noise, values])
    emission = IndependentEmissions([("noise", "gaussian", 0), ("part", part, [3, 1, 2])])
    model = HDPHMMLT(4, emission=emission, **FEW).fit(values)
    n_steps = np.count_nonzero(~np.isnan(values[:, :2]).all(axis=1))
    assert n_steps == len(values) - 2
    assert model.score(values) == pytest.approx(model.score_samples(values).sum() / n_steps)


def test_parts_without_inputs_have_no_targets():
    emission = IndependentEmissions([("one", "gaussian", [0, 1]), ("two", "gaussian", 2)])
    assert emission.make_sampler(Y, 3).target_columns is None


def test_parts_of_mixed_columns():
    emission = IndependentEmissions([
        ("choice", RegressionEmission("choice", output="bernoulli"), ["choice", "left"]),
        ("time", RegressionEmission(1, 0), ["right", "time"]),
    ])  # fmt: skip
    columns = ["choice", "left", "right", "time"]
    frame = pd.DataFrame(np.column_stack([X, Y[:, 0]]), columns=columns)
    frame.loc[3, "time"] = np.nan
    model = HDPHMMLT(3, emission=emission, **FEW).fit(frame)
    assert np.isfinite(model.score(frame))
    assert np.isfinite(model.impute(frame)).all(axis=None)
    frame.loc[5, "right"] = np.nan
    with pytest.raises(ValueError, match=r"emission 'time'.*NaN in column 0 \('right'\)"):
        model.score(frame)


# Other models and odd data


@pytest.mark.parametrize(
    ("output", "params"),
    [
        ("bernoulli", {"duration": "poisson"}),
        ("poisson", {"state_sampler": "beam"}),
        ("normal", {"similarity": "gaussian"}),
        ("poisson", {"transitions": "left-right", "n_chains": 2}),
        ("bernoulli", {"init": "random"}),
    ],
    ids=str,
)
def test_other_models(output, params):
    values = DATA[output]
    model = make(output, **params).fit(values)
    assert np.isfinite(model.score(values))
    assert model.decode(values)[1].shape == (len(values),)


@each
def test_known_states(output):
    y = np.where(np.arange(len(STATES)) % 10 == 0, STATES, -1)
    model = make(output, max_iter=20).fit(DATA[output], y)
    assert np.mean(model.predict(DATA[output]) == STATES) > 0.7


@each
def test_units_of_inputs_do_not_matter(output):
    values = DATA[output]
    other = values * [1.0, 1e4, 1e-3] + [0.0, 3e5, 2.0]
    model, moved = (make(output, max_iter=10).fit(x) for x in (values, other))
    assert_array_equal(model.predict(values), moved.predict(other))
    assert moved.score(other) == pytest.approx(model.score(values), rel=1e-6)


@each
def test_one_step_and_constant_inputs(output):
    for values in ([[1.0, 2.0, 3.0]], np.column_stack([CHOICE, np.ones((len(X), 2))])):
        assert np.isfinite(make(output).fit(np.array(values)).score(np.array(values)))


def assert_others_are_as_usual(output, values, margin):
    """Assert that the score of all steps but the 20th is hardly less than without its value."""
    model, usual = (make(output, max_iter=20).fit(x) for x in (values, DATA[output]))
    steps = np.delete(model.score_samples(values), 20)
    assert steps.mean() > np.delete(usual.score_samples(DATA[output]), 20).mean() - margin


@each
def test_an_absurd_input(output):
    values = DATA[output].copy()
    values[20, 1] = 1e4
    assert_others_are_as_usual(output, values, 0.2)
    values[20, 1] = 1e12
    with pytest.warns(UserWarning, match="column . of X are outliers so far"):
        model = make(output).fit(values)
    assert np.isfinite(model.score_samples(values)).all()
    assert np.isfinite(model.predict_proba(values)).all()


def test_an_absurd_count():
    values = C.copy()
    values[20, 0] = 2.0**53
    assert_others_are_as_usual("poisson", values, 0.4)


@pytest.mark.parametrize("scale", [1e4, 1e12])
def test_large_counts(scale):
    values = C.copy()
    values[:, 0] = np.floor(values[:, 0] * scale)
    model = make("poisson", max_iter=20).fit(values)
    assert np.isfinite(model.score(values))
    assert np.isfinite(model.trace_["log_joint"]).all()
    assert np.isfinite(model.emission_.predict(100.0 * STIMULUS)).all()
    assert np.isfinite(model.score_samples(np.abs(values * [0.0, 1e3, 1e3]))).all()


def test_no_events():
    values = C * [0.0, 1.0, 1.0]
    model = make("poisson", max_iter=20).fit(values)
    assert -0.1 < model.score(values) <= 0.0


# Default priors


@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e6])
def test_targets_without_noise(unit):
    """The noise is relative to the targets; constants have no unit of their own."""
    u = np.random.default_rng(1).normal(size=50)
    for targets in (2.0 * u, 0.3 * u + 0.7):
        values = unit * np.column_stack([targets, u])
        sampler = RegressionEmission(0).make_sampler(values, 2)
        expected = np.sqrt(0.2) * 1e-6 * values[:, 0].std()
        assert_allclose(sampler.prior.scale_root, [[expected]], rtol=1e-3)
    values[:, 0] = 0.1 * unit
    constant = RegressionEmission(0).make_sampler(values, 2)
    assert_allclose(constant.prior.scale_root, [[np.sqrt(0.2)]])


def test_default_prior_of_counts():
    """Prior rates are the mean counts, with a variance of 4 of their logarithms."""
    values = np.column_stack([C, np.zeros(len(C))])
    values[3, 0] = np.nan
    sampler = RegressionEmission([0, 3], output="poisson").make_sampler(values, 2)
    mean = np.nanmean(values[:, 0])
    expected = [[np.log(mean), 0.0, 0.0], [np.log(0.5 / len(values)), 0.0, 0.0]]
    assert_allclose(sampler.prior.coefs, expected, rtol=1e-9)
    rows = np.column_stack([np.ones(len(values)), STIMULUS])
    root = np.linalg.solve(sampler.prior.precision_root, rows.T)
    assert (root**2).sum(axis=0).mean() == pytest.approx(4.0, rel=0.02)
