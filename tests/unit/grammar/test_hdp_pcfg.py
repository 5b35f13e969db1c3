"""The grammar of inferred size as an estimator."""

import pickle
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from unit.grammar.small_grammars import (
    MODELS,
    N_WORDS,
    SENTENCES,
    assert_same_fit,
    every_model,
    fitted,
    quick,
)

from skdp.data import TokenSequences
from skdp.feature_extraction import TokenVectorizer
from skdp.grammar import ParseTree
from skdp.utils._checking import interrupt


class TestAttributes:
    @every_model
    def test_shapes(self, name):
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
        names = [f"hdppcfg{i}" for i in range(n)]
        assert_array_equal(estimator.get_feature_names_out(), names)

    @every_model
    def test_bounds(self, name):
        estimator = quick(**MODELS[name], n_init=2, max_iter=15, tol=0.0).fit(SENTENCES)
        n_annealed = 3 if "annealed" in name else 0
        assert len(estimator.lower_bounds_) in (
            estimator.n_iter_ - n_annealed, estimator.n_iter_ - n_annealed - 1,
        )  # fmt: skip
        assert np.all(np.diff(estimator.lower_bounds_) >= 0.0)
        assert estimator.lower_bound_ == estimator.lower_bounds_[-1]
        assert estimator.init_lower_bounds_.shape == (2,)
        assert estimator.lower_bound_ == estimator.init_lower_bounds_.max()
        assert len(set(estimator.init_lower_bounds_)) == 2

    def test_active_symbols_and_rules(self):
        """Fits of a corpus that one rule and two words explain."""
        estimator = quick(
            n_preterminals=3, max_iter=60, emission_prior=0.01, binary_concentration=0.01,
            rule_type_prior=0.01, tol=1e-6,
        ).fit([[0, 1]] * 20)  # fmt: skip
        assert estimator.n_active_components_ == 3
        assert estimator.n_active_rules_ >= 3
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            logs = estimator._grammar.weights()
        preterminals = np.flatnonzero(estimator.symbol_shares_[:3] > 1e-9)
        constituents = np.flatnonzero(estimator.symbol_shares_[3:] > 1e-9)
        expected = (np.exp(logs.log_emission[preterminals]) >= 1e-6).sum()
        expected += (np.exp(logs.log_binary[constituents]) >= 1e-6).sum()
        assert estimator.n_active_rules_ == expected

    @pytest.mark.parametrize("n_starts", [1, 2])
    @pytest.mark.parametrize("max_iter", [1, 2, 4, 5, 9])
    def test_a_few_annealed_iterations(self, n_starts, max_iter):
        """However few there are, four of five have a bound."""
        estimator = quick(init="annealed", max_iter=max_iter, n_init=n_starts, tol=0.0)
        estimator.fit(SENTENCES)
        assert estimator.n_iter_ == max_iter
        assert len(estimator.lower_bounds_) == max_iter - max_iter // 5
        assert np.isfinite(estimator.lower_bound_)

    def test_annealing_ends_after_forty(self):
        params = {"inference": "em", "init": "annealed"}  # tries no symbols
        estimator = quick(**params, max_iter=300, tol=1e300).fit([[0, 1], [0]])
        assert estimator.n_iter_ == 42  # the second bound is compared with the first
        assert len(estimator.lower_bounds_) == 2

    def test_tolerance(self):
        """It is per word."""
        estimator = quick(inference="em", max_iter=500, tol=1e-3).fit(SENTENCES)
        assert estimator.n_iter_ < 500
        rises = np.diff(estimator.lower_bounds_) / sum(map(len, SENTENCES))
        assert rises[-1] <= 1e-3
        assert np.all(rises[:-1] > 1e-3)

    @pytest.mark.parametrize("tol", [0.0, 1e-3])
    def test_converged(self, tol):
        """No symbol can be spared then, and more iterations change nothing."""
        first, second = (quick(max_iter=n, tol=tol).fit(SENTENCES) for n in (2000, 3000))
        assert first.n_iter_ < 2000
        assert_same_fit(first, second)

    def test_starts(self):
        """The best start counts."""
        several = quick(n_init=4).fit(SENTENCES)
        assert several.lower_bound_ >= fitted("plain").lower_bound_
        assert several.init_lower_bounds_[0] == fitted("plain").lower_bound_

    def test_float32(self):
        estimator = quick(dtype="float32").fit(SENTENCES)
        assert_allclose(estimator.lower_bound_, fitted("plain").lower_bound_, rtol=1e-3)
        assert estimator.binary_probs_.dtype == np.float64


