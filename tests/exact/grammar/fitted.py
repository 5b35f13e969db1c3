"""Fitted grammars in the words of the oracle, and the tiny corpora that they are fitted to."""

from functools import cache

import numpy as np
from exact.oracles.hdp_pcfg import PAIRS, Model, Rows

from skdp.grammar import HDPPCFG

CORPUS = [[0, 1, 0], [1, 0], [1], [0, 2, 1, 0], [2, 0]]
"""Of a vocabulary of three words, with a sentence of one."""

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

CASES = {
    "plain, GEM": {**PLAIN, **GEM},
    "plain, Dirichlet": {**PLAIN, **DIRICHLET},
    "partitioned, GEM": {**PARTITIONED, **GEM},
    "partitioned, Dirichlet": {**PARTITIONED, **DIRICHLET},
    "sparse Dirichlet": {**PLAIN, "top_prior": "dirichlet", "top_concentration": 0.5},
    "three symbols, GEM": {**PLAIN, **GEM, "n_components": 3},
    "uneven, GEM": {
        **PARTITIONED,
        "n_components": 1,
        "n_preterminals": 3,
        "top_concentration": 0.4,
    },
    "independent": {**PLAIN, **GEM, "child_prior": "independent"},
    "independent, partitioned": {**PARTITIONED, **DIRICHLET, "child_prior": "independent"},
    "uniform": {**PARTITIONED, "top_concentration": None},
}


def sentences_for(case: str) -> list[list[int]]:
    """Return the corpus of a case: one with few trees where there are three symbols."""
    return [[0, 1, 0], [1, 0], [1], [2, 0]] if case == "three symbols, GEM" else CORPUS


@cache
def fit(case: str, max_iter: int = 1000, seed: int = 0) -> HDPPCFG:
    """Return an estimator that went on until the bound rose no more."""
    model = HDPPCFG(**CASES[case], max_iter=max_iter, tol=0.0, random_state=seed)
    return model.fit(sentences_for(case))


def model_of(estimator: HDPPCFG) -> Model:
    """Return the oracle's model with the estimator's hyper-parameters."""
    partitioned = estimator.n_preterminals is not None
    sizes = (estimator.n_components,)
    return Model(
        estimator.n_words_,
        (estimator.n_preterminals, *sizes) if partitioned else sizes,
        estimator.top_prior,
        estimator.top_concentration,
        estimator.root_concentration,
        np.broadcast_to(estimator.rule_type_prior, 4 if partitioned else 2).tolist(),
        estimator.emission_prior,
        np.broadcast_to(estimator.binary_concentration, 4 if partitioned else 1).tolist(),
        estimator.child_prior,
    )


def betas_of(estimator: HDPPCFG) -> list[np.ndarray]:
    """Return beta; of a partitioned model those of preterminals and constituents."""
    n = estimator.n_preterminals
    return np.split(estimator.top_weights_, [n] if n else [])


def count_of(model: Model, counts, row: tuple, outcome) -> float:
    """Return what the arrays of counts say of an outcome of a row."""
    root, emission, binary = counts
    place = {symbol: i for i, symbol in enumerate(model.symbols)}
    first = model.n_symbols[0] if model.is_partitioned else 0  # the first that branches
    kind, *owner = row
    if kind == "kind":
        return sum(root[place[s]] for s in model.symbols if s[0] == outcome)
    if kind == "root":
        return root[place[outcome]]
    (symbol,) = owner
    if kind == "emission":
        return emission[place[symbol], outcome]
    rules = {
        (left, right): binary[place[symbol] - first, place[left], place[right]]
        for left in model.symbols
        for right in model.symbols
    } if not model.is_partitioned or symbol[0] == "C" else {}  # fmt: skip
    if kind == "type":
        if outcome == "E":
            return emission[place[symbol]].sum()
        return sum(
            n
            for (left, right), n in rules.items()
            if outcome == "B" or left[0] + right[0] == outcome
        )
    if kind[-1] in "<>":
        side = "<>".index(kind[-1])
        return sum(
            n
            for pair, n in rules.items()
            if pair[side] == outcome and (kind[:-1] == "B" or pair[0][0] + pair[1][0] == kind[:-1])
        )
    assert kind in ("B", *PAIRS)
    return rules[outcome]


def posterior_of(estimator: HDPPCFG) -> Rows:
    """Return q(phi): the prior, of the oracle, with the expected counts on top."""
    model = model_of(estimator)
    prior, counts = model.rows(betas_of(estimator)), estimator._grammar.counts
    return {
        row: {o: a + count_of(model, counts, row, o) for o, a in outcomes.items()}
        for row, outcomes in prior.items()
    }


def maximum_of(estimator: HDPPCFG) -> Rows:
    """Return the grammar of a fit by maximum likelihood."""
    model = model_of(estimator)
    place = {symbol: i for i, symbol in enumerate(model.symbols)}
    first = model.n_symbols[0] if model.is_partitioned else 0
    rows: Rows = {}
    for row, outcomes in model.rows(betas_of(estimator)).items():
        kind, *owner = row
        parent = place[owner[0]] if owner and owner[0] in place else -1
        if kind == "kind":
            probs = [
                sum(estimator.root_probs_[place[s]] for s in place if s[0] == o) for o in outcomes
            ]
        elif kind == "root":
            probs = [estimator.root_probs_[place[o]] for o in outcomes]
        elif kind == "type":
            probs = estimator.rule_type_probs_[parent - first]
        elif kind == "emission":
            probs = estimator.emission_probs_[parent]
        elif kind[-1] in "<>":
            probs = [count_of(model, (None, None, estimator.binary_probs_), row, o)
                     for o in outcomes]  # fmt: skip
        else:
            rules = estimator.binary_probs_[parent - first]
            probs = [rules[place[left], place[right]] for left, right in outcomes]
        total = sum(probs)  # partitioned, rules include their type, roots their kind
        row_probs = probs / total if total else np.full(len(probs), 1.0 / len(probs))
        rows[row] = dict(zip(outcomes, row_probs, strict=True))
    return rows
