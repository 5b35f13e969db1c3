"""The grammar of inferred size as an estimator; tests/refusals/grammar.txt has what it refuses."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from unit.grammar.small_grammars import (
    MODELS,
    N_WORDS,
    SENTENCES,
    every_model,
    fitted,
    quick,
)

from skdp.data import PartitionedSentences, TokenSequences
from skdp.feature_extraction import TokenVectorizer
from skdp.grammar import HDPPCFG, ParseTree
from skdp.utils._checking import interrupt, same_fit


def copy_of(estimator):
    return pickle.loads(pickle.dumps(estimator))


@every_model
def test_attributes(name):
    estimator = fitted(name)
    n_preterminals = estimator.n_preterminals or 0
    n = 3 + n_preterminals
    parts = [3] if not n_preterminals else [n_preterminals, 3]
    assert estimator.top_weights_.shape == estimator.root_probs_.shape == (n,)
    assert estimator.rule_type_probs_.shape == (3, 4 if n_preterminals else 2)
    assert estimator.emission_probs_.shape == (parts[0], N_WORDS)
    assert estimator.binary_probs_.shape == (3, n, n)
    assert estimator.symbol_shares_.shape == (n,)
    for weights in np.split(estimator.top_weights_, np.cumsum(parts)[:-1]):
        assert_allclose(weights.sum(), 1.0)
        assert np.all(weights >= 1e-8)
    for table in ("root_probs_", "symbol_shares_"):
        assert_allclose(getattr(estimator, table).sum(), 1.0)
    for table in ("rule_type_probs_", "emission_probs_", "binary_probs_"):
        rows = getattr(estimator, table)
        assert_allclose(rows.reshape(len(rows), -1).sum(axis=1), 1.0)
    assert_array_equal(estimator.get_feature_names_out(), [f"hdppcfg{i}" for i in range(n)])
    for sentence, tree in zip(SENTENCES, estimator.predict(SENTENCES), strict=True):
        assert tree.leaves == tuple(map(str, sentence))
    n_annealed = 2 if "annealed" in name else 0
    assert 0 <= estimator.n_iter_ - n_annealed - len(estimator.lower_bounds_) <= 1
    assert np.all(np.diff(estimator.lower_bounds_) >= 0.0)
    assert estimator.lower_bound_ == estimator.lower_bounds_[-1]


def test_active_symbols_and_rules():
    """Fits of a corpus that one rule and two words explain."""
    estimator = quick(
        n_preterminals=3, max_iter=60, emission_prior=0.01, binary_concentration=0.01,
        rule_type_prior=0.01, tol=1e-6,
    ).fit([[0, 1]] * 20)  # fmt: skip
    assert estimator.n_active_components_ == 3
    assert estimator.n_active_rules_ >= 3
    logs = estimator._grammar.weights()
    preterminals = np.flatnonzero(estimator.symbol_shares_[:3] > 1e-9)
    constituents = np.flatnonzero(estimator.symbol_shares_[3:] > 1e-9)
    expected = (np.exp(logs.log_emission[preterminals]) >= 1e-6).sum()
    expected += (np.exp(logs.log_binary[constituents]) >= 1e-6).sum()
    assert estimator.n_active_rules_ == expected


@pytest.mark.parametrize(("max_iter", "n_init"), [(1, 1), (2, 2), (4, 1), (5, 1), (9, 2)])
def test_a_few_annealed_iterations(max_iter, n_init):
    """However few there are, four of five have a bound; no more than 40 are annealed."""
    estimator = quick(init="annealed", max_iter=max_iter, n_init=n_init, tol=0.0).fit(SENTENCES)
    assert estimator.n_iter_ == max_iter
    assert len(estimator.lower_bounds_) == max_iter - max_iter // 5
    assert np.isfinite(estimator.lower_bound_)
    params = {"inference": "em", "init": "annealed", "max_iter": 300}  # tries no symbols
    estimator = quick(**params, n_init=n_init, tol=1e300).fit([[0, 1], [0]])
    assert estimator.n_iter_ == 42  # the second bound is compared with the first
    assert len(estimator.lower_bounds_) == 2


def test_tolerance_is_per_word():
    estimator = quick(inference="em", max_iter=500, tol=1e-3).fit(SENTENCES)
    assert estimator.n_iter_ < 500
    rises = np.diff(estimator.lower_bounds_) / sum(map(len, SENTENCES))
    assert rises[-1] <= 1e-3
    assert np.all(rises[:-1] > 1e-3)


@pytest.mark.parametrize("tol", [0.0, 1e-3])
def test_converged(tol):
    """No symbol can be spared then, and more iterations change nothing."""
    first = quick(max_iter=2000, tol=tol, warm_start=True).fit(SENTENCES)
    assert first.n_iter_ < 2000
    second = copy_of(first).set_params(max_iter=3000).fit(SENTENCES)
    same_fit(first, second)


def test_starts_seeds_and_precision():
    several, plain = quick(n_init=4).fit(SENTENCES), fitted("plain")
    assert several.lower_bound_ >= plain.lower_bound_
    assert several.init_lower_bounds_[0] == plain.lower_bound_
    single = quick(dtype="float32").fit(SENTENCES)
    assert_allclose(single.lower_bound_, plain.lower_bound_, rtol=1e-3)
    assert single.binary_probs_.dtype == np.float64
    for make in (int, np.random.RandomState, np.random.default_rng):
        first, same, other = (plain.sample(5, random_state=make(seed)) for seed in (3, 3, 4))
        assert first[1] == same[1]
        assert first[1] != other[1]
        assert_array_equal(first[0].tokens, same[0].tokens)


# Warm starts and callbacks


@pytest.mark.parametrize("name", ["annealed", "annealed em", "viterbi"])
def test_warm_starts_go_on(name):
    """From an annealed start too: what is annealed was settled at first."""
    params = {**MODELS[name], "tol": 0.0, "n_init": 2}
    warm = quick(**params, max_iter=5, warm_start=True).fit(SENTENCES)
    first = warm.lower_bounds_
    same_fit(warm, quick(**params, max_iter=5).fit(SENTENCES))
    assert_array_equal(warm.fit(SENTENCES).lower_bounds_, first)
    warm = copy_of(warm).set_params(max_iter=7).fit(SENTENCES)
    if "annealed" not in name:
        same_fit(warm, quick(**params, max_iter=7).fit(SENTENCES))
    assert np.all(np.diff(warm.lower_bounds_) >= 0.0)


def test_a_smaller_tolerance_goes_on():
    params = {"inference": "em", "max_iter": 50}
    warm = quick(**params, tol=0.05, warm_start=True).fit(SENTENCES)
    n_iter = warm.n_iter_
    assert n_iter < 50
    assert warm.set_params(tol=1e-3).fit(SENTENCES).n_iter_ > n_iter
    same_fit(warm, quick(**params, tol=1e-3).fit(SENTENCES))


@pytest.mark.filterwarnings("ignore:.*longer than max_length")
def test_what_a_warm_start_may_change():
    """Only what does not count in the fit."""
    warm = quick(warm_start=True).fit(SENTENCES)
    warm.set_params(predict_method="mean", n_jobs=2).fit(SENTENCES)
    with pytest.raises(ValueError, match="same X"):
        warm.fit(SENTENCES[::-1])
    changes = {
        "n_components": 2, "top_prior": "dirichlet", "binary_concentration": 2.0, "n_init": 2,
        "inference": "em", "init": "annealed", "max_length": 5,
    }  # fmt: skip
    for name, value in changes.items():
        other = copy_of(warm).set_params(**{name: value})
        with pytest.raises(ValueError, match=name):
            other.fit(SENTENCES)


@pytest.mark.parametrize(("name", "n_steps"), [("annealed", 1), ("annealed em", 6), ("viterbi", 3)])
def test_interruptions(name, n_steps):
    """While it anneals, nothing is fitted."""
    params = {**MODELS[name], "tol": 0.0, "max_iter": 8}
    straight, stopped = quick(**params).fit(SENTENCES), quick(**params)
    interrupt(stopped, n_steps, SENTENCES)
    if n_steps == 1:
        assert not hasattr(stopped, "lower_bound_")
        with pytest.raises(NotFittedError):
            stopped.predict(SENTENCES)
    else:
        assert stopped.n_iter_ <= n_steps
        assert np.isfinite(stopped.score(SENTENCES))
    resumed = copy_of(stopped).set_params(warm_start=True)
    same_fit(resumed.fit(SENTENCES), straight)


def test_verbose(capsys):
    quick(verbose=5, tol=0.0).fit(SENTENCES)
    *lines, last = capsys.readouterr().out.splitlines()
    starts = [f"[HDPPCFG] iteration {i} of 12" for i in (5, 10, 12)]
    assert [line.split(",")[0] for line in lines] == starts
    assert last == "[HDPPCFG] lower_bound: n_iter 12, tol 0"
    assert all("lower bound -" in line for line in lines)
    quick(verbose=1, init="annealed", max_iter=10, tol=0.0).fit(SENTENCES)
    *lines, _ = capsys.readouterr().out.splitlines()
    assert ["annealing" in line for line in lines] == [True] * 2 + [False] * 8


class Recorder:
    """A callback that reads the learned attributes, and may stop the fit."""

    def __init__(self, stop_after=None):
        self.stop_after, self.bounds = stop_after, []

    def setup(self, estimator, context):
        pass

    def teardown(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context):
        pass

    def on_fit_task_end(self, estimator, context, *, fitted_estimator=None):
        if context.task_name == "iteration":
            assert fitted_estimator.transform(SENTENCES).shape == (9, 3)
            self.bounds.append(fitted_estimator.lower_bound_)
        return len(self.bounds) == self.stop_after


def test_callbacks():
    """They watch or stop a fit; one that stops while it anneals has a grammar, but no bound yet."""
    pytest.importorskip("sklearn.callback", reason="callbacks came with scikit-learn 1.9")
    straight, recorder = quick(tol=0.0).fit(SENTENCES), Recorder()
    watched = quick(tol=0.0).set_callbacks(recorder).fit(SENTENCES)
    assert_array_equal(recorder.bounds, watched.lower_bounds_)
    same_fit(watched, straight)
    stopped = quick(tol=0.0, warm_start=True).set_callbacks(Recorder(4)).fit(SENTENCES)
    assert stopped.n_iter_ == len(stopped.lower_bounds_) == 4
    same_fit(stopped.set_callbacks().fit(SENTENCES), straight)
    stopped = quick(init="annealed").set_callbacks(Recorder(1)).fit(SENTENCES)
    assert stopped.lower_bound_ == -np.inf
    assert len(stopped.lower_bounds_) == 0
    assert np.isfinite(stopped.score(SENTENCES))


# Sentences


TEXT = ["the cat ate", "a dog ate", "the dog slept", "a cat slept soundly"]


def test_words():
    """Trees and symbols have the words of a vectorizer, in pipelines too."""
    vectorizer = TokenVectorizer(min_count=1)
    X, model = vectorizer.fit_transform(TEXT), quick(n_preterminals=4, max_iter=5)
    names = vectorizer.get_feature_names_out()
    plain, best = model.fit(X).predict(X), model.k_best(X, 3)
    trees, ranked = (
        method(X, *args, feature_names=names)
        for method, args in ((model.predict, ()), (model.k_best, (3,)))
    )
    for i, words in enumerate(map(str.split, TEXT)):
        assert trees[i] == plain[i].with_leaves(words)
        assert ranked[i] == [(tree.with_leaves(words), score) for tree, score in best[i]]
    ids, words = model.top_words(), model.top_words(names)
    assert len(ids) == len(model.emission_probs_) == 4
    for row, probs, found in zip(ids, model.emission_probs_, words, strict=True):
        assert sorted(row) == list(range(len(names)))
        assert np.all(np.diff(probs[row]) <= 0.0)
        assert found == names[row].tolist()
    for row, some in zip(words, model.top_words(names, 2, weights=True), strict=True):
        assert [name for name, _ in some] == row[:2]
    assert model.top_words(n=1, weights=True)[0][0][1] == model.emission_probs_[0].max()
    pipeline = make_pipeline(vectorizer, clone(model)).fit(TEXT)
    (tree,) = pipeline.predict(["the dog ate"], feature_names=names)
    assert tree.leaves == ("the", "dog", "ate")
    classifier = make_pipeline(vectorizer, clone(model), LogisticRegression())
    assert classifier.fit(TEXT, [0, 1, 0, 1]).predict(TEXT).shape == (4,)


@pytest.mark.parametrize(
    "params",
    [{"n_preterminals": 1}, {"top_prior": "dirichlet"}, {"inference": "em"},
     {"inference": "viterbi-em", "n_preterminals": 1}],
)  # fmt: skip
def test_one_symbol_and_one_word(params):
    """Sentences of one word have a preterminal at the root, if there are some."""
    (tree,) = quick(**params).fit([[0], [1], [1]]).predict([[1]])
    assert tree.children == ("1",)
    assert tree.label[0] == ("P" if "n_preterminals" in params else "S")
    estimator = quick(**params, n_components=1).fit(SENTENCES)
    assert_array_equal(estimator.top_weights_, np.ones(1 + ("n_preterminals" in params)))
    assert np.isfinite(estimator.score(SENTENCES))
    assert_allclose(estimator.transform(SENTENCES).sum(axis=1), 1.0)


def test_unseen_words_and_long_sentences():
    """Unseen words of the vocabulary have the prior mean; nothing underflows in 200 words."""
    estimator = quick(n_preterminals=3, max_iter=3)
    estimator.fit(TokenSequences.from_sequences(SENTENCES, 7))
    assert estimator.emission_probs_.shape == (3, 7)
    assert np.isfinite(estimator.score_samples([[6, 0]])).all()
    long = [SENTENCES[2] * 34]
    assert -2000.0 < estimator.score_samples(long)[0] < -50.0
    assert_allclose(estimator.transform(long).sum(axis=1), 1.0)
    assert len(estimator.predict(long)[0].leaves) == 204


@pytest.mark.parametrize("value", [1e-8, 1e8])
def test_priors_at_their_ends(value):
    """Nothing overflows."""
    names = "top_concentration root_concentration rule_type_prior emission_prior".split()
    params = dict.fromkeys([*names, "binary_concentration"], value)
    estimator = quick(n_preterminals=3, **params).fit(SENTENCES)
    assert np.isfinite(estimator.lower_bound_)
    assert np.isfinite(estimator.score(SENTENCES))
    assert all(tree.leaves for tree in estimator.predict(SENTENCES))


@pytest.mark.parametrize("n_preterminals", [None, 3])
def test_shares_of_a_most_likely_grammar(n_preterminals):
    """Nodes of drawn trees are the root and children of nodes; EM's have `symbol_shares_`."""
    model = quick(inference="em", n_preterminals=n_preterminals, max_iter=3000, tol=0.0)
    binary = model.fit(SENTENCES).binary_probs_
    if n_preterminals is None:
        binary = model.rule_type_probs_[:, 1, None, None] * binary
    children = np.zeros((len(model.root_probs_),) * 2)
    children[-len(binary) :] = binary.sum(axis=1) + binary.sum(axis=2)
    nodes = np.linalg.solve(np.eye(len(children)) - children.T, model.root_probs_)
    assert_allclose(nodes / nodes.sum(), model.symbol_shares_, atol=1e-6)


