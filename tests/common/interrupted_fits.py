"""Interrupts at random moments: nothing crashes, no chain is torn in silence.

A script, because what it looks for ends the interpreter: ``interrupted_fits.py N SEED NAME ...``
interrupts each of the named estimators, or each of all, `N` times, in `fit`, `iter_sweeps`,
`transform` and `score`, by Ctrl-C, by an alarm whose handler raises, and by two of them in a row.
It prints how often each of these ended what was going on. The tests interrupt few times; before a
release, run it with N = 50."""

import os
import pickle
import signal
import sys
import threading
import time
import warnings
from collections import Counter

import numpy as np
from sklearn.base import clone

from skdp.context import DistanceDependentCRPClassifier, HDPBackoffClassifier
from skdp.data import TokenSequences
from skdp.grammar import HDPPCFG, HDPPCFGRefiner, ParseTree
from skdp.language import (
    CollocationPitmanYorLM,
    HierarchicalPitmanYorLM,
    LanguageModelClassifier,
    NestedPitmanYorLM,
)
from skdp.mixture import HDPMixture, IBPLatentFeatures, PitmanYorMixture
from skdp.sequence import (
    HDPHMMLT,
    AutoregressiveEmission,
    BinaryFactorEmission,
    FactorialHMM,
    GaussianSimilarity,
    LaplacianSimilarity,
    PoissonDuration,
    RegressionEmission,
)
from skdp.topics import (
    AdaptiveTopicModel,
    GibbsLDA,
    HDPTopicModel,
    LatentDirichletCoClustering,
    SectionedTopicModel,
    SegmentedTopicModel,
    SequentialLDA,
    TopicSegmenter,
)
from skdp.utils._checking import same_fit


def make_documents():
    rng = np.random.default_rng(0)
    return [[rng.integers(0, 30, 20).tolist() for _ in range(3)] for _ in range(40)]


