"""Do fits with fixed seeds still have the same bits?

Fits every estimator, in many settings, on small generated data, and hashes what each fitted
attribute and each method gives. A change that should keep the random streams is checked so::

    PYTHONPATH=<a checkout of before> python benchmarks/fixed_seed_fits.py --save before.json
    PYTHONPATH=. python benchmarks/fixed_seed_fits.py --compare before.json

Private attributes, stored samples and objects of skdp's own classes are not hashed: their class or
their fields may have been renamed. What they hold shows in `score`, `transform` and `predict`.
"""

import argparse
import hashlib
import inspect
import json
import warnings

import numpy as np
import scipy.sparse

import skdp
from skdp.context import (
    CollinsBackoffClassifier,
    DistanceDependentCRPClassifier,
    HDPBackoffClassifier,
)
from skdp.data import TokenSequences
from skdp.grammar import HDPPCFG, HDPPCFGRefiner, ParseTree, inside_outside
from skdp.inference import Trace
from skdp.language import (
    CollocationPitmanYorLM,
    HierarchicalPitmanYorLM,
    KneserNeyLM,
    NestedPitmanYorLM,
)
from skdp.mixture import DPMixture, HDPMixture, IBPLatentFeatures, PitmanYorMixture
from skdp.processes import sample_table_counts
from skdp.sequence import (
    HDPHMMLT,
    BinaryFactorEmission,
    CategoricalEmission,
    FactorialHMM,
    FixedSimilarity,
    GaussianEmission,
    GaussianSimilarity,
    LaplacianSimilarity,
    NegativeBinomialDuration,
    PoissonDuration,
    PoissonEmission,
    hmm_log_likelihood,
    hmm_posterior,
    hmm_sample_states,
)
from skdp.topics import (
    AdaptiveTopicModel,
    GibbsLDA,
    HDPTopicModel,
    LatentDirichletCoClustering,
    SegmentedTopicModel,
    SequentialLDA,
)

METHODS = (
    *("transform", "transform_segments", "score_samples", "score", "predict", "predict_proba"),
    *("log_likelihood", "top_words"),
)


def takes_y(method):
    """Return whether y is an argument without a default."""
    y = inspect.signature(method).parameters.get("y")
    return y is not None and y.default is inspect.Parameter.empty


def make_documents():
    rng = np.random.default_rng(0)
    sizes = [1, 0, 20, 33]
    documents = [
        [rng.integers(0, 30, sizes[(d + s) % 4]).tolist() for s in range(3)] for d in range(30)
    ]
    return ([*documents, []],)