class TestDeterminism:
    @every_model
    def test_jobs(self, name):
        params = {**MODELS[name], "n_init": 2, "max_iter": 5}
        one, two = (quick(**params, n_jobs=n).fit(SENTENCES) for n in (1, 2))
        assert_same_fit(one, two)

    @pytest.mark.parametrize("name", ["plain", "viterbi"])
    def test_jobs_of_sentences(self, name):
        """There are several batches of them."""
        X = SENTENCES * 8
        one, two = (quick(**MODELS[name], n_jobs=n, max_iter=3).fit(X) for n in (1, 2))
        assert_same_fit(one, two)
        assert_array_equal(one.transform(X), two.transform(X))
        assert_array_equal(one.score_samples(X), two.score_samples(X))
        assert one.predict(X) == two.predict(X)

    @pytest.mark.parametrize("make", [int, np.random.RandomState, np.random.default_rng])
    def test_seeds(self, make):
        first, same, other = (quick(random_state=make(s)).fit(SENTENCES) for s in (3, 3, 4))
        assert_same_fit(first, same)
        assert first.lower_bound_ != other.lower_bound_
        draws = [fitted("plain").sample(5, random_state=make(s)) for s in (3, 3, 4)]
        assert draws[0][1] == draws[1][1]
        assert draws[0][1] != draws[2][1]
        assert_array_equal(draws[0][0].tokens, draws[1][0].tokens)

    def test_no_seed(self):
        assert quick(random_state=None).fit(SENTENCES).lower_bound_ < 0.0


class TestWarmStart:
    @every_model
    def test_goes_on(self, name):
        """From an annealed start too: what is annealed was settled at first."""
        params = {**MODELS[name], "tol": 0.0, "n_init": 2}
        warm = quick(**params, max_iter=5, warm_start=True).fit(SENTENCES)
        first = warm.lower_bounds_
        assert_same_fit(warm, quick(**params, max_iter=5).fit(SENTENCES))
        warm.fit(SENTENCES)
        assert_array_equal(warm.lower_bounds_, first)
        warm = pickle.loads(pickle.dumps(warm)).set_params(max_iter=7).fit(SENTENCES)
        if "annealed" not in name:
            assert_same_fit(warm, quick(**params, max_iter=7).fit(SENTENCES))
        assert np.all(np.diff(warm.lower_bounds_) >= 0.0)

    def test_a_smaller_tolerance_goes_on(self):
        params = {"inference": "em", "max_iter": 50}
        warm = quick(**params, tol=0.05, warm_start=True).fit(SENTENCES)
        n_iter = warm.n_iter_
        assert n_iter < 50
        warm.set_params(tol=1e-3).fit(SENTENCES)
        assert warm.n_iter_ > n_iter
        assert_same_fit(warm, quick(**params, tol=1e-3).fit(SENTENCES))

    @pytest.mark.parametrize(
        ("name", "value"),
        [("n_components", 2), ("top_prior", "dirichlet"), ("binary_concentration", 2.0),
         ("n_init", 2), ("inference", "em"), ("init", "annealed"), ("max_length", 5)],
    )  # fmt: skip
    def test_another_model_is_refused(self, name, value):
        warm = quick(warm_start=True).fit(SENTENCES).set_params(**{name: value})
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with pytest.raises(ValueError, match=name):
                warm.fit(SENTENCES)

    def test_other_sentences_are_refused(self):
        warm = quick(warm_start=True).fit(SENTENCES)
        with pytest.raises(ValueError, match="same X"):
            warm.fit(SENTENCES[::-1])

    def test_the_way_of_parsing_may_change(self):
        warm = quick(warm_start=True).fit(SENTENCES).set_params(predict_method="mean", n_jobs=2)
        warm.fit(SENTENCES)

    @every_model
    @pytest.mark.parametrize("n_steps", [1, 6])
    def test_interruption(self, name, n_steps):
        params = {**MODELS[name], "tol": 0.0, "max_iter": 8}
        straight = quick(**params).fit(SENTENCES)
        if n_steps >= straight.n_iter_:
            pytest.skip("It has converged by then.")
        stopped = quick(**params)
        interrupt(stopped, n_steps, SENTENCES)
        if "annealed" in name and n_steps == 1:
            assert not hasattr(stopped, "lower_bound_")
            with pytest.raises(NotFittedError):
                stopped.predict(SENTENCES)
        else:
            assert stopped.n_iter_ <= n_steps
            assert np.isfinite(stopped.score(SENTENCES))
        resumed = pickle.loads(pickle.dumps(stopped)).set_params(warm_start=True)
        assert_same_fit(resumed.fit(SENTENCES), straight)

    def test_pickles_hold_no_sentences(self):
        for params in ({}, {"warm_start": True}):
            few, many = (quick(**params).fit(SENTENCES * n) for n in (5, 100))
            assert len(pickle.dumps(many)) < len(pickle.dumps(few)) + 200

    @every_model
    def test_pickled(self, name):
        again = pickle.loads(pickle.dumps(fitted(name)))
        assert_same_fit(again, fitted(name))
        assert_array_equal(again.transform(SENTENCES), fitted(name).transform(SENTENCES))
        assert again.predict(SENTENCES) == fitted(name).predict(SENTENCES)


