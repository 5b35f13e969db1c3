"""The warning of unconverged fits: its conditions and its text."""

import warnings
from contextlib import contextmanager

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from skdp.datasets import make_segmented_corpus, make_sticky_panel
from skdp.grammar import HDPPCFG, HDPPCFGRefiner, ParseTree
from skdp.inference._convergence import warn_of_climbs
from skdp.inference._trace import Trace
from skdp.mixture import DPMixture
from skdp.sequence import HDPHMMLT, FixedSimilarity
from skdp.topics import GibbsLDA, SegmentedTopicModel
from skdp.utils._checking import interrupt

CORPUS = make_segmented_corpus(30, random_state=0).data
EIGHT_STATES = make_sticky_panel(6, n_steps=60, n_states=8, random_state=0).data
SHORT = {"max_iter": 40, "thin": 1, "random_state": 0}

SENTENCES = [[0, 1, 2], [0, 2], [0, 1, 1, 2], [0, 1, 2], [0, 2]]
TREES = [
    ParseTree.from_brackets("(S (NP (DT the) (NN dog)) (VP (VB barks)))"),
    ParseTree.from_brackets("(S (NP (DT a) (NN cat)) (VP (VB sleeps)))"),
]
WORDS = [tree.leaves for tree in TREES]


@contextmanager
def collected():
    """Collect warnings of convergence."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConvergenceWarning)
        messages = []
        yield messages
        messages += [str(w.message) for w in caught]


def test_chains_that_fall():
    """Chains fall if they begin with fewer components than most partitions have."""
    noise = np.random.default_rng(0).normal(size=(2, 48))
    chains = -1000.0 - np.stack([np.linspace(0.0, 40.0, 48), np.zeros(48)]) + noise
    for n in (1, 2):
        model = GibbsLDA(5)
        with pytest.warns(ConvergenceWarning, match="the log joint still falls"):
            warn_of_climbs(model, Trace(np.arange(48), {"log_joint": chains[:n]}))
        assert -28.0 < model.convergence_["log_joint"]["change"] < -26.0
        assert model.convergence_["log_joint"]["n_chains"] == 1


def test_it_is_one_line_and_the_numbers_are_elsewhere(capsys):
    model = SegmentedTopicModel(50, n_chains=3, verbose=100, **SHORT)
    with collected() as messages:
        model.fit(CORPUS)
    (message,) = messages
    assert message == (
        "SegmentedTopicModel: the log joint still climbs in the sweeps after the burn-in. Raise "
        "max_iter. See convergence_['log_joint']."
    )
    numbers = model.convergence_["log_joint"]
    assert numbers["n_chains"] == 3
    assert numbers["change"] > 5.0 * numbers["error"] > 0.0
    line = f"[SegmentedTopicModel] log_joint: change {numbers['change']:.6g}, error"
    assert line in capsys.readouterr().out
    model.set_params(n_components=2, n_chains=1).fit(CORPUS)
    assert model.convergence_ == {}


def shown_by_default(n_fits):
    """Return the warnings of fits at one line, as Python shows them, and in a grid search."""
    model = SegmentedTopicModel(50, **SHORT)
    grid = {"random_state": range(3)}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        for _ in range(n_fits):
            model.fit(CORPUS)
        GridSearchCV(model, grid, cv=3).fit(CORPUS)
    return [str(w.message) for w in caught]


def test_fits_of_one_kind_warn_once():
    """Also those of a grid search, which changes the filters, and of another listener."""
    for _ in range(2):
        messages = shown_by_default(2)
        assert len(messages) == 2
        assert len(set(messages)) == 1
        assert not set(messages[0]) & set("0123456789")


def test_filters_rule():
    model = SegmentedTopicModel(50, **SHORT)
    for action, n_shown in (("always", 2), ("ignore", 0), ("once", 1), ("default", 1)):
        with warnings.catch_warnings(record=True) as caught:
            warnings.filterwarnings(action, "Segmented.* climbs", module=__name__)
            for _ in range(2):
                model.fit(CORPUS)
        assert len(caught) == n_shown


@pytest.mark.parametrize(("n_components", "max_iter"), [(1, 40), (2, 40), (2, 24)])
def test_nothing_is_said_of_few_topics(n_components, max_iter):
    """Twelve sweeps after the burn-in are enough to tell."""
    SegmentedTopicModel(n_components, **{**SHORT, "max_iter": max_iter}).fit(CORPUS)


@pytest.mark.parametrize(("burn_in", "thin", "n_kept"), [(20, 10, 2), (20, 1, 20), (9, 3, 11)])
def test_sweeps_that_are_not_kept_tell_of_climbs(burn_in, thin, n_kept):
    """The number of kept sweeps is irrelevant; a fit of 200 sweeps keeps 11 by default."""
    model = SegmentedTopicModel(50, **{**SHORT, "burn_in": burn_in, "thin": thin})
    with pytest.warns(ConvergenceWarning, match="climbs.*Raise max_iter") as caught:
        model.fit(CORPUS)
    assert len(caught) == 1
    assert abs(len(model.trace_.sweeps) - n_kept) <= 1  # the last sweep is kept, too


def test_sweeps_that_are_not_kept_tell_of_drifts_and_gaps():
    rows = np.random.default_rng(0).normal(size=(300, 2))
    rows += 8.0 * np.arange(10).repeat(30)[:, np.newaxis] * [1.0, 0.5]
    many = np.arange(300) % 100
    model = DPMixture(
        max_iter=24, burn_in=0, thin=100, init=many, split_merge=False, random_state=0
    )
    with collected() as messages:
        model.fit(rows)
    assert len(model.trace_.sweeps) == 2
    assert any("the number of components still falls" in message for message in messages)


@pytest.mark.parametrize("burn_in", [29, None])
@pytest.mark.parametrize("n_components", [2, 50])
def test_few_sweeps_are_too_few_to_tell(n_components, burn_in):
    """The warning does not depend on the number of topics or of kept sweeps."""
    max_iter = 22 if burn_in is None else 40
    params = {**SHORT, "max_iter": max_iter, "burn_in": burn_in}
    message = "too few sweeps after the burn-in to tell .* Raise max_iter"
    for thin in (1, 5):
        with pytest.warns(ConvergenceWarning, match=message) as caught:
            SegmentedTopicModel(n_components, **{**params, "thin": thin}).fit(CORPUS)
        assert len(caught) == 1
        assert caught[0].filename == __file__


def test_a_fit_that_has_not_left_its_burn_in_says_so():
    model = SegmentedTopicModel(50, **{**SHORT, "burn_in": 100}, warm_start=True)
    with pytest.warns(ConvergenceWarning, match="too few sweeps after the burn-in"):
        model.fit(CORPUS)


def test_a_longer_fit_is_silent():
    model = GibbsLDA(5, burn_in=5, **SHORT)
    with pytest.warns(ConvergenceWarning, match="climbs"):
        model.fit(CORPUS)
    model.set_params(max_iter=500, burn_in=250).fit(CORPUS)


def test_pieces_are_judged_by_what_was_kept():
    straight = SegmentedTopicModel(50, burn_in=20, **SHORT)
    with collected() as expected:
        straight.fit(CORPUS)
    model = SegmentedTopicModel(50, warm_start=True, **{**SHORT, "burn_in": 20, "max_iter": 25})
    with pytest.warns(ConvergenceWarning, match="too few sweeps after the burn-in"):
        model.fit(CORPUS)
    model.set_params(max_iter=40)
    with collected() as messages:
        model.fit(CORPUS)
    assert messages == expected
    assert messages


@pytest.mark.parametrize("place", ["alone", "last step", "first step"])
def test_it_points_to_the_line_of_the_user(place):
    """A Pipeline fits all steps but the last by way of joblib."""
    model = GibbsLDA(50, **SHORT)
    if place != "alone":
        steps = [FunctionTransformer(), model]
        model = make_pipeline(*(steps if place == "last step" else reversed(steps)))
    with pytest.warns(ConvergenceWarning, match="climbs") as caught:
        model.fit(CORPUS)
    assert caught[0].filename == __file__


def test_where_it_is_an_error_the_model_is_fitted():
    model = GibbsLDA(50, warm_start=True, **SHORT)
    with pytest.raises(ConvergenceWarning):
        model.fit(CORPUS)
    assert model.n_iter_ == 40
    assert model.components_.shape == (50, CORPUS.n_features)
    with pytest.raises(ConvergenceWarning):
        model.set_params(max_iter=50).fit(CORPUS)
    assert model.n_iter_ == 50


def test_an_interrupted_fit_does_not_warn():
    model = GibbsLDA(50, **SHORT)
    interrupt(model, 39, CORPUS)
    assert model.n_iter_ == 39


def test_all_states_are_in_use():
    """Judged from the stored samples of the best chain. Too few states have many modes."""
    model = HDPHMMLT(4, max_iter=300, n_chains=2, random_state=1)
    with (
        pytest.warns(ConvergenceWarning, match="use all available states. Raise n_components"),
        pytest.warns(
            ConvergenceWarning, match="HDPHMMLT: the chains disagree about the log joint or"
        ),
    ):
        model.fit(EIGHT_STATES)
    assert np.median([sample.n_active_components for sample in model.samples_]) == 4
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*climbs")
        model.set_params(n_components=20).fit(EIGHT_STATES)
    assert max(sample.n_active_components for sample in model.samples_) < 20


def test_nothing_is_said_of_all_states_if_there_are_two():
    HDPHMMLT(2, max_iter=300, thin=1, random_state=0).fit(EIGHT_STATES)


def test_all_states_of_a_given_matrix_are_in_use():
    similarity = FixedSimilarity(np.full((4, 4), 0.5))
    model = HDPHMMLT(4, similarity=similarity, max_iter=300, random_state=1)
    with pytest.warns(ConvergenceWarning, match="given similarity has a row for each of them"):
        model.fit(EIGHT_STATES)


def test_of_few_sweeps_it_is_not_said_that_they_use_all_states():
    model = HDPHMMLT(4, max_iter=300, burn_in=289, thin=1, random_state=0)
    with collected() as messages:
        model.fit(EIGHT_STATES)
    (message,) = messages
    assert "too few sweeps after the burn-in" in message
    assert model.convergence_ == {"few_sweeps": {"n_sweeps": 11}}


REFINER = HDPPCFGRefiner(2, min_word_count=1)


@pytest.mark.parametrize("inference", ["vb", "em", "viterbi-em"])
@pytest.mark.parametrize(
    ("model", "data", "n_iter"), [(HDPPCFG(3), (SENTENCES,), 2), (REFINER, (WORDS, TREES), 1)]
)
def test_grammars_that_stop_early(model, data, n_iter, inference):
    model.set_params(inference=inference, max_iter=n_iter, random_state=0)
    with pytest.warns(ConvergenceWarning, match="the lower bound has not converged. Raise max_it"):
        model.fit(*data)
    assert model.convergence_["lower_bound"]["n_iter"] == n_iter
    model.set_params(max_iter=500).fit(*data)
    assert model.n_iter_ < 500


def test_the_best_start_counts():
    """Others may still be on their way."""
    model = HDPPCFG(3, n_init=8, random_state=0, max_iter=500, warm_start=True).fit(SENTENCES)
    lengths = sorted(run.n_iter for run in model._saved.runs)
    assert model.n_iter_ < lengths[-1]
    again = HDPPCFG(3, n_init=8, random_state=0, max_iter=model.n_iter_)
    with collected() as messages:
        again.fit(SENTENCES)
    assert again.lower_bound_ == model.lower_bound_
    assert not messages


@pytest.mark.parametrize(("height", "n_warnings"), [(0.2, 0), (-0.2, 0), (5.0, 1), (-5.0, 1)])
def test_a_climb_far_below_a_nat_does_not_matter(height, n_warnings):
    log_joint = np.linspace(0.0, height, 60) + 1e-3 * np.random.default_rng(0).normal(size=60)
    trace = Trace(np.arange(60), {"log_joint": log_joint[np.newaxis]})
    with collected() as messages:
        warn_of_climbs(GibbsLDA(5), trace)
    assert len(messages) == n_warnings
