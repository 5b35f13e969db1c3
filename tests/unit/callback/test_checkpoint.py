"""Fits that go on from a file."""

import os
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import sklearn
from sklearn.linear_model import LogisticRegression

import skdp
from skdp._sklearn_compat import has_callbacks
from skdp.callback import Checkpoint
from skdp.callback._checkpoint import write_checked
from skdp.grammar import HDPPCFG, HDPPCFGRefiner, ParseTree
from skdp.sequence import HDPHMMLT, FactorialHMM, RegressionEmission
from skdp.topics import (
    GibbsLDA,
    HDPTopicModel,
    LatentDirichletCoClustering,
    SegmentedTopicModel,
    TopicSegmenter,
)
from skdp.utils._checking import acting_after, interrupt, same_fit, tear

needs_callbacks = pytest.mark.skipif(
    not has_callbacks(), reason="callbacks came with scikit-learn 1.9"
)

DOCUMENTS = [[[0, 1, 0, 2], [3, 3]], [[3, 2, 1], [0, 0, 1]], [[2], [1, 3]]]
PANEL = [np.random.default_rng(i).normal(size=(9, 1)).round(1) for i in range(3)]
SENTENCES = [[0, 1, 2], [0, 2], [0, 1, 1, 2], [0, 1, 2], [0, 2]]
TREES = [
    ParseTree.from_brackets("(S (NP (DT the) (NN dog)) (VP (VB barks)))"),
    ParseTree.from_brackets("(S (NP (DT a) (NN cat)) (VP (VB sleeps)))"),
]

CASES = {
    "segmented": (SegmentedTopicModel(2, concentration_scope="segment"), (DOCUMENTS,)),
    "shards": (GibbsLDA(2, n_shards=2), (DOCUMENTS,)),
    "chains": (GibbsLDA(2, n_chains=2), (DOCUMENTS,)),
    "sparse": (GibbsLDA(200), (DOCUMENTS,)),
    "ldcc": (LatentDirichletCoClustering(2), (DOCUMENTS,)),
    "hdp-topics": (HDPTopicModel(n_chains=2), (DOCUMENTS,)),
    "segmenter": (TopicSegmenter(2, n_chains=2, concentration="auto"), (DOCUMENTS,)),
    "hmm": (HDPHMMLT(3, stickiness="auto"), (PANEL,)),
    "hmm-choices": (
        HDPHMMLT(3, emission=RegressionEmission(0, output="bernoulli")),
        ([np.hstack([x > 0.0, x]) for x in PANEL],),
    ),
    "hmm-spikes": (
        HDPHMMLT(3, emission=RegressionEmission(0, output="poisson")),
        ([np.hstack([x > 0.0, x]) for x in PANEL],),
    ),
    "factorial": (FactorialHMM(2), (PANEL,)),
    "grammar": (HDPPCFG(3, n_init=2, tol=0.0), (SENTENCES,)),
    "grammar-gibbs": (HDPPCFG(3, inference="gibbs", n_chains=2), (SENTENCES,)),
    "refiner": (HDPPCFGRefiner(2, min_word_count=1, tol=0.0), ([t.leaves for t in TREES], TREES)),
    "cycles": (
        HDPPCFGRefiner(4, inference="split-merge", min_word_count=1, tol=0.0),
        ([t.leaves for t in TREES], TREES),
    ),
}
SHARED = {"max_iter": 12, "random_state": 0}


def n_done(checkpoint, model):
    """Return the number of steps in a file."""
    runs = checkpoint._load(model).state.runs
    return max(run.n_sweeps if hasattr(run, "n_sweeps") else run.n_iter for run in runs)


@pytest.fixture(params=list(CASES))
def case(request):
    model, data = CASES[request.param]
    return sklearn.clone(model).set_params(**SHARED), data


