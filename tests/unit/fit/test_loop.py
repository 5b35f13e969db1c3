"""Fits by chains: they stop, continue and report."""

import pickle
import signal
import threading
import tracemalloc
from itertools import islice

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV

from skdp.data import SegmentedCorpus
from skdp.topics import SegmentedTopicModel
from skdp.utils._checking import acting_after, interrupt, same_fit

DOCUMENTS = [[[0, 1, 0, 2], [3, 3]], [[3, 2, 1], [0, 0, 1]], [[2], [1, 3]]]


def model(**params):
    return SegmentedTopicModel(**{"n_components": 2, "max_iter": 20, "random_state": 0, **params})


def pressing_in_step(estimator, n_steps, *signums):
    """Return a context in which signals come in the middle of a step."""

    def press(n_done):
        if n_done == n_steps:
            for signum in signums:
                signal.raise_signal(signum)

    return acting_after(estimator, "advance", press)


def pressing_once_it_runs(estimator):
    """Return a context in which Ctrl-C comes from outside some time after the first sweep."""
    timers = []

    def start_the_clock(n_done):
        if not timers:
            timers.append(threading.Timer(0.05, signal.raise_signal, [signal.SIGINT]))
            timers[0].start()

    return acting_after(estimator, "is_done", start_the_clock)


class TestInterruption:
    @pytest.mark.parametrize("n_chains", [1, 2])
    def test_a_real_signal(self, n_chains):
        """Ctrl-C during a long fit leaves a usable estimator, and the fit can go on."""
        documents, n_jobs = DOCUMENTS * 50, n_chains
        model(max_iter=1).fit(documents)  # everything is compiled
        long = model(max_iter=10**5, burn_in=0, n_chains=n_chains, n_jobs=n_jobs)
        with pressing_once_it_runs(long), pytest.raises(KeyboardInterrupt):
            long.fit(documents)
        n_done = long.n_iter_
        assert 1 < n_done < 10**5
        assert long.trace_.n_chains == n_chains
        assert np.isfinite(long.score(documents))
        long.set_params(warm_start=True, max_iter=n_done + 5).fit(documents)
        assert long.n_iter_ == n_done + 5

    def test_of_a_billion_sweeps(self):
        """Sweeps that are not done take no memory, and the others equal those of a short fit."""
        short = model(max_iter=9, burn_in=2, thin=2).fit(DOCUMENTS)
        tracemalloc.start()
        try:
            long = model(max_iter=10**9, burn_in=2, thin=2)
            interrupt(long, 9, DOCUMENTS)
            states = list(islice(model(max_iter=10**9).iter_sweeps(DOCUMENTS), 5))
            assert tracemalloc.get_traced_memory()[1] < 5e6
        finally:
            tracemalloc.stop()
        assert len(states) == 5
        assert long.n_iter_ == 9
        assert_array_equal(long.trace_["log_joint"], short.trace_["log_joint"])
        assert_array_equal(long.components_, short.components_)

    def test_before_anything_is_kept_the_last_fit_stays(self):
        """A refit that came to nothing does not mix its vocabulary with the old topics."""
        stopped = model(max_iter=30, burn_in=20).fit(DOCUMENTS)
        expected = stopped.transform(DOCUMENTS)
        wide = SegmentedCorpus.from_documents([[[0, 5000], [4999]]] * 5)
        interrupt(stopped, 3, wide)
        assert stopped.n_features_in_ == 4
        assert_array_equal(stopped.transform(DOCUMENTS), expected)
        with pytest.raises(ValueError, match="features"):
            stopped.transform(wide)
        straight = model(max_iter=30, burn_in=20).fit(wide)
        stopped.set_params(warm_start=True).fit(wide)
        assert_array_equal(stopped.components_, straight.components_)

    @pytest.mark.filterwarnings("error")
    def test_an_interrupt_stays_one_where_warnings_are_errors(self):
        stopped = model(max_iter=30, burn_in=20)
        with pressing_in_step(stopped, 5, signal.SIGINT), pytest.raises(KeyboardInterrupt):
            stopped.fit(DOCUMENTS)
        assert stopped.n_iter_ == 5

    def test_an_impatient_second_signal(self):
        """Two Ctrl-C cut a sweep in two: nothing can be resumed, nothing is half fitted."""
        long = model(max_iter=30, burn_in=0)
        with (
            pressing_in_step(long, 7, signal.SIGINT, signal.SIGINT),
            pytest.raises(KeyboardInterrupt),
        ):
            long.fit(DOCUMENTS)
        with pytest.raises(NotFittedError):
            long.transform(DOCUMENTS)
        straight = model(max_iter=30, burn_in=0).fit(DOCUMENTS)
        with pytest.warns(UserWarning, match="in the middle of a sweep"):
            long.set_params(warm_start=True).fit(DOCUMENTS)
        assert_array_equal(long.components_, straight.components_)

    def test_an_alarm_that_raises(self):
        """Exceptions of handlers wait for the end of a sweep: the fit is usable and continues."""

        def time_out(signum, frame):
            raise TimeoutError("too long")

        late = model(max_iter=30, burn_in=2)
        previous = signal.signal(signal.SIGTERM, time_out)
        try:
            with (
                pressing_in_step(late, 7, signal.SIGTERM),
                pytest.raises(TimeoutError, match="too long"),
            ):
                late.fit(DOCUMENTS)
            assert signal.getsignal(signal.SIGTERM) is time_out
        finally:
            signal.signal(signal.SIGTERM, previous)
        assert late.n_iter_ == 7
        assert np.isfinite(late.score(DOCUMENTS))
        late.set_params(warm_start=True).fit(DOCUMENTS)
        straight = model(max_iter=30, burn_in=2).fit(DOCUMENTS)
        assert_array_equal(late.components_, straight.components_)

    def test_an_error_in_a_callback(self):
        pytest.importorskip("sklearn.callback", reason="callbacks came with scikit-learn 1.9")

        warm = model(warm_start=True).fit(DOCUMENTS)
        before = warm.components_
        warm.set_params(max_iter=30)
        warm.set_callbacks(Recorder(raise_after=4))
        with pytest.raises(RuntimeError, match="in the callback"):
            warm.fit(DOCUMENTS)
        assert warm.components_ is before
        assert b"segment_ptr" not in pickle.dumps(warm.set_callbacks())
        warm.fit(DOCUMENTS)
        assert warm.n_iter_ == 30


