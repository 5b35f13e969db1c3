"""The posterior of divisions into parts against enumeration of all of them."""

from functools import cache, partial

import numpy as np
import pytest
from exact.oracles import divisions as oracle
from numpy.testing import assert_allclose
from scipy.special import logsumexp
from scipy.stats import chi2

from skdp.sequence import ChangePointDetector, _change_point_detector, _divisions

pytestmark = pytest.mark.filterwarnings("ignore:.*parts of max_length")
N = 11
NOISES, PRIORS = (0.5, 0.05, 0.005), (0.1, 0.3, 1.0)


def numbers(n_columns, *, gaps):
    rng = np.random.default_rng(n_columns)
    values = rng.normal(size=(N, n_columns)) + np.repeat([0.0, 3.0, 1.0], [4, 4, 3])[:, None]
    if gaps:
        values[[1, 2, 7]] = np.nan
        values[5, 0] = np.nan
    return 1e3 + 7.0 * values


def integers(largest, n_columns, *, gaps=False):
    rng = np.random.default_rng(largest)
    values = (
        rng.integers(0, largest + 1, size=(N, n_columns))
        * np.repeat([1.0, 0, 1.0], [4, 4, 3])[:, None]
    )
    values[0] = largest  # in one column at least, so that all symbols occur
    if gaps:
        values[[3, 8]] = np.nan
    return values


def deviation(values):
    """Return the standard deviation without the 5 % at both ends."""
    ends = np.nanquantile(values, [0.05, 0.95], axis=0)
    return np.nanstd(np.clip(values, *ends), axis=0)


def medians(values):
    """Return the medians of five around each."""
    return np.array(
        [np.nanmedian(values[max(0, t - 2) : t + 3], axis=0) for t in range(len(values))]
    )


def tame(values, whole):
    """Return values at most four standard deviations, of the whole series, from their medians."""
    middle, far = medians(values), 4.0 * deviation(whole - medians(whole))
    return np.clip(values, middle - far, middle + far)


def gaussian(values, *, phis=(0.0,), trends=(False, True), noises=NOISES, tames=False):
    """Return values in units of their columns, log evidence of parts by model, and what is left."""
    center = np.nanmedian(values, axis=0)
    scale = deviation(values)
    models = [
        partial(oracle.log_gaussian, linear=linear, phi=phi, b0=b0)
        for linear in trends
        for phi in phis
        for b0 in noises
    ]
    scaled = ((tame(values, values) if tames else values) - center) / scale
    return scaled, models, -np.sum(np.log(scale) * ~np.isnan(values))


def poisson(values):
    return values, [partial(oracle.log_poisson, rates=1.0 / np.nanmean(values, axis=0))], 0.0


def symbols(values):
    sizes = np.nanmax(values, axis=0).astype(int) + 1
    return values, [partial(oracle.log_symbols, sizes=sizes, prior=a) for a in PRIORS], 0.0


def counts(values):
    return values, [partial(oracle.log_counts, prior=a) for a in PRIORS], 0.0


