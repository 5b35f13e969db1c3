"""The HDP-PCFG by the book: its joint density, and all trees of tiny sentences.

A grammar is a set of Dirichlet rows. A row is named by a tuple and gives its outcomes their prior
parameters; a tree uses outcomes of rows: an event is a pair (row, outcome). Symbols are ("S", i);
partitioned (section 2.2), they are ("P", i) and ("C", i), each kind with a beta of its own. For
symbols z and words w:

    ("kind",)           "P", "C"          1, 1; only of partitioned models
    ("root", kind)      symbol            root_concentration beta^kind_i
    ("type", z)         "E", "SS"         the prior of rule types; partitioned "PP", ..., "CC"
    ("emission", z)     w                 the prior of emissions
    ("PC", z), and so   (l, r)            binary_concentration beta^P_l beta^C_r

Children may be independent (section 2.3): instead of the pair's row ("PC", z) then

    ("PC<", z)          l                 binary_concentration beta^P_l
    ("PC>", z)          r                 binary_concentration beta^C_r

Trees are (symbol, word) or (symbol, left tree, right tree)."""

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from math import log

import numpy as np
from exact.oracles.grammar import Tree, spans, trees_over
from scipy.special import gammaln, logsumexp, psi
from scipy.stats import beta as beta_distribution
from scipy.stats import dirichlet

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
    type_prior: Sequence[float] = (1.0, 1.0)  # E, SS; partitioned PP, PC, CP, CC
    emission_prior: float = 1.0
    binary_concentration: Sequence[float] = (1.0,)  # partitioned PP, PC, CP, CC
    child_prior: str = "joint"

    @property
    def is_partitioned(self) -> bool:
        return len(self.n_symbols) == 2

    @property
    def kinds(self) -> str:
        return "PC" if self.is_partitioned else "S"

    @property
    def symbols(self) -> list[tuple[str, int]]:
        """All symbols in their joint order: preterminals come first."""
        return [(kind, i) for kind, n in zip(self.kinds, self.n_symbols, strict=True)
                for i in range(n)]  # fmt: skip

    @property
    def emitting(self) -> list[tuple[str, int]]:
        return [z for z in self.symbols if z[0] in "SP"]

    @property
    def branching(self) -> list[tuple[str, int]]:
        return [z for z in self.symbols if z[0] in "SC"]

    def rows(self, betas: Sequence[np.ndarray]) -> Rows:
        """Return the prior's Dirichlet parameters."""
        weight = dict(zip(self.symbols, np.concatenate(betas).tolist(), strict=True))
        pairs = [left + right for left, right in product(self.kinds, repeat=2)]
        types = pairs if self.is_partitioned else ["E", *pairs]
        rows: Rows = {("kind",): {"P": 1.0, "C": 1.0}} if self.is_partitioned else {}
        for kind in self.kinds:
            rows["root", kind] = {
                z: self.root_concentration * weight[z] for z in weight if z[0] == kind
            }
        for z in self.emitting:
            rows["emission", z] = {w: float(self.emission_prior) for w in range(self.n_words)}
        for z in self.branching:
            rows["type", z] = dict(zip(types, self.type_prior, strict=True))
            for pair, alpha in zip(pairs, self.binary_concentration, strict=True):
                if self.child_prior == "joint":
                    rows[pair, z] = {
                        (left, right): alpha * weight[left] * weight[right]
                        for left, right in product(weight, weight)
                        if left[0] + right[0] == pair
                    }
                    continue
                for side, kind in zip("<>", pair, strict=True):
                    rows[pair + side, z] = {c: alpha * weight[c] for c in weight if c[0] == kind}
        return rows

    def log_top_density(self, betas: Sequence[np.ndarray]) -> float:
        """Return log p(beta), a density of all coordinates but the last of each beta."""
        if self.top_concentration is None:  # beta is known
            return 0.0
        density = {"gem": log_gem, "dirichlet": log_symmetric}[self.top_prior]
        return sum(density(np.asarray(beta), self.top_concentration) for beta in betas)

    # The events of a choice

    def root_events(self, symbol) -> list:
        kind = [(("kind",), symbol[0])] if self.is_partitioned else []
        return [*kind, (("root", symbol[0]), symbol)]

    def word_events(self, symbol, word) -> list:
        kind = [] if self.is_partitioned else [(("type", symbol), "E")]
        return [*kind, (("emission", symbol), word)]

    def pair_events(self, symbol, left, right) -> list:
        pair = left[0] + right[0]
        if self.child_prior == "joint":
            children = [((pair, symbol), (left, right))]
        else:
            children = [((pair + "<", symbol), left), ((pair + ">", symbol), right)]
        return [(("type", symbol), pair), *children]

    def events_of_rules(self) -> list[list]:
        """Return the events of all roots, pairs of a symbol and a word, and binary rules."""
        return [
            *map(self.root_events, self.symbols),
            *(self.word_events(*rule) for rule in product(self.emitting, range(self.n_words))),
            *(self.pair_events(*r) for r in product(self.branching, self.symbols, self.symbols)),
        ]


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


def nodes_of(tree: Tree) -> list[Tree]:
    below = tree[1:] if len(tree) == 3 else ()
    return [tree, *(node for child in below for node in nodes_of(child))]


