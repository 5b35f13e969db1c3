"""Samplers over the rows of problems, their steps, and how their partitions are compared."""

import numpy as np
import pytest
from exact.oracles import gaps
from exact.oracles.batch_means import check_chain
from scipy.sparse import csr_array

from skdp._numeric._random import Role, derive_stream, make_seed_sequence
from skdp.data._validation import SparseRows
from skdp.emissions import IndependentEmissions
from skdp.emissions._table import TableEmissionSampler
from skdp.mixture._kernels import _moves as large_moves
from skdp.mixture._rows._hdp import HDPMixtureSampler
from skdp.mixture._rows._partition import check_labels
from skdp.mixture._rows._sampler import BlockedSampler, MixtureSampler, PartitionPrior
from skdp.processes._partitions import TopPriors

A, B = 0.4, 0.7
ALPHA, GAMMA = 1.3, 0.8
RARE = 0.005
"""Partitions of less are taken together: too few visits to tell their spread."""


def make_chain_sampler(
    problem,
    a=A,
    b=B,
    init=None,
    *,
    y=None,
    seed=0,
    prior=None,
    split_merge=True,
    sampler=MixtureSampler,
):
    """Return a sampler over the rows of a problem; numbers that are drawn have a `prior`."""
    rows, emission, init, streams = _parts_of(problem, y, init, seed)
    hyper = PartitionPrior(None, None) if prior is None else prior
    return sampler(rows, emission, hyper, a, b, init, *streams, split_merge=split_merge)


def make_grouped_sampler(
    problem, sizes, alpha=ALPHA, gamma=GAMMA, *, y=None, init=None, priors=None
):
    """Return a sampler over the rows of a problem in groups of some sizes."""
    rows, emission, init, streams = _parts_of(problem, y, init, 0)
    rows = rows._replace(ptr=np.append(0, np.cumsum(sizes)))
    priors = TopPriors(None, None) if priors is None else priors
    return HDPMixtureSampler(rows, emission, priors, alpha, gamma, init, *streams)


def _parts_of(problem, y, init, seed):
    """Return rows, the sampler of their emission, a first partition, and two streams."""
    values = np.array(problem.rows, dtype=float)
    values.flags.writeable = False
    powers = getattr(problem, "powers", None)
    rows = check_labels(values, y)._replace(powers=None if powers is None else np.array(powers))
    if getattr(problem, "is_sparse", False):
        values = SparseRows(csr_array(values))
        rows = rows._replace(values=values)
    emission = problem.emission.make_sampler(values, 1)
    if isinstance(problem.emission, IndependentEmissions):
        emission = TableEmissionSampler(emission)
    root = make_seed_sequence(seed)
    streams = [derive_stream(root, role, 0) for role in (Role.INIT, Role.SWEEP)]
    if isinstance(init, list | tuple):
        init = np.array(init)
    return rows, emission, init, streams


def slow(*values):
    """Return an instance of a test that is slow."""
    return pytest.param(*values, marks=pytest.mark.slow)


def in_order(labels):
    """Return labels renamed so that new clusters come in order."""
    names = {}
    return tuple(names.setdefault(int(k), len(names)) for k in labels)


def take_together(columns, expected):
    """Return the columns of common partitions, and the sum of the others, if there are any."""
    rare = expected < RARE
    parts = [columns[..., ~rare]]
    if rare.any():
        parts.append(columns[..., rare].sum(axis=-1, keepdims=True))
    return np.concatenate(parts, axis=-1)


def gibbs(sampler):
    sampler._seat(sampler._free, sampler.stream)
    sampler._draw_hyper()


def split_merge(sampler):
    sampler._split_and_merge()
    sampler._draw_hyper()


def both(sampler):
    sampler.sweep()


def weights_kept(sampler):
    """Weights of groups change only with components that come or go, and every fifth time."""
    for _ in range(5):
        sampler._seat(sampler._free, sampler.stream)
    sampler._draw_hyper()