def make_panel():
    rng = np.random.default_rng(0)
    return [rng.normal(size=(60, 2)) + 4 * (np.arange(60)[:, None] // 20) for _ in range(6)]


def make_rows():
    return np.concatenate(make_panel())


def make_gaps():
    rows = make_rows()
    rows[::7, 1] = np.nan
    return rows


def make_known_states():
    panel = make_panel()
    known = [np.where(np.arange(60) % 9 == 0, np.arange(60) // 20, -1) for _ in panel]
    return panel, known


def make_known_bits():
    panel, known = make_known_states()
    bits = [np.where(own[:, np.newaxis] < 0, -1, own[:, np.newaxis] == [1, 2, 3]) for own in known]
    return panel, bits


def make_choices():
    rows = make_rows()
    rows[:, 0] = rows[:, 0] > rows[:, 1]
    return rows


def make_sentences():
    rng = np.random.default_rng(0)
    return [rng.integers(0, 9, 8).tolist() for _ in range(40)]


def make_trees():
    words = np.random.default_rng(0).choice(["a", "b", "c", "d"], (40, 3))
    trees = [ParseTree.from_brackets(f"(S (A {x}) (B (A {y}) (C {z})))") for x, y, z in words]
    return [tree.leaves for tree in trees], trees


def make_strings():
    rng = np.random.default_rng(0)
    words = ["".join(rng.choice(list("abcdefg"), rng.integers(1, 5))) for _ in range(30)]
    return ["".join(rng.choice(words, rng.integers(1, 6))) for _ in range(150)]


def make_contexts():
    X = np.random.default_rng(0).integers(0, 6, (400, 3))
    return X, (X[:, 0] + X[:, 1] // 4) % 5


def make_classes():
    return make_sentences(), np.arange(40) % 3


FACTORS = {"emission": BinaryFactorEmission(2), "n_components": 4}
BUFFET = {"emission": BinaryFactorEmission("auto"), "n_components": 4}
ESTIMATORS = {
    "segmented": (SegmentedTopicModel(4, max_iter=60), make_documents),
    "segmented-auto": (
        SegmentedTopicModel(4, discount="auto", concentration_scope="segment", max_iter=30),
        make_documents,
    ),
    "segmented-cmgs": (SegmentedTopicModel(4, sampler="cmgs", max_iter=60), make_documents),
    "segmented-ssa": (SegmentedTopicModel(4, sampler="ssa", max_iter=60), make_documents),
    "segmented-open": (SegmentedTopicModel("auto", max_iter=60), make_documents),
    "sequential": (SequentialLDA(4, max_iter=40), make_documents),
    "adaptive": (AdaptiveTopicModel(4, max_iter=40), make_documents),
    "adaptive-shards": (AdaptiveTopicModel(4, n_shards=2, n_jobs=2, max_iter=40), make_documents),
    "lda": (GibbsLDA(4, max_iter=200), make_documents),
    "lda-sparse": (GibbsLDA(200, max_iter=60), make_documents),
    "lda-chains": (GibbsLDA(4, n_chains=2, n_jobs=2, max_iter=200), make_documents),
    "ldcc": (LatentDirichletCoClustering(4, max_iter=60), make_documents),
    "hdp-topics": (HDPTopicModel(max_iter=100), make_documents),
    "sectioned": (SectionedTopicModel(4, discount="auto", max_iter=60), make_documents),
    "segmenter": (TopicSegmenter(4, max_iter=40), make_documents),
    "segmenter-one-topic": (TopicSegmenter(1, max_iter=300), make_documents),
    "hmm": (HDPHMMLT(5, stickiness="auto", max_iter=100), make_panel),
    "hmm-beam": (HDPHMMLT(5, state_sampler="beam", max_iter=100), make_panel),
    "hmm-locations": (HDPHMMLT(5, similarity=GaussianSimilarity(2), max_iter=60), make_panel),
    "hmm-near": (HDPHMMLT(5, similarity="emission", max_iter=60), make_panel),
    "hmm-factors": (HDPHMMLT(**FACTORS, similarity=LaplacianSimilarity(), max_iter=60), make_panel),
    "hmm-buffet": (HDPHMMLT(**BUFFET, similarity=LaplacianSimilarity(), max_iter=60), make_panel),
    "hmm-durations": (HDPHMMLT(4, duration=PoissonDuration(), max_iter=40), make_panel),
    "hmm-known": (HDPHMMLT(5, max_iter=100), make_known_states),
    "hmm-gaps": (HDPHMMLT(4, emission=AutoregressiveEmission(), max_iter=60), make_gaps),
    "hmm-regressions": (
        HDPHMMLT(4, emission=RegressionEmission(targets=[0]), max_iter=60),
        make_rows,
    ),
    "hmm-choices": (
        HDPHMMLT(4, emission=RegressionEmission(targets=[0], output="bernoulli"), max_iter=60),
        make_choices,
    ),
    "hmm-spikes": (
        HDPHMMLT(4, emission=RegressionEmission(targets=[0], output="poisson"), max_iter=60),
        make_choices,
    ),
    "factorial": (FactorialHMM(3, max_iter=100), make_panel),
    "factorial-known": (FactorialHMM(3, max_iter=100), make_known_bits),
    "grammar": (HDPPCFG(4, max_iter=30, tol=0.0), make_sentences),
    "grammar-starts": (HDPPCFG(4, max_iter=30, tol=0.0, n_init=2, n_jobs=2), make_sentences),
    "grammar-gibbs": (HDPPCFG(4, inference="gibbs", max_iter=100), make_sentences),
    "ngrams": (HierarchicalPitmanYorLM(3, max_iter=200), make_sentences),
    "ngrams of any length": (HierarchicalPitmanYorLM(None, max_iter=200), make_sentences),
    "classifier": (
        LanguageModelClassifier(HierarchicalPitmanYorLM(3, max_iter=60, random_state=0)),
        make_classes,
    ),
    "backoff": (HDPBackoffClassifier(n_chains=2, n_jobs=2, max_iter=200), make_contexts),
    "strings": (NestedPitmanYorLM(n_chains=1, max_iter=60), make_strings),
    "strings-types": (
        NestedPitmanYorLM(1, n_chains=2, n_jobs=2, type_moves=0.2, max_iter=30),
        make_strings,
    ),
    "strings-collocations": (CollocationPitmanYorLM(n_chains=1, max_iter=60), make_strings),
    "mixture": (PitmanYorMixture(n_chains=2, n_jobs=2, max_iter=200), make_rows),
    "mixture-groups": (HDPMixture(max_iter=200), make_panel),
    "links": (DistanceDependentCRPClassifier(n_chains=2, n_jobs=2, max_iter=100), make_contexts),
    "mixture-blocked": (
        PitmanYorMixture(n_chains=2, n_jobs=2, sampler="blocked", max_iter=400),
        make_rows,
    ),
    "features": (IBPLatentFeatures(n_chains=2, n_jobs=2, max_iter=400), make_gaps),
    "refiner": (HDPPCFGRefiner(2, max_iter=20, tol=0.0), make_trees),
}


class TimeIsUp(Exception):
    """The exception that the handler of the alarm raises."""


class Handler:
    """A signal handler that raises while there is something to interrupt."""

    is_armed = False

    def __init__(self, error):
        self.error = error

    def __call__(self, signum, frame):
        if Handler.is_armed:
            raise self.error


INTERRUPTS = (KeyboardInterrupt, TimeIsUp)
KINDS = {
    "Ctrl-C": [signal.SIGINT],
    "alarm": [signal.SIGALRM],
    "Ctrl-C twice": [signal.SIGINT, signal.SIGINT],
    "Ctrl-C, alarm": [signal.SIGINT, signal.SIGALRM],
}


def run_armed(action):
    """Do something; tell whether it was interrupted."""
    is_done = False
    try:
        try:
            Handler.is_armed = True
            action()
            is_done = True
        finally:
            Handler.is_armed = False
    except INTERRUPTS:
        Handler.is_armed = False  # a second one may have come in the line above
    except AttributeError as error:
        # A second signal that comes while Python makes a pool of threads: its own way to clean up
        # fails, since threads cannot be terminated.
        if not isinstance(error.__context__, INTERRUPTS) or "terminate" not in str(error):
            raise
    return not is_done


def attempt(action, signums, moment, gap):
    """Do something and send signals meanwhile; tell whether they ended it."""

    def send():
        time.sleep(moment)
        for signum in signums:
            os.kill(os.getpid(), signum)
            time.sleep(gap)

    thread = threading.Thread(target=send)
    thread.start()
    is_interrupted = run_armed(action)
    thread.join()
    return is_interrupted


class Trials:
    """Interrupted uses of one estimator."""

    def __init__(self, name):
        estimator, make_data = ESTIMATORS[name]
        data = make_data()
        self.data = data if isinstance(data, tuple) else (data,)
        self.estimator = clone(estimator)
        if "random_state" in estimator.get_params():
            self.estimator.set_params(random_state=0)
        self.straight = self.fit(clone(self.estimator))
        self.can_resume = "warm_start" in self.estimator.get_params()
        self.uses = [self.try_fit]
        if self.can_resume:
            self.uses.append(self.try_second_fit)
        if hasattr(self.estimator, "iter_sweeps"):
            self.joints = [s.log_joint() for s in self.sweeps()]
            self.uses.append(self.try_sweeps)
        self.methods = [m for m in ("transform", "score", "predict") if hasattr(self.straight, m)]
        self.results = {m: self.call(m) for m in self.methods}
        self.uses.append(self.try_method)
        self.hits = Counter()
        self.lost = 0

    def fit(self, estimator):
        return estimator.fit(*self.data)

    def sweeps(self):
        return clone(self.estimator).iter_sweeps(*self.data)

    def call(self, method):
        data = self.data if method == "score" else self.data[:1]
        return getattr(self.straight, method)(*data)

    def timed(self, action):
        begin = time.perf_counter()
        action()
        return time.perf_counter() - begin

    def run(self, action, rng):
        """Interrupt an action at a random moment; tell whether that ended it."""
        kind = list(KINDS)[rng.integers(len(KINDS))]
        moment = rng.uniform(0.0, 1.1 * self.timed(action))
        if not attempt(action, KINDS[kind], moment, rng.exponential(0.001)):
            return False
        self.hits[kind] += 1
        return True

    def check_resumed(self, estimator):
        """Go on with a fit, which must come to what a straight one comes to."""
        estimator = pickle.loads(pickle.dumps(estimator))
        if self.can_resume:
            estimator.set_params(warm_start=True)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            self.fit(estimator)
        self.lost += any("starts over" in str(w.message) for w in caught)
        same_fit(self.straight, estimator)

    def try_fit(self, rng):
        made = []

        def action():
            made.append(clone(self.estimator))
            self.fit(made[-1])

        hit = self.run(action, rng)
        if hit:
            self.check_resumed(made[-1])
        return hit

    def try_second_fit(self, rng):
        """Interrupt a fit that goes on with the chains of another."""
        half = max(self.estimator.max_iter // 2, 1)
        params = {"max_iter": half, "warm_start": True}
        if hasattr(self.estimator, "burn_in"):
            params["burn_in"] = self.estimator.max_iter // 2
        first = pickle.dumps(self.fit(clone(self.estimator).set_params(**params)))
        made = []

        def action():
            made.append(pickle.loads(first).set_params(max_iter=self.estimator.max_iter))
            self.fit(made[-1])

        hit = self.run(action, rng)
        if hit:
            self.check_resumed(made[-1])
        return hit

    def try_sweeps(self, rng):
        """Interrupt a loop over sweeps, then go on with it."""
        made, joints = [], []

        def action():
            made.append(self.sweeps())
            joints.clear()
            for state in made[-1]:
                joints.append(state.log_joint())

        hit = self.run(action, rng)
        if hit and made:
            if made[-1]._is_torn:
                self.lost += 1
                return hit
            rest = [state.log_joint() for state in made[-1]]
            # An interrupt in the body of the loop may come before or after the append.
            seen = len(self.joints) - len(rest)
            assert len(joints) in (seen, seen - 1)
            assert rest == self.joints[seen:]
        return hit

    def try_method(self, rng):
        method = self.methods[rng.integers(len(self.methods))]
        hit = self.run(lambda: self.call(method), rng)
        if hit:
            again, expected = self.call(method), self.results[method]
            if isinstance(expected, TokenSequences):
                again, expected = list(again), list(expected)
            if isinstance(expected, list):
                assert len(again) == len(expected)
                assert all(np.all(a == b) for a, b in zip(again, expected, strict=True))
            else:
                np.testing.assert_array_equal(again, expected)
        return hit


def main(n, seed, *names):
    signal.signal(signal.SIGINT, Handler(KeyboardInterrupt))
    signal.signal(signal.SIGALRM, Handler(TimeIsUp))
    warnings.simplefilter("ignore")
    for name in names or ESTIMATORS:
        rng = np.random.default_rng(int(seed))
        trials = Trials(name)
        done = 0
        while done < int(n):
            use = trials.uses[rng.integers(len(trials.uses))]
            done += use(rng)
        hits = ", ".join(f"{kind} {trials.hits[kind]}" for kind in KINDS)
        print(f"{name}: {done} interrupts ({hits}), {trials.lost} fits began anew")


if __name__ == "__main__":
    main(*sys.argv[1:])