@needs_callbacks
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
class TestFits:
    def test_after_an_interrupt(self, case, tmp_path):
        """An interrupted fit is written; another object goes on from there, bit for bit."""
        model, data = case
        straight = sklearn.clone(model).fit(*data)
        checkpoint = Checkpoint(tmp_path / "file", every_sweeps=100)
        interrupt(sklearn.clone(model).set_callbacks(checkpoint), 5, *data)
        resumed = sklearn.clone(model).set_callbacks(checkpoint)
        done = n_done(checkpoint, resumed)
        assert 5 <= done < straight.n_iter_
        same_fit(resumed.fit(*data), straight)
        assert os.listdir(tmp_path) == ["file"]
        assert n_done(checkpoint, resumed) == straight.n_iter_

    def test_after_an_error(self, case, tmp_path):
        """A fit that was cut in two goes on from the last checkpoint."""
        model, data = case
        straight = sklearn.clone(model).fit(*data)
        checkpoint = Checkpoint(tmp_path / "file", every_sweeps=3)
        torn = sklearn.clone(model).set_callbacks(checkpoint)
        if getattr(model, "n_chains", 1) > 1 or getattr(model, "n_init", 1) > 1:
            interrupt(torn, 7, *data)
        else:
            tear(torn, 7, *data)
            assert n_done(checkpoint, model) == 6
        same_fit(sklearn.clone(model).set_callbacks(checkpoint).fit(*data), straight)

    def test_it_holds_no_data(self, tmp_path):
        corpus = skdp.data.SegmentedCorpus.from_documents([[np.arange(1000) % 7]] * 20)
        path = tmp_path / "file"
        GibbsLDA(2, **SHARED).set_callbacks(Checkpoint(path)).fit(corpus)
        assert corpus.tokens.tobytes()[:400] not in path.read_bytes()
        assert path.stat().st_size > 20 * 1000 * 4


@needs_callbacks
class TestWhen:
    @pytest.fixture
    def written(self, monkeypatch):
        """Return the sweeps at which a checkpoint is written."""
        sweeps = []
        save = Checkpoint._save

        def save_and_tell(self, estimator):
            sweeps.append(estimator._loop.n_steps)
            save(self, estimator)

        monkeypatch.setattr(Checkpoint, "_save", save_and_tell)
        return sweeps

    def test_every_sweeps(self, tmp_path, written):
        checkpoint = Checkpoint(tmp_path / "file", every_sweeps=5)
        GibbsLDA(2, **SHARED).set_callbacks(checkpoint).fit(DOCUMENTS)
        assert written == [5, 10, 12]
        chains = GibbsLDA(2, n_chains=2, max_iter=200, random_state=0)
        chains.set_callbacks(Checkpoint(tmp_path / "other", every_sweeps=2)).fit(DOCUMENTS)
        assert written[3:] == list(range(2, 201, 2))

    def test_every_seconds(self, tmp_path, written, monkeypatch):
        clock = iter(range(0, 10_000, 4))
        monkeypatch.setattr("skdp.callback._checkpoint.time.monotonic", lambda: next(clock))
        checkpoint = Checkpoint(tmp_path / "file", every_seconds=9)
        GibbsLDA(2, **SHARED).set_callbacks(checkpoint).fit(DOCUMENTS)
        assert written == [3, 6, 9, 12]

    def test_a_finished_fit_is_not_run_again(self, tmp_path, written):
        model = GibbsLDA(2, **SHARED).set_callbacks(Checkpoint(tmp_path / "file"))
        first = model.fit(DOCUMENTS).components_
        assert written == [12]
        np.testing.assert_array_equal(model.fit(DOCUMENTS).components_, first)
        assert written == [12]
        straight = GibbsLDA(2, **SHARED).set_params(max_iter=20, burn_in=6).fit(DOCUMENTS)
        longer = GibbsLDA(2, **SHARED).set_params(burn_in=6)
        longer.set_callbacks(Checkpoint(tmp_path / "other")).fit(DOCUMENTS)
        same_fit(longer.set_params(max_iter=20).fit(DOCUMENTS), straight)
        assert written == [12, 12, 20]

    def test_a_full_disk(self, tmp_path, monkeypatch):
        """The fit goes on, and the last whole checkpoint stays."""
        path = tmp_path / "file"
        GibbsLDA(2, **SHARED).set_callbacks(Checkpoint(path)).fit(DOCUMENTS)
        before = path.read_bytes()

        def full(descriptor):
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(os, "fsync", full)
        model = GibbsLDA(2, **SHARED).set_params(max_iter=14).set_callbacks(Checkpoint(path))
        with pytest.warns(RuntimeWarning, match="No space left"):
            model.fit(DOCUMENTS)
        assert model.n_iter_ == 14
        assert path.read_bytes() == before
        assert os.listdir(tmp_path) == ["file"]


