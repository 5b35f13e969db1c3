"""What stored samples of HDPMixture say of new groups, against sums over all components of rows."""

import numpy as np
import pytest
from exact.mixture.test_grouped_partitions import ALPHA, groups_of, make_chain_sampler
from exact.oracles import hdp_mixtures

from skdp.data import SequencePanel
from skdp.mixture import HDPMixture
from skdp.mixture._hdp import _model
from skdp.mixture._hdp._model import split_groups

LABELS = (0, 0, 1, 1, 0, 2)
NAMES = ["full", "diag", "poisson", "multinomial"]
KEYS = np.random.default_rng(0).integers(1, 2**63, (40, 4)).astype(np.uint64)


def make_model(name, alpha=ALPHA):
    """Return a problem, its rows, and what a sample with `LABELS` says."""
    problem, groups = groups_of(name)
    model = make_chain_sampler(groups, problem, alpha, init=LABELS).model()
    return problem, [row for group in groups for row in group], model


def new_group(name, n):
    """Return a group of rows like those of the problem, and one that is not."""
    problem, groups = groups_of(name)
    rows = [groups[0][0], groups[1][0], *groups[1][1:], groups[0][1]]
    rows[2] = problem.others[1]
    return rows[:n]


def chances_of(model, group):
    """Return the likelihoods of rows under the components, as the sample has them."""
    return np.exp(model.emission.log_obs(np.array(group, dtype=float)))


@pytest.mark.parametrize("name", NAMES)
def test_completion_by_one_row(name):
    """Given one row the shares have a closed form, and no draw is needed."""
    problem, rows, model = make_model(name)
    group = new_group(name, 2)
    for given, scored in (group, group[::-1]):
        halves = np.array([given], dtype=float), np.array([scored], dtype=float)
        found = model.log_completions(np.array([0, 2]), *halves, KEYS[0])
        expected = hdp_mixtures.log_completion(
            [given], [scored], rows, LABELS, model.weights, problem.family, ALPHA
        )
        np.testing.assert_allclose(found, expected, rtol=1e-9)


def assert_mean(draws, expected):
    """Assert that a mean over the keys is right: |z| < 5 for up to 20 numbers of each case.

    40 independent draws, of Student's t with 39 degrees of freedom: a false alarm for one in 500
    choices of the keys, of all cases here together.
    """
    error = np.std(draws, axis=0, ddof=1) / np.sqrt(len(draws))
    assert np.any(error > 1e-6)  # they are draws
    assert np.all(np.abs(np.mean(draws, axis=0) - expected) < 5.0 * np.maximum(error, 1e-9))


@pytest.mark.parametrize("alpha", [ALPHA, 0.1])
@pytest.mark.parametrize("name", ["full", "multinomial"])
def test_completion_by_several_rows(name, alpha, monkeypatch):
    monkeypatch.setattr(_model, "N_SWEEPS", 400)
    problem, rows, model = make_model(name, alpha)
    group = new_group(name, 5)
    given, scored = group[::2], group[1::2]
    halves = np.array(given, dtype=float), np.array(scored, dtype=float)
    found = [model.log_completions(np.array([0, 5]), *halves, key) for key in KEYS]
    expected = hdp_mixtures.log_completion(
        given, scored, rows, LABELS, model.weights, problem.family, alpha
    )
    assert_mean(np.exp(found), np.exp(expected))


@pytest.mark.parametrize("alpha", [ALPHA, 0.1])
@pytest.mark.parametrize("name", ["full", "poisson"])
def test_components_of_rows(name, alpha, monkeypatch):
    monkeypatch.setattr(_model, "N_SWEEPS", 400)
    _, _, model = make_model(name, alpha)
    group, ptr = new_group(name, 5), np.array([0, 5])
    found = np.array([
        model.responsibilities(ptr, np.array(group, dtype=float), key) for key in KEYS
    ])  # fmt: skip
    expected, shares = hdp_mixtures.group_posterior(chances_of(model, group), model.prior)
    np.testing.assert_allclose(found.sum(axis=2), 1.0)
    assert_mean(found, expected)
    assert_mean([model.shares(ptr, each)[0] for each in found], shares)


def test_score_of_a_fit():
    """From X to the score, by the stored samples' own components: groups of two rows are exact."""
    problem, groups = groups_of("full")
    fit = HDPMixture(problem.emission, max_iter=30, random_state=0).fit(groups)
    rows = [row for group in groups for row in group]
    new = [new_group("full", 2), new_group("full", 4)[2:], new_group("full", 1)]
    expected = []
    for group in new[:2]:
        values = np.array(group, dtype=float)
        given, scored = (
            values[places].tolist() for places in split_groups(np.array([0, 2]), values)
        )
        parts = []
        for model in fit._models:
            labels, alpha = tuple(model.labels.tolist()), model.concentration
            parts += hdp_mixtures.log_completion(
                given, scored, rows, labels, model.weights, problem.family, alpha
            )
        expected.append(np.log(np.mean(np.exp(parts))))
    panel = SequencePanel.from_sequences([np.array(group) for group in new])
    np.testing.assert_allclose(fit.score_samples(panel), [*expected, 0.0], rtol=1e-9)
    assert fit.score(panel) == pytest.approx(np.mean(expected))
