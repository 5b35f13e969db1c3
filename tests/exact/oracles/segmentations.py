"""Cuts of documents of two topics, by enumeration of all cuts and topics, in plain Python.

A part of a document has n_1 and n_2 words of the two topics, n in all. With its shares integrated
out, and the shares (m, 1 - m) of its document, m ~ Beta(alpha_1, alpha_2), by quadrature:

    p(z, cuts) = prod_d E_m[ prod_parts (b m)_n1 (b (1 - m))_n2 / (b)_n ] rho^cuts (1 - rho)^joins,

where (x)_n is a rising factorial: a polynomial in m, for which Gauss's rule is exact. There are no
tables. Then p(w | z) with Dirichlet priors of the words."""

from itertools import product
from math import prod

import numpy as np
from exact.oracles.enumeration import average, dirichlet_multinomial, rising, split, word_factor
from exact.oracles.quadrature import beta_quadrature


def divisions(n_units, known=None, most=None):
    """Yield all cuts of a document as tuples of its gaps: 1 is a cut."""
    for cuts in product((0, 1), repeat=max(n_units - 1, 0)):
        if known is not None and any(k not in (-1, c) for k, c in zip(known, cuts, strict=True)):
            continue
        lengths = [len(run) + 1 for run in "".join(map(str, cuts)).split("1")]
        if most is None or max(lengths) <= most:
            yield cuts


def parts_of(document, topics, cuts):
    """Return the topics of the words of each part of a document."""
    parts = [[]]
    for u, unit in enumerate(split(topics, map(len, document))):
        if u > 0 and cuts[u - 1]:
            parts.append([])
        parts[-1] += unit
    return parts


def evidence_of_parts(parts, mu, b):
    """Return the probability of the topics of parts given the shares of the document."""
    return prod(
        prod(rising(b * share, part.count(k)) for k, share in enumerate(mu)) / rising(b, len(part))
        for part in parts
    )


def given_topics(document, phi, alpha, b, rho):
    """Return means for one document given the word probabilities (2, W) of the topics: of `cuts`,
    of `share` (m) and `of_units` (the share of the first topic in the part of each unit)."""
    words = [w for unit in document for w in unit]

    def states():
        for z in product((0, 1), repeat=len(words)):
            of_words = word_factor(words, z, (), phi)
            for cuts in divisions(len(document)):
                parts = parts_of(document, z, cuts)
                part_of = np.cumsum([0, *cuts])
                prior = rho ** sum(cuts) * (1.0 - rho) ** (len(cuts) - sum(cuts))
                for m, w in zip(*beta_quadrature(*alpha), strict=True):
                    shares = [(b * m + part.count(0)) / (b + len(part)) for part in parts]
                    yield (
                        of_words * prior * w * evidence_of_parts(parts, (m, 1.0 - m), b),
                        {"cuts": cuts, "share": m, "of_units": np.array(shares)[part_of]},
                    )

    return average(states())


def posterior(documents, n_words, alpha, eta, b, cut_prior, known=None, most=None, seeds=None):
    """Return means of `cuts` (one entry a gap), `together` (pairs of words), `shares` (m by
    document), `rho` and `b`, which is known or a list of (value, weight). Documents are lists of
    units of word ids; `cut_prior` is that of the probability of a cut, which is drawn once;
    `known` has tuples or None by document; `seeds` are (2, n_words) pseudo-counts that are added to
    `eta`."""
    p, q = cut_prior
    lengths = [sum(map(len, document)) for document in documents]
    words = [w for document in documents for unit in document for w in unit]
    prior = (eta + (np.zeros((2, n_words)) if seeds is None else np.array(seeds))).tolist()
    rule = list(zip(*beta_quadrature(*alpha), strict=True))
    choices = [
        list(divisions(len(document), None if known is None else known[d], most))
        for d, document in enumerate(documents)
    ]

    def mean_share(document, topics, cuts, b):
        """Return the probability of the topics of a document, and the mean of m."""
        parts = parts_of(document, topics, cuts)
        terms = [(w * evidence_of_parts(parts, (m, 1.0 - m), b), m) for m, w in rule]
        total = sum(weight for weight, _ in terms)
        return total, sum(weight * m for weight, m in terms) / total

    def states():
        for z in product((0, 1), repeat=len(words)):
            of_words, topics = word_factor(words, z, prior), split(z, lengths)
            for value, weight in [(b, 1.0)] if isinstance(b, float) else b:
                of_documents = [
                    [(cuts, *mean_share(document, own, cuts, value)) for cuts in every]
                    for document, own, every in zip(documents, topics, choices, strict=True)
                ]
                for chosen in product(*of_documents):
                    cuts = [c for of_document, *_ in chosen for c in of_document]
                    n_cuts, n_joins = sum(cuts), len(cuts) - sum(cuts)
                    of_cuts = dirichlet_multinomial(cut_prior, (n_cuts, n_joins))
                    yield (
                        of_words * weight * of_cuts * prod(total for _, total, _ in chosen),
                        {
                            "cuts": cuts, "together": np.equal.outer(z, z),
                            "shares": [share for *_, share in chosen],
                            "rho": (p + n_cuts) / (p + q + len(cuts)), "b": value,
                        },
                    )  # fmt: skip

    return average(states())


def own_words_posterior(documents, prior, b, cut_prior, known=None, most=None):
    """Return the means of `cuts`, `phi` (of the first word), `rho` and `b`, if the words 0 and 1 of
    parts have shares of their own, Dirichlet(b phi), around phi = (m, 1 - m), m ~ Beta(prior).

    `b` is a list of (value, weight); the others are those of `posterior`."""
    p, q = cut_prior
    choices = [
        list(divisions(len(document), None if known is None else known[d], most))
        for d, document in enumerate(documents)
    ]
    words = [[w for unit in document for w in unit] for document in documents]

    def states():
        for value, weight in b:
            for chosen in product(*choices):
                cuts = [c for own in chosen for c in own]
                n_cuts, n_joins = sum(cuts), len(cuts) - sum(cuts)
                parts = [
                    part
                    for document, own, every in zip(documents, words, chosen, strict=True)
                    for part in parts_of(document, own, every)
                ]
                for m, w in zip(*beta_quadrature(*prior), strict=True):
                    yield (
                        weight * w * evidence_of_parts(parts, (m, 1.0 - m), value)
                        * dirichlet_multinomial(cut_prior, (n_cuts, n_joins)),
                        {
                            "cuts": cuts, "phi": m, "b": value,
                            "rho": (p + n_cuts) / (p + q + len(cuts)),
                        },
                    )  # fmt: skip

    return average(states())


def own_words_given(document, phi, b, rho, most=None):
    """Yield (cuts, log probability of cuts and words, probabilities of further words by unit)."""
    words = [w for unit in document for w in unit]
    for cuts in divisions(len(document), None, most):
        parts = parts_of(document, words, cuts)
        log = np.log(evidence_of_parts(parts, phi, b))
        log += sum(cuts) * np.log(rho) + (len(cuts) - sum(cuts)) * np.log1p(-rho)
        shares = [
            [(b * share + part.count(w)) / (b + len(part)) for w, share in enumerate(phi)]
            for part in parts
        ]
        yield cuts, log, np.array(shares)[np.cumsum([0, *cuts])]
