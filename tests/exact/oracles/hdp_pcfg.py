"""The HDP-PCFG by the book: its joint density, and all trees of tiny sentences.

A grammar is a set of Dirichlet rows. A row is named by a tuple and gives its outcomes their prior
parameters; a tree uses outcomes of rows: an event is a pair (row, outcome). Plain (section 2.1),
for symbols z and words w, with beta = (beta_1, ..., beta_K):

    ("root",)       symbol   root_concentration beta_z
    ("type", z)     "E", "B" the prior of rule types
    ("emission", z) w        the prior of emissions
    ("B", z)        (l, r)   binary_concentration beta_l beta_r

Partitioned (section 2.2), symbols ("P", i) and ("C", i), each kind with a beta of its own:

    ("kind",)           "P", "C"          1, 1
    ("root", kind)      symbol            root_concentration beta^kind_i
    ("type", c)         "PP", ..., "CC"   the prior of rule types
    ("emission", p)     w                 the prior of emissions
    ("PC", c), and so   (l, r)            binary_concentration beta^P_l beta^C_r

Children may be independent (section 2.3): instead of the pair's row ("B", z) or ("PC", c) then

    ("B<", z)       l        binary_concentration beta_l
    ("B>", z)       r        binary_concentration beta_r

Trees are (symbol, word) or (symbol, left tree, right tree).
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import exp, log

import numpy as np
from scipy.special import gammaln, psi
from scipy.stats import beta as beta_distribution
from scipy.stats import dirichlet

PAIRS = ("PP", "PC", "CP", "CC")

Tree = tuple
Row = tuple
Rows = dict[Row, dict[Hashable, float]]


@dataclass
class Model:
    """The hyper-parameters of the model; `beta` has one vector, partitioned two (P, C)."""

    n_words: int
    n_symbols: tuple[int, ...]  # (K,) or (P, C)
    top_prior: str = "gem"
    top_concentration: float | None = 1.0
    root_concentration: float = 1.0
    type_prior: Sequence[float] = (1.0, 1.0)  # E, B; partitioned PP, PC, CP, CC
    emission_prior: float = 1.0
    binary_concentration: Sequence[float] = (1.0,)  # partitioned PP, PC, CP, CC
    child_prior: str = "joint"

    @property
    def is_partitioned(self) -> bool:
        return len(self.n_symbols) == 2

    @property
    def symbols(self) -> list:
        """All symbols in their joint order: preterminals come first."""
        if self.is_partitioned:
            return [(kind, i) for kind, n in zip("PC", self.n_symbols, strict=True)
                    for i in range(n)]  # fmt: skip
        return list(range(*self.n_symbols))

    def rows(self, betas: Sequence[np.ndarray]) -> Rows:
        """Return the prior's Dirichlet parameters."""
        emission = {w: float(self.emission_prior) for w in range(self.n_words)}
        if not self.is_partitioned:
            (beta,), (alpha,) = betas, self.binary_concentration
            symbols = range(len(beta))
            rows: Rows = {("root",): {z: self.root_concentration * beta[z] for z in symbols}}
            for z in symbols:
                rows["type", z] = dict(zip("EB", self.type_prior, strict=True))
                rows["emission", z] = dict(emission)
                if self.child_prior == "independent":
                    for side in "<>":
                        rows["B" + side, z] = {child: alpha * beta[child] for child in symbols}
                    continue
                rows["B", z] = {
                    (left, right): alpha * beta[left] * beta[right]
                    for left, right in product(symbols, symbols)
                }
            return rows
        weight = {(kind, i): share for kind, beta in zip("PC", betas, strict=True)
                  for i, share in enumerate(beta)}  # fmt: skip
        rows = {("kind",): {"P": 1.0, "C": 1.0}}
        for kind in "PC":
            rows["root", kind] = {
                z: self.root_concentration * weight[z] for z in weight if z[0] == kind
            }
        for z in weight:
            if z[0] == "P":
                rows["emission", z] = dict(emission)
                continue
            rows["type", z] = dict(zip(PAIRS, self.type_prior, strict=True))
            for pair, alpha in zip(PAIRS, self.binary_concentration, strict=True):
                if self.child_prior == "independent":
                    for side, kind in zip("<>", pair, strict=True):
                        rows[pair + side, z] = {
                            child: alpha * weight[child] for child in weight if child[0] == kind
                        }
                    continue
                rows[pair, z] = {
                    (left, right): alpha * weight[left] * weight[right]
                    for left, right in product(weight, weight)
                    if left[0] + right[0] == pair
                }
        return rows

    def log_top_density(self, betas: Sequence[np.ndarray]) -> float:
        """Return log p(beta), a density of all coordinates but the last of each beta."""
        if self.top_concentration is None:  # beta is known
            return 0.0
        density = {"gem": log_gem, "dirichlet": log_symmetric}[self.top_prior]
        return sum(density(np.asarray(beta), self.top_concentration) for beta in betas)