OUTLIER = numbers(1, gaps=False)
OUTLIER[5] += 1e6
AUTO = {"noises": (0.5,), "tames": True}
CASES = {
    "gaussian": ({}, numbers(2, gaps=True), gaussian, {}),
    "level": ({"trend": "level"}, numbers(2, gaps=False), gaussian, {"trends": (False,)}),
    "linear, AR": (
        {"trend": "linear", "autocorrelation": 0.5},
        numbers(2, gaps=True),
        gaussian,
        {"trends": (True,), "phis": (0.5,)},
    ),
    "AR": (
        {"autocorrelation": "auto"},
        numbers(1, gaps=True),
        gaussian,
        {"phis": (0, 0.3, 0.6, 0.9)},
    ),
    "auto": ({"emission": "auto"}, numbers(2, gaps=True), gaussian, AUTO),
    "outlier": ({"emission": "auto", "power": 1.0}, OUTLIER, gaussian, AUTO),
    "outlier, most": ({"emission": "auto", "power": 1.0, "max_length": 4}, OUTLIER, gaussian, AUTO),
    "poisson": ({"emission": "poisson"}, integers(4, 2, gaps=True), poisson, {}),
    "bernoulli": ({"emission": "bernoulli"}, integers(1, 2, gaps=True), symbols, {}),
    "categorical": ({"emission": "categorical"}, integers(3, 2, gaps=True), symbols, {}),
    "multinomial": ({"emission": "multinomial"}, integers(4, 3, gaps=True), counts, {}),
    "power": ({"emission": "poisson", "power": 0.3}, integers(4, 2), poisson, {}),
    "number": ({"emission": "poisson", "change_probability": 0.2}, integers(4, 2), poisson, {}),
    "Beta": ({"emission": "poisson", "change_probability": (1, 3.0)}, integers(4, 2), poisson, {}),
    "Beta of numbers": ({"change_probability": (2.5, 1.0)}, numbers(1, gaps=True), gaussian, {}),
    "least": ({"emission": "poisson", "min_length": 3}, integers(4, 2), poisson, {}),
    "most": ({"emission": "poisson", "max_length": 4}, integers(4, 2), poisson, {}),
    "both": ({"min_length": 2, "max_length": 5}, numbers(1, gaps=True), gaussian, {}),
    "known": ({}, numbers(2, gaps=True), gaussian, {}),
    "known, both": ({"min_length": 2, "max_length": 5}, numbers(1, gaps=True), gaussian, {}),
    "known, counts": ({"emission": "multinomial"}, integers(4, 3, gaps=True), counts, {}),
    "known, power": ({"emission": "poisson", "power": 0.3}, integers(4, 2), poisson, {}),
}
KNOWN = {
    "known": [0, -1, 1, -1, 0, 0, -1, -1, 0, 1, -1],
    "known, both": [-1, None, 1, np.nan, 0, 0, -1, 1, 0, -1, 0],
    "known, counts": [-1, -1, -1, -1, 1, -1, -1, -1, -1, 0, 0],
    "known, power": [-1, 1, 1, -1, 0, 0, 0, -1, -1, -1, 0],
}


def rates(chance):
    if chance == "auto":
        return np.geomspace(min(0.3 / N, 0.05), 0.1, 8).tolist()
    return [chance]


@cache
def enumerated(name):
    """Return the divisions of a case and their log joint with each model and rate, (M, G, n)."""
    parameters, values, make, kw = CASES[name]
    least, most = parameters.get("min_length", 1), parameters.get("max_length", N)
    found = oracle.divisions(N, least, most)
    scaled, models, rest = make(values, **kw)
    power = parameters.get("power", 0.3 if parameters.get("emission") == "auto" else 1.0)
    evidence = np.array([oracle.log_evidence(found, scaled, model) for model in models])
    chances = rates(parameters.get("change_probability", "auto"))
    priors = np.array([oracle.log_prior(found, N, least, most, chance) for chance in chances])
    joint = power * evidence[:, None] + priors
    for k, changes in enumerate(found):
        for t, value in enumerate(KNOWN.get(name, [])):
            if t > 0 and value in (0, 1) and (t in changes) != value:
                joint[..., k] = -np.inf
    return found, joint, evidence, priors, rest


@cache
def fitted(name):
    parameters, values, *_ = CASES[name]
    return ChangePointDetector(**{"emission": "gaussian", **parameters}).fit(
        values, KNOWN.get(name)
    )


def posterior(name):
    """Return the probability of each division."""
    joint = enumerated(name)[1]
    return np.exp(logsumexp(joint, axis=(0, 1)) - logsumexp(joint))


every_case = pytest.mark.parametrize("name", CASES)


@every_case
def test_change_probabilities(name):
    expected = np.zeros(N)
    for changes, p in zip(enumerated(name)[0], posterior(name), strict=True):
        expected[list(changes)] += p
    assert 0.1 < expected.sum() < N - 2
    found = fitted(name).predict_proba(CASES[name][1], known=KNOWN.get(name))
    assert_allclose(found, expected, atol=1e-10)


@every_case
def test_numbers_of_changes(name):
    found = enumerated(name)[0]
    expected = np.bincount([len(changes) for changes in found], posterior(name), minlength=N)
    numbers = fitted(name).n_changes_distribution_
    assert_allclose(np.pad(numbers, (0, N - len(numbers))), expected, atol=1e-10)
    assert fitted(name).n_changes_ == pytest.approx(expected @ np.arange(N), abs=1e-9)