def make_panel():
    rng = np.random.default_rng(0)
    return ([rng.normal(size=(t, 2)) + 4 * (np.arange(t)[:, None] // 20) for t in (60, 61, 1, 90)],)


def make_holes():
    (panel,) = make_panel()
    rng = np.random.default_rng(1)
    for values in panel:
        values[rng.random(values.shape) < 0.1] = np.nan
    return (panel,)


def make_counts():
    rng = np.random.default_rng(0)
    return ([rng.poisson([[2.0, 9.0]] * 30 + [[8.0, 1.0]] * 30) for _ in range(4)],)


def make_symbols():
    rng = np.random.default_rng(0)
    return ([rng.integers(0, 3, 50) + 3 * (np.arange(50) // 25) for _ in range(4)],)


def make_signs():
    (panel,) = make_panel()
    return ([(values > 2).astype(float) for values in panel],)


def make_sentences():
    rng = np.random.default_rng(0)
    return ([rng.integers(0, 9, n).tolist() for n in [1, 2, 8, 11] * 9 + [0, 55]],)


def make_trees():
    words = np.random.default_rng(0).choice(["a", "b", "c", "d"], (60, 3))
    trees = [ParseTree.from_brackets(f"(S (A {x}) (B (A {y}) (C {z})))") for x, y, z in words]
    return [tree.leaves for tree in trees], trees


def make_rows():
    return (np.concatenate(make_panel()[0]),)


def make_rows_with_holes():
    return (np.concatenate(make_holes()[0]),)


def make_rows_of_counts():
    return (np.concatenate(make_counts()[0]),)


def make_strings():
    rng = np.random.default_rng(0)
    return (["".join(rng.choice(["the", "cat", "sat", "on", "mat"], 5)) for _ in range(20)],)


def make_events():
    X = np.random.default_rng(0).integers(0, 4, (150, 3))
    return X, X[:, 0] % 3


def topic_models():
    n = {"max_iter": 24}
    for sampler in ("btigs", "cmgs", "ssa"):
        yield SegmentedTopicModel(4, sampler=sampler, **n)
        yield SegmentedTopicModel(
            5, sampler=sampler, discount="auto", concentration_scope="segment", **n
        )
        yield SegmentedTopicModel(3, sampler=sampler, discount=0.3, concentration=4.0, **n)
    yield SegmentedTopicModel(4, concentration_scope="document", init="lda", **n)
    yield SegmentedTopicModel(4, n_shards=2, doc_topic_prior="auto-symmetric", **n)
    yield SegmentedTopicModel(4, n_chains=2, topic_word_prior=0.1, doc_topic_prior=0.2, **n)
    for model in (SequentialLDA, AdaptiveTopicModel):
        yield model(4, **n)
        yield model(4, discount="auto", concentration_scope="segment", n_shards=2, **n)
        yield model(3, discount=0.2, concentration=3.0, n_chains=2, **n)
    yield AdaptiveTopicModel(4, mixing_prior=(2.0, 5.0), concentration_scope="document", **n)
    yield GibbsLDA(4, **n)
    yield GibbsLDA(4, level="segment", doc_topic_prior=0.3, **n)
    yield GibbsLDA(200, n_shards=2, **n)
    yield SegmentedTopicModel("auto", **n)
    yield AdaptiveTopicModel("auto", n_shards=2, sampler="ssa", discount="auto", **n)
    yield HDPTopicModel(**n)
    yield HDPTopicModel(level="segment", init="random", initial_components=3, **n)
    yield LatentDirichletCoClustering(4, **n)
    yield LatentDirichletCoClustering(5, n_document_topics=3, n_chains=2, **n)


def sequence_models():
    n = {"max_iter": 24}
    factors = BinaryFactorEmission(3)
    yield make_panel, HDPHMMLT(5, **n)
    yield make_panel, HDPHMMLT(5, stickiness="auto", n_chains=2, **n)
    yield make_panel, HDPHMMLT(5, stickiness=3.0, state_sampler="beam", **n)
    yield make_holes, HDPHMMLT(5, emission=GaussianEmission(covariance_type="diag"), **n)
    yield (
        make_holes,
        HDPHMMLT(4, similarity=GaussianSimilarity(2), **n),
    )
    yield make_panel, HDPHMMLT(4, similarity=FixedSimilarity(0.2 + 0.8 * np.eye(4)), **n)
    yield make_counts, HDPHMMLT(4, emission=PoissonEmission(), duration=PoissonDuration(), **n)
    yield make_symbols, HDPHMMLT(8, emission=CategoricalEmission(), **n)
    yield (
        make_symbols,
        HDPHMMLT(6, emission="categorical", duration=NegativeBinomialDuration(), **n),
    )
    for make, options in (
        (make_panel, {}),
        (make_signs, {"output": "probit"}),
        (make_panel, {"amplitude_variance": 0.5}),
    ):
        emission = BinaryFactorEmission(3, **options)
        for similarity in (None, LaplacianSimilarity()):
            yield make, HDPHMMLT(5, emission=emission, similarity=similarity, **n)
        if "amplitude_variance" not in options:
            yield make, FactorialHMM(3, emission=emission, **n)
    weights = np.array([[0.0, 0.0], [4.0, 4.0], [8.0, 8.0]])
    emission = BinaryFactorEmission(2, weights=weights, noise_variance=1.0)
    yield make_holes, HDPHMMLT(4, emission=emission, similarity=LaplacianSimilarity(decay=2.0), **n)
    yield make_panel, HDPHMMLT(4, emission=factors, duration=PoissonDuration(), **n)


def grammars():
    n = {"max_iter": 12, "tol": 0.0}
    yield make_sentences, HDPPCFG(4, **n)
    yield make_sentences, HDPPCFG(4, top_prior="dirichlet", n_init=2, init="annealed", **n)
    yield make_sentences, HDPPCFG(3, n_preterminals=4, predict_method="mean", **n)
    yield make_sentences, HDPPCFG(4, inference="em", pseudo_count=0.1, **n)
    yield make_sentences, HDPPCFG(4, inference="viterbi-em", dtype="float32", **n)
    yield make_trees, HDPPCFGRefiner(2, **n)
    yield make_trees, HDPPCFGRefiner(16, **n)
    yield make_trees, HDPPCFGRefiner(4, inference="em", **n)


def mixtures():
    n = {"max_iter": 24}
    yield make_rows, PitmanYorMixture(**n)
    yield make_rows, PitmanYorMixture(GaussianEmission(covariance_type="diag"), n_chains=2, **n)
    yield make_rows, DPMixture(sampler="blocked", **n)
    yield make_rows_of_counts, PitmanYorMixture("poisson", discount=0.3, concentration=2.0, **n)
    yield make_panel, HDPMixture(**n)
    yield make_counts, HDPMixture("poisson", concentration=2.0, split_merge=False, **n)
    yield make_rows_with_holes, IBPLatentFeatures(**n)
    yield make_rows, IBPLatentFeatures(n_chains=2, **n)


def language_models():
    n = {"max_iter": 24}
    yield make_sentences, HierarchicalPitmanYorLM(**n)
    yield make_sentences, HierarchicalPitmanYorLM(2, n_chains=2, **n)
    yield make_sentences, HierarchicalPitmanYorLM(order=None, **n)
    yield make_sentences, KneserNeyLM()
    yield make_strings, NestedPitmanYorLM(n_chains=1, anneal=None, **n)
    yield make_strings, NestedPitmanYorLM(word_order=3, n_chains=1, anneal=None, **n)
    yield make_strings, CollocationPitmanYorLM(n_chains=1, anneal=None, **n)


def context_models():
    n = {"max_iter": 24}
    yield make_events, HDPBackoffClassifier(None, **n)
    yield make_events, HDPBackoffClassifier(None, concentration_scope="context", n_chains=2, **n)
    yield make_events, HDPBackoffClassifier(**n)
    yield make_events, CollinsBackoffClassifier()
    yield make_events, DistanceDependentCRPClassifier(**n)
    yield make_events, DistanceDependentCRPClassifier(outcome_model="dirichlet", **n)


def everything():
    for estimator in topic_models():
        yield make_documents, estimator
    yield from sequence_models()
    yield from grammars()
    yield from mixtures()
    yield from language_models()
    yield from context_models()


def feed(digest, value):
    """Add a value to a digest: its numbers, or its text."""
    if scipy.sparse.issparse(value):
        value = value.toarray()
    if isinstance(value, np.ndarray) and value.dtype != object:
        digest.update(str((value.dtype.kind, value.shape)).encode())
        digest.update(np.ascontiguousarray(value).tobytes())
    elif isinstance(value, (list, tuple, np.ndarray)):
        for item in value:
            feed(digest, item)
    elif isinstance(value, (dict, Trace)):
        for key in sorted(value):
            digest.update(str(key).encode())
            feed(digest, value[key])
    elif isinstance(value, float):
        digest.update(value.hex().encode())
    else:
        digest.update(str(value).encode())


def hashed(value):
    digest = hashlib.sha256()
    feed(digest, value)
    return digest.hexdigest()[:16]


def is_plain(value):
    """Tell whether a value is none of skdp's own objects, or a trace or trees."""
    if isinstance(value, (list, tuple)) and len(value):
        return is_plain(value[0])
    return isinstance(value, (Trace, ParseTree)) or not type(value).__module__.startswith("skdp")


def fit_and_hash(estimator, data):
    """Return a hash of every fitted attribute and of what every method gives."""
    if "random_state" in estimator.get_params():
        estimator.set_params(random_state=0)
    estimator.fit(*data)
    found = {}
    for name in sorted(dir(type(estimator)) + list(vars(estimator))):
        if name.endswith("_") and not name.startswith("_"):
            value = getattr(estimator, name, None)
            if value is not None and is_plain(value):
                found[name] = hashed(value)
    for name in METHODS:
        method = getattr(estimator, name, None)
        if method is None:
            continue
        takes = data if name == "score" or takes_y(method) else data[:1]
        try:
            value = method(*takes) if name != "top_words" else method(list(map(str, range(30))), 5)
        except ValueError as error:
            value = str(error)
        found[f"{name}()"] = hashed(value)
    if hasattr(estimator, "sample"):
        drawn = estimator.sample(7, random_state=1)
        found["sample()"] = hashed([*drawn] if isinstance(drawn, TokenSequences) else drawn)
    if hasattr(estimator, "iter_sweeps"):
        states = [state.log_joint() for state in estimator.iter_sweeps(*data)]
        found["iter_sweeps()"] = hashed(states)
    return found


def functions():
    """Hash what the public functions that draw or sum give."""
    rng = np.random.default_rng(0)
    rows = rng.dirichlet(np.ones(5), 6)
    chain = (rows[0], rows[1:], np.log(rng.random((40, 5))), [0, 10, 40])
    tables = sample_table_counts(
        np.array([5, 9, 40]),
        np.array([0.2, 0.3, 0.5]),
        discount=0.3,
        concentration=2.0,
        sampler="btigs",
        n_sweeps=50,
        random_state=0,
    )
    grammar = rng.random(3), rng.random((3, 2)), rng.random((3, 9)), rng.random((3, 3, 3))
    sentences = [sentence for sentence in make_sentences()[0] if sentence]
    counts = inside_outside(sentences, *grammar)
    return {
        "sample_table_counts": hashed(tables),
        "hmm_log_likelihood": hashed(hmm_log_likelihood(*chain)),
        "hmm_posterior": hashed(hmm_posterior(*chain)),
        "hmm_sample_states": hashed(hmm_sample_states(*chain, random_state=0)),
        "inside_outside": hashed([counts.log_prob, counts.binary_counts, counts.emission_counts]),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--save", help="write the hashes to this file")
    parser.add_argument("--compare", help="compare with the hashes in this file")
    parser.add_argument("--only", default="", help="only estimators whose text contains this")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print(skdp.__version__, skdp.__file__)
    found = {"functions": functions()} if not options.only else {}
    for make, estimator in everything():
        name = " ".join(repr(estimator).split())
        if options.only in name:
            found[f"{make.__name__}: {name}"] = fit_and_hash(estimator, make())
    n_hashes = sum(map(len, found.values()))
    print(f"{len(found) - (not options.only)} fits, {n_hashes} hashes")
    if options.save:
        with open(options.save, "w", encoding="utf-8") as file:
            json.dump(found, file, indent=1)
    if options.compare:
        with open(options.compare, encoding="utf-8") as file:
            before = json.load(file)
        differing = 0
        for name, hashes in found.items():
            old = before.get(name, {})
            for key in sorted(old.keys() | hashes.keys()):
                if old.get(key) != hashes.get(key):
                    differing += 1
                    print(f"differs: {name}: {key}")
        print(f"{differing} of them differ")


if __name__ == "__main__":
    main()