def sticks(beta: np.ndarray) -> np.ndarray:
    """Return the share that each symbol but the last takes of what is left to it."""
    return np.array([beta[k] / (1.0 - beta[:k].sum()) for k in range(len(beta))])


def log_gem(beta: np.ndarray, concentration: float) -> float:
    """Beta(1, concentration) densities of the sticks, and the Jacobian by complex steps."""
    free = beta[:-1]
    if not len(free):
        return 0.0
    step = 1e-30
    jacobian = np.empty((len(free), len(free)))
    for k in range(len(free)):
        moved = free.astype(complex)
        moved[k] += 1j * step
        jacobian[:, k] = sticks(moved).imag / step
    densities = beta_distribution.logpdf(sticks(free), 1.0, concentration)
    return float(densities.sum() + np.linalg.slogdet(jacobian)[1])


def log_symmetric(beta: np.ndarray, concentration: float) -> float:
    """Dirichlet(concentration / K)."""
    if len(beta) == 1:
        return 0.0
    return float(dirichlet.logpdf(beta / beta.sum(), np.full(len(beta), concentration / len(beta))))


def trees_from(model: Model, words: Sequence[int], symbol) -> Iterator[Tree]:
    """Yield every tree of the words whose top is the symbol."""
    if len(words) == 1:
        if not model.is_partitioned or symbol[0] == "P":
            yield symbol, words[0]
        return
    if model.is_partitioned and symbol[0] == "P":
        return
    for cut in range(1, len(words)):
        for left, right in product(model.symbols, model.symbols):
            rights = list(trees_from(model, words[cut:], right))
            for left_tree in trees_from(model, words[:cut], left):
                for right_tree in rights:
                    yield symbol, left_tree, right_tree


def spans(tree: Tree, begin: int = 0) -> set[tuple[int, int]]:
    """Return the spans of the nodes: the first word, and the word after the last."""
    if len(tree) == 2:
        return {(begin, begin + 1)}
    left = spans(tree[1], begin)
    right = spans(tree[2], max(end for _, end in left))
    return {(begin, max(end for _, end in right))} | left | right


def all_trees(
    model: Model, words: Sequence[int], brackets: Iterable[tuple[int, int]] = ()
) -> list[Tree]:
    """Return all trees in which every bracket is a constituent."""
    trees = [tree for symbol in model.symbols for tree in trees_from(model, words, symbol)]
    return [tree for tree in trees if spans(tree).issuperset(brackets)] if brackets else trees


def node_events(model: Model, tree: Tree) -> Iterator[tuple[Row, Hashable]]:
    symbol = tree[0]
    if len(tree) == 2:
        if not model.is_partitioned:
            yield ("type", symbol), "E"
        yield ("emission", symbol), tree[1]
        return
    left, right = tree[1][0], tree[2][0]
    rule = left[0] + right[0] if model.is_partitioned else "B"
    yield ("type", symbol), rule
    if model.child_prior == "independent":
        yield (rule + "<", symbol), left
        yield (rule + ">", symbol), right
    else:
        yield (rule, symbol), (left, right)
    yield from node_events(model, tree[1])
    yield from node_events(model, tree[2])


def events(model: Model, tree: Tree) -> Counter:
    """Count the choices that a tree makes, its root among them."""
    symbol = tree[0]
    if model.is_partitioned:
        root = [(("kind",), symbol[0]), (("root", symbol[0]), symbol)]
    else:
        root = [(("root",), symbol)]
    return Counter([*root, *node_events(model, tree)])


def symbols_of(tree: Tree) -> list:
    """Return the symbols of all nodes."""
    below = tree[1:] if len(tree) == 3 else ()
    return [tree[0], *(symbol for child in below for symbol in symbols_of(child))]


def log_weight(counts: Counter, log_weights: Rows) -> float:
    """Return the log of the product of the weights of events."""
    return sum(n * log_weights[row][outcome] for (row, outcome), n in counts.items())


def log_sum(values: Sequence[float]) -> float:
    """Return the log of the sum of exponentials."""
    top = max(values)
    return top + log(sum(exp(value - top) for value in values)) if top > -np.inf else -np.inf


def sentence_posterior(
    model: Model,
    words: Sequence[int],
    log_weights: Rows,
    brackets: Iterable[tuple[int, int]] = (),
):
    """Return all trees of a sentence, their shares under the weights, and the log of their sum."""
    trees = all_trees(model, words, brackets)
    logs = [log_weight(events(model, tree), log_weights) for tree in trees]
    total = log_sum(logs)
    return trees, np.array([exp(value - total) for value in logs]), total


