"""Checks of the contract of ragged estimators, to run next to scikit-learn's own.

scikit-learn checks estimators on matrices, and its invariance checks use one component, which
proves nothing. These checks use several components, or factors for estimators with ``n_factors``,
and documents of several segments; sequences for estimators with ``predict_proba``; sentences for
those with the class attribute ``_sample_kind = "sentence"``. Samplers are checked by their
`trace_`; estimators with a parameter `n_init` and without `iter_sweeps`, which climb from several
starts, by their `lower_bounds_` and `init_lower_bounds_`.

Estimators with ``_sample_kind = "tree"``, which learn from sentences of words and their parse trees
and predict trees, have separate checks: of predictions, scores by labeled brackets and
`lower_bounds_`.

Estimators with ``_sample_kind = "text"`` model sequences of words and have no features: their
scores are checked.

Use the checks for your own estimators like those of scikit-learn::

    from skdp.utils.estimator_checks import parametrize_with_ragged_checks


    @parametrize_with_ragged_checks([MyTopicModel(n_components=3, max_iter=20)])
    def test_ragged(estimator, check):
        check(estimator)
"""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, clone, is_clusterer

from skdp.data import SegmentedCorpus, SequencePanel, TokenSequences
from skdp.utils._checking import (
    N_WORDS,
    TREE_CHECKS,
    Check,
    assert_shares,
    check_text_forms,
    check_text_scores,
    check_text_without_words,
    climbs,
    clone_fitted,
    count_given,
    count_scored_rows,
    interrupt,
    make_corpus,
    make_documents,
    make_samples,
    make_sentences,
    of_short_fits,
    same_fit,
    search,
    seeded,
    takes_sentences,
    takes_sequences,
    takes_text,
    tear,
)

__all__ = ["check_ragged_estimator", "parametrize_with_ragged_checks"]


def check_input_forms(estimator: Any) -> None:
    """Check that a container, a list and a matrix mean the same."""
    if takes_sentences(estimator):
        _check_forms_of_sentences(estimator)
    elif takes_sequences(estimator):
        _check_forms_of_sequences(estimator)
    else:
        _check_forms_of_documents(estimator)


def _check_forms_of_documents(estimator: Any) -> None:
    corpus = make_corpus()
    from_corpus = seeded(estimator).fit(corpus)
    from_list = seeded(estimator).fit([[list(s) for s in document] for document in corpus])
    same_fit(from_corpus, from_list)
    flat = SegmentedCorpus.from_documents(
        [
            [sorted(word for segment in document for word in segment)]
            for document in make_documents()
        ],
        n_features=N_WORDS,
    )
    expected = seeded(estimator).fit(flat)
    sparse = flat.to_bow()
    for matrix in (sparse, sparse.toarray(), sparse.toarray().astype(float)):
        same_fit(expected, seeded(estimator).fit(matrix))
        assert_array_equal(expected.transform(flat), expected.transform(matrix))
        assert_array_equal(expected.score_samples(flat), expected.score_samples(matrix))


def _check_forms_of_sequences(estimator: Any) -> None:
    panel = make_samples(estimator)
    from_panel = seeded(estimator).fit(panel)
    for sequences in (list(panel), [x.ravel() for x in panel], [x.tolist() for x in panel]):
        same_fit(from_panel, seeded(estimator).fit(sequences))
    matrix = panel.values
    alone = seeded(estimator).fit(matrix)
    listed = seeded(estimator).fit([matrix])
    if is_clusterer(estimator):  # an array has no list of labels
        listed.labels_ = listed.labels_[0]
    same_fit(alone, listed)
    shares, (steps,) = alone.transform([matrix]), alone.predict_proba([matrix])
    assert_array_equal(alone.predict_proba(matrix), steps)
    assert_array_equal(alone.transform(matrix), steps)
    assert_allclose(steps.mean(axis=0), shares[0])
    assert_array_equal(alone.predict(matrix), alone.predict([matrix])[0])
    assert len(alone.predict(matrix)) == len(matrix)
    assert_allclose(alone.score_samples(matrix).sum(), alone.score_samples([matrix])[0])
    assert_allclose(alone.score(matrix), alone.score([matrix]))


