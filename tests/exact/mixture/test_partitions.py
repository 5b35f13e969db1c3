"""Each step of the mixtures draws partitions from their posterior: enumeration of 3 to 7 rows.

Rows of one kind and tables, with gaps, weights, powers and known labels. By batch means (see
`batch_means`): |z| < 5 for some 30 numbers of each of 160 cases, a false alarm for one in 17
choices of the seeds; these are fixed. A partition that labels forbid is an error at once."""

import math

import numpy as np
import pytest
from exact.mixture.chains import (
    STEPS,
    A,
    B,
    check_partitions,
    find_step,
    in_order,
    make_chain_sampler,
    slow,
    take_together,
)
from exact.mixture.problems import (
    AUTO,
    BURSTS,
    CELLS,
    CLOSE,
    COUNT,
    EVERY,
    NORMAL,
    POWERS,
    PROBLEMS,
    TABLES,
    make_table,
    with_default_priors,
)
from exact.oracles import mixtures
from exact.oracles.batch_means import N_SWEEPS, check_chain
from exact.oracles.quadrature import beta_quadrature, gamma_quadrature

from skdp.emissions import (
    CategoricalEmission,
    IndependentEmissions,
    MultinomialEmission,
    PoissonEmission,
)
from skdp.mixture import PitmanYorMixture
from skdp.mixture._rows._sampler import BlockedSampler, MixtureSampler, PartitionPrior

TWO = [3, -1, 3, 0, -1]
"""A label of two rows, a label of one, and two free rows."""

ONE = [-1, 1, -1, -1, 1]

both_samplers = pytest.mark.parametrize("kind", [MixtureSampler, BlockedSampler])


def check(name, step, n_sweeps=8000, a=A, b=B, y=None):
    problem, (kind, step) = EVERY[name], find_step(step)
    every = mixtures.partitions(len(problem.rows), y)
    expected = mixtures.posterior(every, problem.known, problem.family, a, b)
    sampler = make_chain_sampler(problem, a, b, y=y, sampler=kind)
    check_partitions(problem, sampler, step, every, expected, n_sweeps)


@pytest.mark.parametrize(
    ("name", "step"),
    [
        *(("full", step) for step in ("gibbs", "split-merge", "stir", "blocked", "large")),
        ("full", "large-of-few"),
        ("poisson", "blocked"),
        *(("dispersed", step) for step in ("gibbs", "split-merge", "blocked")),
        ("wide-powers", "gibbs"),
        *(("sparse", step) for step in ("gibbs", "blocked")),
        *(("compound", step) for step in ("both", "blocked-both")),
        slow("compound-part", "both"),
        *(("multinomial", step) for step in ("gibbs", "blocked")),
        ("cells", "gibbs"),
        slow("cells", "blocked"),
        *(("powers", step) for step in ("gibbs", "blocked")),
        ("parts-full", "split-merge"),
        *((name, "gibbs") for name in ("two-rows", "three-columns")),
        *(("t-column", step) for step in ("lattices", "both")),
        slow("t-column", "blocked"),
        *(("full-grid", step) for step in ("gibbs", "split-merge", "stir", "blocked", "large")),
        *(("grid-powers", step) for step in ("gibbs", "blocked")),
        *(("grid-gaps", step) for step in ("moves-and-halves", "blocked-both")),
        *(("t-grid", step) for step in ("lattices", "both")),
        slow("t-grid-gap", "both"),
        slow("t-grid", "blocked-both"),
    ],
)
def test_partitions(name, step):
    check(name, step)


@pytest.mark.parametrize("step", ["gibbs", "split-merge", "stir", "blocked", "large"])
def test_partitions_with_labels(step):
    check("few", step, y=TWO)


@pytest.mark.parametrize("step", ["split-merge", "both"])
def test_partitions_of_one_label(step):
    check("few", step, y=ONE)


def test_trades_of_two_labels():
    """Both labels have more rows than the two by which a move begins."""
    check("close", "split-merge", 4000, y=[0, 1, 0, 1, 0, -1, -1])


@pytest.mark.parametrize("y", [[0, 1, -1, -1, -1], slow([-1, 3, -1, 3, -1])], ids=["apart", "one"])
def test_missing_values_of_labeled_rows(y):
    """Rows with labels stay, and their missing values are drawn."""
    check("two-rows", "both", 6000, y=y)


