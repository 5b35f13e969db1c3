"""Fits to panels in partitions are those of the whole panel, bit for bit."""

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
    EmissionSimilarity,
    FixedSimilarity,
    GaussianEmission,
    IndependentEmissions,
    NegativeBinomialDuration,
    PoissonDuration,
)
from skdp.sequence._hmm._distributed_sampler import DistributedHMMSampler
from skdp.sequence._hmm._split_merge import StateSplitMerge

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

PANELS = {kind: draw_panel(kind) for kind in KINDS}
ROUND = np.where(np.roll(np.eye(6), 1, axis=1) + np.eye(6) > 0.0, 1.0, 1e-12)
CASES = {
    **{kind: (kind, {"emission": EMISSIONS[kind]}) for kind in KINDS},
    "missing, diag": ("missing", {"emission": GaussianEmission("diag")}),
    "missing, scale drawn": ("missing", {"emission": GaussianEmission(covariance_prior="auto")}),
    "sticky, chains": ("gaussian", {"stickiness": "auto", "n_chains": 2}),
    "similar": ("gaussian", {"similarity": "gaussian"}),
    "known similarities": ("gaussian", {"similarity": FixedSimilarity(ROUND)}),
    "poisson durations": ("missing", {"duration": "poisson"}),
    "negative binomial durations": (
        "poisson",
        {
            "emission": "poisson",
            "duration": NegativeBinomialDuration(max_duration=12),
            "similarity": FixedSimilarity(ROUND),
            "n_chains": 2,
        },
    ),
    **{
        f"{kind}, left-right": (kind, {"emission": EMISSIONS[kind], "transitions": "left-right"})
        for kind in ("missing", "autoregressive", "mixed", "categorical", "multinomial")
    },
    "random start": ("missing", {"init": "random"}),
    "states given": ("gaussian", {"init": [np.arange(n) % 6 for n in LENGTHS]}),
}


def make(**params):
    return HDPHMMLT(6, **{"max_iter": 24, "thin": 4, "random_state": 0, **params})


def split(panel, n):
    return PartitionedPanel.from_panel(panel, n)


def count_moves(monkeypatch):
    """Return a list that grows by each move that is accepted."""
    accepted, try_once = [], StateSplitMerge.try_once

    def counted(self):
        has_moved = try_once(self)
        accepted.extend([1] * has_moved)
        return has_moved

    monkeypatch.setattr(StateSplitMerge, "try_once", counted)
    return accepted


@pytest.mark.parametrize("case", CASES)
def test_bits_are_those_of_the_whole(case):
    kind, params = CASES[case]
    whole = make(**params).fit(PANELS[kind])
    for n_partitions, n_jobs in ((1, 2), (2, None), (7, 2)):
        parts = make(**params, n_jobs=n_jobs).fit(split(PANELS[kind], n_partitions))
        assert_same(parts, whole)
    assert parts.n_features_in_ == PANELS[kind].n_features
    assert_array_equal(parts.score_samples(PANELS[kind]), whole.score_samples(PANELS[kind]))


@pytest.mark.parametrize(
    "case",
    [
        "missing",
        "autoregressive",
        "poisson",
        "categorical",
        "multinomial",
        "mixed",
        "random start",
        "poisson durations",
        "missing, left-right",
    ],
)
def test_starts_of_large_panels(case, monkeypatch):
    """They come from every second or third sequence."""
    kind, params = CASES[case]
    usual = make(**params).fit(PANELS[kind])
    monkeypatch.setattr("skdp.sequence._hmm._first_states.MOST_STEPS", 120)
    whole = make(**params).fit(PANELS[kind])
    assert whole.trace_ != usual.trace_
    for n_partitions in (1, 3, 7):
        assert_same(make(**params).fit(split(PANELS[kind], n_partitions)), whole)