class TestWarmStart:
    @pytest.mark.parametrize(
        ("name", "value"),
        [("n_components", 3), ("concentration", 2.0), ("sampler", "ssa"), ("n_chains", 2)],
    )
    def test_another_model_is_refused(self, name, value):
        """As long as it is to go on; other documents are refused, too."""
        warm = model(warm_start=True).fit(DOCUMENTS)
        with pytest.raises(ValueError, match="same X"):
            warm.fit(DOCUMENTS[::-1])
        with pytest.raises(ValueError, match=name):
            warm.set_params(**{name: value}).fit(DOCUMENTS)
        warm.set_params(warm_start=False).fit(DOCUMENTS)

    def test_it_holds_no_copy_of_the_data(self):
        corpus = SegmentedCorpus.from_documents([[np.arange(1000) % 7]] * 20)
        warm = model(warm_start=True, max_iter=2).fit(corpus)
        assert corpus.tokens.tobytes()[:400] not in pickle.dumps(warm)

    def test_pieces_keep_what_a_straight_run_keeps(self):
        """A last sweep off the grid counts only as long as the chain ends there."""
        params = {"burn_in": 7, "thin": 4}
        straight = model(max_iter=30, **params).fit(DOCUMENTS)
        pieces = model(warm_start=True, **params)
        for max_iter, kept in (
            (5, [5]),
            (7, [7]),
            (9, [8, 9]),
            (10, [8, 10]),
            (12, [8, 12]),
            (14, [8, 12, 14]),
            (30, [8, 12, 16, 20, 24, 28, 30]),
        ):
            pieces.set_params(max_iter=max_iter).fit(DOCUMENTS)
            assert pieces.trace_.sweeps.tolist() == kept
            if max_iter > 7:
                same_fit(pieces, model(max_iter=max_iter, **params).fit(DOCUMENTS))
            same_fit(pieces, pickle.loads(pickle.dumps(pieces)).fit(DOCUMENTS))
        same_fit(pieces, straight)

    def test_no_end_of_the_burn_in_without_it(self):
        with pytest.raises(ValueError, match="unless warm_start=True"):
            model(burn_in=20).fit(DOCUMENTS)


