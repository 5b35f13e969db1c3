"""Valid and invalid input of the grammar of inferred size."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import NotFittedError
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
from skdp.grammar import ParseTree


class TestBadInput:
    @pytest.mark.parametrize(
        ("params", "message"),
        [
            ({"n_components": 0}, "'n_components'"),
            ({"n_components": 2.0}, "'n_components'"),
            ({"n_preterminals": 0}, "'n_preterminals'"),
            ({"n_preterminals": 1.5}, "'n_preterminals'"),
            ({"top_prior": "dp"}, "'top_prior'"),
            ({"top_concentration": 0.0}, "'top_concentration'"),
            ({"top_concentration": -1.0}, "'top_concentration'"),
            ({"top_concentration": np.nan}, "'top_concentration'"),
            ({"root_concentration": 0}, "'root_concentration'"),
            ({"root_concentration": np.inf}, "'root_concentration'"),
            ({"rule_type_prior": 0.0}, "'rule_type_prior'"),
            ({"rule_type_prior": -0.5}, "'rule_type_prior'"),
            ({"rule_type_prior": [1.0, 0.0]}, "rule_type_prior must be positive"),
            ({"rule_type_prior": [1.0, np.nan]}, "rule_type_prior must be positive"),
            ({"rule_type_prior": [1.0] * 4}, "rule_type_prior must be a number or 2"),
            ({"rule_type_prior": [1.0, "a"]}, "rule_type_prior must be a number or 2"),
            ({"rule_type_prior": [1.0] * 2, "n_preterminals": 2}, "rule_type_prior must be .* 4"),
            ({"rule_type_prior": [[1.0, 1.0]]}, "rule_type_prior must be a number or 2"),
            ({"emission_prior": 0.0}, "'emission_prior'"),
            ({"emission_prior": [1.0] * 4}, "'emission_prior'"),
            ({"binary_concentration": 0.0}, "'binary_concentration'"),
            ({"binary_concentration": np.inf}, "'binary_concentration'"),
            ({"binary_concentration": [1.0] * 4}, "binary_concentration must be a number or 1"),
            (
                {"binary_concentration": [1.0, 1.0, -1.0, 1.0], "n_preterminals": 2},
                "binary_concentration must be positive",
            ),
            ({"inference": "mcmc"}, "'inference'"),
            ({"child_prior": "right"}, "'child_prior'"),
            ({"child_prior": "independent", "inference": "em"}, "child_prior is for"),
            ({"child_prior": "independent", "inference": "viterbi-em"}, "child_prior is for"),
            ({"top_concentration": "auto"}, "top_concentration='auto' is for inference='gibbs'"),
            ({"root_concentration": "auto"}, "root_concentration='auto' is for"),
            (
                {"binary_concentration": "auto", "inference": "em"},
                "binary_concentration='auto' is for",
            ),
            ({"top_concentration_prior": (1.0, 0.0)}, "top_concentration_prior"),
            ({"binary_concentration_prior": 1.0}, "'binary_concentration_prior'"),
            ({"n_chains": 2}, "n_chains has no effect with inference='vb'"),
            ({"n_chains": 3, "inference": "em"}, "n_chains has no effect with inference='em'"),
            ({"burn_in": -1}, "'burn_in'"),
            ({"thin": 0}, "'thin'"),
            ({"n_samples": 0}, "'n_samples'"),
            ({"n_init": 2, "inference": "gibbs"}, "n_init has no effect with inference='gibbs'"),
            ({"tol": 0.1, "inference": "gibbs"}, "tol has no effect"),
            ({"init": "annealed", "inference": "gibbs"}, "init has no effect"),
            ({"dtype": "float32", "inference": "gibbs"}, "dtype has no effect"),
            ({"pseudo_count": 0.1, "inference": "gibbs"}, "pseudo_count is for"),
            ({"burn_in": 12, "inference": "gibbs"}, "burn_in must be smaller than max_iter"),
            ({"pseudo_count": -0.1, "inference": "em"}, "'pseudo_count'"),
            ({"pseudo_count": 0.1}, "pseudo_count is for inference='em'"),
            ({"init": "k-means"}, "'init'"),
            ({"init": "annealed", "inference": "viterbi-em"}, "init='annealed' has no effect"),
            ({"predict_method": "mode"}, "'predict_method'"),
            ({"max_length": 0}, "'max_length'"),
            ({"dtype": "float16"}, "'dtype'"),
            ({"max_iter": 0}, "'max_iter'"),
            ({"tol": -1e-3}, "'tol'"),
            ({"tol": np.nan}, "'tol'"),
            ({"n_init": 0}, "'n_init'"),
            ({"n_jobs": 0}, "'n_jobs'"),
            ({"random_state": "seed"}, "'random_state'"),
            ({"verbose": -1}, "'verbose'"),
            ({"warm_start": "yes"}, "'warm_start'"),
        ],
    )
    def test_parameters(self, params, message):
        estimator = quick(**params)
        before = dict(vars(estimator))
        with pytest.raises(ValueError, match=message):
            estimator.fit(SENTENCES)
        assert vars(estimator) == before
        with pytest.raises(NotFittedError):
            estimator.predict(SENTENCES)

    @pytest.mark.parametrize(
        ("X", "message"),
        [
            ([], "0 sample"),
            (np.empty((0, 3), int), "0 sample"),
            (TokenSequences([], [0, 0, 0], 2), r"0 word\(s\) in X"),
            ([[0, 1], [-1, 0, 1]], "-1|[Nn]egative"),
            ([[0, 1], [0.5, 0, 1]], "0.5|whole|integer"),
            (np.array([[0.0, np.nan]]), "NaN"),
            (np.array([[0.0, np.inf]]), "infinity"),
            (np.array([[0.5, 1.0]]), "0.5|whole|integer"),
            ([["the", "dog"], ["a"]], "X holds text"),
            (["the dog"], r"X holds text.*or TokenVectorizer\(analyzer=\"char\"\)"),
            ([ParseTree.from_brackets("(S (NP he))")], "X holds trees, and HDPPCFG reads"),
            ([[2**40], [0, 1]], "out of range"),
        ],
    )
    def test_sentences(self, X, message):
        estimator = quick()
        before = dict(vars(estimator))
        with pytest.raises((ValueError, TypeError), match=message):
            estimator.fit(X)
        assert vars(estimator) == before

    @pytest.mark.parametrize("method", ["predict", "transform", "score", "score_samples"])
    def test_methods(self, method):
        estimator = fitted("plain")
        for X, message in [
            ([[0, N_WORDS]], r"4|vocabulary|range"),
            ([], "0 sample"),
            ([[-1]], "-1|[Nn]egative"),
        ]:
            with pytest.raises(ValueError, match=message):
                getattr(estimator, method)(X)
        with pytest.raises(NotFittedError):
            getattr(quick(), method)(SENTENCES)

    def test_refused_fit_leaves_an_older_one(self):
        estimator = quick().fit(SENTENCES)
        before = dict(vars(estimator))
        for X in ([], [[]], [[0.5]]):
            with pytest.raises(ValueError, match=r"."):
                estimator.fit(X)
        assert vars(estimator) == before

    @pytest.mark.parametrize(
        "params", [{"n_sentences": 0}, {"n_sentences": 1.5}, {"max_length": 0}]
    )
    def test_sample(self, params):
        with pytest.raises(ValueError, match=next(iter(params))):
            fitted("plain").sample(**params)

    def test_a_grammar_without_short_trees(self):
        estimator = quick(inference="em", n_preterminals=2).fit([[0, 1, 0, 1, 1]] * 3)
        with pytest.raises(ValueError, match="max_length=1 "):
            estimator.sample(max_length=1, random_state=0)


class TestLegalInput:
    @every_model
    def test_one_word_sentences(self, name):
        """Alone, and among others."""
        estimator = quick(**MODELS[name]).fit([[0], [1], [1]])
        assert_allclose(np.exp(estimator.score_samples([[0], [1]])).sum(), 1.0, atol=1.0)
        (tree,) = estimator.predict([[1]])
        assert tree.leaves == ("1",)
        assert isinstance(tree.children[0], str)
        if "n_preterminals" in MODELS[name]:
            assert tree.label.startswith("P")
        assert_allclose(estimator.transform([[0], [1]]).sum(axis=1), 1.0)

    @pytest.mark.parametrize(
        "params",
        [
            {"n_components": 1},
            {"n_components": 1, "n_preterminals": 1},
            {"n_components": 1, "top_prior": "dirichlet"},
            {"n_components": 1, "inference": "em"},
            {"n_components": 1, "inference": "viterbi-em", "n_preterminals": 1},
        ],
    )
    def test_one_symbol(self, params):
        estimator = quick(**params).fit(SENTENCES)
        assert_array_equal(estimator.top_weights_, np.ones(1 + ("n_preterminals" in params)))
        assert np.isfinite(estimator.score(SENTENCES))
        assert_allclose(estimator.transform(SENTENCES).sum(axis=1), 1.0)

    def test_rows_of_an_array(self):
        X = np.array([[0, 1, 2], [0, 2, 2], [1, 1, 0], [0, 1, 0]])
        estimator = quick().fit(X)
        assert estimator.n_features_in_ == 3
        assert estimator.n_words_ == 3
        same = quick().fit(TokenSequences.from_sequences(X.tolist(), 3))
        assert_array_equal(estimator.binary_probs_, same.binary_probs_)
        assert_array_equal(estimator.transform(X), same.transform(X.tolist()))
        with pytest.raises(ValueError, match="2 features"):
            estimator.transform(X[:, :2])
        for form in (X.astype(float), X.tolist(), X.astype(np.int8)):
            assert_same_fit(quick().fit(form), estimator)

    def test_forms_of_sentences(self):
        straight = quick().fit(SENTENCES)
        for X in (
            TokenSequences.from_sequences(SENTENCES),
            [np.array(sentence) for sentence in SENTENCES],
            [tuple(sentence) for sentence in SENTENCES],
        ):
            assert_same_fit(quick().fit(X), straight)
        assert straight.n_features_in_ == straight.n_words_ == N_WORDS

    def test_read_only(self):
        corpus = TokenSequences.from_sequences(SENTENCES)
        tokens = corpus.tokens.copy()
        tokens.flags.writeable = False
        assert_same_fit(
            quick().fit(TokenSequences(tokens, corpus.ptr, N_WORDS)), quick().fit(corpus)
        )

    def test_words_never_seen_in_the_fit(self):
        """Unseen words of the vocabulary have the prior mean."""
        estimator = quick().fit(TokenSequences.from_sequences(SENTENCES, 7))
        assert estimator.emission_probs_.shape == (3, 7)
        assert np.isfinite(estimator.score_samples([[6, 0]])).all()

    def test_rare_priors(self):
        """Hyper-parameters at their ends: nothing overflows."""
        for value in (1e-8, 1e8):
            estimator = quick(
                n_preterminals=3, top_concentration=value, root_concentration=value,
                rule_type_prior=value, emission_prior=value, binary_concentration=value,
            ).fit(SENTENCES)  # fmt: skip
            assert np.isfinite(estimator.lower_bound_)
            assert np.isfinite(estimator.score(SENTENCES))
            assert all(tree.leaves for tree in estimator.predict(SENTENCES))


class TestMaxLength:
    def test_longer_sentences_are_left_out(self):
        short = [sentence for sentence in SENTENCES if len(sentence) <= 4]
        with pytest.warns(UserWarning, match="4 of 9 sentences are longer than max_length=4"):
            estimator = quick(max_length=4).fit(SENTENCES)
        same = quick().fit(TokenSequences.from_sequences(short, N_WORDS))
        assert_array_equal(estimator.binary_probs_, same.binary_probs_)
        assert estimator.lower_bound_ == same.lower_bound_
        assert np.isfinite(estimator.score_samples(SENTENCES)).all()
        assert len(estimator.predict(SENTENCES)) == len(estimator.transform(SENTENCES)) == 9

    def test_no_warning_where_all_fit(self):
        quick(max_length=6).fit(SENTENCES)

    def test_gibbs_leaves_no_sentence_out(self):
        with pytest.raises(ValueError, match="Sentence 2 has 4 words, more than max_length=3"):
            quick(inference="gibbs", max_length=3).fit([[0], [], [1, 0, 1, 0], [0] * 5])
        quick(inference="gibbs", max_length=4).fit([[0], [], [1, 0, 1, 0]])

    def test_nothing_left(self):
        with pytest.raises(ValueError, match="All sentences are longer than max_length=2"):
            quick(max_length=2).fit([[0, 1, 2], [1, 1, 1, 1]])

    def test_the_words_of_what_is_left_out(self):
        """They are in the vocabulary, but have no probability by maximum likelihood."""
        with pytest.warns(UserWarning, match="1 of 4"):
            estimator = quick(inference="em", max_length=2).fit([[0, 1], [1, 0], [0], [2, 2, 2]])
        assert estimator.n_words_ == 3
        assert_array_equal(estimator.emission_probs_[:, 2] < 1e-300, [True] * 3)
        X = [[0, 1], [2, 0], [2]]
        with pytest.warns(UserWarning, match="2 of 3 sentences have no parse.*probability 0"):
            assert_array_equal(np.isneginf(estimator.score_samples(X)), [False, True, True])
        with pytest.warns(UserWarning, match="2 of 4 .* flat tree: sentences 2, 3.$"):
            assert estimator.predict([[], *X])[0] is None
        with pytest.warns(UserWarning, match="2 of 4 .* mean shares: sentences 2, 3.$"):
            assert_allclose(estimator.transform([[], *X])[[0, 2]], [estimator.symbol_shares_] * 2)
        with pytest.warns(UserWarning, match="2 of 4 .* probability 0: sentences 2, 3.$"):
            assert estimator.score_samples([[], *X])[0] == 0.0
        with pytest.warns(UserWarning, match="flat tree"):
            trees = estimator.predict(X)
        assert [tree.leaves for tree in trees] == [("0", "1"), ("2", "0"), ("2",)]
        best = f"S{np.argmax(estimator.root_probs_)}"
        assert trees[1] == ParseTree(best, ["2", "0"])
        with pytest.warns(UserWarning, match="mean shares"):
            shares = estimator.transform(X)
        assert_array_equal(shares[1], shares[2])
        assert_allclose(shares[1], estimator.symbol_shares_)
        assert_allclose(shares.sum(axis=1), 1.0)
        with pytest.warns(UserWarning, match="no parse"):
            assert estimator.score(X) == -np.inf
        with pytest.warns(UserWarning, match="no parse"):
            assert estimator.perplexity(X) == np.inf