@needs_callbacks
class TestRefusals:
    @pytest.fixture
    def path(self, tmp_path):
        path = tmp_path / "file"
        GibbsLDA(2, **SHARED).set_callbacks(Checkpoint(path)).fit(DOCUMENTS)
        return path

    def refuse(self, path, message, data=DOCUMENTS, error=ValueError, **params):
        model = GibbsLDA(2).set_params(**{**SHARED, **params}).set_callbacks(Checkpoint(path))
        with pytest.raises(error, match=message):
            model.fit(data)
        assert not hasattr(model, "n_features_in_")

    @pytest.mark.parametrize(
        ("params", "message"),
        [
            ({"n_components": 3}, "n_components=2; got n_components=3"),
            ({"random_state": 1}, "random_state=0; got random_state=1"),
            ({"random_state": None}, "random_state=0; got random_state=None"),
            ({"burn_in": 2}, "burn_in=None; got burn_in=2"),
            ({"thin": 2}, "thin=10; got thin=2"),
            ({"max_iter": 11}, "has done 12 sweeps; got max_iter=11"),
            ({"data": DOCUMENTS[::-1]}, "another X"),
        ],
    )
    def test_another_fit(self, path, params, message):
        self.refuse(path, message, **params)

    def test_what_does_not_matter(self, path):
        free = {"n_jobs": 2, "verbose": 1000, "warm_start": True, "transform_max_iter": 3}
        GibbsLDA(2, **SHARED, **free).set_callbacks(Checkpoint(path)).fit(DOCUMENTS)

    def test_another_estimator(self, path):
        with pytest.raises(ValueError, match="of GibbsLDA, not of SegmentedTopicModel"):
            SegmentedTopicModel(2, **SHARED).set_callbacks(Checkpoint(path)).fit(DOCUMENTS)
        with pytest.raises(TypeError, match="not for LogisticRegression"):
            LogisticRegression().set_callbacks(Checkpoint(path)).fit([[0], [1]], [0, 1])

    def test_another_version(self, path, monkeypatch):
        monkeypatch.setattr(skdp, "__version__", "9.9")
        self.refuse(path, r"by skdp 0\..*this is skdp 9\.9")

    @pytest.mark.parametrize(
        ("content", "message"),
        [
            *((content, "not a checkpoint")
              for content in (b"", b"hello\n", pickle.dumps(3), b"\xff" * 3000)),
            *((b"skdp checkpoint " + content, "an earlier version of skdp")
              for content in (
                b"0.1.0.dev0\n", b"\n", b"0.1.0.dev0 GibbsLDA\n" + pickle.dumps({}),
                b"0.1.0.dev0 GibbsLDA and more\n" + pickle.dumps({}),
            )),
        ],
    )  # fmt: skip
    def test_other_files(self, tmp_path, content, message):
        path = tmp_path / "file"
        path.write_bytes(content)
        self.refuse(path, f"{path}.*{message}")
        assert path.read_bytes() == content

    def test_damaged_files(self, path):
        """Cut ones, and any changed byte."""
        whole = path.read_bytes()
        for n_bytes in (19, 60, 1000, -50, -1):
            path.write_bytes(whole[:n_bytes])
            self.refuse(path, f"{path}.*damaged")
        places = [*range(60), *np.random.default_rng(0).integers(60, len(whole), 100), -1]
        for place in places:
            changed = bytearray(whole)
            changed[place] ^= 1 << int(place) % 8
            path.write_bytes(changed)
            self.refuse(path, str(path))
        path.write_bytes(whole + b"0")
        self.refuse(path, f"{path}.*damaged")
        write_checked(path, {"settings": 1}, whole.split(b"\n")[0] + b"\n")  # another object
        self.refuse(path, f"{path}.*damaged")

    def test_folders(self, tmp_path):
        self.refuse(tmp_path, f"{tmp_path} is a folder")
        self.refuse(tmp_path / "no" / "file", "folder", error=FileNotFoundError)