@pytest.mark.parametrize("step", ["split-merge", slow("both"), slow("large")])
def test_partitions_of_pairs(step):
    check("pairs", step, a=0.02, b=0.02)


@pytest.mark.parametrize("step", ["blocked", "large"])
def test_partitions_of_few_clusters(step):
    check("few", step, a=0.4, b=-0.2)


@pytest.mark.parametrize(
    ("n_clusters", "y"), [(2, None), slow(3, None), slow(2, [-1, -1, -1, 5, -1, 5, -1])]
)
def test_rows_given_the_number_of_clusters(n_clusters, y):
    """Nothing else moves; the first row of a cluster may leave it if others there have labels."""
    a, b = 0.5, -0.3
    every = [labels for labels in mixtures.partitions(7, y) if max(labels) == n_clusters - 1]
    expected = mixtures.posterior(every, CLOSE.rows, CLOSE.family, a, b)
    kind, step = find_step("given-parameters")
    sampler = make_chain_sampler(CLOSE, a, b, every[0], y=y, sampler=kind)
    check_partitions(CLOSE, sampler, step, every, expected, N_SWEEPS)


@pytest.mark.parametrize(
    ("name", "kind", "y", "split_merge"),
    [
        ("full", MixtureSampler, None, False),
        ("few", BlockedSampler, TWO, True),
        slow("two-rows", MixtureSampler, None, True),
        slow("multinomial", MixtureSampler, None, False),
        slow("t-column", MixtureSampler, None, True),
    ],
)
def test_partitions_of_a_stream(name, kind, y, split_merge):
    """The last two rows come later; a sweep draws them, and two of the others at random."""
    problem, n = EVERY[name], len(EVERY[name].rows) - 2
    part = problem._replace(rows=problem.rows[:n])
    first = make_chain_sampler(part, y=None if y is None else y[:n], sampler=kind)
    for _ in range(3):
        first.sweep()
    chain = make_chain_sampler(problem, init=first, y=y, sampler=kind, split_merge=split_merge)
    every = mixtures.partitions(n + 2, y)
    expected = mixtures.posterior(every, problem.known, problem.family, A, B)
    check_partitions(problem, chain, find_step("both")[1], every, expected, 12_000)


EVERY_STEP = [*STEPS, "stir", "blocked", "large", "large-of-few", "blocked-both"]
PRIORS = [(0.0, 0.7), (0.4, 0.7), (0.5, -0.2)]
LABELS = [None, TWO, None, ONE]
FURTHER = [
    (name, step, *PRIORS[(i + j) % 3], LABELS[(i + j) % 4])
    for i, name in enumerate(PROBLEMS)
    for j, step in enumerate(EVERY_STEP)
]
"""Each step with each kind of rows, each prior and each kind of labels."""

FURTHER_TABLES = [
    (name, step, *PRIORS[(i + j) % 3], [*TWO, -1][: len(TABLES[name].rows)] if j % 4 == 3 else None)
    for i, name in enumerate(TABLES)
    for j, step in enumerate(EVERY_STEP)
    if (i + j) % 2
]
FURTHER_LATENT = {
    "two-rows": "moves-and-halves blocked",
    "empty-row": "gibbs moves-and-halves blocked-both",
    "three-columns": "moves-and-halves both blocked-both",
    "t-two-columns": "lattices both",
    "t-gap": "lattices both blocked blocked-both",
    "t-empty-row": "lattices both",
    "t-diag": "gibbs both",
}


@pytest.mark.slow
@pytest.mark.parametrize(("name", "step", "a", "b", "y"), FURTHER)
def test_further_partitions(name, step, a, b, y):
    check(name, step, N_SWEEPS // 2, a, b, y)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "step", "a", "b", "y"), FURTHER_TABLES)
def test_further_partitions_of_tables(name, step, a, b, y):
    check(name, step, 8000, a, b, y)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "step"),
    [(name, each) for name, steps in FURTHER_LATENT.items() for each in steps.split()],
)
def test_further_partitions_with_gaps_and_weights(name, step):
    check(name, step, 10_000)


@pytest.mark.slow
@both_samplers
def test_partitions_of_columns_with_their_own_priors(kind):
    problem = with_default_priors([[0, 1020], [1, 1100], [0, 1150]], [])
    every = mixtures.partitions(3)
    expected = mixtures.posterior(every, problem.rows, problem.family, A, B)
    sampler = make_chain_sampler(problem, sampler=kind)
    check_partitions(problem, sampler, kind.sweep, every, expected, 4000)


