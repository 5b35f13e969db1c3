"""Invalid and valid input of the infinite hidden Markov model."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from unit.sequence.hmm_models import (
    GAUSSIAN,
    N_STATES,
    SYMBOLS,
    arrays,
    fitted,
    quick,
)

from skdp.data import SequencePanel, TokenSequences
from skdp.sequence import (
    BinaryFactorEmission,
    CategoricalEmission,
    EmissionSimilarity,
    FactorialHMM,
    FixedSimilarity,
    GaussianEmission,
    GaussianSimilarity,
    LaplacianSimilarity,
    NegativeBinomialDuration,
    PoissonDuration,
    PoissonEmission,
)


class Complete(PoissonEmission):
    """Counts without missing values."""

    allows_nan = False


class TestBadInput:
    @pytest.mark.parametrize(
        ("params", "X", "message"),
        [
            ({}, [np.zeros((3, 2)), np.zeros((3, 1))], "has 1 features, but sequence 0 has 2"),
            ({}, arrays([1.0, 2.0], [3.0, np.inf]), "infinity: sequence 1"),
            ({}, arrays([1.0], [-np.inf, 0.0]), "infinity: sequence 1"),
            ({}, np.array([[np.inf], [0.0]]), "Input X contains infinity"),
            ({}, [], "0 sample"),
            ({}, np.empty((0, 2)), "0 sample"),
            ({}, [np.zeros((2, 1)), np.zeros((0, 1))], "0 observation.*sequence 1"),
            ({}, SequencePanel(np.zeros((2, 1)), [0, 0, 2]), "0 observation.*sequence 0"),
            ({}, np.array(["a", "b"]).reshape(-1, 1), "X must hold numbers, got text"),
            ({"emission": "categorical"}, arrays([np.nan], [np.nan]), "nothing but missing"),
            ({"emission": "poisson"}, np.array([[0.0, np.nan]] * 2), "column 1 holds nothing but"),
            ({"emission": Complete()}, arrays([0.0, np.nan]), "NaN: sequence 0"),
            ({"emission": "categorical"}, arrays([0.0, 1.5]), "integers from 0; got 1.5"),
            ({"emission": "categorical"}, arrays([0.0, -1.0]), "integers from 0; got -1"),
            ({"emission": CategoricalEmission(3)}, arrays([0.0, 3.0]), "from 0 to 2; got 3"),
            ({"emission": "categorical"}, np.zeros((3, 2)), "must have 1 feature"),
            ({"emission": CategoricalEmission(prior=0.0)}, arrays([0.0, 1.0]), "prior"),
            ({"emission": CategoricalEmission(prior=[1.0] * 3)}, arrays([0.0, 1.0]), "prior"),
            ({"emission": "poisson"}, arrays([0.0, -1.0]), "-1"),
            ({"emission": "poisson"}, arrays([0.0, 0.5]), "0.5"),
            ({"similarity": FixedSimilarity(np.ones((4, 3)))}, GAUSSIAN, "must be square"),
            ({"similarity": FixedSimilarity(np.ones(4))}, GAUSSIAN, "must be square"),
            ({"similarity": FixedSimilarity(np.ones((3, 3)))}, GAUSSIAN, r"must be \(4, 4\)"),
            ({"similarity": FixedSimilarity(np.zeros((4, 4)))}, GAUSSIAN, "row 0 of matrix holds"),
            ({"similarity": FixedSimilarity(np.full((4, 4), 1.1))}, GAUSSIAN, "got 1.1 in row 0"),
            ({"similarity": FixedSimilarity(np.full((4, 4), np.nan))}, GAUSSIAN, "got nan in row"),
            (
                {"similarity": FixedSimilarity([[1.0, 0.5], [1.0]])},
                GAUSSIAN,
                "matrix must hold real numbers, in rows of equal length",
            ),
            ({"similarity": FixedSimilarity([["a", "b"]] * 2)}, GAUSSIAN, "must hold real numbers"),
            ({"similarity": FixedSimilarity(np.ones((4, 4), complex))}, GAUSSIAN, "real numbers"),
            ({"similarity": GaussianSimilarity(0)}, GAUSSIAN, "'n_dims'"),
            ({"similarity": GaussianSimilarity(decay=-1.0)}, GAUSSIAN, "'decay'"),
            ({"stickiness": -0.1}, GAUSSIAN, "'stickiness' parameter"),
            ({"stickiness": np.inf}, GAUSSIAN, "'stickiness' parameter"),
            ({"stickiness": np.nan}, GAUSSIAN, "'stickiness' parameter"),
            ({"stickiness": "learn"}, GAUSSIAN, "'stickiness' parameter"),
            ({"stickiness_prior": (1.0, 0.0)}, GAUSSIAN, "stickiness_prior must be two positive"),
            ({"stickiness_prior": (1.0,)}, GAUSSIAN, "stickiness_prior must be two positive"),
            ({"top_concentration_prior": (0, 1)}, GAUSSIAN, "top_concentration_prior must be"),
            (
                {"transition_concentration_prior": (1.0, np.inf)},
                GAUSSIAN,
                "transition_concentration_prior must be",
            ),
            ({"top_concentration": 0.0}, GAUSSIAN, "'top_concentration'"),
            ({"transition_concentration": -1.0}, GAUSSIAN, "'transition_concentration'"),
            ({"n_components": 0}, GAUSSIAN, "'n_components'"),
            ({"emission": "gauss"}, GAUSSIAN, "'emission'"),
            ({"emission": None}, GAUSSIAN, "'emission'"),
            ({"similarity": "gauss"}, GAUSSIAN, "'similarity'.*'gaussian'"),
            ({"duration": "gaussian"}, GAUSSIAN, "'duration'.*'negative_binomial'"),
            ({"duration": PoissonDuration(max_duration=0)}, GAUSSIAN, "'max_duration'"),
            ({"state_sampler": "gibbs"}, GAUSSIAN, "'state_sampler'"),
            ({"burn_in": 12}, GAUSSIAN, "burn_in must be smaller than max_iter"),
            (
                {"stickiness": 1.0, "duration": PoissonDuration()},
                GAUSSIAN,
                "stickiness must be 0 with a duration.*got stickiness=1.0",
            ),
            (
                {"stickiness": "auto", "duration": NegativeBinomialDuration()},
                GAUSSIAN,
                "got stickiness='auto'",
            ),
            (
                {"state_sampler": "beam", "duration": PoissonDuration()},
                GAUSSIAN,
                "state_sampler='beam' is for models without a duration",
            ),
        ],
    )
    def test_fit_refuses(self, params, X, message):
        """Nothing is left behind by what was refused, in fit and in iter_sweeps."""
        estimator = quick(**params)
        before = dict(vars(estimator))
        with pytest.raises(ValueError, match=message):
            estimator.fit(X)
        assert vars(estimator) == before
        with pytest.raises(ValueError, match=message):
            estimator.iter_sweeps(X)
        assert vars(estimator) == before
        with pytest.raises(NotFittedError):
            estimator.predict(GAUSSIAN)

    def test_hamming_distances_need_binary_vectors(self):
        estimator = quick(similarity=LaplacianSimilarity())
        before = dict(vars(estimator))
        with pytest.raises(TypeError, match="use it with BinaryFactorEmission"):
            estimator.fit(GAUSSIAN)
        assert vars(estimator) == before

    @pytest.mark.parametrize(
        ("params", "message"),
        [
            ({"emission": GaussianEmission}, r"emission must be an object, got the class Gauss"),
            ({"similarity": GaussianSimilarity}, r"write similarity=GaussianSimilarity\(...\)"),
            ({"duration": PoissonDuration}, "duration must be an object, got the class Poisson"),
            (
                {"emission": LaplacianSimilarity()},
                r"emission must have a method make_sampler\(values, n_states\), unlike Laplacian",
            ),
            ({"emission": PoissonDuration()}, "emission must have .* unlike PoissonDuration"),
            (
                {"similarity": PoissonEmission()},
                r"similarity must have a method make_sampler\(n_states\), unlike PoissonEmission",
            ),
            (
                {"similarity": PoissonDuration()},
                "similarity must make a SimilaritySampler, unlike PoissonDuration: .*write, coupl",
            ),
            ({"duration": GaussianEmission()}, "duration must have .* unlike GaussianEmission"),
            (
                {"duration": GaussianSimilarity()},
                "duration must make a DurationSampler, unlike GaussianSimilarity: .* tables",
            ),
        ],
    )
    def test_parts_in_the_wrong_place(self, params, message):
        estimator = quick(**params)
        before = dict(vars(estimator))
        for run in (estimator.fit, estimator.iter_sweeps):
            with pytest.raises(TypeError, match=message):
                run(GAUSSIAN)
        assert vars(estimator) == before

    def test_refused_fit_leaves_an_older_one(self):
        estimator = quick(emission="categorical").fit(SYMBOLS)
        before, score = dict(vars(estimator)), estimator.score(SYMBOLS)
        for X in (arrays([0.0, 0.5]), np.zeros((3, 2)), arrays([np.inf]), []):
            with pytest.raises(ValueError, match=r"X |0 sample"):
                estimator.fit(X)
        assert vars(estimator).keys() == before.keys()
        assert all(vars(estimator)[name] is value for name, value in before.items())
        assert estimator.score(SYMBOLS) == score

    @pytest.mark.parametrize("method", ["predict", "predict_proba", "transform", "score"])
    @pytest.mark.parametrize(
        ("name", "X", "message"),
        [
            ("categorical", arrays([0.0, 4.0]), "integers from 0 to 3; got 4"),
            ("categorical", arrays([0.0, 0.5]), "integers from 0 to 3; got 0.5"),
            ("categorical", arrays([-1.0]), "integers from 0 to 3; got -1"),
            ("categorical", arrays([np.nan, -2.0]), "integers from 0 to 3; got -2"),
            ("poisson", arrays([np.nan, 0.5]), "or NaN for missing values; got 0.5"),
            ("poisson", arrays([-1.0]), "-1"),
            ("poisson", arrays([0.0], [np.inf]), "Input X contains infinity: sequence 1"),
            ("gaussian", [np.zeros((3, 1))], "X has 1 features, but HDPHMMLT is expecting 2"),
            ("gaussian", [], "0 sample"),
            ("gaussian", [np.zeros((1, 2)), np.zeros((0, 2))], "0 observation.*sequence 1"),
            ("gaussian", np.full((2, 2), np.inf), "infinity"),
        ],
    )
    def test_methods_refuse(self, method, name, X, message):
        with pytest.raises(ValueError, match=message):
            getattr(fitted(name)[0], method)(X)

    @pytest.mark.parametrize("args", [(0,), (2.0,), (3, 0), (3, -1), (True,)])
    def test_sample_refuses(self, args):
        with pytest.raises(ValueError, match="must be an integer >= 1"):
            fitted("categorical")[0].sample(*args)

    def test_not_fitted(self):
        for method in ("predict", "predict_proba", "transform", "score", "score_samples"):
            with pytest.raises(NotFittedError):
                getattr(quick(), method)(GAUSSIAN)
        with pytest.raises(NotFittedError):
            quick().sample(3)


class TestLegalInput:
    @pytest.mark.parametrize(
        ("params", "X"),
        [
            ({}, np.full((9, 2), 3.0)),
            ({"stickiness": "auto"}, [np.zeros(5), np.zeros(3)]),
            ({"emission": "categorical"}, [np.zeros(5)]),
            ({"emission": "poisson"}, [np.zeros(5)]),
            ({}, np.array([[1.0, 2.0]])),
            ({}, arrays([0.5], [1.0, 2.0], [3.0])),
            ({"emission": "categorical"}, arrays([2.0])),
            ({"n_components": 30, "max_iter": 4}, np.array([[1.0], [2.0]])),
            ({"n_components": 1}, GAUSSIAN),
            ({"n_components": 1, "stickiness": 3.0, "state_sampler": "beam"}, GAUSSIAN),
            (
                {"n_components": 2, "duration": PoissonDuration(max_duration=12)},
                arrays([0.5], [1.0, 2.0]),
            ),
            ({"max_iter": 1, "burn_in": 0}, GAUSSIAN),
        ],
    )
    def test_fit(self, params, X):
        estimator = quick(**params).fit(X)
        probabilities = estimator.predict_proba(X)
        assert_allclose(np.vstack(probabilities).sum(axis=1), 1.0, rtol=1e-9)
        assert np.isfinite(estimator.score(X))
        assert_allclose(estimator.transmat_.sum(axis=1), 1.0, rtol=1e-9)

    @pytest.mark.parametrize("covariance_type", ["full", "diag"])
    def test_nan_is_missing_with_gaussian(self, covariance_type):
        """Missing steps and columns; a sequence without observations has density 1."""
        X = [x.copy() for x in GAUSSIAN]
        X[0][3] = np.nan
        X[1][5:8, 0] = np.nan
        estimator = quick(emission=GaussianEmission(covariance_type)).fit(X)
        assert np.isfinite(estimator.score_samples(X)).all()
        assert_allclose(np.vstack(estimator.predict_proba(X)).sum(axis=1), 1.0, rtol=1e-9)
        nothing = [np.full((4, 2), np.nan)]
        assert_allclose(estimator.score_samples(nothing), 0.0, atol=1e-12)
        single = np.full((4, 2), np.nan)
        assert_allclose(estimator.score_samples(single), np.zeros(4), atol=1e-12)
        # Steps at which nothing was observed do not make the mean of the others better.
        logs = estimator.score_samples(X)
        assert estimator.score(X) == pytest.approx(logs.sum() / (sum(map(len, X)) - 1))
        assert estimator.score([*X, *nothing]) == pytest.approx(estimator.score(X))
        steps = estimator.score_samples(X[0])
        assert estimator.score(X[0]) == pytest.approx(np.delete(steps, 3).mean())

    @pytest.mark.parametrize("emission", ["categorical", CategoricalEmission()])
    def test_words_are_symbols(self, emission):
        """The symbols are the vocabulary, whether or not every word occurs."""
        words = TokenSequences.from_sequences([x.astype(int) for x in SYMBOLS], 7)
        estimator = quick(emission=emission).fit(words)
        other = quick(emission=CategoricalEmission(7)).fit(SYMBOLS)
        assert_array_equal(estimator.emission_.probs, other.emission_.probs)
        assert estimator.score(words) == other.score(SYMBOLS)
        assert np.isfinite(estimator.score(TokenSequences.from_sequences([[6, 0]], 7)))
        for found, expected in zip(estimator.predict(words), other.predict(SYMBOLS), strict=True):
            assert_array_equal(found, expected)
        assert estimator.fit(SYMBOLS).emission_.probs.shape == (N_STATES, 4)

    @pytest.mark.parametrize(
        ("params", "objects"),
        [
            ({"similarity": "gaussian"}, {"similarity": GaussianSimilarity()}),
            ({"similarity": "emission"}, {"similarity": EmissionSimilarity()}),
            ({"duration": "poisson"}, {"duration": PoissonDuration()}),
            ({"duration": "negative_binomial"}, {"duration": NegativeBinomialDuration()}),
        ],
    )
    def test_names_stand_for_defaults(self, params, objects):
        first, second = quick(**params).fit(GAUSSIAN), quick(**objects).fit(GAUSSIAN)
        assert first.get_params()[next(iter(params))] == next(iter(params.values()))
        assert_array_equal(first.transmat_, second.transmat_)

    def test_parameters_of_parts_given_by_name(self):
        estimator = quick(duration="poisson")
        estimator.set_params(
            emission__covariance_type="diag", duration__max_duration=9, similarity="gaussian"
        )
        assert isinstance(estimator.emission, GaussianEmission)
        assert estimator.emission.covariance_type == "diag"
        assert isinstance(estimator.duration, PoissonDuration)
        assert estimator.duration.max_duration == 9
        assert estimator.similarity == "gaussian"
        with pytest.raises(ValueError, match="Invalid parameter 'foo' for estimator GaussianEm"):
            quick().set_params(emission__foo=1)
        factorial = FactorialHMM(3).set_params(n_factors=2, emission__output="probit")
        assert isinstance(factorial.emission, BinaryFactorEmission)
        assert factorial.emission.n_factors == 2
        search = GridSearchCV(quick(), {"emission__covariance_type": ["full", "diag"]}, cv=2)
        scores = search.fit(GAUSSIAN).cv_results_["mean_test_score"]
        assert scores[0] != scores[1]

    def test_classes_are_ignored(self):
        """One per sample, even if their sum is that of lengths."""
        estimator = quick().fit(GAUSSIAN)
        n_steps = sum(map(len, GAUSSIAN))
        for X, y in (
            (GAUSSIAN, [0, 1, 0, 1, 0]),
            (GAUSSIAN, ["a", "b", "a", "b", "a"]),
            (GAUSSIAN, [n_steps, 0, 0, 0, 0]),
        ):
            assert np.isfinite(estimator.score(X, y))
            quick(max_iter=2, n_samples=1).fit(X, y)
        for y in (np.arange(3), np.full(len(GAUSSIAN[0]), 0.5)):
            assert np.isfinite(estimator.score(GAUSSIAN[0], y))
            quick(max_iter=2, n_samples=1, use_y=False).fit(GAUSSIAN[0], y)

    def test_lists_of_frames_have_names(self):
        pd = pytest.importorskip("pandas")
        frames = [pd.DataFrame(x, columns=["left", "right"]) for x in GAUSSIAN]
        estimator = quick().fit(frames)
        assert estimator.feature_names_in_.tolist() == ["left", "right"]
        assert estimator.score(frames) == quick().fit(GAUSSIAN).score(GAUSSIAN)
        swapped = [frame[["right", "left"]] for frame in frames]
        for method in ("predict", "score", "transform", "predict_proba", "score_samples"):
            with pytest.raises(ValueError, match="feature names should match"):
                getattr(estimator, method)(swapped)
            with pytest.raises(ValueError, match=r"sequence 1 has \['right', 'left'\]"):
                getattr(estimator, method)([frames[0], swapped[1]])
        with pytest.raises(ValueError, match="sequence 1 has no names of columns"):
            quick().fit([frames[0], GAUSSIAN[1]])
        assert not hasattr(quick().fit([pd.DataFrame(x) for x in GAUSSIAN]), "feature_names_in_")

    def test_forms_of_a_sequence(self):
        """A vector is a sequence of one column, a list of lists an array."""
        sequences = [*SYMBOLS[:3], SYMBOLS[3][:5]]
        first = quick(emission="categorical").fit(sequences)
        for X in ([s.reshape(-1, 1) for s in sequences], [[[x] for x in s] for s in sequences]):
            other = quick(emission="categorical").fit(X)
            assert_array_equal(other.transmat_, first.transmat_)
