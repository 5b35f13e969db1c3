"""Panels in partitions: fits and predictions are those of the whole panel, bit for bit."""

import re

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from unit.sequence.panels import EMISSIONS, KINDS, LENGTHS, assert_same, draw_panel

from skdp._executors import LostWorkerError
from skdp._sklearn_compat import has_callbacks
from skdp.callback import Checkpoint
from skdp.data import PartitionedPanel, SequencePanel
from skdp.sequence import (
    HDPHMMLT,
    FactorialHMM,
    FixedSimilarity,
    GaussianEmission,
    NegativeBinomialDuration,
    PoissonDuration,
)
from skdp.sequence._hmm._distributed import DistributedHMMSampler
from skdp.sequence._hmm._split_merge import StateSplitMerge

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

PANELS = {kind: draw_panel(kind) for kind in KINDS}
WHOLE = PANELS["gaussian"]
RING = FixedSimilarity(np.where(np.roll(np.eye(6), 1, axis=1) + np.eye(6) > 0.0, 1.0, 1e-12))
SHORT = NegativeBinomialDuration(max_duration=12)
LEFT_RIGHT = {"transitions": "left-right"}
CASES = {
    **{kind: (kind, {}) for kind in ("gaussian", "missing", "autoregressive", "mixed")},
    "poisson durations": ("missing", {"duration": "poisson"}),
}
SLOW_CASES = {
    "negative binomial durations": (
        "poisson",
        {"duration": SHORT, "similarity": RING, "n_chains": 2},
    ),
    "diagonal": ("missing", {"emission": GaussianEmission("diag"), **LEFT_RIGHT}),
    "scale drawn": ("missing", {"emission": GaussianEmission(covariance_prior="auto")}),
    "sticky, chains": ("gaussian", {"stickiness": "auto", "n_chains": 2}),
    "similar": ("gaussian", {"similarity": "gaussian"}),
    "random start": ("missing", {"init": "random", "similarity": RING}),
    "states given": ("gaussian", {"init": [np.arange(n) % 6 for n in LENGTHS]}),
    **{
        f"{kind}, left-right": (kind, LEFT_RIGHT)
        for kind in ("autoregressive", "mixed", "categorical", "multinomial")
    },
}


def of_case(case):
    """Return the panel of a case and its parameters."""
    kind, params = {**CASES, **SLOW_CASES}.get(case, (case, {}))
    return PANELS[kind], {"emission": EMISSIONS[kind], **params}


def slow(*cases):
    return [pytest.param(case, marks=pytest.mark.slow) for case in cases]


def make(**params):
    params = {"max_iter": 24, "thin": 4, "random_state": 0, "judge": False, **params}
    return HDPHMMLT(6, **params)  # partitions are not judged


def split(panel, n):
    return PartitionedPanel.from_panel(panel, n)


@pytest.mark.parametrize("case", [*CASES, *slow(*SLOW_CASES)])
def test_bits_are_those_of_the_whole(case):
    panel, params = of_case(case)
    whole = make(**params).fit(panel)
    for n_partitions, n_jobs in ((2, None), (7, 2)):
        assert_same(whole, make(**params, n_jobs=n_jobs).fit(split(panel, n_partitions)))


@pytest.mark.parametrize(
    "case", ["poisson", *slow("missing", "autoregressive", "mixed", "categorical, left-right")]
)
def test_starts_of_large_panels(case, monkeypatch):
    """They come from every second or third sequence."""
    panel, params = of_case(case)
    usual = make(**params).fit(panel)
    monkeypatch.setattr("skdp.sequence._hmm._first_states.MOST_STEPS", 120)
    whole = make(**params).fit(panel)
    assert whole.trace_ != usual.trace_
    for n_partitions in (1, 3, 7):
        assert_same(whole, make(**params).fit(split(panel, n_partitions)))


