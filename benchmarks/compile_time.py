"""How long does a user wait for compilers? CPU seconds of first calls, with an empty cache.

Every estimator gets a process of its own and a cache of numba that is empty. There it is fitted to
small data, then each of its methods is called. What a call takes beyond that is compiling: the
sweeps themselves take less than a tenth of a second. Times are CPU times of the process, system
included, without the import of skdp. With ``--warm`` each has a second process, which finds the
cache that the first has filled.

    python benchmarks/compile_time.py
    python benchmarks/compile_time.py --only "SegmentedTopicModel" --warm
    python benchmarks/compile_time.py --only "SequentialLDA()" --kernels
    PYTHONPATH=<a checkout of before> python benchmarks/compile_time.py --save before.json
    PYTHONPATH=. python benchmarks/compile_time.py --compare before.json
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections import Counter
from pathlib import Path

import numpy as np

import skdp
from skdp.context import (
    CollinsBackoffClassifier,
    DistanceDependentCRPClassifier,
    HDPBackoffClassifier,
)
from skdp.grammar import HDPPCFG, HDPPCFGRefiner, ParseTree
from skdp.language import (
    CollocationPitmanYorLM,
    HierarchicalPitmanYorLM,
    KneserNeyLM,
    NestedPitmanYorLM,
)
from skdp.mixture import HDPMixture, IBPLatentFeatures, PitmanYorMixture
from skdp.sequence import (
    HDPHMMLT,
    AutoregressiveEmission,
    BinaryFactorEmission,
    CategoricalEmission,
    FactorialHMM,
    GaussianSimilarity,
    LaplacianSimilarity,
    NegativeBinomialDuration,
    PoissonDuration,
    PoissonEmission,
    StudentTEmission,
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

CHAIN = {"max_iter": 20}
ASCENT = {"max_iter": 5, "tol": 0.0}

TABLE_OPTIONS = (
    {},
    {"sampler": "cmgs"},
    {"sampler": "ssa"},
    {"discount": "auto"},
    {"concentration_scope": "segment"},
    {"n_shards": 2},
    {"init": "lda"},
)


def make_documents():
    rng = np.random.default_rng(0)
    return ([[rng.integers(0, 30, 15).tolist() for _ in range(3)] for _ in range(10)],)


def make_panel():
    rng = np.random.default_rng(0)
    return ([rng.normal(size=(60, 2)) + 4 * (np.arange(60)[:, None] // 20) for _ in range(3)],)


def make_signs():
    return ([(values > 2).astype(float) for values in make_panel()[0]],)


def make_counts():
    return ([np.abs(values).round() for values in make_panel()[0]],)


def make_symbols():
    rng = np.random.default_rng(0)
    return ([rng.integers(0, 3, 50) + 3 * (np.arange(50) // 25) for _ in range(4)],)


def make_sentences():
    rng = np.random.default_rng(0)
    return ([rng.integers(0, 9, n).tolist() for n in (2, 5, 8) * 5],)


def make_events():
    X = np.random.default_rng(0).integers(0, 6, (200, 3))
    return X, X[:, 0] % 4


def make_strings():
    rng = np.random.default_rng(0)
    words = "the", "cat", "sat", "on", "a", "mat"
    return (["".join(rng.choice(words, 5)) for _ in range(20)],)


def make_rows():
    return (np.concatenate(make_panel()[0]),)


def make_rows_of_counts():
    return (np.concatenate(make_counts()[0]),)


def make_contexts():
    X = np.random.default_rng(0).integers(0, 6, (200, 3))
    return X, (X[:, 0] + X[:, 1] // 4) % 5


def make_trees():
    words = np.random.default_rng(0).choice(["a", "b", "c", "d"], (30, 3))
    trees = [ParseTree.from_brackets(f"(S (A {x}) (B (A {y}) (C {z})))") for x, y, z in words]
    return [tree.leaves for tree in trees], trees


def sequence_models():
    """Yield what makes the data, and an estimator."""
    yield make_panel, HDPHMMLT(5)
    yield make_panel, HDPHMMLT(5, stickiness="auto")
    yield make_panel, HDPHMMLT(5, state_sampler="beam")
    yield make_symbols, HDPHMMLT(5, emission=CategoricalEmission())
    yield make_counts, HDPHMMLT(5, emission=PoissonEmission())
    yield make_panel, HDPHMMLT(5, duration=PoissonDuration())
    yield make_panel, HDPHMMLT(5, duration=NegativeBinomialDuration())
    yield make_panel, HDPHMMLT(5, similarity=GaussianSimilarity(2))
    for make, options in (
        (make_panel, {}),
        (make_signs, {"output": "probit"}),
        (make_panel, {"amplitude_variance": 0.5}),
    ):
        emission = BinaryFactorEmission(3, **options)
        yield make, HDPHMMLT(5, emission=emission, similarity=LaplacianSimilarity())
    yield make_panel, HDPHMMLT(5, emission=AutoregressiveEmission())
    yield make_panel, HDPHMMLT(5, emission=StudentTEmission())
    yield make_panel, FactorialHMM(3)
    yield make_panel, FactorialHMM("auto")


def other_models():
    """Yield what makes the data, and an estimator."""
    yield make_rows, PitmanYorMixture()
    yield make_rows_of_counts, PitmanYorMixture("poisson")
    yield make_panel, HDPMixture()
    yield make_rows, IBPLatentFeatures()
    for outcome_model in ("shared", "dirichlet"):
        yield make_contexts, DistanceDependentCRPClassifier(outcome_model=outcome_model)
    yield make_sentences, HierarchicalPitmanYorLM()
    yield make_sentences, KneserNeyLM()
    yield make_events, HDPBackoffClassifier()
    yield make_events, HDPBackoffClassifier(None)
    yield make_events, HDPBackoffClassifier(concentration_scope="context")
    yield make_events, CollinsBackoffClassifier()
    yield make_strings, NestedPitmanYorLM(anneal=None)
    yield make_strings, NestedPitmanYorLM(word_order=3, anneal=None)
    yield make_strings, CollocationPitmanYorLM(anneal=None)


def everything():
    """Return (data, estimator) by the estimator's text."""
    topics = [
        GibbsLDA(),
        GibbsLDA(200),
        GibbsLDA(level="segment"),
        HDPTopicModel(),
        SegmentedTopicModel("auto"),
        TopicSegmenter(5),
        SectionedTopicModel(),
        LatentDirichletCoClustering(),
    ]
    for model in (SegmentedTopicModel, SequentialLDA, AdaptiveTopicModel):
        topics += [model(**options) for options in TABLE_OPTIONS]
    cases = {" ".join(repr(model).split()): (make_documents, model) for model in topics}
    for make, model in (*sequence_models(), *other_models()):
        cases[" ".join(repr(model).split())] = make, model
    cases["HDPPCFG(4)"] = make_sentences, HDPPCFG(4)
    cases["HDPPCFG(4, inference='em')"] = make_sentences, HDPPCFG(4, inference="em")
    cases["HDPPCFGRefiner(2)"] = make_trees, HDPPCFGRefiner(2)
    cases["HDPPCFGRefiner(16)"] = make_trees, HDPPCFGRefiner(16)
    return cases