class TestVerbose:
    @pytest.mark.parametrize(("verbose", "n_lines"), [(1, 20), (True, 20), (7, 3), (30, 1)])
    def test_a_line_every_n_sweeps(self, capsys, verbose, n_lines):
        silent = model().fit(DOCUMENTS)
        assert capsys.readouterr().out == ""
        silent.set_params(verbose=verbose).fit(DOCUMENTS)
        *lines, last = capsys.readouterr().out.splitlines()
        assert len(lines) == n_lines
        assert lines[-1].startswith("[SegmentedTopicModel] sweep 20 of 20, log joint -")
        assert last == "[SegmentedTopicModel] few_sweeps: n_sweeps 10"


class Recorder:
    """A callback that counts, and may stop the fit or fail."""

    def __init__(self, stop_after=None, raise_after=None):
        self.stop_after, self.raise_after = stop_after, raise_after
        self.events = []

    def setup(self, estimator, context):
        self.events.append("setup")

    def teardown(self, estimator, context):
        self.events.append("teardown")

    def on_fit_task_begin(self, estimator, context):
        self.events.append(f"begin {context.task_name}")

    def on_fit_task_end(self, estimator, context, *, fitted_estimator=None):
        self.events.append(f"end {context.task_name}")
        if context.task_name == "sweep":
            assert fitted_estimator.transform(DOCUMENTS).shape == (3, 2)
            assert fitted_estimator is not estimator
        n_done = self.events.count("end sweep")
        if n_done == self.raise_after:
            raise RuntimeError("in the callback")
        return n_done == self.stop_after


class TestCallbacks:
    @pytest.fixture(autouse=True)
    def _needs_callbacks(self):
        pytest.importorskip("sklearn.callback", reason="callbacks came with scikit-learn 1.9")

    def test_every_sweep_is_a_task(self):
        recorder = Recorder()
        watched = model().set_callbacks(recorder).fit(DOCUMENTS)
        assert recorder.events[:3] == ["setup", "begin fit", "begin sweep"]
        assert recorder.events[-2:] == ["end fit", "teardown"]
        assert recorder.events.count("end sweep") == 20
        same_fit(watched, model().fit(DOCUMENTS))

    @pytest.mark.parametrize(("stop_after", "n_kept"), [(13, 1), (4, 1), (20, 2)])
    def test_early_stop(self, stop_after, n_kept):
        stopped = model().set_callbacks(Recorder(stop_after)).fit(DOCUMENTS)
        assert stopped.n_iter_ == stop_after
        assert len(stopped.trace_.sweeps) == n_kept
        assert np.isfinite(stopped.score(DOCUMENTS))

    def test_a_fit_stopped_early_can_go_on(self):
        stopped = model(warm_start=True).set_callbacks(Recorder(4)).fit(DOCUMENTS)
        resumed = stopped.set_callbacks().fit(DOCUMENTS)
        straight = model().fit(DOCUMENTS)
        assert resumed.trace_ == straight.trace_
        assert_array_equal(resumed.components_, straight.components_)

    def test_rounds_of_several_chains(self):
        recorder = Recorder()
        model(n_chains=2, max_iter=100).set_callbacks(recorder).fit(DOCUMENTS)
        assert recorder.events.count("end 2 sweeps") == 50

    def test_progress_bar(self, capsys):
        from sklearn.callback import ProgressBar

        model().set_callbacks(ProgressBar()).fit(DOCUMENTS)
        grid = GridSearchCV(model(), {"n_components": [1, 2]}, cv=2)
        grid.set_callbacks(ProgressBar()).fit(DOCUMENTS * 2)
        assert "SegmentedTopicModel" in capsys.readouterr().out
