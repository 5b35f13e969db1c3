"""`HDPPCFGRefiner(inference="split-merge")`, and its schedule."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning

from skdp.grammar import HDPPCFGRefiner, ParseTree
from skdp.grammar._refinement._split_merge import SplitMergeSchedule


def make_trees(n=300, seed=0):
    """Trees whose words agree, of two kinds; with chains, tagged and other words, long nodes."""
    rng = np.random.default_rng(seed)
    trees = []
    for kind in rng.integers(2, size=n):
        words = [f"{letter}{kind}" for letter in "abcd"]
        children = [ParseTree("X", [str(rng.choice(words))]) for _ in range(2)]
        if rng.random() < 0.3:
            children.append(ParseTree("NP", [ParseTree("X", [str(rng.choice(words))])]))
        if rng.random() < 0.2:
            children.insert(0, ParseTree("NP", ["it"]))
        trees.append(ParseTree("S", children))
    trees[7] = ParseTree("S", [ParseTree("NP", ["rarely"]), ParseTree("X", ["seen"])])
    return trees


TREES = make_trees()
SENTENCES = [tree.leaves for tree in TREES]


def make_model(n_components=4, **changed):
    parameters = {"min_word_count": 3, "random_state": 0, **changed}
    return HDPPCFGRefiner(n_components, inference="split-merge", **parameters)


@pytest.fixture(scope="module", params=[{}, {"n_products": 2, "horizontal_order": 1}])
def model(request):
    return make_model(**request.param).fit(SENTENCES, TREES)


def test_attributes(model):
    """Words are of two kinds: X needs two subsymbols, S one."""
    sizes = dict(zip(model.symbols_, model.n_active_components_.tolist(), strict=True))
    assert sizes["X"] >= 2
    assert sizes["S"] == 1
    assert max(sizes.values()) > 2
    shape = (len(sizes), max(sizes.values()))
    assert model.subsymbol_counts_.shape == model.top_weights_.shape == shape
    assert_allclose(model.top_weights_.sum(axis=1), 1.0)
    assert_array_equal(np.count_nonzero(model.top_weights_, axis=1), list(sizes.values()))
    assert_array_equal(model.top_weights_ > 0.0, model.subsymbol_counts_ >= 1e-6)
    n_x = sum(label == "X" for tree in TREES for label, _, _ in tree.spans())
    assert model.subsymbol_counts_[model.symbols_.index("X")].sum() == pytest.approx(n_x)
    assert len(model.lower_bounds_) == model.n_iter_ <= 2 * 35
    assert model.lower_bound_ == model.lower_bounds_[-1]
    assert model.count_active_rules(1e-3) <= model.count_active_rules() == model.n_active_rules_


@pytest.mark.parametrize("decoding", ["max-rule", "projection", "marginal"])
def test_parsing(model, decoding):
    """Trees of all ways of decoding, their probabilities, tags and rare words."""
    other = pickle.loads(pickle.dumps(model)).set_params(decoding=decoding)
    asked = [*SENTENCES[:6], SENTENCES[7], ()]
    predicted = other.predict(asked)
    assert predicted == model.predict(asked)
    assert predicted[:6] == TREES[:6]
    ranked = other.k_best(asked, k=1000)
    assert [row[0][0] for row in ranked[:-1]] == predicted[:-1]
    for sentence, row, score in zip(asked, ranked, other.score_samples(asked), strict=True):
        if sentence:
            trees, logs = zip(*row, strict=True)
            proba = other.tree_proba([sentence] * len(trees), trees)
            assert_allclose(proba, np.exp(np.array(logs) - score), rtol=1e-9)
            assert proba.sum() == pytest.approx(1.0, abs=1e-6)
    (tagged,) = other.predict([("it", "seen", "a0")], tags=[["NP", "X", None]])
    assert str(tagged) == "(S (NP it) (X seen) (X a0))"
    assert other.score(SENTENCES[:30], TREES[:30]) > 0.95


def test_words_that_agree(model):
    """The refined grammar gives words of one kind more than those of two."""
    scores = model.score_samples([("a0", "b0"), ("c1", "d1"), ("a0", "b1"), ("c0", "d1")])
    assert scores[:2].min() > scores[2:].max() + 1.0


def test_random_state_decides():
    first, second, other = (
        make_model(random_state=seed).fit(SENTENCES, TREES) for seed in (1, 1, 2)
    )
    assert_array_equal(first.subsymbol_counts_, second.subsymbol_counts_)
    assert not np.array_equal(first.lower_bounds_, other.lower_bounds_)


@pytest.mark.parametrize(
    ("n_components", "n_cycles", "made"),
    [(1, "auto", 0), (2, "auto", 1), (5, "auto", 3), (8, "auto", 3), (9, "auto", 4), (8, 5, 5)],
)
def test_cycles(n_components, n_cycles, made):
    schedule = make_model(n_components, n_cycles=n_cycles)._schedule
    assert schedule == SplitMergeSchedule(n_components, made, 0.5)
    assert schedule.most_steps == max(35 * made, 1)


def test_bounds_on_subsymbols():
    """No more than n_components, however many cycles; no merges, or nothing but merges."""
    model = make_model(3, n_cycles=3, merge_share=0.0).fit(SENTENCES, TREES)
    assert model.top_weights_.shape[1] == 3
    assert np.all(model.top_weights_ > 0.0)
    model = make_model(8, merge_share=1.0).fit(SENTENCES, TREES)
    assert model.top_weights_.shape[1] == 1
    plain = make_model(1).fit(SENTENCES, TREES)
    for mine, other in zip(model._logs, plain._logs, strict=True):
        assert_allclose(np.exp(mine), np.exp(other), rtol=1e-12)


def test_what_follows_splits_and_merges_ends_early():
    """At a large tolerance: two iterations after splits, two and one to smooth after merges."""
    model = make_model(tol=1e8).fit(SENTENCES, TREES)
    assert model.n_iter_ == 2 * (2 + 3)


def test_verbose(capsys):
    make_model(2, tol=0.0, verbose=5).fit(SENTENCES, TREES)
    out = capsys.readouterr().out
    assert "[HDPPCFGRefiner] iteration 5 of 35, lower bound" in out
    assert "[HDPPCFGRefiner] iteration 20 of 35, lower bound" in out


def test_fits_that_are_cut_short():
    """They are the first iterations of others, and warn that cycles are missing."""
    whole = make_model(max_iter=70, tol=0.0).fit(SENTENCES, TREES)
    with pytest.warns(ConvergenceWarning, match="the cycles of splits and merges are not done"):
        cut = make_model(max_iter=40, tol=0.0).fit(SENTENCES, TREES)
    assert cut.n_iter_ == 40
    assert_array_equal(cut.lower_bounds_, whole.lower_bounds_[:40])
    assert cut.score(SENTENCES[:30], TREES[:30]) > 0.95


# Bad input


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("n_cycles", -1), ("n_cycles", 1.5), ("n_cycles", "many"), ("n_cycles", None),
        ("merge_share", -0.1), ("merge_share", 1.1), ("merge_share", "half"), ("max_iter", 0),
        ("max_iter", "all"),
        ("pseudo_count", 0.1),
    ],
)  # fmt: skip
def test_bad_parameters(name, value):
    with pytest.raises(ValueError, match=name):
        make_model(**{name: value}).fit(SENTENCES, TREES)


@pytest.mark.parametrize("inference", ["vb", "em", "viterbi-em"])
@pytest.mark.parametrize(("name", "value"), [("n_cycles", 2), ("n_cycles", 0), ("merge_share", 0)])
def test_cycles_are_of_one_way_of_inference(inference, name, value):
    model = make_model(**{name: value}).set_params(inference=inference)
    with pytest.raises(ValueError, match=f"{name} is for inference='split-merge'. Got {name}="):
        model.fit(SENTENCES, TREES)