def events(model: Model, tree: Tree) -> Counter:
    """Count the choices that a tree makes, its root among them."""
    counts = Counter(model.root_events(tree[0]))
    for node in nodes_of(tree):
        if len(node) == 2:
            counts.update(model.word_events(*node))
        else:
            counts.update(model.pair_events(node[0], node[1][0], node[2][0]))
    return counts


_counted: dict = {}


def counted_trees(
    model: Model, words: Sequence[int], brackets: Iterable[tuple[int, int]] = ()
) -> list[tuple[Tree, Counter]]:
    """Return all trees in which every bracket is a constituent, and their events."""
    key = model.n_symbols, model.child_prior, tuple(words)
    if key not in _counted:
        trees = trees_over(words, model.emitting, model.branching)
        _counted[key] = [(tree, events(model, tree)) for tree in trees]
    return [pair for pair in _counted[key] if not brackets or spans(pair[0]).issuperset(brackets)]


def all_trees(model: Model, words: Sequence[int]) -> list[Tree]:
    return [tree for tree, _ in counted_trees(model, words)]


def log_weight(counts: Counter, log_weights: Rows) -> float:
    """Return the log of the product of the weights of events."""
    return sum(n * log_weights[row][outcome] for (row, outcome), n in counts.items())


def sentence_posterior(
    model: Model, words: Sequence[int], log_weights: Rows, brackets: Iterable[tuple[int, int]] = ()
):
    """Return trees of a sentence and their events, their shares, and the log of their sum."""
    trees = counted_trees(model, words, brackets)
    logs = [log_weight(counts, log_weights) for _, counts in trees]
    total = float(logsumexp(logs)) if logs else -np.inf
    return trees, np.exp(np.array(logs) - total), total


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


def count_ways(model: Model, corpus: Sequence[Sequence[int]], brackets: Sequence = ()):
    """Return places of events, counts of each way to choose trees, and logs of how many ways."""
    ways = Counter({(): 1})
    for words, known in zip(corpus, brackets or [()] * len(corpus), strict=True):
        grouped = Counter(
            tuple(sorted(counts.items(), key=repr))
            for _, counts in counted_trees(model, words, known)
        )
        joined: Counter = Counter()
        for (old, n_old), (new, n_new) in product(ways.items(), grouped.items()):
            total = Counter(dict(old))
            total.update(dict(new))
            joined[tuple(sorted(total.items(), key=repr))] += n_old * n_new
        ways = joined
    rows = model.rows([np.full(n, 1.0 / n) for n in model.n_symbols])
    places = {event: i for i, event in enumerate((r, o) for r in rows for o in rows[r])}
    counts = np.zeros((len(ways), len(places)))
    for i, way in enumerate(ways):
        for event, n in way:
            counts[i, places[event]] = n
    return places, counts, np.log([*ways.values()])


def log_evidences(model: Model, betas, counts: np.ndarray) -> np.ndarray:
    """Return the log-probability of each way, with all rows integrated out."""
    total, begin = np.zeros(len(counts)), 0
    for outcomes in model.rows(betas).values():
        prior = np.array([*outcomes.values()])
        part = counts[:, begin : begin + len(prior)]
        begin += len(prior)
        total += np.sum(gammaln(prior + part) - gammaln(prior), axis=1)
        total += gammaln(prior.sum()) - gammaln(prior.sum() + part.sum(axis=1))
    return total


def log_evidence(model: Model, corpus: Sequence[Sequence[int]], betas) -> float:
    """Return log p(x | beta): the sum over the trees of all sentences together."""
    _, counts, log_ways = count_ways(model, corpus)
    return float(logsumexp(log_ways + log_evidences(model, betas, counts)))


def divergence(parameters, prior, logs) -> float:
    """Return E_q log q(phi) - log p(phi) of a row, both Dirichlet. The two are taken together: E_q
    log phi is as low as -1e16 for parameters at the floor."""
    cells = sum((a - prior[o]) * logs[o] for o, a in parameters.items() if a != prior[o])
    return cells - log_beta_function(parameters.values()) + log_beta_function(prior.values())


def bound(
    model: Model,
    corpus: Sequence[Sequence[int]],
    betas: Sequence[np.ndarray],
    parameters: Rows,
    posteriors: Sequence[tuple] | None = None,
) -> float:
    """Return E_q log p(x, z, phi, beta) and the entropies, q(phi) Dirichlet rows. `posteriors` is
    q(z), as `sentence_posterior` returns it of each sentence; by default the best."""
    logs, prior = expected_logs(parameters), model.rows(betas)
    if posteriors is None:
        posteriors = [sentence_posterior(model, words, logs) for words in corpus]
    total = model.log_top_density(betas)
    total -= sum(divergence(parameters[row], prior[row], logs[row]) for row in prior)
    for trees, shares, _ in posteriors:
        for (_, counts), share in zip(trees, shares.tolist(), strict=True):
            if share > 0.0:
                total += share * (log_weight(counts, logs) - log(share))
    return total


def expected_counts(posteriors) -> Counter:
    """Return the expected number of uses of each event."""
    counts: Counter = Counter()
    for trees, shares, _ in posteriors:
        for (_, uses), share in zip(trees, shares.tolist(), strict=True):
            for event, n in uses.items():
                counts[event] += share * n
    return counts


def log_likelihood(model: Model, corpus, rows: Rows) -> float:
    """Return log p(x | phi)."""
    logs = log_rows(rows)
    return sum(sentence_posterior(model, words, logs)[2] for words in corpus)