def check_drawn(sampler, every, weights, numbers, expected, n_sweeps):
    """Compare partitions, and numbers that are drawn with them."""
    index = {labels: i for i, labels in enumerate(every)}

    def step():
        sampler.sweep()
        return index[in_order(sampler.labels)], np.array(numbers(sampler))

    def compare(found, drawn):
        yield drawn, np.array(expected), "drawn numbers"
        draws = np.eye(len(every))[found]
        yield take_together(draws, weights), take_together(weights, weights), "partitions"

    check_chain(step, compare, n_sweeps)


@pytest.mark.parametrize(
    ("kind", "name", "a_prior", "y", "n_sweeps"),
    [
        (MixtureSampler, "multinomial", None, ONE, 4000),
        slow(BlockedSampler, "multinomial", None, None, 4000),
        slow(MixtureSampler, "diag", (1.5, 2.0), None, 8000),
        slow(BlockedSampler, "diag", (1.5, 2.0), ONE, 8000),
    ],
)
def test_learned_discount_and_concentration(kind, name, a_prior, y, n_sweeps):
    problem, b_prior, every = PROBLEMS[name], (2.0, 1.5), mixtures.partitions(5, y)
    priors = PartitionPrior(a_prior, b_prior)
    first = 0.0 if a_prior is None else A
    sampler = make_chain_sampler(problem, first, 1.0, y=y, prior=priors, sampler=kind)
    weights, *means = mixtures.hyper_posterior(
        every, problem.rows, problem.family, 0.0 if a_prior is None else a_prior, b_prior
    )
    check_drawn(
        sampler, every, weights, lambda s: [s.discount, math.log(s.concentration)], means, n_sweeps
    )


def test_rows_are_hardly_alone_under_the_default_prior():
    """Under a uniform prior of the discount, all rows are as often alone as together."""
    b, b_weights = gamma_quadrature(1.0, 1.0)

    def compare(discount_prior, n):
        a, weights = beta_quadrature(*discount_prior, n_nodes=64)
        means = [
            sum(
                x * y * math.exp(mixtures.log_prior(labels, u, v))
                for u, x in zip(a, weights, strict=True)
                for v, y in zip(b, b_weights, strict=True)
            )
            for labels in (range(n), [0] * n)
        ]
        return means[0] / means[1]

    for n in (20, 40):
        assert compare((1.0, 1.0), n) > 0.1
        assert compare(PitmanYorMixture().discount_prior, n) < 1e-6


@pytest.mark.slow
@pytest.mark.parametrize("y", [None, TWO], ids=["free", "labels"])
@both_samplers
def test_drawn_scale(kind, y):
    """Clusters tell each other how wide they are."""
    every, usual = mixtures.partitions(5, y), 0.2 * 1.5 * np.var(AUTO.rows)
    weights, log_scale = mixtures.posterior_of_scales(every, AUTO.rows, AUTO.family, usual, A, B)
    sampler = make_chain_sampler(AUTO, y=y, sampler=kind)
    check_drawn(
        sampler, every, weights, lambda s: math.log(s.emission.prior.scale[0, 0, 0]), log_scale,
        N_SWEEPS // 2,
    )  # fmt: skip


