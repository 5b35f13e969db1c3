"""Fitted grammars in the words of the oracle, and the tiny corpora that they are fitted to."""

from collections import Counter
from functools import cache

import numpy as np
from exact.oracles.hdp_pcfg import Model, Rows

from skdp.grammar import HDPPCFG

CORPUS = [[0, 1, 0], [1, 0], [1], [0, 2, 1, 0], [2, 0]]
"""Of a vocabulary of three words, with a sentence of one."""

PLAIN = {
    "n_components": 2, "root_concentration": 0.8, "rule_type_prior": [1.5, 0.7],
    "emission_prior": 0.6, "binary_concentration": 1.3,
}  # fmt: skip
PARTITIONED = {
    "n_components": 2, "n_preterminals": 2, "root_concentration": 1.4,
    "rule_type_prior": [0.5, 1.1, 0.9, 2.0], "emission_prior": 0.6,
    "binary_concentration": [0.7, 1.3, 2.1, 1.6],
}  # fmt: skip
GEM = {"top_prior": "gem", "top_concentration": 1.7}
DIRICHLET = {"top_prior": "dirichlet", "top_concentration": 3.1}
KNOWN = {"top_concentration": None}
INDEPENDENT = {"child_prior": "independent"}

CASES = {
    "plain, GEM": {**PLAIN, **GEM},
    "plain, Dirichlet": {**PLAIN, **DIRICHLET},
    "partitioned, GEM": {**PARTITIONED, **GEM},
    "partitioned, Dirichlet": {**PARTITIONED, **DIRICHLET},
    "sparse Dirichlet": {**PLAIN, **DIRICHLET, "top_concentration": 0.5},
    "three symbols, GEM": {**PLAIN, **GEM, "n_components": 3},
    "uneven, GEM": {
        **PARTITIONED, **GEM, "n_components": 1, "n_preterminals": 3, "top_concentration": 0.4,
    },
    "independent": {**PLAIN, **GEM, **INDEPENDENT},
    "independent, partitioned": {**PARTITIONED, **DIRICHLET, **INDEPENDENT},
    "uniform": {**PARTITIONED, **KNOWN},
}  # fmt: skip


def sentences_for(case: str) -> list[list[int]]:
    """Return the corpus of a case: one with few trees where there are three symbols."""
    return [[0, 1, 0], [1, 0], [1], [2, 0]] if case == "three symbols, GEM" else CORPUS


@cache
def fit(case: str, max_iter: int = 1000) -> HDPPCFG:
    """Return an estimator that went on until the bound rose no more."""
    model = HDPPCFG(**CASES[case], max_iter=max_iter, tol=0.0, random_state=0)
    return model.fit(sentences_for(case))


def model_of(estimator: HDPPCFG, n_words: int | None = None) -> Model:
    """Return the oracle's model with the estimator's hyper-parameters; 1 if they are learned."""
    parts = [estimator.n_preterminals] if estimator.n_preterminals else []
    names = ("top_concentration", "root_concentration", "binary_concentration")
    top, root, binary = (1.0 if v == "auto" else v for v in (getattr(estimator, n) for n in names))
    return Model(
        n_words or estimator.n_words_, (*parts, estimator.n_components), estimator.top_prior, top,
        root, np.broadcast_to(estimator.rule_type_prior, 4 if parts else 2).tolist(),
        estimator.emission_prior, np.broadcast_to(binary, 4 if parts else 1).tolist(),
        estimator.child_prior,
    )  # fmt: skip


def betas_of(estimator: HDPPCFG) -> list[np.ndarray]:
    """Return beta; of a partitioned model those of preterminals and constituents."""
    n = estimator.n_preterminals
    return np.split(estimator.top_weights_, [n] if n else [])


def flat(tables) -> np.ndarray:
    """Return the numbers of all roots, words and binary rules in the oracle's order."""
    return np.concatenate([np.ravel(table) for table in tables])


def uses_of(model: Model, tables) -> Counter:
    """Return the uses of all events that uses of rules amount to."""
    uses: Counter = Counter()
    for events, n in zip(model.events_of_rules(), flat(tables).tolist(), strict=True):
        for event in events:
            uses[event] += n
    return uses


def posterior_of(estimator: HDPPCFG) -> Rows:
    """Return q(phi): the prior, of the oracle, with the expected counts on top."""
    model = model_of(estimator)
    uses = uses_of(model, estimator._grammar.counts)
    rows = model.rows(betas_of(estimator))
    return {
        row: {o: a + uses[row, o] for o, a in outcomes.items()} for row, outcomes in rows.items()
    }


def maximum_of(estimator: HDPPCFG) -> Rows:
    """Return the grammar of the fitted attributes."""
    model, types = model_of(estimator), estimator.rule_type_probs_
    emission, binary = estimator.emission_probs_, estimator.binary_probs_
    if not model.is_partitioned:
        emission, binary = types[:, :1] * emission, types[:, 1, None, None] * binary
    uses = uses_of(model, (estimator.root_probs_, emission, binary))
    rows = model.rows(betas_of(estimator))
    for row, outcomes in rows.items():
        total = sum(uses[row, o] for o in outcomes)
        rows[row] = {o: uses[row, o] / total if total else 1.0 / len(outcomes) for o in outcomes}
    return rows