@pytest.mark.parametrize("kind", ["gaussian", *slow(*KINDS[1:])])
def test_states_are_split_and_merged(kind, monkeypatch):
    """From states at random moves are accepted; the bits are those of the whole all the same."""
    accepted, try_once = [], StateSplitMerge.try_once

    def counted(self):
        has_moved = try_once(self)
        accepted.extend([1] * has_moved)
        return has_moved

    monkeypatch.setattr(StateSplitMerge, "try_once", counted)
    panel, params = of_case(kind)
    params |= {"max_iter": 60, "top_concentration": 3.0}
    params["init"] = [np.arange(n) // 5 % 3 for n in np.diff(panel.ptr)]
    whole = make(**params).fit(panel)
    n_accepted = len(accepted)
    assert n_accepted > 0
    assert_same(whole, make(**params).fit(split(panel, 3)))
    assert len(accepted) == 2 * n_accepted


def test_tables_of_changes():
    model = make().fit(WHOLE)
    tables = model.change_intervals(split(WHOLE, 3))
    assert list(map(repr, tables)) == list(map(repr, model.change_intervals(WHOLE)))
    assert sum(map(len, tables)) > 5


def test_files_are_not_gathered(tmp_path):
    X = split(WHOLE, 3).to_files(tmp_path)
    assert_same(make().fit(WHOLE), make().fit(X))
    (tmp_path / "part-00001" / "values.npy").unlink()
    with pytest.raises(FileNotFoundError, match=r"partition 1 \(part-00001\)"):
        make().fit(X)


class UnsummedDuration(PoissonDuration):
    """A duration whose sampler needs the states of all partitions."""

    def make_sampler(self, n_states):
        sampler = super().make_sampler(n_states)
        sampler.take = None
        return sampler


def test_own_durations_may_take_no_partitions():
    with pytest.raises(TypeError, match=r"takes no PartitionedPanel.*X\.compute\(\)"):
        make(duration=UnsummedDuration()).fit(split(WHOLE, 2))


@pytest.mark.parametrize("kind", ["gaussian", "poisson", "categorical"])
def test_gaps(kind):
    """Missing values, and a partition that holds nothing else: the same fit as of the whole."""
    values = np.array(PANELS[kind].values)
    values[[3, 40, 45]] = np.nan  # sequence 1 is step 40
    values[44, 0] = np.nan
    panel = SequencePanel(values, PANELS[kind].ptr)
    assert_same(make(emission=kind).fit(panel), make(emission=kind).fit(split(panel, 7)))


def test_sequences_without_lags():
    model = make(emission="autoregressive")
    with pytest.raises(ValueError, match=r"partition 1: Sequence 0 has 1 step.* than 1, the"):
        model.fit(split(WHOLE, 7))
    values = np.array(WHOLE[2:].values)
    values[75] = np.nan
    X = split(SequencePanel(values, WHOLE[2:].ptr), 2)
    with pytest.raises(ValueError, match=r"partition 0: X contains NaN, at step 5 of sequence 1:"):
        model.fit(X)


def test_an_outlier_that_nothing_explains():
    panel = SequencePanel(np.append(np.zeros(20), 1e30).reshape(-1, 1), [0, 10, 20, 21])
    emission = GaussianEmission(mean_prior=[0.0], covariance_prior=[[1e-8]])
    params = {"emission": emission, "init": "random", "max_iter": 4}
    assert_same(make(**params).fit(panel), make(**params).fit(split(panel, 3)))


def test_progress(capsys):
    make(verbose=12).fit(split(WHOLE, 3))
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2
    assert all(re.search(r"3 partitions, \S+ million steps a second", line) for line in lines)


def lose_at(monkeypatch, n_sweeps):
    """Let a worker be lost in a sweep."""
    sweep, done = DistributedHMMSampler.sweep, []

    def lost_once(self):
        done.append(1)
        if len(done) == n_sweeps:
            raise LostWorkerError("A worker is gone.")
        sweep(self)

    monkeypatch.setattr(DistributedHMMSampler, "sweep", lost_once)


def test_a_loss_without_a_checkpoint(monkeypatch):
    lose_at(monkeypatch, 3)
    with pytest.raises(LostWorkerError, match=r"has to start again.*callback\.Checkpoint"):
        make().fit(split(WHOLE, 2))


@pytest.mark.skipif(not has_callbacks(), reason="callbacks came with scikit-learn 1.9")
@pytest.mark.parametrize("case", ["sticky, chains", *slow("missing", "poisson durations")])
def test_a_fit_goes_on_from_its_checkpoint(case, monkeypatch, tmp_path):
    """After a loss in sweep 20, with samples kept before and after the checkpoint."""
    panel, params = of_case(case)
    params["burn_in"] = 10
    straight = make(**params).fit(panel)
    lose_at(monkeypatch, 20 * params.get("n_chains", 1))
    model = make(**params).set_callbacks(Checkpoint(tmp_path / "file", every_sweeps=6))
    with pytest.warns(RuntimeWarning, match="continues from the checkpoint"):
        assert_same(straight, model.fit(split(panel, 3)))
    monkeypatch.undo()
    longer = make(**{**params, "max_iter": 30}).fit(panel)
    assert_same(longer, model.set_params(max_iter=30).fit(split(panel, 3)))
    with pytest.raises(ValueError, match="another X"):
        model.fit(split(panel, 2))


@pytest.mark.parametrize("model", [make(), FactorialHMM(2, max_iter=12, random_state=0)], ids=type)
def test_predictions(model):
    """A partition of one sequence is not taken for an array, whose steps are samples."""
    model.fit(WHOLE)
    names = "score_samples", "transform", "predict", "predict_proba", "filter_proba"
    for name in (name for name in names if hasattr(model, name)):
        expected = getattr(model, name)(WHOLE)
        for n in (1, 3, 5):
            found = getattr(model, name)(split(WHOLE, n))
            assert type(found) is type(expected)
            for mine, theirs in zip(found, expected, strict=True):
                assert_array_equal(mine, theirs)
        assert len(getattr(model, name)(split(WHOLE[:1], 1))) == 1
    values = np.array(WHOLE.values)
    values[[2, 9]] = np.nan
    gaps = SequencePanel(values, WHOLE.ptr)
    for n in (1, 2, 5):
        assert model.score(split(gaps, n)) == pytest.approx(model.score(gaps), rel=1e-12)