@pytest.mark.parametrize("kind", [MixtureSampler, slow(BlockedSampler)])
def test_drawn_concentration_of_rows(kind):
    """1 / (b + 1) is uniform a priori."""
    prior, every = [0.5, 0.8, 0.6], mixtures.partitions(len(BURSTS))
    grid = np.arange(-6.9, 18.4, 0.5)
    logs = np.array([
        mixtures.log_joints(every, BURSTS, mixtures.Compound(prior, np.exp(log_b)), A, B)
        for log_b in grid
    ])  # fmt: skip
    logs += (grid - 2.0 * np.logaddexp(0.0, grid))[:, np.newaxis]
    joint = np.exp(logs - logs.max())
    joint /= joint.sum()
    problem = PROBLEMS["multinomial"]._replace(
        rows=BURSTS, emission=MultinomialEmission(prior, "auto")
    )
    sampler = make_chain_sampler(problem, sampler=kind)
    check_drawn(
        sampler, every, joint.sum(axis=0), lambda s: math.log(s.emission.concentration),
        joint.sum(axis=1) @ grid, N_SWEEPS,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "powers"),
    [
        (MixtureSampler, None),
        slow(BlockedSampler, None),
        slow(MixtureSampler, [1.0, 0.3, 1.0, 0.5]),
    ],
)
def test_drawn_dispersions(kind, powers):
    """Each column has its own, ~ Gamma(1, 1)."""
    emission = IndependentEmissions([("all", PoissonEmission(0.8, 0.4, "auto"), [0, 1])])
    problem = make_table([[0, 3], [1, 2], [7, 14], [3, 0]], powers, [], all=((None, None), [0, 1]))
    problem, every = problem._replace(emission=emission), mixtures.partitions(4)
    grid = np.arange(-13.5, 4.0, 0.4)
    columns = np.array([
        [
            mixtures.log_likelihoods(every, problem.known, mixtures.Table([(family, [d])]))
            for family in (mixtures.WideCount(0.8, 0.4, np.exp(log_f)) for log_f in grid)
        ]
        for d in range(2)
    ])  # fmt: skip
    columns += (grid - np.exp(grid))[:, np.newaxis]
    joint = np.exp(columns - columns.max())
    weights = np.exp([mixtures.log_prior(labels, A, B) for labels in every])
    weights *= joint.sum(axis=1).prod(axis=0)
    weights /= weights.sum()
    means = np.einsum("g,dgz,z->d", grid, joint / joint.sum(axis=1, keepdims=True), weights)
    sampler = make_chain_sampler(problem, sampler=kind)
    check_drawn(
        sampler, every, weights, lambda s: np.log(s.emission.prior[0]), means, N_SWEEPS // 2
    )


@pytest.mark.slow
@both_samplers
def test_drawn_concentration_of_a_column(kind):
    """That of a column of categories is drawn given rows with gaps and powers."""
    shape, rate, base = 2.0, 0.8, [0.2, 0.5, 0.3]
    emission = IndependentEmissions([
        ("kind", CategoricalEmission(3, "auto", (shape, rate), base), [2]),
        ("normal", NORMAL[0], [0]),
        ("events", COUNT[0], [1]),
    ])  # fmt: skip
    problem = TABLES["powers"]._replace(
        rows=[row[:3] for row in CELLS[:5]], powers=POWERS[:5], emission=emission
    )
    every, rows = mixtures.partitions(5), problem.known

    def weigh(weights):
        parts = (NORMAL[1], [0]), (COUNT[1], [1]), (mixtures.Symbol(weights), [2])
        family = mixtures.Table(parts)
        return mixtures.log_joints(every, rows, family, A, B)

    grid = np.linspace(-7.0, 4.0, 120)
    logs = [
        weigh([np.exp(log_total) * share for share in base])
        + shape * log_total - rate * np.exp(log_total)
        for log_total in grid
    ]  # fmt: skip
    counts = [1.0 + sum(row[-1] for row in rows if row[2] == v) for v in range(3)]
    alike = weigh([1e9 * n / sum(counts) for n in counts])  # a column with the same distribution
    constant = shape * np.log(rate) - math.lgamma(shape) + np.log(grid[1] - grid[0])
    joint = np.exp(np.array([*(np.array(logs) + constant), alike]) - np.max(alike))
    joint /= joint.sum()
    expected = [joint[:-1].sum(), joint[:-1].sum(axis=1) @ grid]

    def numbers(sampler):
        total = sampler.emission.prior[0].sum()
        return [float(total < 1e9), math.log(total) if total < 1e9 else 0.0]

    sampler = make_chain_sampler(problem, sampler=kind)
    check_drawn(sampler, every, joint.sum(axis=0), numbers, expected, N_SWEEPS // 2)


@pytest.mark.parametrize("name", ["diag", "poisson"])
def test_the_sequential_start_is_a_draw_from_left_to_right(name):
    """P(z_1) P(z_2 | x_1, x_2) ...: rows in random order; for two rows it is the posterior."""
    problem = PROBLEMS[name]._replace(rows=PROBLEMS[name].rows[:2])
    apart = np.array([
        make_chain_sampler(problem, seed=seed).n_clusters == 2 for seed in range(1000)
    ])  # fmt: skip
    every = mixtures.partitions(2)
    expected = mixtures.posterior(every, problem.rows, problem.family, A, B)[1]
    z = (apart.mean() - expected) / np.sqrt(expected * (1.0 - expected) / len(apart))
    assert abs(z) < 5.0  # a false alarm for one in two million choices of the seeds