@pytest.mark.parametrize("name", [name for name in CASES if not name.startswith("Beta")])
def test_score(name):
    _, joint, evidence, priors, rest = enumerated(name)
    weights = logsumexp(joint, axis=2) - logsumexp(joint)
    own = logsumexp(evidence[:, None] + priors, axis=2)
    values = CASES[name][1]
    n = np.count_nonzero(~np.isnan(values).all(axis=1))
    found = fitted(name).score(values) * n
    assert found == pytest.approx(logsumexp(own + weights) + rest, abs=1e-9)


@every_case
def test_best_divisions(name):
    found, joint, *_ = enumerated(name)
    values, model, known = CASES[name][1], fitted(name), KNOWN.get(name)
    m, g = np.unravel_index(logsumexp(joint, axis=2).argmax(), joint.shape[:2])
    best = joint[m, g]
    places = {changes: k for k, changes in enumerate(found)}
    if not name.startswith("Beta"):  # the rate is one of a grid
        changes = tuple(model.predict(values, known=known).tolist())
        # A change in a gap may be at any of its steps.
        assert best[places[changes]] == pytest.approx(best.max(), abs=1e-10)
        assert model.change_points_.positions.tolist() == list(changes)
    sizes = np.array([len(changes) for changes in found])
    sizes[np.isinf(best)] = -1
    for n_parts in (2, 3, 4, 6):
        if n_parts - 1 not in sizes:
            with pytest.raises(ValueError, match="do not make up"):
                model.predict(values, n_parts=n_parts, known=known)
            continue
        changes = tuple(model.predict(values, n_parts=n_parts, known=known).tolist())
        assert len(changes) == n_parts - 1
        assert best[places[changes]] == pytest.approx(best[sizes == n_parts - 1].max(), abs=1e-10)


@every_case
def test_changes_in_intervals(name):
    found, p = enumerated(name)[0], posterior(name)
    table = fitted(name).change_points_
    for row in table:
        first, last = row.interval
        assert first <= row.position <= last
        inside = [any(first <= change <= last for change in changes) for changes in found]
        assert row.probability == pytest.approx(p[inside].sum(), abs=1e-10)


LEARN = {
    oracle.log_gaussian: oracle.learn_gaussian,
    oracle.log_poisson: oracle.learn_poisson,
    oracle.log_symbols: oracle.learn_symbols,
    oracle.log_counts: oracle.learn_counts,
}


SIZES = """gaussian|level|linear, AR|outlier|poisson|bernoulli|categorical|number|both|
known|known, power|known, counts""".replace("\n", "").split("|")


def mix(weights, moments):
    """Return mean and variance of a mixture, given (n, 2, C) means and variances."""
    w = np.array(weights) / np.sum(weights)
    mean = w @ moments[:, 0]
    return mean, w @ (moments[:, 1] + (moments[:, 0] - mean) ** 2)


@pytest.mark.parametrize("name", SIZES)
def test_sizes(name, monkeypatch):
    """New minus old mean at the changes within an interval, over all divisions, models and rates.

    Without the power: probabilities of what is before and after a change are raised to 1 over it.
    """
    monkeypatch.setattr(_divisions, "RARE", 0.0)
    monkeypatch.setattr(_change_point_detector, "RARE", 0.0)
    parameters, values, make, kw = CASES[name]
    model = ChangePointDetector(**{"emission": "gaussian", **parameters})
    table = model.fit(values, KNOWN.get(name)).change_points_
    found, joint, *_ = enumerated(name)
    probabilities = np.exp(joint - logsumexp(joint))
    scaled, models, _ = make(values, **kw)
    unit = deviation(values) if make is gaussian else 1.0
    back = 1.0 / parameters.get("power", 1.0)
    for row in table:
        weights, moments = [], []
        for own, part in zip(probabilities, models, strict=True):
            learn = cache(lambda i, j, m=part: LEARN[m.func](scaled[i:j], **m.keywords))
            for p in own:
                for c in range(row.interval[0], row.interval[1] + 1):
                    before, after = np.zeros((2, N + 1))
                    for changes, share in zip(found, p, strict=True):
                        if c in changes:
                            before[max([0, *(x for x in changes if x < c)])] += share
                            after[min([N, *(x for x in changes if x > c)])] += share
                    if before.sum() == 0.0:
                        continue
                    starts, ends = np.flatnonzero(before), np.flatnonzero(after)
                    old = np.array([learn(i, c)[:, 1] for i in starts.tolist()])
                    new = np.array([learn(c, j)[:, 0] for j in ends.tolist()])
                    m, v = mix(before[starts] ** back, old)
                    mean, variance = mix(after[ends] ** back, new)
                    weights.append(before.sum() ** back)
                    moments.append([mean - m, variance + v])
        size, variance = mix(weights, np.array(moments))
        if name == "bernoulli":
            size, variance = size[1::2], variance[1::2]
        width = 1.6448536269514722 * np.sqrt(variance)
        assert_allclose(row.size, unit * size, rtol=1e-8, atol=1e-10)
        expected = unit * np.array([size - width, size + width])
        assert_allclose(row.size_interval, expected, rtol=1e-6, atol=1e-10)
    assert len(table) > 0