class TestVerbose:
    def test_lines(self, capsys):
        quick(verbose=5, tol=0.0).fit(SENTENCES)
        *lines, last = capsys.readouterr().out.splitlines()
        assert [line.split(",")[0] for line in lines] == [
            "[HDPPCFG] iteration 5 of 12", "[HDPPCFG] iteration 10 of 12",
            "[HDPPCFG] iteration 12 of 12",
        ]  # fmt: skip
        assert last == "[HDPPCFG] lower_bound: n_iter 12, tol 0"
        assert all("lower bound -" in line for line in lines)

    def test_annealing(self, capsys):
        quick(verbose=1, init="annealed", max_iter=10, tol=0.0).fit(SENTENCES)
        *lines, _ = capsys.readouterr().out.splitlines()
        assert len(lines) == 10
        assert ["annealing" in line for line in lines] == [True] * 2 + [False] * 8

    def test_silence(self, capsys):
        quick().fit(SENTENCES)
        assert capsys.readouterr().out == ""


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


class TestCallbacks:
    @pytest.fixture(autouse=True)
    def _needs_callbacks(self):
        pytest.importorskip("sklearn.callback", reason="callbacks came with scikit-learn 1.9")

    def test_watching(self):
        recorder = Recorder()
        watched = quick(tol=0.0).set_callbacks(recorder).fit(SENTENCES)
        assert_array_equal(recorder.bounds, watched.lower_bounds_)
        assert_same_fit(watched, quick(tol=0.0).fit(SENTENCES))

    def test_early_stop(self):
        stopped = quick(tol=0.0, warm_start=True).set_callbacks(Recorder(4)).fit(SENTENCES)
        assert stopped.n_iter_ == len(stopped.lower_bounds_) == 4
        assert_same_fit(stopped.set_callbacks().fit(SENTENCES), quick(tol=0.0).fit(SENTENCES))

    def test_a_stop_while_annealing(self):
        """There is a grammar, but no bound of it yet."""
        stopped = quick(init="annealed").set_callbacks(Recorder(1)).fit(SENTENCES)
        assert stopped.lower_bound_ == -np.inf
        assert len(stopped.lower_bounds_) == 0
        assert np.isfinite(stopped.score(SENTENCES))


class TestScikitLearn:
    def test_clone(self):
        params = {"n_preterminals": 3, "binary_concentration": [1.0, 2.0, 3.0, 4.0]}
        estimator = quick(**params).fit(SENTENCES)
        assert clone(estimator).get_params() == estimator.get_params()
        assert_same_fit(clone(estimator).fit(SENTENCES), estimator)

    def test_pandas_output(self):
        pytest.importorskip("pandas")
        frame = quick().set_output(transform="pandas").fit(SENTENCES).transform(SENTENCES)
        assert list(frame.columns) == ["hdppcfg0", "hdppcfg1", "hdppcfg2"]
        assert_array_equal(frame.to_numpy(), fitted("plain").transform(SENTENCES))

    def test_data_frame(self):
        pandas = pytest.importorskip("pandas")
        frame = pandas.DataFrame([[0, 1], [1, 0], [1, 1]], columns=["first", "second"])
        estimator = quick().fit(frame)
        assert_array_equal(estimator.feature_names_in_, ["first", "second"])
        assert estimator.n_features_in_ == 2
        estimator.transform(frame)
        with pytest.raises(ValueError, match="feature names"):
            estimator.transform(frame[["second", "first"]])

    def test_pipeline(self):
        texts = ["the dog ate", "the cat ate the mouse", "a big dog ate", "dogs", "the big cat ate"]
        pipeline = make_pipeline(TokenVectorizer(), quick()).fit(texts)
        shares = pipeline.transform(texts)
        assert shares.shape == (5, 3)
        assert np.isfinite(pipeline.score(texts))
        words = pipeline[0].get_feature_names_out()
        tree = pipeline.predict(["the dog ate"])[0]
        named = tree.with_leaves([words[int(leaf)] for leaf in tree.leaves])
        assert named.leaves == ("the", "dog", "ate")
        labels = [0, 1, 0, 1, 0]
        classifier = make_pipeline(TokenVectorizer(), quick(), LogisticRegression())
        assert classifier.fit(texts, labels).predict(texts).shape == (5,)

    def test_grid_search(self):
        corpus = TokenSequences.from_sequences(SENTENCES, N_WORDS)
        grid = {"n_components": [2, 3], "binary_concentration": [0.1, 1.0]}
        search = GridSearchCV(quick(max_iter=4), grid, cv=KFold(2)).fit(corpus)
        scores = search.cv_results_["mean_test_score"]
        assert np.all(np.isfinite(scores))
        assert len(set(scores)) == 4
        assert search.best_score_ == scores.max()

    def test_folds_are_of_sentences(self):
        corpus = TokenSequences.from_sequences(SENTENCES, N_WORDS)
        assert np.isfinite(cross_val_score(quick(max_iter=4), corpus, cv=KFold(3))).all()

    def test_fit_transform(self):
        shares = quick().fit_transform(SENTENCES)
        assert_array_equal(shares, fitted("plain").transform(SENTENCES))