def test_longer_sentences_are_left_out():
    short = [sentence for sentence in SENTENCES if len(sentence) <= 4]
    expected = quick().fit(TokenSequences.from_sequences(short, N_WORDS))
    X = PartitionedSentences.from_sentences(TokenSequences.from_sequences(SENTENCES), 1)
    for data in (X, SENTENCES):
        with pytest.warns(UserWarning, match="4 of 9 sentences are longer than max_length=4"):
            estimator = quick(max_length=4).fit(data)
        assert_array_equal(estimator.lower_bounds_, expected.lower_bounds_)
    assert_array_equal(estimator.binary_probs_, expected.binary_probs_)
    assert np.isfinite(estimator.score_samples(SENTENCES)).all()
    assert len(estimator.predict(SENTENCES)) == len(estimator.transform(SENTENCES)) == 9


def test_the_words_of_what_is_left_out():
    """They are in the vocabulary, but have no probability by maximum likelihood."""
    with pytest.warns(UserWarning, match="1 of 4"):
        estimator = quick(inference="em", max_length=2).fit([[0, 1], [1, 0], [0], [2, 2, 2]])
    assert estimator.n_words_ == 3
    assert_array_equal(estimator.emission_probs_[:, 2] < 1e-300, [True] * 3)
    X = [[], [0, 1], [2, 0], [2]]
    with pytest.warns(UserWarning, match="2 of 4 .* flat tree: sentences 2, 3.$"):
        trees = estimator.predict(X)
    best = f"S{np.argmax(estimator.root_probs_)}"
    assert trees[0] is None
    assert trees[1].leaves == ("0", "1")
    assert trees[2:] == [ParseTree(best, ["2", "0"]), ParseTree(best, ["2"])]
    with pytest.warns(UserWarning, match="2 of 4 .* mean shares: sentences 2, 3.$"):
        shares = estimator.transform(X)
    assert_allclose(shares[[0, 2, 3]], [estimator.symbol_shares_] * 3)
    assert_allclose(shares.sum(axis=1), 1.0)
    with pytest.warns(
        UserWarning, match="2 of 4 .* have no parse.*probability 0: sentences 2, 3.$"
    ):
        scores = estimator.score_samples(X)
    assert scores[0] == 0.0
    assert_array_equal(np.isneginf(scores), [False, False, True, True])
    with pytest.warns(UserWarning, match="no parse"):
        assert estimator.score(X) == -np.inf
    with pytest.warns(UserWarning, match="no parse"):
        assert estimator.perplexity(X) == np.inf