@pytest.mark.parametrize("name", ["auto", "both", "number", "Beta of numbers", "known"])
def test_samples(name):
    """A false alarm in 10,000 runs of another seed, for each case."""
    found, p = enumerated(name)[0], posterior(name)
    n = 4000
    draws = fitted(name).sample(CASES[name][1], n, known=KNOWN.get(name), random_state=0)
    places = {changes: k for k, changes in enumerate(found)}
    observed = np.bincount([places[tuple(draw.tolist())] for draw in draws], minlength=len(found))
    common = n * p >= 5.0
    assert common.sum() > 5
    expected = n * p[common]
    assert abs(observed[~common].sum() - n * p[~common].sum()) < 5.0 * np.sqrt(n)
    statistic = ((observed[common] - expected) ** 2 / expected).sum()
    assert statistic < chi2.isf(1e-4, len(expected))


@pytest.mark.parametrize("name", [n for n in CASES if not n.startswith(("Beta", "known"))])
def test_run_lengths(name):
    """After each step, with the models and weights of the fit."""
    parameters, values, make, kw = CASES[name]
    least, most = parameters.get("min_length", 1), parameters.get("max_length", 200)
    power = parameters.get("power", 0.3 if parameters.get("emission") == "auto" else 1.0)
    scaled, models, _ = make(values, **kw)
    weights = np.exp(logsumexp(enumerated(name)[1], axis=2) - logsumexp(enumerated(name)[1]))
    state = None
    for n in range(1, N + 1):
        state = fitted(name).filter_update(state, values[n - 1])
        assert state.n_steps == n
        if n not in (1, 2, 3, 6, 9):
            continue
        part = scaled[:n]
        if kw.get("tames"):
            center, scale = np.nanmedian(values, axis=0), deviation(values)
            part = (tame(values[:n], values) - center) / scale
        expected = np.zeros(n)
        for g, chance in enumerate(rates(parameters.get("change_probability", "auto"))):
            found, priors = oracle.log_running(n, least, most, chance)
            ages = [n - 1 - max(changes, default=0) for changes in found]
            for m, model in enumerate(models):
                joint = power * oracle.log_evidence(found, part, model) + priors
                p = np.exp(joint - logsumexp(joint))
                expected += weights[m, g] * np.bincount(ages, p, minlength=n)
        assert_allclose(np.pad(state.proba, (0, n - len(state.proba))), expected, atol=1e-10)


def test_several_series_share_what_is_learned():
    """Their evidence multiplies, and each has its own changes."""
    X = [numbers(1, gaps=True), numbers(1, gaps=False)[:8]]
    model = ChangePointDetector("gaussian", trend="level").fit(X)
    scaled, models, _ = gaussian(np.concatenate(X), trends=(False,))
    chances = np.geomspace(0.3 / 9.5, 0.1, 8)
    joints, sets = [], []
    for part in (scaled[:N], scaled[N:]):
        n = len(part)
        found = oracle.divisions(n, 1, n)
        evidence = np.array([oracle.log_evidence(found, part, one) for one in models])
        priors = np.array([oracle.log_prior(found, n, 1, n, chance) for chance in chances])
        joints.append(evidence[:, None] + priors)
        sets.append(found)
    totals = [logsumexp(joint, axis=2, keepdims=True) for joint in joints]
    weights = np.exp(sum(totals) - logsumexp(sum(totals)))
    for joint, total, found, probabilities in zip(
        joints, totals, sets, model.predict_proba(X), strict=True
    ):
        p = (weights * np.exp(joint - total)).sum(axis=(0, 1))
        expected = np.zeros(len(probabilities))
        for changes, one in zip(found, p, strict=True):
            expected[list(changes)] += one
        assert_allclose(probabilities, expected, atol=1e-10)