def log_rows(rows: Rows) -> Rows:
    """Return the logs of a grammar's probabilities."""
    with np.errstate(divide="ignore"):
        return {row: {o: float(np.log(p)) for o, p in outcomes.items()}
                for row, outcomes in rows.items()}  # fmt: skip


def means(parameters: Rows) -> Rows:
    return {row: {o: a / sum(outcomes.values()) for o, a in outcomes.items()}
            for row, outcomes in parameters.items()}  # fmt: skip


def expected_logs(parameters: Rows) -> Rows:
    """Return E log phi of Dirichlet rows, E log phi_i = psi(a_i) - psi(sum a)."""
    result = {}
    for row, outcomes in parameters.items():
        total = psi(sum(outcomes.values()))
        result[row] = {o: float(psi(a) - total) for o, a in outcomes.items()}
    return result


def log_beta_function(parameters: Iterable[float]) -> float:
    """Return the log of the normalizer of a Dirichlet density."""
    parameters = list(parameters)
    return float(sum(gammaln(a) for a in parameters) - gammaln(sum(parameters)))


def log_evidence_of_counts(counts: Counter, prior: Rows) -> float:
    """Return the log-probability of the choices with all rows integrated out."""
    seen: dict[Row, dict] = {}
    for (row, outcome), n in counts.items():
        seen.setdefault(row, {})[outcome] = n
    return sum(
        log_beta_function(prior[row][o] + n.get(o, 0) for o in prior[row])
        - log_beta_function(prior[row].values())
        for row, n in seen.items()
    )


def log_evidence(model: Model, corpus: Sequence[Sequence[int]], betas) -> float:
    """Return log p(x | beta): the sum over the trees of all sentences together."""
    prior = model.rows(betas)
    grouped: list[Counter] = []  # trees with the same choices need to be looked at once
    for words in corpus:
        grouped.append(
            Counter(frozenset(events(model, tree).items()) for tree in all_trees(model, words))
        )
    values = []
    for choice in product(*grouped):
        counts: Counter = Counter()
        n_ways = 1
        for group, key in zip(grouped, choice, strict=True):
            counts.update(dict(key))
            n_ways *= group[key]
        values.append(log(n_ways) + log_evidence_of_counts(counts, prior))
    return log_sum(values)


def divergence(parameters, prior, logs) -> float:
    """Return E_q log q(phi) - log p(phi) of a row, both Dirichlet.

    The two are taken together: E_q log phi is as low as -1e16 for parameters at the floor.
    """
    cells = sum((a - prior[o]) * logs[o] for o, a in parameters.items() if a != prior[o])
    return cells - log_beta_function(parameters.values()) + log_beta_function(prior.values())


def bound_terms(
    model: Model,
    corpus: Sequence[Sequence[int]],
    betas: Sequence[np.ndarray],
    parameters: Rows,
    posteriors: Sequence[tuple[list[Tree], np.ndarray]] | None = None,
) -> dict[str, float]:
    """Return the terms of E_q log p(x, z, phi, beta) + entropies, q(phi) Dirichlet rows.

    `posteriors` is q(z), for each sentence its trees and their shares; without it the best one.
    """
    logs = expected_logs(parameters)
    prior = model.rows(betas)
    if posteriors is None:
        posteriors = [sentence_posterior(model, words, logs)[:2] for words in corpus]
    likelihood = entropy = 0.0
    for trees, shares in posteriors:
        for tree, share in zip(trees, shares, strict=True):
            if share > 0.0:
                likelihood += share * log_weight(events(model, tree), logs)
                entropy -= share * log(share)
    return {
        "top": model.log_top_density(betas),
        "rows": -sum(divergence(parameters[row], prior[row], logs[row]) for row in prior),
        "trees": likelihood,
        "entropy of trees": entropy,
    }


def bound(model, corpus, betas, parameters, posteriors=None) -> float:
    return sum(bound_terms(model, corpus, betas, parameters, posteriors).values())


def expected_counts(model: Model, posteriors) -> Counter:
    """Return the expected number of uses of each event."""
    counts: Counter = Counter()
    for trees, shares in posteriors:
        for tree, share in zip(trees, shares, strict=True):
            for event, n in events(model, tree).items():
                counts[event] += share * n
    return counts


def log_likelihood(model: Model, corpus, rows: Rows) -> float:
    """Return log p(x | phi)."""
    logs = log_rows(rows)
    return sum(sentence_posterior(model, words, logs)[2] for words in corpus)


def sentence_probabilities(model: Model, rows: Rows, longest: int) -> dict[tuple, float]:
    """Return the probabilities of all sentences of at most `longest` words."""
    logs = log_rows(rows)
    return {
        words: exp(sentence_posterior(model, words, logs)[2])
        for n in range(1, longest + 1)
        for words in product(range(model.n_words), repeat=n)
    }