# Partitions

RNG = np.random.default_rng(0)
CORPUS = TokenSequences.from_sequences(
    [RNG.integers(0, 5, RNG.integers(0, 7)) for _ in range(40)], n_features=5
)


def model_of(**params):
    return HDPPCFG(2, **{"max_iter": 4, "random_state": 0, **params})


def split(n, sentences=CORPUS):
    return PartitionedSentences.from_sentences(sentences, n)


@pytest.mark.parametrize(
    "params",
    [{}, {"inference": "em", "pseudo_count": 0.1}, {"inference": "viterbi-em"},
     {"n_init": 2, "n_jobs": 2, "n_preterminals": 2}, {"dtype": "float32"}],
    ids=str,
)  # fmt: skip
def test_one_partition_has_the_bits_of_none(params):
    same_fit(model_of(**params).fit(split(1)), model_of(**params).fit(CORPUS))


@pytest.mark.parametrize("n_partitions", [2, 11])
def test_partitions_differ_by_rounding(n_partitions):
    whole, parts = model_of().fit(CORPUS), model_of().fit(split(n_partitions))
    assert_allclose(parts.lower_bounds_, whole.lower_bounds_, rtol=1e-12)
    assert_allclose(parts.binary_probs_, whole.binary_probs_, rtol=1e-8)
    same_fit(model_of(n_jobs=2).fit(split(n_partitions)), parts)
    assert parts.n_words_ == parts.n_features_in_ == 5


