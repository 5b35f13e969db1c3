"""Mixtures of sparse rows: the answers of dense ones, and memory in proportion to the words."""

import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.metrics import adjusted_rand_score

from skdp.emissions import MultinomialEmission
from skdp.mixture import DPMixture, PitmanYorMixture

RNG = np.random.default_rng(0)
SHARES = RNG.dirichlet(np.full(40, 0.1), size=3)
Z = RNG.integers(3, size=90)
COUNTS = np.array([RNG.multinomial(8, SHARES[z]) for z in Z], dtype=float)
COUNTS[4], COUNTS[:, 7] = 0.0, 0.0
BITS = (COUNTS > 0).astype(float)
TABLES = {"multinomial": COUNTS, "bernoulli": BITS}
FORMATS = "csr", "csc", "coo", "lil", "dok", "bsr"

every_kind = pytest.mark.parametrize("kind", TABLES)
ignore = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def fit(kind, X, **options):
    options = {"max_iter": 30, "n_samples": 4, "random_state": 0, **options}
    return DPMixture(kind, **options).fit(X)


@ignore
@pytest.mark.parametrize("sampler", ["collapsed", "blocked"])
def test_sparse_counts_have_the_same_fit(sampler):
    """All numbers are those of the dense rows."""
    dense = fit("multinomial", COUNTS, sampler=sampler)
    rows = fit("multinomial", sparse.csr_array(COUNTS), sampler=sampler)
    assert_array_equal(rows.labels_, dense.labels_)
    assert_array_equal(rows.trace_["log_joint"], dense.trace_["log_joint"])
    assert_array_equal(rows.emission_.probs, dense.emission_.probs)


@ignore
@every_kind
def test_methods_take_both(kind):
    """Of one fit, all predictions of sparse rows are those of the dense ones."""
    dense, rows = TABLES[kind], sparse.csr_matrix(TABLES[kind])
    model = fit(kind, rows)
    assert adjusted_rand_score(Z, model.labels_) > 0.8
    for method in ("predict", "predict_proba", "score_samples", "score", "novelty"):
        found, expected = getattr(model, method)(rows), getattr(model, method)(dense)
        assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
    assert model.sample(3, random_state=0).shape == (3, 40)
    assert len(model.explain().information) == 40
    assert model.labels_at(1).tolist() == [0] * 90
    tree = fit(kind, dense, init=model.labels_).cluster_tree()
    assert tree.losses[-1] > 0.0
    with pytest.raises(TypeError, match="X is sparse, and has no missing cells"):
        model.impute(rows)


@ignore
@every_kind
def test_known_labels_and_whole_weights(kind):
    rows, weights = sparse.csr_array(TABLES[kind]), np.arange(90) % 3
    y = np.where(np.arange(90) < 10, Z, -1)
    weighted = DPMixture(kind, max_iter=20, n_samples=2, random_state=0)
    repeated = fit(kind, rows[np.repeat(np.arange(90), weights)], max_iter=20, n_samples=2)
    weighted.fit(rows, sample_weight=weights)
    assert_array_equal(weighted.trace_["log_joint"], repeated.trace_["log_joint"])
    assert_array_equal(weighted.fit(rows, y).labels_[:10], Z[:10])
    with pytest.raises(ValueError, match=r"sample_weight: .* takes whole weights only"):
        weighted.fit(rows, sample_weight=np.full(90, 0.5))


@ignore
@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("make", ["array", "matrix"])
def test_formats_and_types(name, make):
    """Of any numbers; X stays as it is."""
    expected = fit("multinomial", COUNTS, max_iter=3).trace_["log_joint"]
    for kind in (np.float32, np.int32, np.uint8):
        X = getattr(sparse, f"{name}_{make}")(COUNTS.astype(kind))
        assert_array_equal(fit("multinomial", X, max_iter=3).trace_["log_joint"], expected)
        assert_array_equal(X.toarray(), COUNTS)


@ignore
@every_kind
def test_zeros_duplicates_and_order(kind):
    """Stored zeros do not count, the same cells add up, and columns come in any order."""
    rows, columns = np.nonzero(TABLES[kind])
    values = TABLES[kind][rows, columns]
    halves = np.where(values % 2 == 0, values / 2, values - 1)
    order = RNG.permutation(2 * len(rows))
    rows, columns = np.tile(rows, 2)[order], np.tile(columns, 2)[order]
    of_rows, of_columns = np.nonzero(TABLES[kind][:, :10] == 0.0)
    values = np.append(np.append(halves, values - halves)[order], np.zeros(len(of_rows)))
    rows, columns = np.append(rows, of_rows), np.append(columns, of_columns)
    table = sparse.coo_array((values, (rows, columns)), (90, 40))
    by_row = np.argsort(rows, kind="stable")
    ptr = np.searchsorted(rows[by_row], np.arange(91))
    unsorted = sparse.csr_array((table.data[by_row], columns[by_row], ptr), (90, 40))
    before = unsorted.data.copy()
    expected = fit(kind, sparse.csr_array(TABLES[kind])).trace_["log_joint"]
    for X in (table, unsorted):
        assert_array_equal(fit(kind, X).trace_["log_joint"], expected)
    assert_array_equal(unsorted.data, before)


@ignore
def test_other_numbers_of_columns():
    model = fit("multinomial", sparse.csr_array(COUNTS), max_iter=3)
    with pytest.raises(ValueError, match="39 features"):
        model.predict(sparse.csr_array(COUNTS[:, 1:]))


@ignore
@every_kind
def test_few_rows(kind):
    """One row, rows of zeros only, and a single column."""
    for X in (TABLES[kind][:1], np.zeros((3, 4)), TABLES[kind][:, :1]):
        rows = sparse.csr_array(X)
        model = PitmanYorMixture(kind, max_iter=5, n_samples=2, random_state=0).fit(rows)
        assert np.isfinite(model.score_samples(rows)).all()


@ignore
@every_kind
def test_memory(kind):
    """In proportion to the words: 3,000 rows of 20,000 columns would be 480 MB."""
    rng = np.random.default_rng(0)
    X = sparse.csr_array(
        (np.ones(15_000), (np.repeat(np.arange(3000), 5), rng.integers(20_000, size=15_000))),
        (3000, 20_000),
    )
    X.data[:] = 1.0
    model = DPMixture(kind, max_iter=2, n_samples=1, split_merge=False, init=np.zeros(3000, int))
    tracemalloc.start()
    model.set_params(
        concentration=1e-6, emission=MultinomialEmission(1.0) if kind[0] == "m" else kind
    )
    model.fit(X).predict(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 60e6