def moves_and_halves(sampler):
    """Moves leave missing values as they are; a sweep over rows comes once in a while."""
    for _ in range(3):
        sampler._split_and_merge()
    sampler._seat(sampler._free[::2].copy(), sampler.stream)
    sampler._seat(sampler._free[1::2].copy(), sampler.stream)


def lattices(sampler):
    """Rows keep their weights on lattices until all are drawn given parameters."""
    for _ in range(2):
        sampler._seat(sampler._free, sampler.stream)
    sampler._draw_above()


def stir(sampler):
    sampler._stir(sampler._move(0, 0, sampler.stream), 20, sampler.stream)


def large(sampler):
    clusters = sampler._move(0, 0, sampler.stream, n_spare=4)
    sampler._move_large(clusters, 4, sampler.stream)


def large_of_few(sampler):
    """Beginnings have less than all rows."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(large_moves, "SAMPLE", 1)
        large(sampler)


def blocked(sampler):
    """Rows given parameters, six times, and a single row: the rows would have the last word."""
    sampler._stir(sampler._move(0, 0, sampler.stream), 2, sampler.stream)
    for _ in range(6):
        rows_given_parameters(sampler)


def rows_given_parameters(sampler):
    """The number of clusters stays as it is."""
    clusters = sampler._move(0, 0, sampler.stream)
    sampler._draw_rows(sampler._draw_parameters(clusters, sampler.stream), sampler.stream)


STEPS = {"gibbs": gibbs, "split-merge": split_merge, "both": both}
BLOCKED_STEPS = {
    "stir": stir, "blocked": blocked, "large": large, "large-of-few": large_of_few,
    "blocked-both": both, "given-parameters": rows_given_parameters,
}  # fmt: skip
OTHER_STEPS = {
    "weights-kept": weights_kept, "moves-and-halves": moves_and_halves, "lattices": lattices,
}  # fmt: skip


def find_step(step):
    """Return the class of the sampler that has a step, and the step."""
    kind = BlockedSampler if step in BLOCKED_STEPS else MixtureSampler
    return kind, {**STEPS, **OTHER_STEPS, **BLOCKED_STEPS}[step]


def check_partitions(problem, sampler, step, every, expected, n_sweeps):
    """Compare the partitions of a chain, and missing values and weights, to what is expected."""
    index = {labels: i for i, labels in enumerate(every)}
    pairs = np.tril_indices(len(every[0]), -1)
    together = np.array([np.equal.outer(z, z)[pairs] for z in every], dtype=float)
    numbers = np.array([[max(z) + 1.0, max(map(z.count, z))] for z in every])
    has_latent = hasattr(problem.family, "integrate")
    rows = np.array(problem.rows, dtype=float)
    if has_latent:
        means = np.array([gaps.expected_latent(rows, z, problem.family) for z in every])

    def draw():
        step(sampler)
        assert set(sampler.labels.tolist()) == set(range(sampler.n_clusters))
        partition = in_order(sampler.labels)
        assert partition in index
        return index[partition], latent_of(sampler, rows) if has_latent else 0.0

    def compare(found, latent):
        draws = np.eye(len(every))[found]
        yield take_together(draws, expected), take_together(expected, expected), "partitions"
        yield together[found], expected @ together, "pairs in one cluster"
        yield numbers[found], expected @ numbers, "clusters, rows of the largest one"
        if has_latent:
            yield latent, expected @ means, "log weights and missing values"
            for best in np.argsort(-expected)[:2]:
                own = (found == best)[:, np.newaxis]
                yield latent * own, expected[best] * means[best], "the same of a partition"

    check_chain(draw, compare, n_sweeps)


def latent_of(sampler, rows):
    """Return log weights, and tanh of missing values; the observed ones stay."""
    completed, hidden = sampler.emission.completed, np.isnan(rows)
    if completed is None:  # no row has gaps or weights
        return np.zeros(len(rows))
    assert np.array_equal(completed[~hidden], rows[~hidden])
    weights = getattr(sampler.emission, "drawn_weights", np.ones(len(rows)))
    return np.append(np.log(weights), np.tanh(completed[hidden]))