def test_predictions_of_partitions(tmp_path):
    fit, X = model_of().fit(CORPUS), split(7).to_files(tmp_path)
    assert_array_equal(fit.score_samples(X), fit.score_samples(CORPUS))
    assert_array_equal(fit.transform(X), fit.transform(CORPUS))
    assert fit.predict(X) == fit.predict(CORPUS)
    assert_allclose(fit.score(X), fit.score(CORPUS), rtol=1e-14)
    assert_allclose(fit.perplexity(X), fit.perplexity(CORPUS), rtol=1e-12)
    sampled = model_of(inference="gibbs", max_iter=20).fit(CORPUS)  # a mean over samples
    assert sampled.score(X) == pytest.approx(sampled.score(CORPUS), rel=1e-12)


def test_warm_starts_of_partitions():
    straight = model_of(max_iter=6).fit(split(3))
    resumed = copy_of(model_of(max_iter=2, warm_start=True).fit(split(3)))
    same_fit(resumed.set_params(max_iter=6).fit(split(3)), straight)
    for other in (split(2), CORPUS, split(3, CORPUS[::-1])):
        with pytest.raises(ValueError, match="needs the same X"):
            resumed.fit(other)


def test_a_damaged_partition_leaves_the_estimator_alone(tmp_path):
    X = split(3).to_files(tmp_path)
    tokens = np.load(tmp_path / "part-00002" / "tokens.npy")
    np.save(tmp_path / "part-00002" / "tokens.npy", tokens - 1)
    fresh = model_of()
    with pytest.raises(ValueError, match=r"partition 2 \(part-00002\): sentence \d+: word id -1"):
        fresh.fit(X)
    assert not hasattr(fresh, "n_words_")
