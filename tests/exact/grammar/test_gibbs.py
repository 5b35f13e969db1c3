"""Chains of HDPPCFG against all trees of micro corpora, beta and concentrations integrated out.

Means of some 30 to 60 numbers a case are compared: a right sampler fails one of them by chance once
in 80,000 comparisons, so all cases together raise a false alarm for one choice of seeds in 200; the
seeds are fixed.
"""

import numpy as np
import pytest
from exact.grammar.fitted import count_of, model_of
from exact.oracles.batch_means import assert_means
from exact.oracles.pcfg_posterior import posterior

from skdp.grammar import HDPPCFG

CORPUS = [[0, 1, 0], [1, 0], [1]]

PLAIN = {
    "n_components": 2,
    "root_concentration": 0.8,
    "rule_type_prior": [1.5, 0.7],
    "emission_prior": 0.6,
    "binary_concentration": 1.3,
}
PARTITIONED = {
    "n_components": 2,
    "n_preterminals": 2,
    "root_concentration": 1.4,
    "rule_type_prior": [0.5, 1.1, 0.9, 2.0],
    "emission_prior": 0.6,
    "binary_concentration": [0.7, 1.3, 2.1, 1.6],
}
GEM = {"top_prior": "gem", "top_concentration": 1.7}
DIRICHLET = {"top_prior": "dirichlet", "top_concentration": 3.1}
KNOWN = {"top_concentration": None}
INDEPENDENT = {"child_prior": "independent"}
PRIOR = (2.0, 1.5)
"""Of every concentration that is learned: little of it lies outside the grid."""


def learning(name):
    return {f"{name}_concentration": "auto", f"{name}_concentration_prior": PRIOR}


FAST = {
    "GEM": {**PLAIN, **GEM},
    "binary learned, beta known": {**PLAIN, **KNOWN, **learning("binary")},
}
SLOW = {
    "partitioned, Dirichlet": {**PARTITIONED, **DIRICHLET},
    "independent, GEM": {**PLAIN, **GEM, **INDEPENDENT},
    "top learned, GEM": {**PLAIN, **GEM, **learning("top")},
}
EXHAUSTIVE = {
    "Dirichlet": {**PLAIN, **DIRICHLET},
    "beta known": {**PARTITIONED, **KNOWN},
    "partitioned, GEM": {**PARTITIONED, **GEM},
    "independent, partitioned": {**PARTITIONED, **GEM, **INDEPENDENT},
    "root learned": {**PLAIN, **KNOWN, **learning("root")},
    "root learned, partitioned": {**PARTITIONED, **KNOWN, **learning("root")},
    "top learned, Dirichlet": {**PLAIN, **DIRICHLET, **learning("top")},
    "binary learned, partitioned": {
        **PARTITIONED, **KNOWN, **learning("binary"), "n_components": 1,
    },
    "binary learned, independent": {**PLAIN, **KNOWN, **INDEPENDENT, **learning("binary")},
    "all learned": {
        **PLAIN, **GEM, **learning("top"), **learning("root"), **learning("binary"),
    },
}  # fmt: skip


def check(params, n_sweeps, step=0.5, corpus=CORPUS, brackets=()):
    estimator = HDPPCFG(**params, inference="gibbs", max_iter=n_sweeps, random_state=0)
    plain = HDPPCFG(**{
        **params,
        **{name: 1.0 for name, value in params.items() if isinstance(value, str)
           and value == "auto"},
    })  # fmt: skip
    plain.n_words_ = 2
    model = model_of(plain)
    learned = {}
    for name in ("top", "root", "binary"):
        if params.get(f"{name}_concentration") == "auto":
            n = len(model.binary_concentration) if name == "binary" else 0
            learned.update({f"binary{i}": PRIOR for i in range(n)} or {name: PRIOR})
    expected = posterior(model, corpus, learned, step, brackets)
    counts, betas, logs, joints = [], [], [], []
    for state in estimator.iter_sweeps(corpus, brackets or None):
        tables = state.root_counts, state.emission_counts, state.binary_counts
        counts.append([count_of(model, tables, *event) for event in expected.places])
        betas.append(state.top_weights)
        values = {"top": state.top_concentration, "root": state.root_concentration}
        values |= {f"binary{i}": value for i, value in enumerate(state.binary_concentration)}
        logs.append([np.log(values[name]) for name in learned])
        joints.append(state.log_joint())
    burnt = n_sweeps // 100
    counts = np.array(counts[burnt:])
    assert_means(counts, expected.counts, "counts")
    assert_means(counts**2, expected.squares, "squares of counts")
    assert_means(betas[burnt:], expected.beta, "beta", resolution=1e-9)
    if learned:
        assert_means(logs[burnt:], expected.logs, "concentrations")
    assert_means(joints[burnt:], expected.log_joint, "log joint")


@pytest.mark.parametrize("case", FAST)
def test_posterior(case):
    check(FAST[case], 4_000)


@pytest.mark.slow
def test_posterior_given_brackets():
    """Only one of two equal sentences has a bracket, which determines its types of rules."""
    corpus, brackets = [[0, 1, 0], [0, 1, 0], [1]], [[(0, 2)], [], []]
    check(EXHAUSTIVE["beta known"], 4_000, corpus=corpus, brackets=brackets)


@pytest.mark.slow
def test_posterior_given_a_long_bracket():
    """How the words of the bracket are joined is left open."""
    check(SLOW["partitioned, Dirichlet"], 8_000, corpus=[[0, 1, 0, 1]], brackets=[[(1, 4)]])


@pytest.mark.slow
@pytest.mark.parametrize("case", SLOW)
def test_posterior_of_more(case):
    check(SLOW[case], 8_000)


@pytest.mark.slow
@pytest.mark.exhaustive
@pytest.mark.parametrize("case", EXHAUSTIVE)
def test_posterior_of_all(case):
    """Three unknown concentrations and beta have a coarser grid."""
    n_unknown = 4 if case in ("all learned", "binary learned, partitioned") else 1
    check(EXHAUSTIVE[case], 24_000, 0.5 if n_unknown == 1 else 1.0)