METHODS = ("transform", "predict", "predict_proba", "score", "log_likelihood", "sample")


def call(estimator, method, data):
    """Call a method as a user would."""
    if method == "sample":
        return estimator.sample(7)
    return getattr(estimator, method)(*(data if method in ("fit", "score") else data[:1]))


def time_calls(name):
    """Return the CPU seconds of fit and of every method, in turn."""
    make, estimator = everything()[name]
    is_chain = hasattr(estimator, "thin")
    if not isinstance(estimator, KneserNeyLM | CollinsBackoffClassifier):  # which count
        estimator.set_params(random_state=0, **(CHAIN if is_chain else ASCENT))
    data = make()
    found = {}
    for method in ("fit", *METHODS):
        if hasattr(type(estimator), method):
            begin = time.process_time()
            call(estimator, method, data)
            found[method] = time.process_time() - begin
    return found


def count_kernels(cache):
    """Return how often each kernel was compiled, by its place."""
    return Counter(path.name.rsplit("-", 1)[0] for path in sorted(Path(cache).rglob("*.nbc")))


def run_case(name, *, warm, kernels):
    """Run a case in a fresh process with an empty cache; return its times."""
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
        for name_of_pool in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
            environment[name_of_pool] = "1"
        command = [sys.executable, __file__, "--case", name]
        found = {}
        for state in ("cold", "warm") if warm else ("cold",):
            out = subprocess.run(
                command, env=environment, check=True, capture_output=True, text=True
            ).stdout
            found[state] = json.loads(out.splitlines()[-1])
        if kernels:
            counts = count_kernels(cache)
            print(f"{name}: {sum(counts.values())} compiled; more than once:")
            for place, n in counts.items():
                if n > 1:
                    print(f"  {n} {place}")
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="only estimators whose text contains this")
    parser.add_argument("--warm", action="store_true", help="show the times with a full cache too")
    parser.add_argument("--kernels", action="store_true", help="tell what is compiled twice")
    parser.add_argument("--save", help="write the times to this file")
    parser.add_argument("--compare", help="show the times of this file, too")
    parser.add_argument("--case", help=argparse.SUPPRESS)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.case:
        print(json.dumps(time_calls(options.case)))
        return
    before = {}
    if options.compare:
        with open(options.compare, encoding="utf-8") as file:
            before = json.load(file)
    print(skdp.__file__)
    times = {}
    print("\n| estimator | " + " | ".join(("fit", *METHODS)) + " |")
    print("|" + "---|" * (len(METHODS) + 2))
    for name in everything():
        if options.only not in name:
            continue
        found = run_case(name, warm=options.warm, kernels=options.kernels)
        times[name] = found["cold"]
        rows = {name: found["cold"]}
        if options.warm:
            rows[f"{name}, warm"] = found["warm"]
        if name in before:
            rows[f"{name}, before"] = before[name]
        for title, row in rows.items():
            cells = (f"{row[m]:.1f}" if m in row else "" for m in ("fit", *METHODS))
            print(f"| {title} | " + " | ".join(cells) + " |", flush=True)
    if options.save:
        with open(options.save, "w", encoding="utf-8") as file:
            json.dump(times, file, indent=1)


if __name__ == "__main__":
    main()