def _check_forms_of_sentences(estimator: Any) -> None:
    sentences = make_sentences(n_words=None)
    from_container = seeded(estimator).fit(sentences)
    for lists in (list(sentences), [x.tolist() for x in sentences]):
        same_fit(from_container, seeded(estimator).fit(lists))
    rows = sentences.tokens[: len(sentences.tokens) // 3 * 3].reshape(-1, 3)
    expected = seeded(estimator).fit(TokenSequences.from_sequences(list(rows)))
    listed = rows.tolist()  # sentences that happen to have the same length
    for matrix in (rows, rows.astype(float), listed):
        alone = seeded(estimator).fit(matrix)
        assert alone.n_features_in_ == (expected.n_features_in_ if matrix is listed else 3)
        assert_array_equal(alone.root_probs_, expected.root_probs_)
        assert_array_equal(alone.transform(matrix), expected.transform(list(rows)))


def check_transform_of_a_sample_is_its_own(estimator: Any) -> None:
    """Check that a sample's features do not depend on the others, their order or n_jobs."""
    corpus = make_samples(estimator)
    fitted = seeded(estimator).fit(corpus)
    if takes_sentences(estimator):
        _check_sentences_alone(fitted, corpus)
        return
    expected = fitted.transform(corpus)
    assert expected.shape == (len(corpus), len(fitted.get_feature_names_out()))
    assert_shares(estimator, expected)
    order = np.random.default_rng(0).permutation(len(corpus))
    assert_array_equal(fitted.transform(corpus[order]), expected[order])
    for i in range(len(corpus)):
        assert_array_equal(fitted.transform(corpus[i : i + 1])[0], expected[i])
    assert_array_equal(clone_fitted(fitted).set_params(n_jobs=2).transform(corpus), expected)
    assert_array_equal(fitted.score_samples(corpus[order]), fitted.score_samples(corpus)[order])


def _check_sentences_alone(fitted: Any, sentences: TokenSequences) -> None:
    close: Any = {"rtol": 1e-10, "atol": 1e-12}  # sentences are processed in batches
    expected, scores = fitted.transform(sentences), fitted.score_samples(sentences)
    assert expected.shape == (len(sentences), len(fitted.get_feature_names_out()))
    assert_allclose(expected.sum(axis=1), 1.0)
    order = np.random.default_rng(0).permutation(len(sentences))
    assert_allclose(fitted.transform(sentences[order]), expected[order], **close)
    assert_allclose(fitted.score_samples(sentences[order]), scores[order], **close)
    trees = fitted.predict(sentences)
    assert fitted.predict(sentences[order]) == [trees[i] for i in order]
    for i in range(len(sentences)):
        assert_allclose(fitted.transform(sentences[i : i + 1])[0], expected[i], **close)
        assert fitted.predict(sentences[i : i + 1]) == trees[i : i + 1]
    assert_array_equal(clone_fitted(fitted).set_params(n_jobs=2).transform(sentences), expected)


def check_fit_transform(estimator: Any) -> None:
    """Check that fit_transform(X) is fit(X).transform(X)."""
    corpus = make_samples(estimator)
    assert_array_equal(
        seeded(estimator).fit_transform(corpus), seeded(estimator).fit(corpus).transform(corpus)
    )


def check_scores_agree(estimator: Any) -> None:
    """Check that score, score_samples and perplexity, if present, are consistent."""
    corpus = make_samples(estimator)
    fitted = seeded(estimator).fit(corpus)
    if takes_sequences(estimator):
        n = count_scored_rows(fitted, corpus)
        assert_allclose(fitted.score(corpus), fitted.score_samples(corpus).sum() / n)
        return
    n_scored = len(corpus.tokens) if takes_sentences(estimator) else _count_scored()
    assert_allclose(fitted.score(corpus), fitted.score_samples(corpus).sum() / n_scored)
    assert_allclose(fitted.perplexity(corpus), np.exp(-fitted.score(corpus)))


def _count_scored() -> int:
    """Return the number of words of `make_documents` that are scored: the second halves."""
    return sum(len(segment) // 2 for document in make_documents() for segment in document)


def check_cross_validation(estimator: Any) -> None:
    """Check that folds index documents, and that a search does not depend on n_jobs."""
    search(estimator, make_samples(estimator))


def check_read_only_input(estimator: Any) -> None:
    """Check that memory-mapped, read-only input gives the same fit."""
    corpus = make_samples(estimator)
    expected = seeded(estimator).fit(corpus)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "flat.npy")
        np.save(path, corpus.values if takes_sequences(estimator) else corpus.tokens)
        flat = np.load(path, mmap_mode="r")
        mapped: Any
        if takes_sequences(estimator):
            mapped = SequencePanel(flat, corpus.ptr)
        elif takes_sentences(estimator) or takes_text(estimator):
            mapped = TokenSequences(flat, corpus.ptr, N_WORDS)
        else:
            mapped = SegmentedCorpus(flat, corpus.segment_ptr, corpus.doc_ptr, N_WORDS)
        same_fit(expected, seeded(estimator).fit(mapped))
        if not takes_text(estimator):
            assert_array_equal(expected.transform(corpus), expected.transform(mapped))
        assert_array_equal(expected.score_samples(corpus), expected.score_samples(mapped))
        del flat, mapped


def check_resume_after_interruption(estimator: Any) -> None:
    """Check that an interrupted fit has a result, and resumes with the bits of a straight run."""
    if climbs(estimator):
        _check_climb_resumes(estimator)
        return

    corpus = make_samples(estimator)
    params = {"max_iter": 12, "burn_in": 4, "thin": 3}
    straight = seeded(estimator, **params).fit(corpus)
    for n_sweeps in (2, 4, 7):
        stopped = seeded(estimator, **params)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            interrupt(stopped, n_sweeps, corpus)
        # In the burn-in, the current state is the only result.
        is_warned = any("interrupted in its burn-in" in str(w.message) for w in caught)
        assert is_warned == (n_sweeps <= 4)
        assert stopped.score_samples(corpus).shape == straight.score_samples(corpus).shape
        resumed = clone_fitted(stopped).set_params(warm_start=True).fit(corpus)
        same_fit(straight, resumed)
        assert_array_equal(straight.score_samples(corpus), resumed.score_samples(corpus))
    stopped = seeded(estimator, n_samples=1, **params)  # the last sweep, which is not reached
    interrupt(stopped, 7, corpus)
    assert np.all(np.isfinite(stopped.score_samples(corpus)))


def _check_climb_resumes(estimator: Any) -> None:
    corpus = make_samples(estimator)
    params = {"max_iter": 6, "tol": 0.0}
    straight = seeded(estimator, **params).fit(corpus)
    for n_steps in range(1, straight.n_iter_):
        stopped = seeded(estimator, **params)
        interrupt(stopped, n_steps, corpus)
        if hasattr(stopped, "lower_bounds_"):  # not while it anneals
            assert stopped.n_iter_ == n_steps
            assert stopped.transform(corpus).shape == straight.transform(corpus).shape
        resumed = clone_fitted(stopped).set_params(warm_start=True).fit(corpus)
        same_fit(straight, resumed)
        assert_array_equal(straight.score_samples(corpus), resumed.score_samples(corpus))


def check_error_in_a_step(estimator: Any) -> None:
    """Check that a fit after an error within a step gives the bits of a fit without one."""
    import pytest

    corpus = make_samples(estimator)
    params: dict[str, Any] = {"max_iter": 12, "warm_start": True}
    params |= {"tol": 0.0} if climbs(estimator) else {"burn_in": 4, "thin": 3}
    straight = seeded(estimator, **params).fit(corpus)
    if straight.n_iter_ < 6:
        raise AssertionError("The fit is too short for this check.")
    for n_before in (0, 4):
        torn = seeded(estimator, **params)
        if n_before:
            torn.set_params(max_iter=n_before).fit(corpus)
            torn.set_params(max_iter=params["max_iter"])
        tear(torn, n_before + 2, corpus)
        torn = clone_fitted(torn)
        if torn._saved.is_inconsistent:  # steps change the runs in place
            with pytest.warns(UserWarning, match="starts over"):
                torn.fit(corpus)
        else:
            torn.fit(corpus)
        same_fit(straight, torn)


def check_warm_start_continues(estimator: Any) -> None:
    """Check that a larger max_iter continues the chain with the samples of a single run."""
    corpus = make_samples(estimator)
    if climbs(estimator):
        climb = seeded(estimator, max_iter=4, tol=0.0, warm_start=True).fit(corpus)
        bounds = climb.lower_bounds_
        climb = clone_fitted(climb).set_params(max_iter=7).fit(corpus)
        assert_array_equal(climb.lower_bounds_[: len(bounds)], bounds)
        same_fit(seeded(estimator, max_iter=7, tol=0.0).fit(corpus), climb)
        return
    warm = seeded(estimator, max_iter=6, burn_in=2, thin=1, warm_start=True).fit(corpus)
    before = warm.trace_
    warm = clone_fitted(warm).set_params(max_iter=10).fit(corpus)
    assert_array_equal(warm.trace_.sweeps, np.arange(3, 11))
    for name in before:
        assert_array_equal(warm.trace_[name][:, :4], before[name])
    straight = seeded(estimator, max_iter=10, burn_in=2, thin=1).fit(corpus)
    same_fit(straight, warm)
    params = {"burn_in": 4, "thin": 3, "n_samples": 3}
    straight = seeded(estimator, max_iter=11, **params).fit(corpus)
    pieces = seeded(estimator, warm_start=True, **params)
    for max_iter, kept in ((3, [3]), (7, [5, 7]), (9, [5, 8, 9]), (11, [5, 8, 11])):
        pieces = clone_fitted(pieces).set_params(max_iter=max_iter).fit(corpus)
        assert_array_equal(pieces.trace_.sweeps, kept)
        assert np.all(np.isfinite(pieces.score_samples(corpus)))
    same_fit(straight, pieces)


def check_pickle_holds_no_tokens(estimator: Any) -> None:
    """Check that a fitted estimator keeps nothing of the length of the corpus but partitions."""
    corpus = make_samples(estimator, 200)
    fitted = seeded(estimator).fit(corpus)
    n_tokens = len(corpus.values if takes_sequences(estimator) else corpus.tokens)

    def arrays(value: Any) -> Iterable[np.ndarray]:
        if isinstance(value, np.ndarray):
            yield value
        elif isinstance(value, dict):
            for item in value.values():
                yield from arrays(item)
        elif isinstance(value, list | tuple):
            for item in value:
                yield from arrays(item)
        elif hasattr(value, "__dict__"):
            yield from arrays(vars(value))

    kept = [array for array in arrays(vars(fitted)) if n_tokens in array.shape]
    if is_clusterer(estimator):  # partitions of the rows are the result
        kept = [array for array in kept if array.ndim > 1 or array.dtype.kind != "i"]
    assert not kept


def check_small_samples(estimator: Any) -> None:
    """Check that samples without segments, without words and of one word or step are legal."""
    if takes_sentences(estimator):
        words = TokenSequences.from_sequences([[0], [1], [0]], n_features=3)
        fitted = seeded(estimator).fit(words)
        assert_allclose(fitted.transform(words).sum(axis=1), 1.0)
        assert np.isfinite(fitted.score(words))
        assert [tree.leaves for tree in fitted.predict(words)] == [("0",), ("1",), ("0",)]
        _check_empty_sentences(estimator)
        return
    if takes_sequences(estimator):
        short = [np.zeros(count_given(estimator) + n) for n in (1, 2)]
        fitted = seeded(estimator).fit(short[:1])
        assert_shares(estimator, fitted.transform(short))
        assert np.isfinite(fitted.score(short))
        return
    documents: list[Any] = [[], [[]], [[0]], [[1, 2], []], [[], [3, 4, 5]]]
    corpus = SegmentedCorpus.from_documents([*make_documents(), *documents], n_features=N_WORDS)
    fitted = seeded(estimator).fit(corpus)
    shares = fitted.transform(corpus)
    assert_allclose(shares.sum(axis=1), 1.0)
    first = len(make_documents())
    prior = np.asarray(getattr(fitted, "doc_topic_prior_", shares[first]))
    assert_allclose(shares[first : first + 2], np.tile(prior / prior.sum(), (2, 1)))
    assert_array_equal(fitted.score_samples(corpus)[first : first + 3], 0.0)
    for shares in (fitted.transform_segments(corpus), fitted.segment_topic_):
        assert_allclose(shares.sum(axis=1), 1.0)


def _check_empty_sentences(estimator: Any) -> None:
    """Check that sentences without words are legal, all of them together only in predictions."""
    import pytest

    sentences = make_sentences()
    lists: list[Any] = [[], *(sentence.tolist() for sentence in sentences), [], []]
    filled = np.arange(1, len(sentences) + 1)
    mixed = TokenSequences.from_sequences(lists, N_WORDS)
    fitted = seeded(estimator).fit(mixed)
    same_fit(seeded(estimator).fit(sentences), fitted)
    none = TokenSequences.from_sequences([[], []], N_WORDS)
    for X, of_words in ((mixed, filled), (none, filled[:0])):
        trees, shares, scores = fitted.predict(X), fitted.transform(X), fitted.score_samples(X)
        empty = np.setdiff1d(np.arange(len(X)), of_words)
        assert [i for i, tree in enumerate(trees) if tree is None] == empty.tolist()
        assert_array_equal(shares[empty], np.tile(fitted.symbol_shares_, (len(empty), 1)))
        assert_array_equal(scores[empty], 0.0)
        if len(of_words):
            assert [trees[i] for i in of_words] == fitted.predict(sentences)
            assert_array_equal(shares[of_words], fitted.transform(sentences))
            assert_array_equal(scores[of_words], fitted.score_samples(sentences))
    # Zeros among the terms may change the order in which numpy adds them.
    assert_allclose(fitted.score(mixed), fitted.score(sentences), rtol=1e-14)
    with pytest.raises(ValueError, match="no words to score"):
        fitted.score(none)
    with pytest.raises(ValueError, match=r"0 word\(s\)"):
        seeded(estimator).fit(none)


def check_seeds(estimator: Any) -> None:
    """Check that seeds may be ints, RandomStates and Generators; equal ones give equal fits."""
    corpus = make_samples(estimator)
    for make in (int, np.random.RandomState, np.random.default_rng):
        first, second, other = (
            clone(estimator).set_params(random_state=make(seed)).fit(corpus) for seed in (3, 3, 4)
        )
        same_fit(first, second)
        if climbs(estimator):
            assert first.lower_bound_ != other.lower_bound_
        else:
            assert not np.array_equal(first.trace_["log_joint"], other.trace_["log_joint"])


def check_chains_do_not_depend_on_jobs(estimator: Any) -> None:
    """Check that several chains, or starts, do not depend on n_jobs."""
    corpus = make_samples(estimator)
    if climbs(estimator):
        one, two = (seeded(estimator, n_init=3, n_jobs=n).fit(corpus) for n in (1, 2))
        same_fit(one, two)
        assert len(set(one.init_lower_bounds_)) == 3
        return
    one, two = (seeded(estimator, n_chains=3, n_jobs=n).fit(corpus) for n in (1, 2))
    same_fit(one, two)
    assert one.trace_.n_chains == 3
    assert len({tuple(row) for row in one.trace_["log_joint"]}) == 3


def check_iter_sweeps_is_what_fit_runs(estimator: Any) -> None:
    """Check that iter_sweeps yields the states of fit's first chain and changes nothing."""
    corpus = make_samples(estimator)
    if climbs(estimator):  # the bound never falls, and the best start gives the result
        fitted = seeded(estimator, n_init=2).fit(corpus)
        assert np.all(np.diff(fitted.lower_bounds_) >= 0.0)
        assert fitted.lower_bound_ == fitted.lower_bounds_[-1] == fitted.init_lower_bounds_.max()
        assert fitted.n_iter_ <= fitted.max_iter
        return
    watched = seeded(estimator)
    before = dict(vars(watched))
    joints = [state.log_joint() for state in watched.iter_sweeps(corpus)]
    assert vars(watched) == before  # nested parts are the same objects
    assert len(joints) == watched.max_iter
    trace = seeded(estimator).fit(corpus).trace_
    assert_allclose(trace["log_joint"][0], np.array(joints)[trace.sweeps - 1], rtol=1e-12)


FIT_CHECKS: tuple[Check, ...] = (
    check_cross_validation,
    check_read_only_input,
    check_resume_after_interruption,
    check_error_in_a_step,
    check_warm_start_continues,
    check_pickle_holds_no_tokens,
    check_seeds,
    check_chains_do_not_depend_on_jobs,
    check_iter_sweeps_is_what_fit_runs,
)

RAGGED_CHECKS: tuple[Check, ...] = (
    check_input_forms,
    check_transform_of_a_sample_is_its_own,
    check_fit_transform,
    check_scores_agree,
    check_small_samples,
    *FIT_CHECKS,
)

TEXT_CHECKS = (check_text_forms, check_text_scores, check_text_without_words, *FIT_CHECKS)


def _checks_for(estimator: Any) -> tuple[Check, ...]:
    kinds = {"tree": TREE_CHECKS, "text": TEXT_CHECKS}
    checks = kinds.get(getattr(estimator, "_sample_kind", ""), RAGGED_CHECKS)
    return tuple(map(of_short_fits, checks))


def check_ragged_estimator(estimator: BaseEstimator) -> None:
    """Run every check on an estimator, which is cloned and never changed.

    Parameters
    ----------
    estimator : estimator instance
        It should have several components, and few sweeps to make the checks fast.

    Raises
    ------
    AssertionError
        If a check fails.
    """
    for check in _checks_for(estimator):
        check(estimator)


def parametrize_with_ragged_checks(estimators: Iterable[BaseEstimator]) -> Any:
    """Return a pytest decorator that runs every check on every estimator, one test per pair.

    Parameters
    ----------
    estimators : iterable of estimator instances

    Returns
    -------
    pytest.mark.parametrize of the arguments ``estimator`` and ``check``
    """
    import pytest

    return pytest.mark.parametrize(
        ("estimator", "check"),
        [
            pytest.param(estimator, check, id=f"{estimator}-{check.__name__}")
            for estimator in estimators
            for check in _checks_for(estimator)
        ],
    )