@needs_callbacks
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
class TestOneFitAtATime:
    def fit_during_a_fit(self, path, fit):
        """Call `fit` while a fit with this path runs; return its result."""
        found = []
        model = GibbsLDA(2, **SHARED).set_callbacks(Checkpoint(path, every_sweeps=1))

        def fit_once(n_done):
            if not found:
                found.append(fit())

        with acting_after(model, "is_done", fit_once):
            model.fit(DOCUMENTS)
        assert os.listdir(path.parent) == [path.name]
        return found[0]

    def error_of_fit(self, path):
        try:
            GibbsLDA(2, **SHARED).set_callbacks(Checkpoint(path)).fit(DOCUMENTS)
        except ValueError as error:
            return str(error)
        else:
            return ""

    @pytest.mark.parametrize("folder", ["folder", "link"])
    def test_in_one_process(self, tmp_path, folder):
        (tmp_path / "folder").mkdir()
        (tmp_path / "link").symlink_to(tmp_path / "folder")
        found = self.fit_during_a_fit(
            tmp_path / "folder" / "file", lambda: self.error_of_fit(tmp_path / folder / "file")
        )
        assert "file is in use by another fit of this process" in found

    def test_in_threads(self, tmp_path):
        with ThreadPoolExecutor(1) as pool:
            found = self.fit_during_a_fit(
                tmp_path / "file",
                lambda: pool.submit(self.error_of_fit, tmp_path / "file").result(),
            )
        assert "in use" in found

    def test_a_fit_that_ends_in_an_error_leaves_no_lock(self, tmp_path):
        model = GibbsLDA(2, **SHARED).set_callbacks(Checkpoint(tmp_path / "file"))
        with pytest.raises(ValueError, match="-1"):
            model.fit([[[-1]]])
        assert not os.listdir(tmp_path)
        model.fit(DOCUMENTS)

    def test_two_callbacks_of_one_fit(self, tmp_path):
        path = tmp_path / "file"
        both = Checkpoint(path, every_sweeps=5), Checkpoint(path, every_seconds=1)
        GibbsLDA(2, **SHARED).set_callbacks(*both).fit(DOCUMENTS)
        assert path.exists()

    def test_a_killed_fit_leaves_nothing(self, tmp_path):
        path = tmp_path / "file"
        with subprocess.Popen([sys.executable, "-c", ""]) as dead:
            pass
        parts = {
            pid: tmp_path / f"file.{pid}.0123456789ab.part"
            for pid in (dead.pid, os.getppid(), 10**30, "x")
        }
        for part in (*parts.values(), tmp_path / "file.skdp-lock"):
            part.write_bytes(b"")
        assert self.error_of_fit(path) == ""
        left = [path, parts[os.getppid()], parts["x"]]
        assert sorted(os.listdir(tmp_path)) == sorted(each.name for each in left)


def test_an_old_scikit_learn_is_named(monkeypatch):
    monkeypatch.setattr("skdp.callback._checkpoint.has_callbacks", lambda: False)
    with pytest.raises(RuntimeError, match=rf"1\.9 or later.*{sklearn.__version__}"):
        Checkpoint("file")
