"""The infinite hidden Markov model as an estimator."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import logsumexp
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import Pipeline, make_pipeline
from unit.sequence.hmm_models import (
    CLASSES,
    GAUSSIAN,
    MODELS,
    N_STATES,
    OPTIONAL,
    PHI,
    SYMBOLS,
    every_model,
    fitted,
    quick,
)

from skdp.data import SequencePanel
from skdp.emissions._discrete._categorical import CategoricalModel
from skdp.emissions._discrete._poisson import PoissonModel
from skdp.emissions._gaussian._model import GaussianModel
from skdp.sequence import (
    CategoricalEmission,
    GaussianEmission,
    GaussianSimilarity,
    PoissonDuration,
)


class TestAttributes:
    @every_model
    def test_shapes(self, name):
        estimator, X = fitted(name)
        model = estimator.samples_[0]
        assert estimator.startprob_.shape == (N_STATES,)
        assert estimator.transmat_.shape == (N_STATES, N_STATES)
        for sample in estimator.samples_:
            assert_allclose(sample.startprob.sum(), 1.0, rtol=1e-12)
            assert_allclose(sample.transmat.sum(axis=1), 1.0, rtol=1e-12)
            assert_allclose(sample.shares.sum(), 1.0, rtol=1e-12)
            assert sample.n_active_components == np.count_nonzero(sample.shares)  # all are large
        assert len(estimator.samples_) == estimator.trace_["log_joint"].shape[1] == 4
        shares = estimator.state_shares_
        assert name == "fixed" or np.all(np.diff(shares) <= 0.0)  # its rows keep their numbers
        n_steps = sum(map(len, X))
        assert_allclose(shares * n_steps, np.round(shares * n_steps), atol=1e-9)
        assert estimator.n_active_components_ == np.count_nonzero(shares) >= 1
        assert estimator.n_features_in_ == np.reshape(X[0], (len(X[0]), -1)).shape[1]
        assert estimator.n_iter_ == 12
        names = {"log_joint", "top_concentration", "transition_concentration", "stickiness"}
        assert names | {"n_active_components"} <= set(estimator.trace_)
        assert estimator.trace_.sweeps.tolist() == [7, 9, 11, 12]
        assert isinstance(model.emission, type(estimator.emission_))

    @every_model
    def test_optional_attributes(self, name):
        estimator, _ = fitted(name)
        every = {"similarity_", "locations_", "factors_", "duration_", "decay_"}
        assert {a for a in every if hasattr(estimator, a)} == set(OPTIONAL.get(name, []))

    @every_model
    def test_those_of_a_sample_are_of_the_likeliest_one(self, name):
        estimator, _ = fitted(name)
        numbers = [sample.n_active_components for sample in estimator.samples_]
        is_usual = np.array(numbers) == np.bincount(numbers).argmax()
        log_joints = np.where(is_usual, estimator.trace_["log_joint"][0], -np.inf)
        model = estimator.samples_[int(np.argmax(log_joints))]
        assert estimator.transmat_ is model.transmat
        assert estimator.startprob_ is model.startprob
        assert estimator.emission_ is model.emission
        assert estimator.state_shares_ is model.shares
        assert getattr(estimator, "similarity_", None) is model.similarity
        assert getattr(estimator, "duration_", None) is model.duration

    @every_model
    def test_learned_scalars_are_means_of_the_trace(self, name):
        estimator, _ = fitted(name)
        learned = ["top_concentration", "transition_concentration", "stickiness"]
        for scalar in learned + (["decay"] if hasattr(estimator, "decay_") else []):
            values = estimator.trace_[scalar][0]
            assert getattr(estimator, f"{scalar}_") == pytest.approx(values.mean())

    def test_parts(self):
        emission = fitted("gaussian")[0].emission_
        assert isinstance(emission, GaussianModel)
        assert emission.means.shape == (N_STATES, 2)
        assert emission.covariances.shape == (N_STATES, 2, 2)
        assert fitted("sticky")[0].emission_.covariances.shape == (N_STATES, 2)
        emission = fitted("categorical")[0].emission_
        assert isinstance(emission, CategoricalModel)
        assert emission.probs.shape == (N_STATES, 4)
        assert isinstance(fitted("poisson")[0].emission_, PoissonModel)
        locations = fitted("locations")[0]
        assert locations.locations_.shape == (N_STATES, 2)
        squares = ((locations.locations_[:, None] - locations.locations_) ** 2).sum(axis=2)
        decay = locations.trace_["decay"][0][np.argmax(locations.trace_["log_joint"][0])]
        assert_allclose(locations.similarity_, np.exp(-decay * squares / 2), rtol=1e-5)
        factors = fitted("factors")[0]
        assert factors.factors_.shape == (N_STATES, 2)
        assert set(np.unique(factors.factors_)) <= {0, 1}
        distances = (factors.factors_[:, None] != factors.factors_).sum(axis=2)
        decay = factors.trace_["decay"][0][np.argmax(factors.trace_["log_joint"][0])]
        assert_allclose(factors.similarity_, np.exp(-decay * distances), rtol=1e-5)

    def test_fixed_similarities_are_reordered(self):
        """Rows and columns alike: the same numbers, those of each diagonal on the diagonal."""
        for sample in fitted("fixed")[0].samples_:
            order = [int(np.argmin(np.abs(np.diag(PHI) - d))) for d in np.diag(sample.similarity)]
            assert sorted(order) == list(range(N_STATES))
            assert_allclose(sample.similarity, PHI[np.ix_(order, order)], rtol=1e-6)

    def test_semi_markov_states_do_not_follow_themselves(self):
        estimator, _ = fitted("durations")
        assert_array_equal(np.diag(estimator.transmat_), np.zeros(N_STATES))
        assert estimator.duration_.means.shape == (N_STATES,)
        assert estimator.duration_.max_duration == 12
        assert "mean_duration" in estimator.trace_
        assert fitted("negative binomial")[0].duration_.probs.shape == (N_STATES,)

    @pytest.mark.parametrize("name", OPTIONAL)
    def test_fit_without_an_option_has_no_attribute_of_it(self, name):
        """An estimator that is fitted again keeps nothing of a similarity it no longer has."""
        estimator = clone(fitted(name)[0]).fit(MODELS[name][1])
        params = {"similarity": None, "duration": None}
        if "factors_" in OPTIONAL[name]:
            params["emission"] = "gaussian"
        estimator.set_params(**params).fit(MODELS[name][1])
        assert [a for a in OPTIONAL[name] if hasattr(estimator, a)] == []

    def test_names_of_columns(self):
        pd = pytest.importorskip("pandas")
        X = pd.DataFrame(GAUSSIAN[0], columns=["left", "right"])
        estimator = quick().fit(X)
        assert estimator.feature_names_in_.tolist() == ["left", "right"]
        with pytest.raises(ValueError, match="feature names should match"):
            estimator.predict(X.rename(columns={"left": "top"}))
        names = [f"hdphmmlt{j}" for j in range(N_STATES)]
        assert estimator.get_feature_names_out().tolist() == names
        shares = estimator.set_output(transform="pandas").transform(X)
        assert isinstance(shares, pd.DataFrame)
        assert list(shares.columns) == names
        assert_allclose(shares.to_numpy(), estimator.predict_proba(X))


class TestMethods:
    @every_model
    def test_panel(self, name):
        """A panel is like a list; states, probabilities, shares and scores belong together."""
        estimator, X = fitted(name)
        states, probabilities = estimator.predict(X), estimator.predict_proba(X)
        shares, logs = estimator.transform(X), estimator.score_samples(X)
        lengths = [len(x) for x in X]
        assert isinstance(states, list)
        assert [len(z) for z in states] == [len(p) for p in probabilities] == lengths
        for z, p, share in zip(states, probabilities, shares, strict=True):
            assert p.shape[1] == N_STATES
            assert z.dtype.kind == "i"
            assert_allclose(p.sum(axis=1), 1.0, rtol=1e-9)
            assert_array_equal(z, p.argmax(axis=1))
            assert_allclose(share, p.mean(axis=0), rtol=1e-12)
        assert logs.shape == (len(X),)
        n_steps = sum(lengths) - len(X) * estimator._n_given()
        assert estimator.score(X) == pytest.approx(logs.sum() / n_steps, rel=1e-12)
        panel = SequencePanel.from_sequences(X)
        assert_array_equal(estimator.transform(panel), shares)
        assert_array_equal(estimator.score_samples(panel), logs)

    @every_model
    def test_single_sequence(self, name):
        """An array is one sequence: the same numbers as of a list of it, a row a step."""
        estimator, X = fitted(name)
        single = np.reshape(X[0], (len(X[0]), -1))
        (probabilities,) = estimator.predict_proba(X[:1])
        assert_array_equal(estimator.predict_proba(single), probabilities)
        assert_array_equal(estimator.transform(single), probabilities)
        assert_array_equal(estimator.predict(single), estimator.predict(X[:1])[0])
        steps = estimator.score_samples(single)
        assert steps.shape == (len(single),)
        for n in (1 + estimator._n_given(), 4, len(single)):
            assert_allclose(steps[:n].sum(), estimator.score_samples([single[:n]])[0], rtol=1e-9)
        assert estimator.score(single) == pytest.approx(estimator.score(X[:1]), rel=1e-9)

    @pytest.mark.parametrize("name", ["gaussian", "fixed", "durations"])
    def test_score_is_over_samples_of_all_chains(self, name):
        """Means over samples, of probabilities: of the best chain for states, of all for scores."""
        params, X = MODELS[name]
        estimator = quick(n_chains=3, n_jobs=2, **params).fit(X)
        panel = SequencePanel.from_sequences(X)
        assert len(estimator.samples_) == 4
        assert len(estimator._models) == 12
        known = panel.ptr, panel.values
        logs = [model.log_likelihoods(*known) for model in estimator._models]
        expected = logsumexp(logs, axis=0) - np.log(12)
        assert_allclose(estimator.score_samples(X), expected, rtol=1e-12)
        expected = np.mean([model.posteriors(*known) for model in estimator.samples_], axis=0)
        assert_allclose(np.vstack(estimator.predict_proba(X)), expected, rtol=1e-9, atol=1e-15)
        assert np.ptp([row.sum() for row in logs]) > 1e-6  # they do differ

    def test_best_chain_is_the_one_for_states(self):
        estimator = quick(n_chains=3).fit(GAUSSIAN)
        trace = estimator.trace_["log_joint"]
        assert trace.shape == (3, 4)
        best = int(np.argmax(trace.mean(axis=1)))
        assert estimator._best_chain == best
        for scalar in ("top_concentration", "transition_concentration"):
            expected = estimator.trace_[scalar][best].mean()
            assert getattr(estimator, f"{scalar}_") == pytest.approx(expected)

    def test_fit_predict(self):
        estimator = quick()
        states = estimator.fit_predict(GAUSSIAN)
        for z, other in zip(states, estimator.predict(GAUSSIAN), strict=True):
            assert_array_equal(z, other)

    def test_states_far_apart_are_found(self):
        estimator = quick(n_components=8, max_iter=60, burn_in=40, stickiness=2.0).fit(GAUSSIAN)
        for x, z in zip(GAUSSIAN, estimator.predict(GAUSSIAN), strict=True):
            centers = np.round(x.mean(axis=1) / 4.0)
            pairs = {*zip(centers.tolist(), z.tolist(), strict=True)}
            assert len(pairs) == len(np.unique(centers)) == len(np.unique(z))

    def test_only_state_of_a_model_with_durations(self):
        """It stays, though nothing follows it; a sequence that outlasts it has probability 0."""
        X = [np.zeros((4, 1))]
        estimator = quick(n_components=1, duration=PoissonDuration(max_duration=5)).fit(X)
        panel, (states,) = estimator.sample(8)
        assert panel.shape == (1, 1)
        assert_array_equal(states, np.zeros(8))
        assert np.isneginf(estimator.score_samples([np.zeros((9, 1))])[0])
        steps = estimator.score_samples(np.zeros((9, 1)))
        assert np.isfinite(steps[:5]).all()
        assert np.isneginf(steps[5:]).all()
        with pytest.raises(ValueError, match="probability 0"):
            estimator.predict(np.zeros((9, 1)))

    @pytest.mark.parametrize("name", ["gaussian", "sticky", "durations"])
    def test_chains_do_not_depend_on_jobs(self, name):
        params, X = MODELS[name]
        one, two = (quick(n_chains=2, n_jobs=n, max_iter=6, **params).fit(X) for n in (1, 2))
        assert one.trace_ == two.trace_
        assert_array_equal(one.score_samples(X), two.score_samples(X))


class TestSample:
    @every_model
    def test_shapes_and_seeds(self, name):
        estimator, _ = fitted(name)
        panel, states = estimator.sample(7, 3, random_state=1)
        assert isinstance(panel, SequencePanel)
        assert len(panel) == len(states) == 3
        assert panel.values.shape == (21, estimator.n_features_in_)
        assert [z.shape for z in states] == [(7,)] * 3
        assert all(((z >= 0) & (z < N_STATES)).all() for z in states)
        assert np.isfinite(estimator.score(panel))
        same, same_states = estimator.sample(7, 3, random_state=1)
        assert_array_equal(panel.values, same.values)
        assert_array_equal(states, same_states)
        other, _ = estimator.sample(7, 3, random_state=2)
        assert (panel.values != other.values).any()

    def test_frequencies(self):
        """First states, transitions and symbols of one stored sample: 6 standard errors."""
        estimator = quick(emission="categorical", n_samples=1).fit(SYMBOLS)
        panel, states = estimator.sample(10, 1500, random_state=0)
        states, symbols = np.array(states), panel.values.reshape(1500, 10).astype(int)

        def check(pairs, expected):
            counts = np.zeros(expected.shape)
            np.add.at(counts, pairs, 1)
            n = np.maximum(counts.sum(axis=1, keepdims=True), 1)
            error = 6.0 * np.sqrt(np.maximum(expected * (1.0 - expected), 1.0 / n) / n)
            assert np.all(np.abs(counts / n - expected)[counts.sum(axis=1) > 0] < error.max())
            assert np.all((np.abs(counts / n - expected) < error)[counts.sum(axis=1) > 0])

        firsts = states[:, 0]
        check((np.zeros_like(firsts), firsts), estimator.startprob_[np.newaxis])
        check((states[:, :-1].ravel(), states[:, 1:].ravel()), estimator.transmat_)
        check((states.ravel(), symbols.ravel()), estimator.emission_.probs.astype(float))

    def test_sequences_are_of_all_stored_samples(self):
        """One symbol a sample: all four have their turn in 200 sequences, 1e-24 false alarms."""
        estimator = clone(fitted("categorical")[0]).fit(SYMBOLS)
        for symbol, sample in enumerate(estimator.samples_):
            sample.emission.probs[:] = np.arange(4) == symbol
        panel, _ = estimator.sample(3, 200, random_state=0)
        symbols = panel.values.reshape(200, 3)
        assert_array_equal(symbols, np.repeat(symbols[:, :1], 3, axis=1))
        assert set(symbols[:, 0]) == {0.0, 1.0, 2.0, 3.0}


class TestSweeps:
    @every_model
    def test_state(self, name):
        params, X = MODELS[name]
        n_sweeps = 0
        for state in quick(max_iter=4, burn_in=1, **params).iter_sweeps(X):
            n_sweeps += 1
            assert state.states.shape == (sum(map(len, X)),)
            assert not state.states.flags.writeable
            rates, phi = state.transition_rates, state.similarity
            assert rates.shape == phi.shape == (N_STATES, N_STATES)
            assert state.initial_rates.shape == (N_STATES,)
            assert np.all((phi >= 0.0) & (phi <= 1.0))
            expected = rates * phi / (rates * phi).sum(axis=1, keepdims=True)
            assert_allclose(state.transmat, expected, rtol=1e-9, atol=1e-59)
            expected = state.initial_rates / state.initial_rates.sum()
            assert_allclose(state.startprob, expected, rtol=1e-9, atol=1e-59)
            assert_allclose(state.top_weights.sum(), 1.0, rtol=1e-9)
            for scalar in ("top_concentration", "transition_concentration"):
                assert isinstance(getattr(state, scalar), float)
                assert getattr(state, scalar) > 0.0
            assert state.stickiness >= 0.0
            assert (state.decay > 0.0) == ("decay_" in OPTIONAL.get(name, []))
            assert np.isfinite(state.log_joint())
            assert hasattr(state.emission, "write_log_obs")
        assert n_sweeps == 4

    def test_similarity_of_each_kind(self):
        state = next(quick(**MODELS["fixed"][0]).iter_sweeps(SYMBOLS))
        assert_allclose(state.similarity, PHI, rtol=1e-12)
        state = next(quick(**MODELS["gaussian"][0]).iter_sweeps(GAUSSIAN))
        assert_array_equal(state.similarity, np.ones((N_STATES, N_STATES)))
        state = next(quick(**MODELS["durations"][0]).iter_sweeps(GAUSSIAN))
        assert_array_equal(state.similarity, 1.0 - np.eye(N_STATES))

    @every_model
    def test_live_view_and_copy(self, name):
        params, X = MODELS[name]
        sweeps = quick(**params).iter_sweeps(X)
        state = next(sweeps)
        kept = state.copy()
        names = ("states", "transmat", "similarity", "top_weights", "initial_rates")
        before = {name: getattr(kept, name).copy() for name in names}
        joint = kept.log_joint()
        for _ in sweeps:
            pass
        for array, value in before.items():
            assert_array_equal(getattr(kept, array), value)
        assert kept.log_joint() == joint
        assert (state.transmat != before["transmat"]).any()


class TestHyperparameters:
    @pytest.mark.parametrize("stickiness", [0.0, 3.0])
    def test_fixed_ones_stay(self, stickiness):
        estimator = quick(
            emission="categorical", stickiness=stickiness, top_concentration=1.5,
            transition_concentration=2.5, similarity=GaussianSimilarity(2, decay=0.7), burn_in=0,
        ).fit(SYMBOLS)  # fmt: skip
        fixed = {
            "top_concentration": 1.5, "transition_concentration": 2.5,
            "stickiness": stickiness, "decay": 0.7,
        }  # fmt: skip
        for name, value in fixed.items():
            assert np.all(estimator.trace_[name] == value)
            assert getattr(estimator, f"{name}_") == pytest.approx(value, rel=1e-12)

    def test_drawn_ones_move(self):
        """After those sweeps of the burn-in in which they are held."""
        estimator = quick(stickiness="auto", burn_in=8, max_iter=20).fit(GAUSSIAN)
        for name in ("top_concentration", "transition_concentration", "stickiness"):
            assert len(np.unique(estimator.trace_[name])) == estimator.trace_[name].size
            assert np.all(estimator.trace_[name] > 0.0)
        sweeps = quick(
            stickiness="auto", similarity=GaussianSimilarity(2), burn_in=8, max_iter=20
        ).iter_sweeps(GAUSSIAN)
        for trace in zip(*((state.stickiness, state.decay) for state in sweeps), strict=True):
            assert len(set(trace[:4])) == 1
            assert len(set(trace[4:])) == 16

    def test_sum_is_fixed_where_the_share_is_drawn(self):
        """With stickiness="auto" the parameter is alpha + kappa, the trace has alpha."""
        estimator = quick(
            stickiness="auto", transition_concentration=6.0, burn_in=2, emission="categorical"
        ).fit(SYMBOLS)
        alpha, kappa = (estimator.trace_[n] for n in ("transition_concentration", "stickiness"))
        assert_allclose(alpha + kappa, 6.0, rtol=1e-12)
        assert len(np.unique(kappa)) == kappa.size

    def test_stickiness_prior(self):
        """A prior that is sure of .9: six draws all within .05 of it, 1e-8 false alarms."""
        estimator = quick(
            stickiness="auto", stickiness_prior=(9e4, 1e4), emission="categorical", burn_in=2
        ).fit(SYMBOLS)
        alpha, kappa = (estimator.trace_[n] for n in ("transition_concentration", "stickiness"))
        assert_allclose(kappa / (alpha + kappa), 0.9, atol=0.05)

    def test_warm_start_refuses_another_emission(self):
        estimator = quick(emission=CategoricalEmission(prior=0.5), warm_start=True).fit(SYMBOLS)
        estimator.set_params(emission__prior=0.7, max_iter=14)
        with pytest.raises(ValueError, match=r"emission=.*0\.5.*got emission=.*0\.7"):
            estimator.fit(SYMBOLS)
        estimator.set_params(emission__prior=0.5).fit(SYMBOLS)
        assert estimator.n_iter_ == 14


class TestScikitLearn:
    def classifier(self, **params):
        settings = {"emission": CategoricalEmission(n_symbols=4), "max_iter": 8, **params}
        return Pipeline([("states", quick(**settings)), ("classify", LogisticRegression())])

    def test_classification_of_sequences(self):
        """Two classes whose symbols differ by states: features distinguish them."""
        scores = cross_val_score(self.classifier(max_iter=30), SYMBOLS, CLASSES, cv=3)
        assert scores.mean() > 0.8
        panel = SequencePanel.from_sequences(SYMBOLS)
        again = cross_val_score(self.classifier(max_iter=30), panel, CLASSES, cv=3)
        assert_array_equal(again, scores)

    def test_grid_search(self):
        grid = {
            "states__transition_concentration": [1.0, "auto"],
            "states__stickiness": [0.0, 2.0],
            "states__emission__prior": [0.1, 1.0],
        }
        search = GridSearchCV(self.classifier(), grid, cv=2).fit(SYMBOLS, CLASSES)
        assert len(search.cv_results_["params"]) == 8
        assert np.isfinite(search.cv_results_["mean_test_score"]).all()
        states = search.best_estimator_.named_steps["states"]
        best = search.best_params_
        assert states.transition_concentration == best["states__transition_concentration"]
        assert states.emission.prior == best["states__emission__prior"]
        assert search.predict(SYMBOLS).shape == CLASSES.shape

    def test_grid_search_by_held_out_score(self):
        """Folds are of sequences, and `score` needs no classes."""
        search = GridSearchCV(
            quick(emission=CategoricalEmission(n_symbols=4), max_iter=6),
            {"stickiness": [0.0, "auto"], "emission__prior": [0.01, 100.0]},
            cv=KFold(3),
        ).fit(SequencePanel.from_sequences(SYMBOLS))
        results = search.cv_results_
        prior = np.array([p["emission__prior"] for p in results["params"]])
        scores = results["mean_test_score"]
        assert search.best_score_ == scores.max()
        assert scores[prior == 0.01].max() > scores[prior == 100.0].max()

    def test_folds_of_sequences(self):
        for train, test in KFold(4).split(SYMBOLS):
            estimator = quick(emission=CategoricalEmission(n_symbols=4), max_iter=4)
            estimator.fit([SYMBOLS[i] for i in train])
            assert estimator.transform([SYMBOLS[i] for i in test]).shape == (3, N_STATES)

    def test_transform_in_a_pipeline(self):
        pipeline = make_pipeline(quick(max_iter=4)).fit(GAUSSIAN)
        assert_allclose(pipeline.transform(GAUSSIAN).sum(axis=1), 1.0, rtol=1e-9)

    @every_model
    def test_pickling(self, name):
        estimator, X = fitted(name)
        other = pickle.loads(pickle.dumps(estimator))
        assert other.trace_ == estimator.trace_
        assert_array_equal(other.score_samples(X), estimator.score_samples(X))
        assert_array_equal(other.transform(X), estimator.transform(X))

    @every_model
    def test_clone(self, name):
        """A clone has the same parameters, its own parts, and gives the same fit."""
        estimator, X = fitted(name)
        other = clone(estimator)
        assert not hasattr(other, "transmat_")
        for part in ("emission", "similarity", "duration"):
            mine, its = getattr(estimator, part), getattr(other, part)
            assert type(mine) is type(its)
            assert mine is None or isinstance(mine, str) or mine is not its
        assert_array_equal(other.fit(X).transmat_, estimator.transmat_)
        assert other.trace_ == estimator.trace_

    def test_fit_changes_no_parameter(self):
        emission = GaussianEmission()
        estimator = quick(emission=emission).fit(GAUSSIAN)
        assert estimator.emission is emission
        assert vars(emission) == vars(GaussianEmission())
        assert "similarity_" not in vars(estimator)

    def test_several_seeds(self):
        first, same, other = (quick(random_state=s).fit(GAUSSIAN) for s in (0, 0, 1))
        assert first.trace_ == same.trace_
        assert first.trace_ != other.trace_