class TestPredictions:
    @every_model
    def test_trees(self, name):
        trees = fitted(name).predict(SENTENCES)
        for sentence, tree in zip(SENTENCES, trees, strict=True):
            assert isinstance(tree, ParseTree)
            assert tree.leaves == tuple(map(str, sentence))

    @every_model
    def test_of_a_sentence_alone(self, name):
        """Predictions for a sentence do not depend on the other sentences."""
        estimator = fitted(name)
        shares, scores = estimator.transform(SENTENCES), estimator.score_samples(SENTENCES)
        trees = estimator.predict(SENTENCES)
        for i, sentence in enumerate(SENTENCES):
            assert_allclose(estimator.transform([sentence])[0], shares[i], rtol=1e-10, atol=1e-14)
            assert_allclose(estimator.score_samples([sentence])[0], scores[i], rtol=1e-10)
            assert estimator.predict([sentence]) == [trees[i]]

    def test_the_method_is_read_when_parsing(self):
        estimator = clone(fitted("plain")).fit(SENTENCES)
        for method in ("mean", "expected-log"):
            assert len(estimator.set_params(predict_method=method).predict(SENTENCES)) == 9

    def test_long_sentences(self):
        """Nothing underflows in 200 words."""
        estimator = quick(n_preterminals=3, max_iter=3).fit(SENTENCES)
        long = [SENTENCES[2] * 34]
        assert -2000.0 < estimator.score_samples(long)[0] < -50.0
        assert_allclose(estimator.transform(long).sum(axis=1), 1.0)
        assert len(estimator.predict(long)[0].leaves) == 204


class TestEmptySentences:
    def test_of_a_vectorizer(self):
        text = ["the dog runs", "a dog runs", "the cat sleeps"]
        vectorizer = TokenVectorizer(min_count=1)
        model = quick(max_iter=3).fit(vectorizer.fit_transform(text))
        X = vectorizer.transform(["", "the dog sleeps"])
        assert len(X[0]) == 0
        (nothing, tree), shares = model.predict(X), model.transform(X)
        assert nothing is None
        assert len(tree.leaves) == 3
        assert_array_equal(shares[0], model.symbol_shares_)
        assert model.score(X) == model.score(X[1:]) == model.score_samples(X)[1] / 3
        assert model.score_samples(X)[0] == 0.0

    @pytest.mark.parametrize("n_preterminals", [None, 3])
    def test_shares_of_a_most_likely_grammar(self, n_preterminals):
        """Nodes of drawn trees are the root and children of nodes; EM's have `symbol_shares_`."""
        model = quick(inference="em", n_preterminals=n_preterminals, max_iter=3000, tol=0.0)
        model.fit(SENTENCES)
        binary = model.binary_probs_
        if n_preterminals is None:
            binary = model.rule_type_probs_[:, 1, None, None] * binary
        children = np.zeros((len(model.root_probs_),) * 2)
        children[-len(binary) :] = binary.sum(axis=1) + binary.sum(axis=2)
        nodes = np.linalg.solve(np.eye(len(children)) - children.T, model.root_probs_)
        assert_allclose(nodes / nodes.sum(), model.symbol_shares_, atol=1e-6)