@pytest.mark.parametrize("kind", PANELS)
def test_states_are_split_and_merged(kind, monkeypatch):
    """From states at random moves are accepted; the bits are those of the whole all the same."""
    params = {
        "emission": EMISSIONS[kind],
        "init": [np.arange(n) // 5 % 3 for n in np.diff(PANELS[kind].ptr)],
        "max_iter": 60,
        "top_concentration": 3.0,
    }
    accepted = count_moves(monkeypatch)
    whole = make(**params).fit(PANELS[kind])
    n_accepted = len(accepted)
    assert n_accepted > 0
    assert_same(make(**params).fit(split(PANELS[kind], 3)), whole)
    assert len(accepted) == 2 * n_accepted


def test_files_are_not_gathered(tmp_path):
    X = split(PANELS["gaussian"], 3).to_files(tmp_path)
    assert_same(make().fit(X), make().fit(PANELS["gaussian"]))


class UnsummedDuration(PoissonDuration):
    """Durations whose sampler needs all states in one process."""

    def make_sampler(self, n_states):
        sampler = super().make_sampler(n_states)
        sampler.take = None
        return sampler


REFUSED = {
    "student_t": {"emission": "student_t"},
    "a part": {
        "emission": IndependentEmissions([("a", "gaussian", [0, 1]), ("b", "student_t", [2])])
    },
    "beam": {"state_sampler": "beam"},
    "duration": {"duration": UnsummedDuration()},
    "similarity": {"similarity": EmissionSimilarity()},
    "warm start": {"warm_start": True},
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_takes_no_partitions(case):
    model = make(**REFUSED[case])
    with pytest.raises(TypeError, match=r"takes no PartitionedPanel.*X\.compute\(\)"):
        model.fit(split(PANELS["gaussian"], 2))
    assert not hasattr(model, "n_features_in_")


def broken(place, value):
    values = np.array(PANELS["poisson"].values)
    values[place] = value
    return split(SequencePanel(values, PANELS["poisson"].ptr), 7)


@pytest.mark.parametrize("name", ["poisson", "categorical"])
def test_gaps(name):
    """Missing values in some partitions: the same fit as of the whole panel."""
    values = np.array(PANELS[name].values)
    values[[3, 44, 45], 0] = np.nan
    panel = SequencePanel(values, PANELS[name].ptr)
    whole, parts = make(emission=name).fit(panel), make(emission=name).fit(split(panel, 7))
    assert_array_equal(parts.transmat_, whole.transmat_)
    assert parts.score(panel) == whole.score(panel)


def test_bad_input(tmp_path):
    with pytest.raises(ValueError, match=r"partition 2: .*infinity"):
        make().fit(broken(44, np.inf))
    with pytest.raises(ValueError, match="column 1 holds nothing but missing values"):
        make().fit(broken((slice(None), 1), np.nan))
    with pytest.raises(ValueError, match=r"partition 2: X must hold counts.*-1"):
        make(emission="poisson").fit(broken(44, -1.0))
    empty = SequencePanel(np.zeros((3, 2)), [0, 3, 3])
    with pytest.raises(ValueError, match=r"partition 1: Found sequence with 0 observation"):
        make().fit(split(empty, 2))
    with pytest.raises(ValueError, match="init must hold the states of 7 sequences"):
        make(init=[np.zeros(3, dtype=int)] * 2).fit(split(PANELS["gaussian"], 2))
    X = split(PANELS["gaussian"], 3).to_files(tmp_path)
    (tmp_path / "part-00001" / "values.npy").unlink()
    with pytest.raises(FileNotFoundError, match=r"partition 1 \(part-00001\)"):
        make().fit(X)


def test_sequences_without_lags():
    panel = PANELS["gaussian"]
    with pytest.raises(ValueError, match=r"partition 1: Sequence 0 has 1 step.* than 1, the"):
        make(emission="autoregressive").fit(split(panel, 7))
    values = np.array(panel[2:].values)
    values[75] = np.nan
    X = split(SequencePanel(values, panel[2:].ptr), 2)
    with pytest.raises(ValueError, match=r"partition 0: X contains NaN, at step 5 of sequence 1:"):
        make(emission="autoregressive").fit(X)


def test_an_outlier_that_nothing_explains():
    values = np.concatenate([np.zeros((20, 1)), [[1e30]]])
    ptr = np.array([0, 10, 20, 21])
    emission = GaussianEmission(mean_prior=[0.0], covariance_prior=[[1e-8]])
    params = {"emission": emission, "init": "random", "max_iter": 4}
    errors = []
    for X in (SequencePanel(values, ptr), split(SequencePanel(values, ptr), 3)):
        try:
            make(**params).fit(X)
            errors.append("")
        except ValueError as error:
            errors.append(str(error))
    assert errors[0] == errors[1]


def test_progress(capsys):
    make(verbose=12).fit(split(PANELS["gaussian"], 3))
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
        make().fit(split(PANELS["gaussian"], 2))


@pytest.mark.skipif(not has_callbacks(), reason="callbacks came with scikit-learn 1.9")
@pytest.mark.parametrize("case", ["missing", "sticky, chains", "poisson durations"])
def test_a_fit_goes_on_from_its_checkpoint(case, monkeypatch, tmp_path):
    """After a loss in sweep 20, with samples kept before and after the checkpoint."""
    kind, params = CASES[case]
    params = {**params, "burn_in": 10}
    straight = make(**params).fit(PANELS[kind])
    lose_at(monkeypatch, 20 * params.get("n_chains", 1))
    model = make(**params).set_callbacks(Checkpoint(tmp_path / "file", every_sweeps=6))
    with pytest.warns(RuntimeWarning, match="continues from the checkpoint"):
        assert_same(model.fit(split(PANELS[kind], 3)), straight)
    monkeypatch.undo()
    longer = make(**{**params, "max_iter": 30}).fit(PANELS[kind])
    model.set_params(max_iter=30)
    found = model.fit(split(PANELS[kind], 3))
    assert_same(found, longer)
    with pytest.raises(ValueError, match="another X"):
        model.fit(split(PANELS[kind], 2))


@pytest.mark.parametrize("n_partitions", [1, 3])
def test_steps_without_observations_are_in_no_share(n_partitions):
    """Nor do they keep a state in use; a step with one value of two was observed."""
    rng = np.random.default_rng(0)
    panel = [rng.normal(size=(40, 2)) + 6.0 * (np.arange(40)[:, None] // 20) for _ in range(3)]
    panel[0][:] = np.nan
    panel[1][::3, 0] = np.nan
    X = SequencePanel.from_sequences(panel)
    if n_partitions > 1:
        X = PartitionedPanel.from_panel(X, n_partitions)
    model = HDPHMMLT(6, max_iter=20, random_state=0).fit(X)
    assert model.state_shares_.sum() == pytest.approx(1.0)
    # 80 steps were observed: shares are whole numbers of them.
    numbers = 80 * model.state_shares_
    np.testing.assert_allclose(numbers, numbers.round(), atol=1e-9)
    used = model.state_shares_ > 0
    assert model.n_active_components_ == used.sum()
    assert np.all(np.abs(model.emission_.means[used] - np.nanmean(panel[1:], axis=(0, 1))) > 1e-9)
